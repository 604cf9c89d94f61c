"""Grid search over a recipe's weights, as in the paper: all points of [0, 1] in steps of 0.05, in seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from namesake import rank
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset
from namesake.rank import FloatArray, IntArray
from namesake.recipe import Recipe, column

STEP = 0.05
MOST_POINTS = 250_000
_POINTS_AT_ONCE = 256


@dataclass(frozen=True)
class Grid:
    """Place of each answerable mention's gold candidate (rows) at each point of the grid (columns)."""

    points: FloatArray
    """Weights: a row for each point, a column for each part."""
    place: IntArray

    def best(self, mentions: Sequence[int] | IntArray | None = None) -> int:
        """The point with the best P@1, then MRR, on some mentions; of a plateau, the point nearest its middle."""
        place = self.place if mentions is None else self.place[mentions]
        hits = (place == 1).mean(axis=0)
        reciprocal = np.where(hits == hits.max(), (1 / place).mean(axis=0), 0.0)
        plateau = np.flatnonzero(reciprocal >= reciprocal.max() - 1e-12)
        middle = self.points[plateau].mean(axis=0)
        return int(plateau[np.argmin(((self.points[plateau] - middle) ** 2).sum(axis=1))])


def search(recipe: Recipe, data: Dataset, step: float = STEP) -> Grid:
    """Rank the gold candidates of `data` (answerable mentions only) at every point of the grid.

    Totals are added part by part, exactly as `Recipe.combine` adds them, so that ties are the linker's ties.
    """
    if not data.answerable.all():
        raise NamesakeError("a grid is searched on answerable mentions; some have no gold candidate")
    values = [i * step for i in range(round(1 / step) + 1)]
    free = sum(not part.fixed for part in recipe.parts)
    if len(values) ** free > MOST_POINTS:
        raise NamesakeError(
            f"{recipe.name} has {free} parts to weigh: {len(values) ** free:,} points are too many for a grid; "
            "take a larger `step=`, or `how='fit'`"
        )
    axes = [[part.weight] if part.fixed else [round(value, 10) for value in values] for part in recipe.parts]
    points = np.array(list(product(*axes)))
    parts = scaled_parts(recipe, data)
    chain = [key for name in recipe.tie_break if (key := column(data.table.scores, name)) is not None]
    seat = rank.ranks(data.offsets, np.zeros(len(data.table.qids)), *chain)
    gold = np.repeat(data.gold, np.diff(data.offsets))
    earlier = (seat < seat[gold])[:, None]
    place = np.empty((len(data.gold), len(points)), np.int64)
    for start in range(0, len(points), _POINTS_AT_ONCE):
        block = points[start : start + _POINTS_AT_ONCE]
        total = np.zeros((len(gold), len(block)))
        for part, weights in zip(parts, block.T, strict=True):
            total = total + weights * part[:, None]
        ahead = (total > total[gold]) | ((total == total[gold]) & earlier)
        place[:, start : start + len(block)] = 1 + np.add.reduceat(ahead, data.offsets[:-1], axis=0, dtype=np.int64)
    return Grid(points, place)


def scaled_parts(recipe: Recipe, data: Dataset) -> list[FloatArray]:
    """The scores of each part as the recipe scales them, before weighting; zeros where it is absent or idle."""
    unweighted = recipe.replace(parts=tuple(part.replace(weight=1.0) for part in recipe.parts))
    return list(unweighted.combine(data.table.scores, data.offsets).contributions.values())


def scaled_doubts(recipe: Recipe, data: Dataset) -> list[FloatArray]:
    """The doubts of each part of "none of them", scaled, before weighting; zeros where one is absent."""
    if recipe.decide is None:
        return []
    parts = tuple(part.replace(weight=1.0) for part in recipe.decide.parts)
    known = recipe.decide.replace(parts=parts).nil_parts(data.table.doubts, data.offsets)
    return [known.get(part.doubt, np.zeros(len(data.gold))) for part in parts]


def with_weights(recipe: Recipe, weights: Sequence[float] | FloatArray, name: str, description: str) -> Recipe:
    """The recipe with other weights under another name."""
    parts = tuple(part.replace(weight=float(weight)) for part, weight in zip(recipe.parts, weights, strict=True))
    return recipe.replace(name=name, description=description, parts=parts)
