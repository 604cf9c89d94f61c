"""A batch scored with a recipe: the input of links, explanations and reconciliation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from namesake.arrays import Float64, Int64
from namesake.batch import Batch
from namesake.decide import Decision, decide, probabilities
from namesake.doubts import named_doubt
from namesake.errors import NamesakeError
from namesake.kb.store import KB
from namesake.kernels.link.candidate_tables import top_two
from namesake.recipe import Combined, Recipe
from namesake.scorers import Need, named

ALREADY_LINKED = "AlreadyLinked"


@dataclass(frozen=True)
class Scored:
    """A batch with the scores of its candidates and its evidence for NIL, one by one and combined by the recipe."""

    batch: Batch
    recipe: Recipe
    scores: dict[str, Float64]
    doubts: dict[str, Float64]
    combined: Combined

    @cached_property
    def top(self) -> tuple[Int64, Int64, Int64]:
        """For each mention its best and its second candidate, -1 for none, and the key that set them apart."""
        best: tuple[Int64, Int64, Int64] = top_two(self.batch.offsets, np.stack(self.combined.keys))
        return best

    @cached_property
    def decision(self) -> Decision:
        """Whether to answer each mention, and how confidently."""
        total, nil, rule = self.combined.total, self.combined.nil, self.recipe.decide
        no_person = None if rule is None else self.batch.no_person
        return decide(total, nil, self.batch.offsets, self.top[0], rule, no_person)

    @cached_property
    def probabilities(self) -> tuple[Float64, Float64] | None:
        """P(e | m) of each candidate and P(NIL | m) of each mention; None if the recipe always answers."""
        nil = self.combined.nil
        return None if nil is None else probabilities(self.combined.total, self.batch.offsets, nil)


def lacking(recipe: Recipe, kb: KB) -> dict[str, Need]:
    """The scorers and doubts of a recipe that need data which a KB lacks, with that data."""
    needs = {name: named(name).needs for name in recipe.scorers}
    needs |= {name: named_doubt(name).needs for name in recipe.doubts}
    return {name: need for name, need in needs.items() if need is not None and not need.met(kb)}


def refuse_lacking(recipe: Recipe, kb: KB) -> None:
    """Raise an error if a KB lacks data without which the recipe would be another system."""
    for name, need in lacking(recipe, kb).items():
        if need.refused:
            raise NamesakeError(f"recipe {recipe.name} on {kb.path}: {name} needs {need.what}")


def runs_on(recipe: Recipe, kb: KB) -> bool:
    """Whether a KB has the data that a recipe requires, and that at least one of its parts needs."""
    without = lacking(recipe, kb)
    return not any(need.refused for need in without.values()) and any(
        part.scorer not in without for part in recipe.parts
    )


def score(batch: Batch, recipe: Recipe) -> Scored:
    """Compute the recipe's scores.

    The best candidate of a name's first mention is excluded for "the other" entity with this name. If the recipe makes
    a second pass, confident links of the first become anchors.
    """
    without = lacking(recipe, batch.kb)
    present = {name for name in recipe.scorers if name not in without}
    idle = {part.scorer for part in recipe.parts if present & set(part.stands_in_for)} - set(recipe.tie_break)
    scores = {name: named(name)(batch) for name in recipe.scorers if name in present - idle}
    doubts = {name: named_doubt(name)(batch) for name in recipe.doubts if name not in without}
    scored = Scored(batch, recipe, scores, doubts, recipe.combine(scores, batch.offsets, doubts))
    if ALREADY_LINKED in scores and batch.mentions.evidence.other.any():
        batch = batch.revised(taken=_linked_before(scored))
        scores[ALREADY_LINKED] = named(ALREADY_LINKED)(batch)
        doubts = {name: named_doubt(name)(batch) for name in doubts}
        scored = Scored(batch, recipe, scores, doubts, recipe.combine(scores, batch.offsets, doubts))
    relations = [name for name in scores if named(name).anchors]
    if recipe.decide is not None and recipe.decide.confirm < 1 and relations:
        sure = scored.decision.confidence >= recipe.decide.confirm
        batch = batch.revised(confirmed=np.where(sure, np.append(batch.rows, -1)[scored.top[0]], -1))
        scores |= {name: named(name)(batch) for name in relations}
        scored = Scored(batch, recipe, scores, doubts, recipe.combine(scores, batch.offsets, doubts))
    return scored


def _linked_before(scored: Scored) -> Int64:
    """For mentions of "the other" entity with a name, the best candidate of the name's first mention; else -1."""
    batch, other = scored.batch, scored.batch.mentions.evidence.other
    rows, best = np.full(len(batch.names), -1, np.int64), np.append(batch.rows, -1)[scored.top[0]]
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
