"""`namesake ablate` and `namesake errors`: what makes the links good, and what makes them wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from namesake.apps.cli import options
from namesake.apps.cli.output import default_kb, report_rejects, show, warn_of_sample


def ablate(
    articles: options.Articles,
    gold: options.Gold,
    out: options.Out,
    kb: Annotated[
        list[Path] | None,
        typer.Option("--kb", help="a KB, default: $NAMESAKE_KB; several, built with different --words, are compared"),
    ] = None,
    split: options.Split = None,
) -> None:
    """Measure IScore over each kind of words and each context, as the paper's Tables 6 and 7 do.

    Example: namesake ablate --kb kb/ --articles news.jsonl.gz --gold gold.jsonl --out report/
    """
    from namesake import ablate
    from namesake.articles.rejects import Rejects

    folders = kb or [default_kb(None)]
    warn_of_sample(folders[0], folders[0] if kb else None, [articles])
    with Rejects() as rejects:
        report = ablate(articles, gold, folders, split=split, rejects=rejects)
    report.write(out, [articles, gold, *(kb or ())])
    show(report.short, [f"wrote {out / 'report.html'}, report.md, tables.json"])
    report_rejects(rejects)


def errors(
    articles: options.Articles,
    gold: options.Gold,
    out: options.Out,
    kb: options.Kb = None,
    recipe: options.Recipe = "default",
    split: options.Split = None,
    known: Annotated[bool, typer.Option("--known", help="leave out gold entities that the KB lacks")] = False,
) -> None:
    """Show every wrong link next to the right one, with what matched and why it may have gone wrong.

    Example: namesake errors --kb kb/ --articles news.jsonl.gz --gold gold.jsonl --out report/
    """
    from namesake import mistakes
    from namesake.articles.rejects import Rejects

    folder = default_kb(kb)
    warn_of_sample(folder, kb, [articles])
    with Rejects() as rejects:
        report = mistakes(articles, gold, folder, recipe, split=split, known=known, rejects=rejects)
    report.write(out, [articles, gold, kb, Path(recipe)])
    show(report.short, [f"{report.remarks[0]} See {out / 'report.html'} and {out / 'errors.csv'}."])
    report_rejects(rejects)
