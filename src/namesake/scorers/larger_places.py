"""Places that contain others, in names such as "Springfield, Illinois"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from namesake.arrays import indptr
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.arrays import Bool
    from namesake.batch import Batch
    from namesake.kb.store import KB

LARGER = (17, 131, 159, 276)
"""Properties whose value is a larger place: country, located in, headquarters, location."""


@scorer("InNextPlace")
def in_next_place(batch: Batch) -> Scores:
    """1 if a comma and the name of a place that contains the candidate follow: Springfield, Illinois; else 0."""
    return batch.once(_contained)[0].astype(np.float64)


@scorer("ContainsPlaceBefore")
def contains_place_before(batch: Batch) -> Scores:
    """1 if the name of an entity in this place and a comma precede: Illinois in Springfield, Illinois; else 0."""
    return batch.once(_contained)[1].astype(np.float64)


def _contained(batch: Batch, kb: KB) -> tuple[Bool, Bool]:
    """Whether each candidate is in a candidate of the name after a comma, and whether it contains one before."""
    from namesake.kernels.link.larger_places import Places, contained

    found = batch.mentions.context
    if found is None:
        return np.zeros(len(batch.rows), np.bool_), np.zeros(len(batch.rows), np.bool_)
    mention, order = np.repeat(np.arange(len(found)), np.diff(found.span_indptr)), np.argsort(found.first)
    before = np.flatnonzero(found.is_behind_comma(found.end))
    low, high = (np.searchsorted(found.first[order], found.end[before], side) for side in ("left", "right"))
    ends = indptr(high - low)
    after = order[np.arange(ends[-1]) + np.repeat(low - ends[:-1], high - low)]
    pairs = mention[np.repeat(before, high - low)], mention[after]
    larger = np.searchsorted(kb.pair_property, [(which, which + 1) for which in LARGER])
    places = Places(kb.statements.indptr, kb.statements.values, larger, kb.pair_value, kb.entity_item)
    inside: tuple[Bool, Bool] = contained(*pairs, batch.offsets, batch.rows, places)
    return inside
