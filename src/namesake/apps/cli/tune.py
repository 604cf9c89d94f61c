"""`namesake tune`: the weights of a recipe, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from namesake.errors import NamesakeError

if TYPE_CHECKING:
    from namesake.evaluate.gold import Dataset, GoldRow
    from namesake.evaluate.scores import ScoreTable
    from namesake.evaluate.tuning.tune import Trial, Tuned
    from namesake.recipe import Recipe


def tune(
    scores: Annotated[list[Path], typer.Option("--scores", help="scores of every candidate; files are fitted as one")],
    gold: Annotated[list[Path], typer.Option("--gold", help="one for all score files, or one for each")],
    split: Annotated[str | None, typer.Option("--split", help="gold to find the weights on; default: all")] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="whose parts to weigh: shipped, or a .toml")] = "default",
    how: Annotated[str, typer.Option("--how", help="which weights to write: fit (log-linear) or grid")] = "fit",
    step: Annotated[float, typer.Option("--step", min=0.01, max=1.0, help="of the grid")] = 0.05,
    folds: Annotated[int, typer.Option("--folds", min=2, help="by document, over all gold")] = 10,
    known: Annotated[
        Path | None, typer.Option("--known", help="leave out candidates this KB lacks in files that `link` wrote")
    ] = None,
    hold: Annotated[
        bool, typer.Option("--hold", help="keep the weights, and fit only when to say nobody: nil and alone")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="the recipe to write; default: NAME-HOW.toml")] = None,
) -> None:
    """Find a recipe's weights by grid search and by a fitted log-linear model, and write a recipe.

    Example: namesake tune --scores scores.parquet --gold gold.jsonl --split tune --recipe uiscore-paper -o mine.toml
    """
    from namesake.evaluate.reports.report import show
    from namesake.evaluate.tuning import tune as tuning
    from namesake.evaluate.tuning.grid import MOST_POINTS
    from namesake.evaluate.tuning.view import INTERVALS, trials_view, weights_view
    from namesake.recipe import Recipe

    if how not in tuning.HOWS:
        raise NamesakeError(f"--how {how}: must be one of {', '.join(tuning.HOWS)}")
    system = _held(Recipe.load(recipe)) if hold else Recipe.load(recipe)
    sources = _sources(scores, gold, known)
    learnt = _aligned(sources, split)
    points = (round(1 / step) + 1) ** sum(not part.fixed for part in system.parts)
    grids = system.decide is None and len(sources) == 1 and points <= MOST_POINTS
    hows = [each for each in tuning.HOWS if each == how or each == "fit" or grids]
    found = [tuning.tune(system, learnt, each, step, out.stem if out else None) for each in hows]
    console = Console()
    written = next(each.recipe for each in found if each.how == how)
    if hold:
        written = written.replace(parts=Recipe.load(recipe).parts)
    out = out or Path(f"{written.name}.toml")
    written.save(out)
    show(weights_view(found, f"split {split}" if split else "all gold"), console)
    for path, source in zip(scores, sources, strict=True):
        if split and (trials := _on_unseen(found, source, split)):
            show(
                trials_view(trials, f"{path.name}: gold outside the split.", f"Weights have not seen it. {INTERVALS}"),
                console,
            )
    validated = tuning.cross_validate(system, _aligned(sources, None), hows, step, folds)
    caption = f"Each fold is answered with weights found on the others. {INTERVALS}"
    for path, trials in zip(scores, validated, strict=True):
        show(trials_view(trials, f"{path.name}: {folds} folds by document over all gold.", caption), console)
    console.print(f"wrote {out}; use it with --recipe {out}", highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Source:
    """A score file with its gold, and the KB whose entities alone count in it, if any."""

    table: ScoreTable
    gold: list[GoldRow]
    known: Path | None

    def data(self, rows: list[GoldRow]) -> Dataset:
        """Some of the gold with its scores.

        Mentions that have lost all rivals but one to the KB's gaps are left out: they are no longer ambiguous, nor
        are they like names that only one person bears.
        """
        from namesake.apps.cli.analyse import only_known
        from namesake.evaluate.gold import align

        data = only_known(align(self.table, rows), self.known)
        lost = zip(data.columns.get("known", []), data.columns.get("rivals", []), strict=True)
        kept = [i for i, mention in enumerate(lost) if mention != ("some known", None)]
        return data if self.known is None else data.take(kept)


def _held(recipe: Recipe) -> Recipe:
    """The recipe with all weights fixed."""
    if recipe.decide is None:
        raise NamesakeError(f"{recipe.name} has no [decide] table: with --hold there is nothing to fit")
    return recipe.replace(parts=tuple(part.replace(fixed=True) for part in recipe.parts))


def _sources(scores: Sequence[Path], gold: Sequence[Path], known: Path | None) -> list[Source]:
    """Score files, each with its gold. Only what `link` wrote can have candidates that a KB lacks."""
    from namesake.evaluate.gold import read_gold, resolved
    from namesake.evaluate.scores import read_scores

    if len(gold) not in {1, len(scores)}:
        raise NamesakeError(f"{len(scores)} files of --scores and {len(gold)} of --gold: one for all, or one for each")
    rows = [resolved(read_gold(path))[0] for path in gold]
    tables = [read_scores(path) for path in scores]
    golds = rows * len(tables) if len(rows) == 1 else rows
    return [Source(table, own, known if table.chosen else None) for table, own in zip(tables, golds, strict=True)]


def _aligned(sources: Sequence[Source], split: str | None) -> list[Dataset]:
    """The gold of a split with its scores, one data set a file."""
    from namesake.evaluate.gold import in_split

    return [source.data(in_split(source.gold, split)) for source in sources]


def _on_unseen(found: Sequence[Tuned], source: Source, split: str) -> list[Trial]:
    """What tuned recipes are worth on gold outside the split; nothing where none of it has an answer."""
    from namesake.evaluate.measures.methods import from_recipe
    from namesake.evaluate.tuning import tune as tuning
    from namesake.evaluate.tuning.logit import learnable

    rows = [row for row in source.gold if row.columns.get("split") != split]
    if not rows or not (rest := source.data(rows)).answerable.any():
        return []
    rest = learnable(found[0].recipe, rest)
    answers = [from_recipe(each.recipe, rest, f"{each.recipe.name} by {each.how}") for each in found]
    return tuning.trials([*answers, *tuning.untuned(rest)], rest)
