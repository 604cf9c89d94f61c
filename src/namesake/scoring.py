"""A batch scored as a recipe says: what the linker ranks and the explanation takes apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from namesake.arrays import Int64
from namesake.batch import Batch
from namesake.decide import decide
from namesake.doubts import named_doubt
from namesake.errors import NamesakeError
from namesake.kb.store import KB
from namesake.kernels.link.top_two import top_two
from namesake.rank import FloatArray
from namesake.recipe import Combined, Decide, Recipe
from namesake.scorers import named

PARTED = "AlreadyLinked"
"""The scorer that tells another person of a name from the first."""


@dataclass(frozen=True)
class Scored:
    """A batch with the scores of its candidates and its doubts: one by one, and combined as the recipe says."""

    batch: Batch
    recipe: Recipe
    scores: dict[str, FloatArray]
    doubts: dict[str, FloatArray]
    combined: Combined


def refuse_lacking(recipe: Recipe, kb: KB) -> None:
    """Refuse a recipe with a scorer that must have what a KB has not: its zeros would decide."""
    for name in recipe.scorers:
        need = named(name).needs
        if need is not None and need.refused and not need.met(kb):
            raise NamesakeError(f"recipe {recipe.name} on {kb.path}: {name} needs {need.what}")


def runs_on(recipe: Recipe, kb: KB) -> bool:
    """Whether a KB has what a recipe must have (see `refuse_lacking`), and what at least one of its parts needs."""
    needs = (named(name).needs for name in recipe.scorers)
    if any(need is not None and need.refused and not need.met(kb) for need in needs):
        return False
    without = lacking(recipe, kb)
    return any(part.scorer not in without for part in recipe.parts)


def lacking(recipe: Recipe, kb: KB) -> dict[str, str]:
    """The scorers and doubts of a recipe that a KB has not what it takes for, each with what that is.

    A KB without Wikipedia's link graph, or without dated statements, lacks a signal rather than having zeros.
    """
    needs = {name: named(name).needs for name in recipe.scorers}
    needs |= {name: named_doubt(name).needs for name in recipe.doubts}
    return {name: need.what for name, need in needs.items() if need is not None and not need.met(kb)}


def available(recipe: Recipe, kb: KB) -> list[str]:
    """The scorers of a recipe that a KB has what it takes for, less those that only stand in for one of them."""
    without = lacking(recipe, kb)
    present = [name for name in recipe.scorers if name not in without]
    idle = {part.scorer for part in recipe.parts if set(part.stands_in_for) & set(present)} - set(recipe.tie_break)
    return [name for name in present if name not in idle]


def score(batch: Batch, recipe: Recipe) -> Scored:
    """Run the recipe's scorers on a batch; where it wants a second pass, sure links of the first become anchors.

    "The other Chris Evans" is not whom the first one fits best: that is known when all others are scored.
    """
    scores = {name: named(name)(batch) for name in available(recipe, batch.kb)}
    without = lacking(recipe, batch.kb)
    doubts = {name: named_doubt(name)(batch) for name in recipe.doubts if name not in without}
    combined = recipe.combine(scores, batch.offsets, doubts)
    if PARTED in scores and batch.mentions.evidence.other.any():
        batch = batch.parted(_namesakes(batch, combined))
        scores[PARTED] = named(PARTED)(batch)
        doubts = {name: named_doubt(name)(batch) for name in doubts}
        combined = recipe.combine(scores, batch.offsets, doubts)
    relations = [name for name in scores if named(name).anchors]
    if recipe.decide is not None and recipe.decide.confirm < 1 and relations:
        batch = batch.anchored(_sure(batch, combined, recipe.decide))
        scores |= {name: named(name)(batch) for name in relations}
        combined = recipe.combine(scores, batch.offsets, doubts)
    return Scored(batch, recipe, scores, doubts, combined)


def _namesakes(batch: Batch, combined: Combined) -> Int64:
    """Whom the article's first mention of a name fits best, for mentions of another of that name; -1 elsewhere."""
    rows, other = np.full(len(batch.names), -1, np.int64), batch.mentions.evidence.other
    best = np.append(batch.rows, -1)[top_two(batch.offsets, np.stack(combined.keys))[0]]
    first: dict[tuple[int, str], int] = {}
    asked = np.flatnonzero(np.isin(batch.article, batch.article[other])).tolist()
    for m in asked:
        if not other[m]:
            first.setdefault((int(batch.article[m]), batch.spelled[m]), m)
    for m in asked:
        at = first.get((int(batch.article[m]), batch.spelled[m]), -1)
        if other[m] and at >= 0:
            rows[m] = best[at]
    return rows


def _sure(batch: Batch, combined: Combined, rule: Decide) -> Int64:
    """The row that each mention is linked to with at least the probability `rule.confirm`, else -1."""
    first = top_two(batch.offsets, np.stack(combined.keys))[0]
    sure = decide(combined.total, combined.none, batch.offsets, first, rule, batch.no_person).confidence >= rule.confirm
    return np.where(sure, np.append(batch.rows, -1)[first], -1)
