"""Statements that a candidate shares with the anchors of its article."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import HALF, KEYS, LOW_HALF, find_stamped
from namesake.kernels.link.word_sums import AHEAD, LINE, fetch_row
from namesake.kernels.search import holds
from namesake.kernels.simd import pointer, prefetch, width
from namesake.kernels.types import I32, I64

LEAST_ROOM = 16
ROOM = 4  # slots for each statement: most lookups fail, and an empty slot ends them at once
AT_ONCE = 64  # statements of a candidate
SIEVE = 1023  # a filter by the lowest bits of statements before the lookup
REMEMBERED = 1023  # the size of the cache of weights, by the lowest bits of counts
ROWS, WEIGHTS, STATEMENTS = types.int32[::1], types.float64[::1], types.CPointer(types.int32)


@inlined(types.int64(types.int64))
def room_for(count):
    """The size of a table for this many keys."""
    return max(LEAST_ROOM, 1 << width(np.uint64(ROOM * count)))


@inlined(types.float64(types.int32, types.int64, types.float64, ROWS, WEIGHTS))
def weigh(count, entities, scale, counts, weights):
    """The weight of a statement that `count` entities have (see `shared_statements`), with a cache."""
    place = count & REMEMBERED
    if counts[place] != count:
        counts[place] = count
        weights[place] = np.log(entities / count) * scale if entities > 0 else 1.0
    return weights[place]


@inlined(types.int64(I64, I64, I64, STATEMENTS, STATEMENTS, types.int64))
def count_statements(articles, anchors, indptr, pairs, counts, a):
    """The number of statements of an article's anchors; prefetches their data and that of the next article."""
    total = 0
    for m in range(articles[a], articles[a + 1]):
        if anchors[m] >= 0:
            total += indptr[anchors[m] + 1] - indptr[anchors[m]]
            for j in range(indptr[anchors[m]], indptr[anchors[m] + 1]):
                prefetch(counts, pairs[j])
    for m in range(articles[a + 1], articles[min(a + 2, len(articles) - 1)]):
        if anchors[m] >= 0:
            prefetch(pairs, indptr[anchors[m]])
            prefetch(pairs, indptr[anchors[m]] + LINE)
    return total


@inlined(
    types.UniTuple(types.float64, 2)(
        *(ROWS, ROWS, I32, WEIGHTS, WEIGHTS, KEYS),
        *(types.int64, types.int64, types.int64, types.int64, types.float64),
    )
)
def without_itself(slots, anchored, pairs, weight, expected, statements, begin, end, other_begin, other_end, every):
    """What the anchor with the slots begin to end shares with the others, and `every` without what it alone expects.

    A second excluded anchor has the statements pairs[other_begin:other_end]; `every` is already without it.
    """
    shared = 0.0
    for j in range(begin, end):
        slot = slots[j]
        left = anchored[slot] - 1
        if left > 0 and holds(pairs, other_begin, other_end, np.int32(statements[slot] & LOW_HALF)):
            left -= 1
        if left > 0:
            shared += weight[slot]
        else:
            every -= expected[slot]
    return shared, every


@kernel(types.UniTuple(types.float64[::1], 2)(I64, I64, I64, I64, I64, I32, I32, types.int64))
def shared_statements(articles, offsets, rows, anchors, indptr, pairs, counts, entities):
    """For every candidate e, its statements that an anchor of the article shares: |S_e ∩ ∪ S_u|; and chance.

    Article a has mentions `articles[a]` to `articles[a + 1]`; `anchors[m]` is the row of mention m's entity where
    m is an anchor, else -1. Neither the mention's own anchor nor the candidate itself counts as an anchor: their
    statements count only if another anchor has them too. With `entities` > 0, a shared statement counts
    log(entities / counts[pair]) / log(entities) instead of 1.

    By chance, a random entity with as many statements as e shares |S_e| Σ share × weight over the anchors' statements,
    where `share` is a statement's share of all statements.
    """
    score, chance = np.zeros(len(rows)), np.zeros(len(rows))
    stated, known = np.zeros(LEAST_ROOM, np.uint64), np.zeros(LEAST_ROOM, np.uint64)
    anchored, weight, expected = np.empty(LEAST_ROOM, np.int32), np.empty(LEAST_ROOM), np.empty(LEAST_ROOM)
    slots, own_slots = np.empty(LEAST_ROOM, np.int32), np.empty((LEAST_ROOM, 2), np.int64)
    first_of, sieve = np.empty(LEAST_ROOM, np.int64), np.zeros(SIEVE + 1, np.int32)
    weighed, weights = np.full(REMEMBERED + 1, np.int32(-1), np.int32), np.empty(REMEMBERED + 1)
    hits, pair_at, indptr_at = np.empty(AT_ONCE, np.int32), pointer(pairs), pointer(indptr)
    scale, made = 1 / np.log(max(entities, 2)), max(len(pairs), 1)
    for a in range(len(articles) - 1):
        first, last = articles[a], articles[a + 1]
        total = count_statements(articles, anchors, indptr, pair_at, pointer(counts), a)
        if total == 0:
            continue
        room, known_room = room_for(total), room_for(last - first)
        if len(known) < known_room:
            known, first_of = np.zeros(known_room, np.uint64), np.empty(known_room, np.int64)
            own_slots = np.empty((known_room, 2), np.int64)
        if len(stated) < room:
            stated, anchored = np.zeros(room, np.uint64), np.empty(room, np.int32)
            weight, expected, slots = np.empty(room), np.empty(room), np.empty(room, np.int32)
        statements, mask, stamp = pointer(stated), room - 1, np.uint64(a + 1)
        every, used = 0.0, 0
        for m in range(first, last):
            own_slots[m - first, 0] = own_slots[m - first, 1] = used
            if anchors[m] < 0:
                continue
            place = find_stamped(pointer(known), known_room - 1, np.uint64(anchors[m]), stamp)
            if known[place] >> HALF == stamp:  # two names of one entity are one anchor
                own_slots[m - first, 0] = own_slots[first_of[place], 0]
                own_slots[m - first, 1] = own_slots[first_of[place], 1]
                continue
            known[place], first_of[place] = stamp << HALF | np.uint64(anchors[m]), m - first
            for j in range(indptr[anchors[m]], indptr[anchors[m] + 1]):
                slot = find_stamped(statements, mask, np.uint64(pairs[j]), stamp)
                if statements[slot] >> HALF != stamp:
                    statements[slot], anchored[slot] = stamp << HALF | np.uint64(pairs[j]), 0
                    weight[slot] = weigh(counts[pairs[j]], entities, scale, weighed, weights)
                    expected[slot] = counts[pairs[j]] / made * weight[slot]
                    every += expected[slot]
                    sieve[pairs[j] & SIEVE] = a + 1
                anchored[slot] += 1
                slots[used] = slot
                used += 1
            own_slots[m - first, 1] = used
        for m in range(first, last):
            own, others = anchors[m], every
            for j in range(own_slots[m - first, 0], own_slots[m - first, 1]):
                if anchored[slots[j]] == 1:
                    others -= expected[slots[j]]
            for k in range(offsets[m], offsets[m + 1]):
                if k + 2 * AHEAD < len(rows):
                    fetch_row(indptr_at, pair_at, rows[k + AHEAD], rows[k + 2 * AHEAD])
                if rows[k] < 0:
                    continue
                begin, end = indptr_at[rows[k]], indptr_at[rows[k] + 1]
                place = find_stamped(pointer(known), known_room - 1, np.uint64(rows[k]), stamp)
                if known[place] >> HALF == stamp:  # the candidate is an anchor
                    mine, rest, own_begin, own_end = first_of[place], every, np.int64(0), np.int64(0)
                    if own >= 0 and rows[k] != own:
                        rest, own_begin, own_end = others, indptr[own], indptr[own + 1]
                    score[k], rest = without_itself(
                        *(slots, anchored, pairs, weight, expected, statements),
                        *(own_slots[mine, 0], own_slots[mine, 1], own_begin, own_end, rest),
                    )
                    chance[k] = (end - begin) * max(rest, 0.0)
                    continue
                chance[k] = (end - begin) * max(others, 0.0)
                shared = 0.0
                while begin < end:
                    count = 0
                    for j in range(begin, min(begin + AT_ONCE, end)):  # no branch: prediction fails here
                        hits[np.uint64(count)] = pair_at[j]
                        count += sieve[np.uint32(pair_at[j] & SIEVE)] == a + 1
                    for hit in range(count):
                        pair = hits[hit]
                        slot = find_stamped(statements, mask, np.uint64(pair), stamp)
                        if statements[slot] >> HALF != stamp:
                            continue
                        if own < 0 or anchored[slot] > 1 or not holds(pairs, indptr[own], indptr[own + 1], pair):
                            shared += weight[slot]
                    begin += AT_ONCE
                score[k] = shared
    return score, chance
