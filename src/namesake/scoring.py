"""A batch scored as a recipe says: what the linker ranks and the explanation takes apart."""

from __future__ import annotations

from dataclasses import dataclass

from namesake.batch import Batch, Options
from namesake.errors import NamesakeError
from namesake.rank import FloatArray
from namesake.recipe import Combined, Recipe
from namesake.scorers import SCORERS


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
    return Options(recipe.anchors, recipe.context, recipe.words)


def score(batch: Batch, recipe: Recipe) -> Scored:
    """Run the recipe's scorers on a batch."""
    scores = {name: SCORERS[name](batch, batch.kb) for name in recipe.scorers}
    return Scored(batch, recipe, scores, recipe.combine(scores, batch.offsets))
