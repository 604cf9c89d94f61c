"""`namesake quotebank`: what is made for that corpus of quotations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from namesake.apps.cli import options
from namesake.apps.cli.output import default_kb, report_rejects, say, warn_of_sample
from namesake.printable import counted

quotebank = typer.Typer(
    name="quotebank", help="Quotebank, the corpus of quotations.", no_args_is_help=True, add_completion=False
)


@quotebank.callback()
def group() -> None:
    """Quotebank, the corpus of quotations."""


@quotebank.command()
def disambiguate(
    quotes: Annotated[list[Path], typer.Argument(help="Quotebank's files, by quotation or by article (.gz .bz2 .zst)")],
    out: Annotated[Path, typer.Option("--out", "-o", help="the .parquet file to write")],
    articles: Annotated[
        list[Path] | None, typer.Option("--articles", help="files by article: what the quotations stand in; repeatable")
    ] = None,
    kb: options.Kb = None,
    recipe: options.Recipe = "default",
    threshold: options.Threshold = None,
    threads: Annotated[int, typer.Option("--threads", min=0, help="0: one for each core")] = 0,
) -> None:
    """Say who the speaker of each quotation is: a row for each, with QID, confidence and reason.

    Example: namesake quotebank disambiguate quotes-2020.json.bz2 --kb kb/ -o quotes-2020.parquet
    """
    folder = default_kb(kb)
    from namesake import Linker
    from namesake.articles.rejects import Rejects
    from namesake.engines.quote_speakers import disambiguate
    from namesake.progress import reporter

    linker = Linker(folder, recipe, options.threshold_of(threshold))
    warn_of_sample(folder, kb)
    with Rejects(out.with_name(out.name + ".rejects.jsonl")) as rejects:
        tally = disambiguate(
            linker, quotes, out, articles=articles or (), threads=threads, rejects=rejects, reporter=reporter()
        )
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in tally.reasons.most_common())
    say(
        f"{out}: {counted(tally.quotes, 'quotation')}, {counted(tally.linked, 'speaker')} linked, "
        f"{tally.by_articles:,} by their articles" + (f"; others: {reasons}" if reasons else "")
    )
    report_rejects(rejects)
