"""Mutual support: statements that a candidate shares with candidates of other mentions, or in which they name it."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import HALF, LOW_HALF, find_stamped
from namesake.kernels.simd import pointer, prefetch, width
from namesake.kernels.types import F64, I32, I64, own_record, record

LEAST = 0.1
"""Candidates that are less probable support no others."""
LEAST_ASKED = 0.05
"""Candidates that are less probable are supported by no others: all their numbers are 0."""
AHEAD = 4
"""The distance of candidates that are prefetched."""
MOST_STATEMENTS = 100
"""Statements of a candidate that are read."""


class Facts(NamedTuple):
    """The KB's statements as pairs of property and value; the value and the rarity of each pair; items of entities."""

    indptr: Annotated[Any, I64]
    pairs: Annotated[Any, I32]
    values: Annotated[Any, I32]
    rarity: Annotated[Any, F64]
    items: Annotated[Any, I32]


NUMBERS, SUMS, KEYS = types.int64[::1], types.float64[::1], types.uint64[::1]


class Tables(NamedTuple):
    """What is known of an article: two hash tables with sums of probabilities, and its candidates and statements.

    An item has the sum for itself (`present`) and, by the rarity of statements, that of naming it. A statement has one
    sum, and at first the number of candidates with it. Candidate k has the slot of its item, and the statements
    `begin[k]` to `begin[k + 1]`: those that are shared or name a candidate, each with its slot, that of the item (-1:
    none, or the candidate itself), and its rarity.
    """

    items: Annotated[Any, KEYS]
    present: Annotated[Any, SUMS]
    named: Annotated[Any, SUMS]
    pairs: Annotated[Any, KEYS]
    shared: Annotated[Any, SUMS]
    own: Annotated[Any, NUMBERS]
    begin: Annotated[Any, NUMBERS]
    pair: Annotated[Any, NUMBERS]
    item: Annotated[Any, NUMBERS]
    rarity: Annotated[Any, SUMS]


FACTS, TABLES = record(Facts), own_record(Tables)


@inlined(types.int64(types.uint64[::1], types.int64, types.int64, types.uint64, *(types.float64[::1],) * 2))
def slot_of(keys, mask, key, stamp, sums, more_sums):
    """The slot of a key, entered with sums of 0 if it is new."""
    slot = find_stamped(pointer(keys), mask, np.uint64(key), stamp)
    if keys[slot] >> HALF != stamp:
        keys[slot], sums[slot], more_sums[slot] = stamp << HALF | np.uint64(key), 0.0, 0.0
    return slot


@inlined(types.int64(FACTS, types.int64, types.float64))
def size_of(facts, row, p):
    """The number of statements of a candidate that are read."""
    return min(facts.indptr[row + 1] - facts.indptr[row], MOST_STATEMENTS) if row >= 0 and p >= LEAST_ASKED else 0


@inner(types.void(types.int64, types.float64, TABLES))
def add(k, p, tables):
    """Add the probability of candidate k to its item, to the items that its statements name, and to its statements."""
    _, present, named, _, shared, own, begin, pair, item, rarity = tables
    if own[k] >= 0:
        present[own[k]] += p
    for s in range(begin[k], begin[k + 1] if np.abs(p) >= LEAST else begin[k]):
        shared[pair[s]] += p
        if item[s] >= 0:
            named[item[s]] += p * rarity[s]


@inner(types.UniTuple(types.float64, 4)(types.int64, TABLES))
def support_of(k, tables):
    """The four numbers of candidate k. It shares no statements with itself as a candidate of others."""
    _, present, named, _, shared, own, begin, pair, item, rarity = tables
    names, shares, same = 0.0, 0.0, present[own[k]]
    for s in range(begin[k], begin[k + 1]):
        if shared[pair[s]] > same:
            shares += rarity[s] * np.log1p(shared[pair[s]] - max(same, 0.0))
        if item[s] >= 0:
            names += rarity[s] * min(max(present[item[s]], 0.0), 1.0)
    return names, max(named[own[k]], 0.0), shares, min(max(same, 0.0), 1.0)


@inner(types.void(FACTS, I64, F64, types.int64, types.uint64, TABLES))
def read_facts(facts, rows, probability, mask, stamp, tables):
    """Give slots to the items of an article's candidates, and to their statements that two share or that name one."""
    indptr, pairs, values, rarities, items = facts
    item_keys, present, named, pair_keys, shared, own, begin, pair, item, rarity = tables
    for k in range(len(rows)):
        begin[k + 1], own[k] = begin[k], -1
        if k + AHEAD < len(rows) and rows[k + AHEAD] >= 0:
            prefetch(pointer(indptr), rows[k + AHEAD])
            prefetch(pointer(items), rows[k + AHEAD])
        if k + 1 < len(rows) and rows[k + 1] >= 0:
            prefetch(pointer(pairs), indptr[rows[k + 1]])
        if rows[k] < 0:
            continue
        own[k] = slot_of(item_keys, mask, items[rows[k]], stamp, present, named)
        for s in range(indptr[rows[k]], indptr[rows[k]] + size_of(facts, rows[k], probability[k])):
            pair[begin[k + 1]] = pairs[s]
            prefetch(pointer(values), pairs[s])
            begin[k + 1] += 1
    for k in range(len(rows)):
        for s in range(begin[k], begin[k + 1]):
            value = values[pair[s]]
            slot = find_stamped(pointer(item_keys), mask, np.uint64(value), stamp) if value >= 0 else own[k]
            item[s] = slot if item_keys[slot] >> HALF == stamp and slot != own[k] else -1
            pair[s] = slot_of(pair_keys, mask, pair[s], stamp, shared, shared)
            shared[pair[s]] += 1
    first = end = 0
    for k in range(len(rows)):
        for s in range(first, begin[k + 1]):
            if shared[pair[s]] > 1 or item[s] >= 0:
                pair[end], item[end], rarity[end] = pair[s], item[s], rarities[pair_keys[pair[s]] & LOW_HALF]
                end += 1
        first, begin[k + 1] = begin[k + 1], end
    for s in range(end):
        shared[pair[s]] = 0.0


@kernel(types.UniTuple(types.float64[::1], 4)(I64, I64, I64, F64, FACTS))
def mutual_support(articles, offsets, rows, probability, facts):
    """For every candidate, by the probabilities of other mentions' candidates and the rarity of statements:

    how much its statements name them, how much their statements name it, how much statements they share, and the
    probability that another mention is the same entity. The work is linear in the statements of the candidates.
    """
    names, named_by = np.zeros(len(rows)), np.zeros(len(rows))
    shares, elsewhere = np.zeros(len(rows)), np.zeros(len(rows))
    sizes, most, longest = np.zeros(len(articles), np.int64), 0, 0
    for a in range(len(articles) - 1):
        low, high = offsets[articles[a]], offsets[articles[a + 1]]
        for k in range(low, high):
            sizes[a] += size_of(facts, rows[k], probability[k])
        most, longest = max(most, sizes[a]), max(longest, high - low)
    room = 2 << width(np.uint64(most + longest))
    tables = Tables(
        *(np.zeros(room, np.uint64), np.empty(room), np.empty(room), np.zeros(room, np.uint64), np.empty(room)),
        *(np.empty(longest, np.int64), np.zeros(longest + 1, np.int64)),
        *(np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)),
    )
    for a in range(len(articles) - 1):
        low, high, stamp = offsets[articles[a]], offsets[articles[a + 1]], np.uint64(a + 1)
        mask = (2 << width(np.uint64(sizes[a] + high - low))) - 1
        read_facts(facts, rows[low:high], probability[low:high], mask, stamp, tables)
        for k in range(low, high):
            add(k - low, probability[k], tables)
        for m in range(articles[a], articles[a + 1]):
            begin, end = offsets[m], offsets[m + 1]
            for k in range(begin, end):  # a mention does not support itself
                add(k - low, -probability[k], tables)
            for k in range(begin, end):
                if rows[k] >= 0 and probability[k] >= LEAST_ASKED:
                    names[k], named_by[k], shares[k], elsewhere[k] = support_of(k - low, tables)
            for k in range(begin, end):
                add(k - low, probability[k], tables)
    return names, named_by, shares, elsewhere
