"""Tuning a recipe's weights: the paper's grid and a fitted composite, and what either is worth on unseen mentions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from namesake.errors import NamesakeError
from namesake.evaluate import bootstrap, grid, logit, metrics
from namesake.evaluate.bootstrap import Interval
from namesake.evaluate.gold import Dataset
from namesake.evaluate.methods import Method, available, from_recipe, method
from namesake.rank import FloatArray, IntArray
from namesake.recipe import Recipe

HOWS = ("fit", "grid")
FOLDS = 10


@dataclass(frozen=True)
class Tuned:
    """A recipe with weights found on some data, and how they were found."""

    recipe: Recipe
    how: str
    detail: str
    figures: tuple[float, float]
    """P@1 and MRR on the mentions the weights were found on: too good to be true elsewhere."""


@dataclass(frozen=True)
class Trial:
    """What a system is worth on mentions its weights have not seen."""

    name: str
    p_at_1: Interval
    mrr: Interval
    n: int


def answerable(data: Dataset) -> Dataset:
    """The mentions that weights can be learnt from and measured on: those with a gold candidate."""
    kept = np.flatnonzero(data.answerable)
    if not len(kept):
        raise NamesakeError("no mention has its gold entity among its candidates: there is nothing to tune on")
    return data.take(kept.tolist())


def tune(recipe: Recipe, data: Dataset, how: str, step: float = grid.STEP) -> Tuned:
    """Find weights on the answerable mentions of a data set by `grid` or `fit`."""
    data = answerable(data)
    weights, detail = _weights(recipe, data, how, step)
    name = f"{recipe.name}-{how}"
    found = grid.with_weights(
        recipe, weights, name, f"{recipe.name} with weights by {how} on {len(data.gold)} mentions."
    )
    answers = from_recipe(found, data, name)
    assert answers.reciprocal_rank is not None
    return Tuned(found, how, detail, (float(answers.hit.mean()), float(answers.reciprocal_rank.mean())))


def _weights(recipe: Recipe, data: Dataset, how: str, step: float) -> tuple[FloatArray, str]:
    if how == "grid":
        searched = grid.search(recipe, data, step)
        return searched.points[searched.best()], f"{len(searched.points):,} points"
    weights, penalty = logit.fit(recipe, data)
    return weights, f"conditional logit, L2 penalty {penalty:g}"


def cross_validate(
    recipe: Recipe, data: Dataset, hows: Sequence[str], step: float = grid.STEP, folds: int = FOLDS, seed: int = 0
) -> list[Trial]:
    """Ten folds by document: each mention is answered with weights found without its fold.

    The systems of the paper that need no tuning stand beside them, on the same mentions.
    """
    data = answerable(data)
    fold = logit.fold_of(data.documents, folds, seed)
    answers = [from_recipe(recipe, data, f"{recipe.name} as it is"), *untuned(data)]
    answers += [_held_out(recipe, data, fold, how, step) for how in hows]
    return trials(answers, data)


def untuned(data: Dataset) -> list[Method]:
    """The paper's best heuristic and its neural rival, to stand beside: they need no tuning."""
    return [method(name, data) for name in available(data) if name in {"UIScore", "mGENRE"}]


def _held_out(recipe: Recipe, data: Dataset, fold: IntArray, how: str, step: float) -> Method:
    """A recipe's answers where every fold has the weights that the others gave."""
    hit, reciprocal = np.zeros(len(fold)), np.zeros(len(fold))
    searched = grid.search(recipe, data, step) if how == "grid" else None
    for number in np.unique(fold):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if searched is not None:
            place = searched.place[outside, searched.best(inside)]
            hit[outside], reciprocal[outside] = place == 1, 1 / place
            continue
        weights, _ = logit.fit(recipe, data.take(inside.tolist()))
        found = from_recipe(grid.with_weights(recipe, weights, how, ""), data.take(outside.tolist()), how)
        assert found.reciprocal_rank is not None
        hit[outside], reciprocal[outside] = found.hit, found.reciprocal_rank
    return Method(f"{recipe.name} by {how}", hit, reciprocal, hit)


def trials(answers: Sequence[Method], data: Dataset) -> list[Trial]:
    """P@1 and MRR of methods with intervals, resampled by document."""
    columns = [values for each in answers for values in (each.hit, each.reciprocal_rank) if values is not None]
    values = np.column_stack(columns)
    statistic = metrics.Means(values)
    plain = statistic(np.ones((1, len(values))))[0]
    sampled = bootstrap.resample(statistic, data.documents)
    found = bootstrap.intervals(plain, sampled)
    return [Trial(each.name, found[2 * i], found[2 * i + 1], len(values)) for i, each in enumerate(answers)]
