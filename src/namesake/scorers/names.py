"""How well the KB knows an entity by the name that the text uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.matches import Candidate, Match, Source
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

LABEL, VARIANT, WORST = 0.99, 0.8, 0.05
"""From which quality of the match on a name is the label; from which it is a name at all; the worst that counts."""


@scorer("Match")
def match(batch: Batch, kb: KB) -> Scores:
    """1 where the mention's name is the entity's label, less for aliases and variants, 0 where it is neither."""
    return batch.quality


@scorer("Alias")
def alias(batch: Batch) -> Scores:
    """-1 where the mention's name is an alias of the entity or a bare form of its label (0.8 ≤ Match < 1), else 0."""
    return -((batch.quality >= VARIANT) & (batch.quality < LABEL)).astype(np.float64)


@scorer("Variant")
def variant(batch: Batch) -> Scores:
    """-1 where the mention's name is a variant of the entity's, part of it, or no name of it (Match < 0.8), else 0."""
    return -(batch.quality < VARIANT).astype(np.float64)


@scorer("Quality")
def quality(batch: Batch) -> Scores:
    """log(Match), at least log(0.05): the odds that somebody is called so."""
    return np.log(np.maximum(batch.quality, WORST))


def the_other_one(candidate: Candidate) -> Iterator[Match]:
    """Where the text says that another person of the name is meant than this one."""
    reading = candidate.reading
    if reading.batch.taken[reading.mention] == candidate.row:
        yield Match(sources=[Source("another of the name", value=reading.name)])


@scorer("Taken", explain=the_other_one)
def taken(batch: Batch) -> Scores:
    """-1 for whom the article's first of that name fits best, where the text speaks of the other one; else 0."""
    meant = np.repeat(batch.taken, np.diff(batch.offsets))
    excluded: Scores = -((batch.rows == meant) & (batch.rows >= 0)).astype(np.float64)
    return excluded
