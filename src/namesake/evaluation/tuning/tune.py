"""Tuning a recipe's weights: the paper's grid and a fitted composite, and what either is worth on unseen mentions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset
from namesake.evaluation.measures import bootstrap, metrics
from namesake.evaluation.measures.bootstrap import Interval
from namesake.evaluation.measures.methods import Method, available, from_recipe, method
from namesake.evaluation.tuning import grid, logit
from namesake.rank import FloatArray, IntArray
from namesake.recipe import Recipe

HOWS = ("fit", "grid")
FOLDS = 10
INNER = (5, 1)  # folds and shuffles that choose the penalty within a fold of `cross_validate`


@dataclass(frozen=True)
class Tuned:
    """A recipe with weights found on some data, and how they were found."""

    recipe: Recipe
    how: str
    detail: str
    figures: tuple[float, float]
    """P@1 and MRR on the answerable mentions the weights were found on: too good to be true elsewhere."""


@dataclass(frozen=True)
class Trial:
    """What a system is worth on mentions its weights have not seen; `with_nil` only where some have no answer."""

    name: str
    p_at_1: Interval
    mrr: Interval
    n: int
    with_nil: Interval | None = None
    of: int = 0
    """The mentions that `with_nil` is over: all of them."""


def answerable(data: Dataset) -> Dataset:
    """The mentions that a grid is searched on: those with a gold candidate."""
    kept = np.flatnonzero(data.answerable)
    if not len(kept):
        raise NamesakeError("no mention has its gold entity among its candidates: there is nothing to tune on")
    return data.take(kept.tolist())


def tune(recipe: Recipe, data: Sequence[Dataset], how: str, step: float = grid.STEP, name: str | None = None) -> Tuned:
    """Find weights by `grid` (one data set) or `fit` (any number), and name the recipe."""
    found, detail = _found(recipe, data, how, step)
    mentions = sum(len(logit.learnable(recipe, each).gold) for each in data)
    name = name or f"{recipe.name}-{how}"
    told = f"{recipe.name} with weights by {how} on {mentions} mentions."
    found = found.replace(name=name, description=recipe.description if name == recipe.name else told)
    answers = [from_recipe(found, answerable(each), name) for each in data]
    hits = np.concatenate([each.hit for each in answers])
    reciprocal = np.concatenate([each.reciprocal_rank for each in answers if each.reciprocal_rank is not None])
    return Tuned(found, how, detail, (float(hits.mean()), float(reciprocal.mean())))


def _found(recipe: Recipe, data: Sequence[Dataset], how: str, step: float) -> tuple[Recipe, str]:
    if how == "grid":
        if recipe.decide is not None or len(data) > 1:
            raise NamesakeError(
                f"{recipe.name}: a grid takes one score file and a recipe without [decide]; use `how='fit'`"
            )
        searched = grid.search(recipe, answerable(data[0]), step)
        weights = searched.points[searched.best()]
        return grid.with_weights(recipe, weights, recipe.name, ""), f"{len(searched.points):,} points"
    fitted = logit.fit(recipe, data)
    return fitted.recipe, f"L2 penalty {fitted.penalty:g}, log-likelihood held out {fitted.held_out:.3f} per mention"


def cross_validate(
    recipe: Recipe,
    data: Sequence[Dataset],
    hows: Sequence[str],
    step: float = grid.STEP,
    folds: int = FOLDS,
    seed: int = 0,
) -> list[list[Trial]]:
    """Ten folds by document: each mention is answered with weights found without its fold. A list for each data set.

    The systems of the paper that need no tuning stand beside them, on the same mentions.
    """
    data = [logit.learnable(recipe, each) for each in data]
    answers = [[from_recipe(recipe, each, f"{recipe.name} as it is"), *untuned(each)] for each in data]
    fold = _common_folds(data, folds, seed)
    for how in hows:
        for column, found in zip(answers, _held_out(recipe, data, fold, how, step), strict=True):
            column.append(found)
    return [trials(found, each) for found, each in zip(answers, data, strict=True)]


def _common_folds(data: Sequence[Dataset], folds: int, seed: int) -> list[IntArray]:
    """A fold for each mention of each data set; an article is in the same fold everywhere."""
    articles = [article for each in data for article, _ in each.table.mentions]
    number = {article: i for i, article in enumerate(dict.fromkeys(articles))}
    fold = logit.fold_of(np.array([number[article] for article in articles]), folds, seed)
    return np.split(fold, np.cumsum([len(each.gold) for each in data])[:-1])


def untuned(data: Dataset) -> list[Method]:
    """The paper's best heuristic and its neural rival, to stand beside: they need no tuning."""
    return [method(name, data) for name in available(data) if name in {"UIScore", "mGENRE"}]


def _held_out(recipe: Recipe, data: Sequence[Dataset], fold: Sequence[IntArray], how: str, step: float) -> list[Method]:
    """A recipe's answers on each data set where every fold has the weights that the others gave."""
    name = f"{recipe.name} by {how}"
    if how == "grid":
        return [_held_out_grid(recipe, each, number, name, step) for each, number in zip(data, fold, strict=True)]
    values = [np.zeros((3, len(number))) for number in fold]
    for k in range(int(max(number.max() for number in fold)) + 1):
        inside = [each.take(np.flatnonzero(number != k).tolist()) for each, number in zip(data, fold, strict=True)]
        found = logit.fit(recipe, inside, *INNER).recipe
        for each, number, value in zip(data, fold, values, strict=True):
            outside = np.flatnonzero(number == k)
            if len(outside):
                answers = from_recipe(found, each.take(outside.tolist()), name)
                value[:, outside] = answers.hit, _defined(answers.reciprocal_rank), answers.right_with_nil
    return [Method(name, *value) for value in values]


def _held_out_grid(recipe: Recipe, data: Dataset, fold: IntArray, name: str, step: float) -> Method:
    searched = grid.search(recipe, data, step)
    place = np.zeros(len(fold))
    for k in np.unique(fold):
        inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        place[outside] = searched.place[outside, searched.best(inside)]
    hit = (place == 1).astype(np.float64)
    return Method(name, hit, 1 / place, hit)


def trials(answers: Sequence[Method], data: Dataset) -> list[Trial]:
    """P@1 and MRR of methods on answerable mentions, accuracy with NIL on all, with intervals by document."""
    columns = [
        column
        for each in answers
        for column in (
            metrics.as_slice(each.hit, data.answerable),
            metrics.as_slice(_defined(each.reciprocal_rank), data.answerable),
            each.right_with_nil,
        )
    ]
    statistic = metrics.Means(np.column_stack(columns))
    plain = statistic(np.ones((1, len(data.gold))))[0]
    found = bootstrap.intervals(plain, bootstrap.resample(statistic, data.documents))
    known, every = int(data.answerable.sum()), len(data.gold)
    return [
        Trial(each.name, found[3 * i], found[3 * i + 1], known, found[3 * i + 2] if known < every else None, every)
        for i, each in enumerate(answers)
    ]


def _defined(values: FloatArray | None) -> FloatArray:
    assert values is not None, "recipes know the order of their candidates"
    return values
