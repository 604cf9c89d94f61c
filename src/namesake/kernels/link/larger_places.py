"""Places that contain the candidates of names."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.search import first_at_least
from namesake.kernels.types import I32, I64, record

MOST = 24
"""Places that are looked at for a candidate, the nearest first."""
RANGES = types.Array(types.int64, 2, "C", readonly=True)


class Places(NamedTuple):
    """The KB's statements as pairs of property and value, in the order of properties; items of entities.

    The pairs from `larger[i, 0]` to `larger[i, 1]` have a property whose value is a larger place.
    """

    indptr: Annotated[Any, I64]
    pairs: Annotated[Any, I32]
    larger: Annotated[Any, RANGES]
    values: Annotated[Any, I32]
    items: Annotated[Any, I32]


PLACES = record(Places)


@inner(types.int64(PLACES, types.int64, types.int32[::1]))
def all_larger(places, row, found):
    """Write the items of the places that contain an entity, also through others; returns how many there are."""
    count = at = 0
    while row >= 0:
        for s in range(places.indptr[row], places.indptr[row + 1]):
            pair = places.pairs[s]
            for k in range(len(places.larger)):
                if places.larger[k, 0] <= pair < places.larger[k, 1] and places.values[pair] >= 0 and count < MOST:
                    found[count] = places.values[pair]
                    count += 1
        row = -1
        while row < 0 and at < count:
            above = first_at_least(places.items, 0, len(places.items), found[at])
            if above < len(places.items) and places.items[above] == found[at]:
                row = above
            at += 1
    return count


@kernel(types.UniTuple(types.boolean[::1], 2)(I64, I64, I64, I64, PLACES))
def contained(before, after, offsets, rows, places):
    """Of pairs of mentions, whether each candidate of the first is in one of the second, and the reverse."""
    inside, contains = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    found = np.empty(MOST, np.int32)
    for p in range(len(before)):
        for c in range(offsets[before[p]], offsets[before[p] + 1]):
            count = all_larger(places, rows[c], found)
            for d in range(offsets[after[p]], offsets[after[p] + 1]):
                if rows[d] < 0 or rows[d] == rows[c]:
                    continue
                for k in range(count):
                    if found[k] == places.items[rows[d]]:
                        inside[c] = contains[d] = True
    return inside, contains
