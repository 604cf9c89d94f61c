"""Mutual support: statements that a candidate shares with candidates of other mentions, or in which they name it."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import FREE, find
from namesake.kernels.simd import pointer
from namesake.kernels.types import F64, I32, I64, own_record, record

LEAST = 0.05
"""Candidates that are less probable support no others."""
LEAST_ASKED = 0.005
"""Candidates that are less probable are supported by no others: all their numbers are 0."""
MOST_STATEMENTS = 100
"""Statements of a candidate that are read."""


class Facts(NamedTuple):
    """The KB's statements as pairs of property and value; the value and the rarity of each pair; items of entities."""

    indptr: Annotated[Any, I64]
    pairs: Annotated[Any, I32]
    values: Annotated[Any, I32]
    rarity: Annotated[Any, F64]
    items: Annotated[Any, I32]


class Slots(NamedTuple):
    """A table of one article: keys with their stamps, and two sums of probabilities for each."""

    keys: Annotated[Any, types.uint64[::1]]
    mass: Annotated[Any, types.float64[::1]]
    named: Annotated[Any, types.float64[::1]]


FACTS, TABLE = record(Facts), own_record(Slots)


@inner(TABLE(types.int64))
def room_for(count):
    """An empty table."""
    room = 16
    while room < 2 * count:
        room *= 2
    return Slots(np.zeros(room, np.uint64), np.zeros(room), np.zeros(room))


@inner(types.int64(TABLE, types.int64))
def slot_of(table, key):
    """The slot of a key, entered if it is new."""
    slot = find(pointer(table.keys), len(table.keys) - 1, np.uint64(key + 1))
    table.keys[slot] = np.uint64(key + 1)
    return slot


@inner(types.void(FACTS, types.int64, types.float64, TABLE, TABLE))
def add(facts, row, p, items, shared):
    """Add a candidate's probability to its item, to the items that its statements name, and to its statements."""
    items.mass[slot_of(items, facts.items[row])] += p
    if np.abs(p) < LEAST:
        return
    for s in range(facts.indptr[row], min(facts.indptr[row + 1], facts.indptr[row] + MOST_STATEMENTS)):
        pair = facts.pairs[s]
        shared.mass[slot_of(shared, pair)] += p
        if facts.values[pair] >= 0 and facts.values[pair] != facts.items[row]:
            items.named[slot_of(items, facts.values[pair])] += p * facts.rarity[pair]


@inner(types.float64(TABLE, types.int64))
def mass_of(table, key):
    """The probability of a key, 0 if it is not in the table."""
    slot = find(pointer(table.keys), len(table.keys) - 1, np.uint64(key + 1))
    return table.mass[slot] if table.keys[slot] != FREE else 0.0


@inner(types.UniTuple(types.float64, 3)(FACTS, types.int64, TABLE, TABLE))
def support_of(facts, row, items, shared):
    """The first three numbers for one candidate. It shares no statements with itself as a candidate of others."""
    names, shares, own = 0.0, 0.0, facts.items[row]
    same = mass_of(items, own)
    for s in range(facts.indptr[row], min(facts.indptr[row + 1], facts.indptr[row] + MOST_STATEMENTS)):
        pair = facts.pairs[s]
        shares += facts.rarity[pair] * np.log1p(max(mass_of(shared, pair) - same, 0.0))
        if facts.values[pair] >= 0 and facts.values[pair] != own:
            names += facts.rarity[pair] * min(max(mass_of(items, facts.values[pair]), 0.0), 1.0)
    slot = find(pointer(items.keys), len(items.keys) - 1, np.uint64(own + 1))
    return names, max(items.named[slot], 0.0), shares


@kernel(types.UniTuple(types.float64[::1], 4)(I64, I64, I64, F64, FACTS))
def mutual_support(articles, offsets, rows, probability, facts):
    """For every candidate, by the probabilities of other mentions' candidates and the rarity of statements:

    how much its statements name them, how much their statements name it, how much statements they share, and the
    probability that another mention is the same entity. The work is linear in the statements of the candidates.
    """
    names, named_by = np.zeros(len(rows)), np.zeros(len(rows))
    shares, elsewhere = np.zeros(len(rows)), np.zeros(len(rows))
    for a in range(len(articles) - 1):
        low, high, count = offsets[articles[a]], offsets[articles[a + 1]], 0
        for k in range(low, high):
            if rows[k] >= 0:
                size = min(facts.indptr[rows[k] + 1] - facts.indptr[rows[k]], MOST_STATEMENTS)
                count += 1 + (size if probability[k] >= LEAST else 0)
        items, shared = room_for(count), room_for(count)
        for k in range(low, high):
            if rows[k] >= 0:
                add(facts, rows[k], probability[k], items, shared)
        for m in range(articles[a], articles[a + 1]):
            begin, end = offsets[m], offsets[m + 1]
            for k in range(begin, end):  # a mention does not support itself
                if rows[k] >= 0:
                    add(facts, rows[k], -probability[k], items, shared)
            for k in range(begin, end):
                if rows[k] >= 0 and probability[k] >= LEAST_ASKED:
                    names[k], named_by[k], shares[k] = support_of(facts, rows[k], items, shared)
                    elsewhere[k] = min(max(mass_of(items, facts.items[rows[k]]), 0.0), 1.0)
            for k in range(begin, end):
                if rows[k] >= 0:
                    add(facts, rows[k], probability[k], items, shared)
    return names, named_by, shares, elsewhere
