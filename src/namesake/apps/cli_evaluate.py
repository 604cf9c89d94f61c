"""`namesake evaluate`, `tune` and `reproduce`: how good are the links, and are they as good as the paper's?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from namesake.apps import cli_analyse
from namesake.errors import NamesakeError

if TYPE_CHECKING:
    from namesake.evaluate.gold import Dataset, GoldRow
    from namesake.evaluate.methods import Method

ScoresOption = Annotated[
    Path | None,
    typer.Option("--scores", help="scores of every candidate: Parquet, JSONL or CSV, or links with --scores"),
]
GoldOption = Annotated[Path, typer.Option("--gold", help="JSONL with articleID, name, gold (index, QID or null), …")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="folder for report.md, report.html, tables.json, …")]
SamplesOption = Annotated[int, typer.Option("--samples", min=100, help="bootstrap samples")]
SeedOption = Annotated[int, typer.Option("--seed", help="of the bootstrap")]


def register(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command()(evaluate)
    app.command()(tune)
    app.command()(reproduce)
    cli_analyse.register(app)


def evaluate(
    gold: GoldOption,
    out: OutOption,
    links: Annotated[Path | None, typer.Option("--links", help="output of `namesake link`")] = None,
    scores: ScoresOption = None,
    kb: Annotated[Path | None, typer.Option("--kb", help="link --articles with this KB first")] = None,
    articles: Annotated[Path | None, typer.Option("--articles", help="articles to link with --kb")] = None,
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
    from namesake.evaluate.gold import align, in_split, read_gold
    from namesake.evaluate.methods import methods as resolve
    from namesake.evaluate.report import show, write
    from namesake.evaluate.scores import read_scores
    from namesake.evaluate.tables import evaluate_scores
    from namesake.evaluate.view_evaluation import evaluation_report, short_view

    if unit not in {"mention", "document"}:
        raise NamesakeError(f"--unit {unit}: the bootstrap draws by mention or by document")
    rows, names = in_split(read_gold(gold), split), _listed(methods)
    if articles is None:
        data = align(read_scores(_source(links, scores, kb)), rows)
        chosen = resolve(names, data)
    else:
        data, chosen = _linked(names, articles, kb, rows)
    evaluation = evaluate_scores(data, chosen, _listed(by), unit, samples, seed)
    about = [
        f"{links or scores or articles} against {gold}" + (f", split {split}" if split else "") + ".",
        f"Intervals: 95 %, {samples:,} bootstrap samples by {unit}, seed {seed}.",
    ]
    write(evaluation_report(evaluation, "How good are the links?", about), out)
    console = Console()
    show(short_view(evaluation), console)
    for note in evaluation.notes:
        console.print(note, highlight=False)
    _written(out, console)


def tune(
    scores: Annotated[Path, typer.Option("--scores", help="scores of every candidate: Parquet, JSONL or CSV")],
    gold: GoldOption,
    split: Annotated[str | None, typer.Option("--split", help="gold to find the weights on; default: all")] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="whose parts to weigh: shipped, or a .toml")] = "default",
    how: Annotated[str, typer.Option("--how", help="which weights to write: fit (log-linear) or grid")] = "fit",
    step: Annotated[float, typer.Option("--step", min=0.01, max=1.0, help="of the grid")] = 0.05,
    folds: Annotated[int, typer.Option("--folds", min=2, help="by document, over all gold")] = 10,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="the recipe to write; default: NAME-HOW.toml")] = None,
) -> None:
    """Find a recipe's weights by grid search and by a fitted log-linear model, and write a recipe.

    Example: namesake tune --scores scores.parquet --gold gold.jsonl --split tune --recipe uiscore-paper -o mine.toml
    """
    from namesake.evaluate import tune as tuning
    from namesake.evaluate.gold import align, in_split, read_gold
    from namesake.evaluate.grid import MOST_POINTS
    from namesake.evaluate.methods import from_recipe
    from namesake.evaluate.report import show
    from namesake.evaluate.scores import read_scores
    from namesake.evaluate.view_tune import trials_view, weights_view
    from namesake.recipe import Recipe

    if how not in tuning.HOWS:
        raise NamesakeError(f"--how {how}: must be one of {', '.join(tuning.HOWS)}")
    system = Recipe.load(recipe)
    table, rows = read_scores(scores), read_gold(gold)
    learnt = align(table, in_split(rows, split))
    points = (round(1 / step) + 1) ** len(system.parts)
    hows = [each for each in tuning.HOWS if each == how or each == "fit" or points <= MOST_POINTS]
    found = [tuning.tune(system, learnt, each, step) for each in hows]
    written = next(each.recipe for each in found if each.how == how)
    out = out or Path(f"{written.name}.toml")
    written.save(out)
    console = Console()
    show(weights_view(found, f"split {split}" if split else "all gold"), console)
    unseen = [row for row in rows if row.columns.get("split") != split] if split else []
    if any(row.gold is not None for row in unseen):
        rest = tuning.answerable(align(table, unseen))
        answers = [from_recipe(each.recipe, rest, each.recipe.name) for each in found]
        answers += tuning.untuned(rest)
        show(trials_view(tuning.trials(answers, rest), "Gold outside the split.", "Weights have not seen it."), console)
    everything = align(table, rows)
    caption = "Each fold is answered with weights found on the others."
    validated = tuning.cross_validate(system, everything, hows, step, folds)
    show(trials_view(validated, f"{folds} folds by document over all gold.", caption), console)
    console.print(f"wrote {out}; use it with --recipe {out}", highlight=False, soft_wrap=True)


def reproduce(
    folder: Annotated[Path, typer.Argument(help="with reference_scores.parquet, gold.jsonl and articles.jsonl.gz")],
    out: OutOption,
    samples: SamplesOption = 10_000,
    seed: SeedOption = 2022,
) -> None:
    """Make the paper's Quotebank tables again from the authors' scores, next to the printed values.

    Example: namesake reproduce quotebank/ --out report/
    """
    from namesake.evaluate import paper
    from namesake.evaluate.report import show, write
    from namesake.evaluate.view_paper import paper_report, short_view

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


def _linked(names: list[str], articles: Path, kb: Path | None, gold: list[GoldRow]) -> tuple[Dataset, list[Method]]:
    """Link the articles with each method's recipe, and take its answers."""
    from namesake.apps.cli import default_kb
    from namesake.apps.cli_analyse import dataset
    from namesake.evaluate.methods import PAPER, linked, method
    from namesake.kb.store import KB
    from namesake.recipe import Recipe
    from namesake.scorers import SCORERS

    opened = KB.open(default_kb(kb))
    if not names:
        runs_here = [name for name, system in PAPER.items() if set(Recipe.load(system).scorers) <= set(SCORERS)]
        names = ["Random", *runs_here, "default"]
    systems = {name: Recipe.load(PAPER.get(name, name)) for name in names if name != "Random"}
    runs = {name: dataset(articles, opened, system, gold) for name, system in systems.items()}
    if not runs:
        raise NamesakeError("Random alone needs no linking: name a recipe, too")
    data = next(iter(runs.values()))
    answers = {name: replace(linked("links", run), name=name) for name, run in runs.items()}
    return data, [answers.get(name) or method(name, data) for name in names]


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _written(out: Path, console: Console) -> None:
    console.print(
        f"wrote {out / 'report.html'}, report.md, tables.json, CSV and LaTeX", highlight=False, soft_wrap=True
    )
