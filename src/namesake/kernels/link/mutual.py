"""Mutual support: statements of a candidate whose value is a candidate of another mention of the article."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import HALF, find_stamped
from namesake.kernels.simd import pointer
from namesake.kernels.types import F64, I32, I64

LEAST = 0.02
"""Candidates that are less probable support no others."""
MOST_STATEMENTS = 200
"""Statements of a candidate that are read."""
SLOTS, MASS = types.uint64[::1], types.float64[::1]


@inner(types.int64(SLOTS, types.int64, types.int64, types.uint64))
def slot_of_item(table, mask, item, stamp):
    """The slot of an item in the table of the article `stamp`, or the free one where it belongs."""
    return find_stamped(pointer(table), mask, np.uint64(item), stamp)


@inner(types.void(I64, I32, I32, F64, I64, types.int64, types.float64, SLOTS, types.int64, types.uint64, MASS))
def add_named(indptr, pairs, values, rarity, items, row, p, table, mask, stamp, named):
    """Add a candidate's probability to the items that its statements name, weighted by the rarity of the statement."""
    for s in range(indptr[row], min(indptr[row + 1], indptr[row] + MOST_STATEMENTS)):
        value = values[pairs[s]]
        if value >= 0 and value != items[row]:
            slot = slot_of_item(table, mask, value, stamp)
            if table[slot] >> HALF == stamp:  # only items of candidates have slots
                named[slot] += p * rarity[pairs[s]]


@kernel(types.UniTuple(types.float64[::1], 2)(I64, I64, I64, F64, I64, I32, I32, F64, I64))
def mutual_support(articles, offsets, rows, probability, indptr, pairs, values, rarity, items):
    """For every candidate, how much its statements name candidates of other mentions, and how much they name it.

    `probability` is that of each candidate; `values` and `rarity` are the value and the rarity of each pair of property
    and value; `items` the item of each entity. The work is linear in the statements of the candidates.
    """
    names, named_by = np.zeros(len(rows)), np.zeros(len(rows))
    table, mass, named = np.zeros(16, np.uint64), np.zeros(16), np.zeros(16)
    for a in range(len(articles) - 1):
        low, high, room = offsets[articles[a]], offsets[articles[a + 1]], 16
        while room < 2 * (high - low):
            room *= 2
        if len(table) < room:
            table, mass, named = np.zeros(room, np.uint64), np.zeros(room), np.zeros(room)
        mask, stamp = room - 1, np.uint64(a + 1)
        for k in range(low, high):
            if rows[k] >= 0:
                slot = slot_of_item(table, mask, items[rows[k]], stamp)
                if table[slot] >> HALF != stamp:
                    table[slot], mass[slot], named[slot] = stamp << HALF | np.uint64(items[rows[k]]), 0.0, 0.0
                mass[slot] += probability[k]
        for k in range(low, high):
            if rows[k] >= 0 and probability[k] >= LEAST:
                add_named(indptr, pairs, values, rarity, items, rows[k], probability[k], table, mask, stamp, named)
        for m in range(articles[a], articles[a + 1]):
            begin, end = offsets[m], offsets[m + 1]
            for k in range(begin, end):  # a mention does not support itself
                if rows[k] >= 0:
                    mass[slot_of_item(table, mask, items[rows[k]], stamp)] -= probability[k]
                    if probability[k] >= LEAST:
                        p = -probability[k]
                        add_named(indptr, pairs, values, rarity, items, rows[k], p, table, mask, stamp, named)
            for k in range(begin, end):
                if rows[k] < 0:
                    continue
                named_by[k] = max(named[slot_of_item(table, mask, items[rows[k]], stamp)], 0.0)
                for s in range(indptr[rows[k]], min(indptr[rows[k] + 1], indptr[rows[k]] + MOST_STATEMENTS)):
                    value = values[pairs[s]]
                    if value >= 0 and value != items[rows[k]]:
                        slot = slot_of_item(table, mask, value, stamp)
                        if table[slot] >> HALF == stamp:
                            names[k] += rarity[pairs[s]] * min(max(mass[slot], 0.0), 1.0)
            for k in range(begin, end):
                if rows[k] >= 0:
                    mass[slot_of_item(table, mask, items[rows[k]], stamp)] += probability[k]
                    if probability[k] >= LEAST:
                        p = probability[k]
                        add_named(indptr, pairs, values, rarity, items, rows[k], p, table, mask, stamp, named)
    return names, named_by
