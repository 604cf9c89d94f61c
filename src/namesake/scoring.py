"""A batch scored as a recipe says: what the linker ranks and the explanation takes apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from namesake.arrays import Int64
from namesake.batch import Batch, Options
from namesake.decide import decide
from namesake.errors import NamesakeError
from namesake.kb.store import KB
from namesake.kernels.link.top_two import top_two
from namesake.rank import FloatArray
from namesake.recipe import Combined, Decide, Recipe
from namesake.scorers import SCORERS

if TYPE_CHECKING:
    from namesake.names.candidates import Variants

NEEDS: dict[str, Callable[[KB], bool]] = {
    "PR_WP": lambda kb: "wikipedia: none" not in kb.manifest.ranks,
    "Tenure": lambda kb: len(kb.tenure_entity) > 0,
}
"""What a scorer needs of the KB, where not every KB has it."""

RELATIONS = ("EEIScore", "EEIScore_IDF")
"""The scorers that look at anchors: a second pass runs them again."""


@dataclass(frozen=True)
class Scored:
    """A batch with the scores of its candidates: by scorer, and combined as the recipe says."""

    batch: Batch
    recipe: Recipe
    scores: dict[str, FloatArray]
    combined: Combined


def options(recipe: Recipe) -> Options:
    """What the recipe tells its scorers; refuses a recipe with a scorer that does not run here."""
    for name in recipe.scorers:
        if name not in SCORERS:
            raise NamesakeError(
                f"recipe {recipe.name}: {name} cannot be computed here; "
                "`namesake evaluate --scores` takes it from a score file"
            )
    return Options(recipe.anchors, recipe.context, recipe.words, cast("Variants", recipe.variants))


def available(recipe: Recipe, kb: KB) -> list[str]:
    """The scorers of a recipe that the KB has what it takes for, less those that only stand in for one of them.

    A KB without Wikipedia's link graph, or without dated statements, lacks a signal rather than having zeros.
    """
    lacking = {name for name, has in NEEDS.items() if not has(kb)}
    present = [name for name in recipe.scorers if name not in lacking]
    idle = {part.scorer for part in recipe.parts if part.unless in present} - set(recipe.tie_break)
    return [name for name in present if name not in idle]


def score(batch: Batch, recipe: Recipe) -> Scored:
    """Run the recipe's scorers on a batch; where it wants a second pass, sure links of the first become anchors."""
    scores = {name: SCORERS[name](batch, batch.kb) for name in available(recipe, batch.kb)}
    combined = recipe.combine(scores, batch.offsets)
    if recipe.decide is not None and recipe.decide.confirm < 1 and any(name in RELATIONS for name in scores):
        batch = batch.anchored(_sure(batch, combined, recipe.decide))
        scores |= {name: SCORERS[name](batch, batch.kb) for name in scores if name in RELATIONS}
        combined = recipe.combine(scores, batch.offsets)
    return Scored(batch, recipe, scores, combined)


def _sure(batch: Batch, combined: Combined, rule: Decide) -> Int64:
    """The row that each mention is linked to with at least the probability `rule.confirm`, else -1."""
    first = top_two(batch.offsets, np.stack(combined.keys))[0]
    sure = decide(combined.total, batch.offsets, first, rule, batch.no_person).confidence >= rule.confirm
    return np.where(sure, np.append(batch.rows, -1)[first], -1)
