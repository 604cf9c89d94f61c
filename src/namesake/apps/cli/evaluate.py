"""`namesake evaluate` and `namesake reproduce`: how good are the links, and are they as good as the paper's?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from namesake.apps.cli import options
from namesake.apps.cli.output import default_kb, report_rejects, show, warn_of_sample

if TYPE_CHECKING:
    from namesake.evaluation.reports.report import Report


def evaluate(
    out: options.Out,
    more: options.MoreLabelled = None,
    gold: Annotated[Path | None, options.GOLD] = None,
    labelled: options.Labelled = None,
    links: Annotated[Path | None, typer.Option("--links", help="output of `namesake link`")] = None,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="scores of every candidate: Parquet, JSONL or CSV, or links with --scores"),
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option("--kb", help="link --labelled or --articles with this KB first; default: $NAMESAKE_KB"),
    ] = None,
    articles: Annotated[Path | None, typer.Option("--articles", help="articles to link with --kb")] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="links --labelled: shipped, or a .toml")] = "default",
    threshold: options.Threshold = None,
    known: options.Known = None,
    split: options.Split = None,
    methods: Annotated[
        str, typer.Option("--methods", help="comma list: recipes, paper names, score columns, links, Random")
    ] = "",
    by: Annotated[str, typer.Option("--by", help="comma list of gold columns to slice by, such as difficulty")] = "",
    unit: Annotated[str, typer.Option("--unit", help="what the bootstrap draws: mention or document")] = "mention",
    samples: options.Samples = 10_000,
    seed: options.Seed = 2022,
) -> None:
    """Measure people found and linked in labelled text, or links and scores against gold, with intervals.

    Example: namesake evaluate --kb kb/ --labelled news.jsonl.gz --out report/

    Example: namesake evaluate --scores scores.parquet --gold gold.jsonl --split test --by difficulty --out report/
    """
    from namesake import evaluate, evaluate_text
    from namesake.articles.rejects import Rejects
    from namesake.errors import NamesakeError

    texts = options.listed(labelled, more)
    linked = [*texts, *([articles] if articles else [])]
    folder = kb
    if linked:
        folder = default_kb(kb)
        warn_of_sample(folder, kb, linked)
    with Rejects() as rejects:
        if texts:
            given = {"links": links, "scores": scores, "articles": articles, "known": known, "methods": methods}
            _alone(gold=gold, split=split, by=by, **given)
            minimum = options.threshold_of(threshold)
            report = evaluate_text(texts, folder, recipe, threshold=minimum, samples=samples, seed=seed)
        elif gold is None:
            raise NamesakeError("evaluate needs --gold for links and scores, or --labelled text with a --kb")
        elif threshold is not None:
            raise NamesakeError("--threshold is for --labelled text: links and recipes have their own")
        elif links is not None and scores is not None:
            raise NamesakeError("evaluate needs one of --links, --scores, or --kb with --articles")
        else:
            report = evaluate(
                gold,
                scores=links or scores,
                articles=articles,
                kb=folder,
                known=known,
                split=split,
                methods=_listed(methods),
                by=_listed(by),
                unit=cast(Literal["mention", "document"], unit),
                samples=samples,
                seed=seed,
                rejects=rejects,
            )
    _write(report, out, gold, *texts, links, scores, articles, known, kb, Path(recipe))
    report_rejects(rejects)


def reproduce(
    folder: Annotated[Path, typer.Argument(help="with reference_scores.parquet, gold.jsonl and articles.jsonl.gz")],
    out: options.Out,
    kb: Annotated[Path | None, typer.Option("--kb", help="also run every system that this KB suffices for")] = None,
    samples: options.Samples = 10_000,
    seed: options.Seed = 2022,
) -> None:
    """Make the paper's Quotebank tables again from the authors' scores, next to the printed values.

    Example: namesake reproduce quotebank/ --out report/
    """
    from namesake import reproduce

    _write(reproduce(folder, kb=kb, samples=samples, seed=seed), out)


def _alone(**others: object) -> None:
    """Refuse options that have no meaning with labelled text."""
    from namesake.errors import NamesakeError

    for name, given in others.items():
        if given:
            raise NamesakeError(f"--labelled text has its own gold and is linked with --recipe: leave out --{name}")


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _write(report: Report, out: Path, *inputs: Path | None) -> None:
    report.write(out, inputs)
    show(report.short, [*report.remarks, f"wrote {out / 'report.html'}, report.md, tables.json, CSV and LaTeX"])
