"""`namesake evaluate` and `namesake reproduce`: how good are the links, and are they as good as the paper's?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from namesake.apps.cli import analyse as cli_analyse
from namesake.apps.cli import tune as cli_tune
from namesake.errors import NamesakeError

if TYPE_CHECKING:
    from namesake.evaluate.gold import Dataset, GoldRow
    from namesake.evaluate.measures.methods import Method

ScoresOption = Annotated[
    Path | None,
    typer.Option("--scores", help="scores of every candidate: Parquet, JSONL or CSV, or links with --scores"),
]
GoldOption = Annotated[Path, typer.Option("--gold", help="JSONL with articleID, name, gold (index, QID or null), …")]
KnownOption = Annotated[
    Path | None, typer.Option("--known", help="leave out candidates that this KB lacks; gold it lacks is nobody")
]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="folder for report.md, report.html, tables.json, …")]
SamplesOption = Annotated[int, typer.Option("--samples", min=100, help="bootstrap samples")]
SeedOption = Annotated[int, typer.Option("--seed", help="of the bootstrap")]


def register(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command()(evaluate)
    app.command()(cli_tune.tune)
    app.command()(reproduce)
    cli_analyse.register(app)


def evaluate(
    gold: GoldOption,
    out: OutOption,
    links: Annotated[Path | None, typer.Option("--links", help="output of `namesake link`")] = None,
    scores: ScoresOption = None,
    kb: Annotated[Path | None, typer.Option("--kb", help="link --articles with this KB first")] = None,
    articles: Annotated[Path | None, typer.Option("--articles", help="articles to link with --kb")] = None,
    known: KnownOption = None,
    split: Annotated[str | None, typer.Option("--split", help="only gold of this split")] = None,
    methods: Annotated[
        str, typer.Option("--methods", help="comma list: recipes, paper names, score columns, links, Random")
    ] = "",
    by: Annotated[str, typer.Option("--by", help="comma list of gold columns to slice by, such as difficulty")] = "",
    unit: Annotated[str, typer.Option("--unit", help="what the bootstrap draws: mention or document")] = "mention",
    samples: SamplesOption = 10_000,
    seed: SeedOption = 2022,
) -> None:
    """Measure links or scores against gold: P@1, MRR, NIL, confidence, each with its interval.

    Example: namesake evaluate --scores scores.parquet --gold gold.jsonl --split test --by difficulty --out report/
    """
    from namesake.evaluate.gold import align, in_split, read_gold, resolved
    from namesake.evaluate.measures.methods import methods as resolve
    from namesake.evaluate.measures.tables import evaluate_scores
    from namesake.evaluate.reports.evaluation import evaluation_report, short_view
    from namesake.evaluate.reports.report import show, write
    from namesake.evaluate.scores import read_scores

    if unit not in {"mention", "document"}:
        raise NamesakeError(f"--unit {unit}: the bootstrap draws by mention or by document")
    (rows, unresolved), names = resolved(in_split(read_gold(gold), split)), _listed(methods)
    if articles is None:
        data = cli_analyse.only_known(align(read_scores(_source(links, scores, kb)), rows), known)
        chosen = resolve(names, data)
    else:
        data, chosen = _linked(names, articles, kb, rows, known)
    evaluation = evaluate_scores(data, chosen, _listed(by), unit, samples, seed)
    about = [
        f"{links or scores or articles} against {gold}" + (f", split {split}" if split else "") + ".",
        f"Intervals: 95 %, {samples:,} bootstrap samples by {unit} of all {len(data.gold):,} mentions, seed {seed}.",
        *([f"Left out: {unresolved:,} mentions whose truth is unresolved."] if unresolved else []),
        *(
            [f"Candidates that {known} lacks are left out; where it lacks the gold entity, nobody is right."]
            * bool(known)
        ),
    ]
    write(evaluation_report(evaluation, "How good are the links?", about), out)
    console = Console()
    show(short_view(evaluation), console)
    for note in [*about[2:], *evaluation.notes]:
        console.print(note, highlight=False)
    _written(out, console)


def reproduce(
    folder: Annotated[Path, typer.Argument(help="with reference_scores.parquet, gold.jsonl and articles.jsonl.gz")],
    out: OutOption,
    samples: SamplesOption = 10_000,
    seed: SeedOption = 2022,
) -> None:
    """Make the paper's Quotebank tables again from the authors' scores, next to the printed values.

    Example: namesake reproduce quotebank/ --out report/
    """
    from namesake.evaluate.paper import reproduce as paper
    from namesake.evaluate.paper.view import paper_report, short_view
    from namesake.evaluate.reports.report import show, write

    reproduction = paper.reproduce(folder, samples, seed)
    report = paper_report(reproduction)
    write(report, out)
    console = Console()
    show(short_view(reproduction), console)
    show(report.views[-1], console)
    console.print(report.intro[-1].replace("explained at the end", "explained above"), highlight=False)
    _written(out, console)


def _source(links: Path | None, scores: Path | None, kb: Path | None) -> Path:
    """The file to measure."""
    if kb is not None:
        raise NamesakeError("--kb links --articles; name them, or leave --kb out")
    if links is not None and scores is None:
        return links
    if scores is not None and links is None:
        return scores
    raise NamesakeError("evaluate needs one of --links LINKS, --scores SCORES, or --kb KB --articles ARTICLES")


def _linked(
    names: list[str], articles: Path, kb: Path | None, gold: list[GoldRow], known: Path | None
) -> tuple[Dataset, list[Method]]:
    """Link the articles with each method's recipe, and take its answers; among known candidates, its scores."""
    from namesake.apps.cli.analyse import dataset, only_known
    from namesake.apps.cli.main import default_kb
    from namesake.evaluate.measures.methods import PAPER, from_recipe, linked, method
    from namesake.kb.store import KB
    from namesake.recipe import Recipe

    opened = KB.open(default_kb(kb))
    if not names:
        runs_here = [name for name, system in PAPER.items() if not Recipe.load(system).uncomputable]
        names = ["Random", *runs_here, "default"]
    systems = {name: Recipe.load(PAPER.get(name, name)) for name in names if name != "Random"}
    runs = {name: only_known(dataset(articles, opened, system, gold), known) for name, system in systems.items()}
    if not runs:
        raise NamesakeError("Random alone needs no linking: name a recipe, too")
    data = next(iter(runs.values()))
    if known is None:
        answers = {name: replace(linked("links", run), name=name) for name, run in runs.items()}
    else:
        answers = {name: from_recipe(systems[name], run, name) for name, run in runs.items()}
    return data, [answers.get(name) or method(name, data) for name in names]


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _written(out: Path, console: Console) -> None:
    console.print(
        f"wrote {out / 'report.html'}, report.md, tables.json, CSV and LaTeX", highlight=False, soft_wrap=True
    )
