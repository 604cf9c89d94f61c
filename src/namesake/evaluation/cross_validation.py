"""Tuning of a recipe's weights by fit or grid, and cross-validation of the result on unseen mentions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from namesake.arrays import Int64
from namesake.errors import NamesakeError
from namesake.evaluation import fit_weights
from namesake.evaluation.fit_weights import STEP, article_numbers, fold_of, learnable, search_grid, with_weights
from namesake.evaluation.gold import Dataset
from namesake.evaluation.measure import Method, Row, available, evaluate_scores, from_recipe, method
from namesake.evaluation.reports.report import View
from namesake.recipe import Recipe

HOWS = ("fit", "grid")
FOLDS = 10
INNER = (5, 1)  # folds and shuffles that select the penalty within a fold of `cross_validate`


@dataclass(frozen=True)
class Tuned:
    """A recipe with tuned weights."""

    recipe: Recipe
    how: str
    detail: str
    figures: tuple[float, float]
    """P@1 and MRR on the answerable mentions that the weights were tuned on."""


def tune_weights(
    recipe: Recipe, data: Sequence[Dataset], how: str, step: float = STEP, name: str | None = None
) -> Tuned:
    """Find weights by `grid` (one data set) or `fit` (any number), and name the recipe."""
    if how == "grid":
        if recipe.decide is not None or len(data) > 1:
            raise NamesakeError("a grid takes one score file and a recipe without [decide]; use `how='fit'`")
        grid = search_grid(recipe, learnable(None, data[0]), step)
        found, detail = with_weights(recipe, grid.points[grid.best()]), f"{len(grid.points):,} points"
    else:
        fit = fit_weights.fit(recipe, data)
        found = fit.recipe
        detail = f"L2 penalty {fit.penalty:g}, log-likelihood held out {fit.held_out:.3f} per mention"
    mentions = sum(len(learnable(recipe, each).gold) for each in data)
    return named(found, recipe, data, how, detail, name, mentions)


def named(
    found: Recipe, given: Recipe, data: Sequence[Dataset], how: str, detail: str, name: str | None, mentions: int
) -> Tuned:
    """Name a tuned recipe, and measure it on the data that it was tuned on."""
    name = name or f"{given.name}-{how}"
    text = given.description if name == given.name else f"{given.name} with weights by {how} on {mentions} mentions."
    found = found.replace(name=name, description=text)
    answers = [from_recipe(found, learnable(None, each), name) for each in data if each.answerable.any()]
    hits, ranks = (np.concatenate(each) for each in zip(*((a.hit, a.reciprocal_rank) for a in answers), strict=True))
    return Tuned(found, how, detail, (float(hits.mean()), float(ranks.mean())))


def cross_validate(
    recipe: Recipe, data: Sequence[Dataset], hows: Sequence[str], step: float = STEP, folds: int = FOLDS
) -> list[list[Row]]:
    """Answer each mention with weights tuned without its fold (by document). Returns the figures for each data set.

    The recipe itself and the paper's systems that need no tuning are measured on the same mentions.
    """
    data = [learnable(recipe, each) for each in data]
    answers = [[from_recipe(recipe, each, f"{recipe.name} untuned"), *untuned(each)] for each in data]
    bounds = np.cumsum([len(each.gold) for each in data])[:-1]
    fold = np.split(fold_of(article_numbers(data), folds, 0), bounds)
    for how in hows:
        name = f"{recipe.name} by {how}"
        if how == "grid":
            found = [_held_out_grid(recipe, each, of, name, step) for each, of in zip(data, fold, strict=True)]
        else:
            found = _held_out_fit(recipe, data, fold, name)
        for column, each in zip(answers, found, strict=True):
            column.append(each)
    return [figures(found, each) for found, each in zip(answers, data, strict=True)]


def untuned(data: Dataset) -> list[Method]:
    """Return the paper's best heuristic and its neural rival, which need no tuning."""
    return [method(name, data) for name in available(data) if name in {"UIScore", "mGENRE"}]


def _held_out_fit(recipe: Recipe, data: Sequence[Dataset], fold: Sequence[Int64], name: str) -> list[Method]:
    values = [np.zeros((3, len(number))) for number in fold]
    for k in range(int(max(number.max() for number in fold)) + 1):
        inside = [each.take(np.flatnonzero(number != k).tolist()) for each, number in zip(data, fold, strict=True)]
        found = fit_weights.fit(recipe, inside, *INNER).recipe
        for each, number, value in zip(data, fold, values, strict=True):
            outside = np.flatnonzero(number == k)
            if len(outside):
                answers = from_recipe(found, each.take(outside.tolist()), name)
                value[:, outside] = answers.hit, answers.reciprocal_rank, answers.right_with_nil
    return [Method(name, *value) for value in values]


def _held_out_grid(recipe: Recipe, data: Dataset, fold: Int64, name: str, step: float) -> Method:
    grid = search_grid(recipe, data, step)
    place = np.zeros(len(fold))
    for k in np.unique(fold):
        inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        place[outside] = grid.place[outside, grid.best(inside)]
    hit = (place == 1).astype(np.float64)
    return Method(name, hit, 1 / place, hit)


def figures(answers: Sequence[Method], data: Dataset) -> list[Row]:
    """Return P@1 and MRR on answerable mentions and accuracy with NIL on all of them, with intervals by document."""
    rows = evaluate_scores(data, answers, unit="document").rows
    return [row for row in rows if row.metric in {"P@1", "MRR", "accuracy with NIL"}]


def weights_view(tuned: Sequence[Tuned], split: str) -> View:
    """Return the weights of each way of tuning, one row per part, and the figures on the tuning data."""
    recipes = [each.recipe for each in tuned]
    rows = []
    for k, part in enumerate(recipes[0].parts):
        rivals = " and no ".join(part.stands_in_for)
        remark = ", ".join([f"if there is no {rivals}"] * bool(rivals) + ["fixed"] * part.fixed)
        rows.append([f"{part.scorer} ({part.scale})", *(f"{each.parts[k].weight:.4g}" for each in recipes), remark])
    rules = [recipe.decide for recipe in recipes if recipe.decide is not None]
    if rules:
        rows.append(["NIL", *(f"{rule.nil:.4g}" for rule in rules), ""])
        if rules[0].alone is not None:
            rows.append(["NIL, one candidate", *(f"{rule.alone:.4g}" for rule in rules), ""])
        for k, doubt in enumerate(rules[0].parts):
            weights = [f"{rule.parts[k].weight:.4g}" for rule in rules]
            rows.append([f"NIL: {doubt.doubt} ({doubt.scale})", *weights, "fixed" if doubt.fixed else ""])
    rows += [[name, *(f"{each.figures[k]:.3f}" for each in tuned), ""] for k, name in enumerate(("P@1", "MRR"))]
    details = "; ".join(f"{each.how}: {each.detail}" for each in tuned)
    caption = f"P@1 and MRR on {split}, where the weights were found: expect less elsewhere. {details}."
    header = ["part (scale)", *(each.how for each in tuned), ""]
    return View("weights", "Weights found.", header, rows, caption, words=frozenset({0, len(header) - 1}))
