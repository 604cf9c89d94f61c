"""The weights of a recipe, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from namesake.analysis.corpus import only_known
from namesake.analysis.tune_labelled import tune_labelled
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset, GoldRow, align, in_split, read_gold, resolved
from namesake.evaluation.measures.methods import from_recipe
from namesake.evaluation.reports.report import View
from namesake.evaluation.scores import ScoreTable, read_scores
from namesake.evaluation.tuning import tune as tuning
from namesake.evaluation.tuning.grid import MOST_POINTS, STEP
from namesake.evaluation.tuning.logit import CONSTANT, few, learnable
from namesake.evaluation.tuning.tune import FOLDS, HOWS, Trial, Tuned
from namesake.evaluation.tuning.view import INTERVALS, trials_view, weights_view
from namesake.files.several import Paths, several
from namesake.kb.store import KB
from namesake.recipe import Recipe


@dataclass(frozen=True)
class Tuning:
    """The recipe with the weights that were found, and tables that tell what they are worth."""

    recipe: Recipe
    views: list[View]
    mentions: int
    """What the weights were found on."""
    warning: str | None = None
    """That these are few for so many weights."""


def tune(
    scores: Paths = (),
    gold: Paths = (),
    recipe: Recipe | str | Path = "default",
    *,
    labelled: Paths = (),
    kb: KB | str | Path | None = None,
    how: Literal["fit", "grid"] = "fit",
    split: str | None = None,
    step: float = STEP,
    folds: int = FOLDS,
    known: KB | str | Path | None = None,
    hold: bool = False,
    name: str | None = None,
) -> Tuning:
    """Find a recipe's weights by a fitted log-linear model and by grid search, and tell what they are worth.

    They are learnt from `scores` with `gold`, from `labelled` text, or from both at once. From labelled text also come
    thresholds, `[decide.thresholds]`.

    Args:
        scores: files with the scores of every candidate; several are fitted as one.
        gold: one gold file for all score files, or one for each.
        recipe: whose parts to weigh: a recipe, a shipped recipe's name or a `.toml` file.
        labelled: files of raw text with labels, each a corpus that counts as the root of its size.
        kb: the KB to link labelled text with.
        how: which weights the recipe gets: `fit` (log-linear) or `grid`.
        split: the gold to find the weights on; default: all of it.
        step: of the grid.
        folds: by document, over all gold, for the figures on mentions that the weights have not seen.
        known: leave out candidates that this KB lacks in files that `namesake link` wrote.
        hold: keep the weights, and fit only when to say nobody: `nil`, `alone` and the doubt `Constant`.
        name: of the recipe that is made; default: its old name and `how`.
    """
    if how not in HOWS:
        raise NamesakeError(f"`how={how!r}`: must be one of {', '.join(HOWS)}")
    given = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
    system = _held(given) if hold else given
    if not labelled and not scores:
        raise NamesakeError("tune needs scores and their `gold=`, or `labelled=` text and its `kb=`")
    sources = (
        _sources([Path(path) for path in several(scores)], [Path(path) for path in several(gold)], known)
        if scores
        else []
    )
    if labelled:
        if how != "fit":
            raise NamesakeError("`how='grid'` is for score files: weights are fitted to labelled text")
        more = _aligned(sources, split)
        chosen, views, mentions = tune_labelled(labelled, kb, system, more, name)
        return Tuning(_released(chosen, given) if hold else chosen, views, mentions, few(system, mentions))
    hows = _hows(system, how, step, len(sources))
    learnt_from = _aligned(sources, split)
    mentions = sum(len(learnable(system, each).gold) for each in learnt_from)
    found = [tuning.tune(system, learnt_from, each, step, name) for each in hows]
    chosen = next(each.recipe for each in found if each.how == how)
    views = [weights_view(found, f"split {split}" if split else "all gold")]
    for source in sources:
        if split and (trials := _on_unseen(found, source, split)):
            caption = f"Weights have not seen it. {INTERVALS}"
            views.append(trials_view(trials, f"{source.name}: gold outside the split.", caption))
    caption = f"Each fold is answered with weights found on the others. {INTERVALS}"
    validated = tuning.cross_validate(system, _aligned(sources, None), hows, step, folds)
    for source, trials in zip(sources, validated, strict=True):
        views.append(trials_view(trials, f"{source.name}: {folds} folds by document over all gold.", caption))
    return Tuning(_released(chosen, given) if hold else chosen, views, mentions, few(system, mentions))


@dataclass(frozen=True)
class _Source:
    """A score file with its gold, and the KB whose entities alone count in it, if any."""

    name: str
    table: ScoreTable
    gold: list[GoldRow]
    known: KB | str | Path | None

    def data(self, rows: list[GoldRow]) -> Dataset:
        """Some of the gold with its scores.

        Mentions that have lost all rivals but one to the KB's gaps are left out: they are no longer ambiguous, nor
        are they like names that only one person bears.
        """
        data = only_known(align(self.table, rows), self.known)
        if self.known is None:
            return data
        lost = zip(data.columns["known"], data.columns["rivals"], strict=True)
        return data.take([i for i, mention in enumerate(lost) if mention != ("some known", None)])


def _held(recipe: Recipe) -> Recipe:
    """The recipe with all weights fixed but the constants of "none of them"."""
    rule = recipe.decide
    if rule is None:
        raise NamesakeError(f"{recipe.name} has no [decide] table: with `hold=True` there is nothing to fit")
    doubts = tuple(part.replace(fixed=part.doubt != CONSTANT) for part in rule.parts)
    parts = tuple(part.replace(fixed=True) for part in recipe.parts)
    return recipe.replace(parts=parts, decide=rule.replace(parts=doubts))


def _released(found: Recipe, given: Recipe) -> Recipe:
    """What was found with weights held, with all parts as fixed or free as they were given."""
    if found.decide is None or given.decide is None:
        return found
    pairs = zip(found.decide.parts, given.decide.parts, strict=True)
    doubts = tuple(now.replace(fixed=before.fixed) for now, before in pairs)
    return found.replace(parts=given.parts, decide=found.decide.replace(parts=doubts))


def _sources(scores: Sequence[Path], gold: Sequence[Path], known: KB | str | Path | None) -> list[_Source]:
    """Score files, each with its gold. Only what `link` wrote can have candidates that a KB lacks."""
    if len(gold) not in {1, len(scores)}:
        raise NamesakeError(
            f"{len(scores)} files of `scores=` and {len(gold)} of `gold=`: one for all, or one for each"
        )
    rows = [resolved(read_gold(path))[0] for path in gold]
    tables = [read_scores(path) for path in scores]
    golds = rows * len(tables) if len(rows) == 1 else rows
    return [
        _Source(path.name, table, own, known if table.chosen else None)
        for path, table, own in zip(scores, tables, golds, strict=True)
    ]


def _hows(recipe: Recipe, how: str, step: float, sources: int) -> list[str]:
    """The ways to tune that are compared: the one that is wanted, the fit, and a grid where it is possible."""
    points = (round(1 / step) + 1) ** sum(not part.fixed for part in recipe.parts)
    grid = recipe.decide is None and sources == 1 and points <= MOST_POINTS
    return [each for each in HOWS if each in {how, "fit"} or grid]


def _aligned(sources: Sequence[_Source], split: str | None) -> list[Dataset]:
    """The gold of a split with its scores, one data set for each file."""
    return [source.data(in_split(source.gold, split)) for source in sources]


def _on_unseen(found: Sequence[Tuned], source: _Source, split: str) -> list[Trial]:
    """What tuned recipes are worth on gold outside the split; nothing where none of it has an answer."""
    rows = [row for row in source.gold if row.columns.get("split") != split]
    if not rows or not (rest := source.data(rows)).answerable.any():
        return []
    rest = learnable(found[0].recipe, rest)
    answers = [from_recipe(each.recipe, rest, f"{each.recipe.name} by {each.how}") for each in found]
    return tuning.trials([*answers, *tuning.untuned(rest)], rest)
