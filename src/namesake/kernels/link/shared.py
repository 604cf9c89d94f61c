"""Statements that an entity shares with the anchors of its article."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import HALF, LOW_HALF, find_stamped
from namesake.kernels.link.ahead import AHEAD, fetch_row
from namesake.kernels.search import holds
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64

LEAST_ROOM = 16
ROOM = 4  # slots for each statement: most that are looked for are not there, and an empty slot says so at once
AT_ONCE = 64  # statements of a candidate


@inlined(types.int64(types.int64))
def room_for(count):
    """The size of a table for so many keys."""
    room = LEAST_ROOM
    while room < ROOM * count:
        room *= 2
    return room


@inlined(types.float64(types.int32, types.int64, types.float64))
def weigh(count, entities, scale):
    """What a statement counts that so many entities make: see `shared_statements`."""
    return np.log(entities / count) * scale if entities > 0 else 1.0


@kernel(types.UniTuple(types.float64[::1], 2)(I64, I64, I64, I64, I64, I32, I32, types.int64))
def shared_statements(articles, offsets, rows, anchors, indptr, pairs, counts, entities):
    """For every candidate e, its statements that an anchor of the article shares: |S_e ∩ ∪ S_u|; and chance.

    Article a has mentions `articles[a]` to `articles[a + 1]`; `anchors[m]` is the row of mention m's entity where
    m is an anchor, else -1. A mention is no anchor to itself: a statement of its own anchor counts for it only
    if another anchor states it too. With `entities` > 0, a shared statement counts log(entities / counts[pair])
    / log(entities) instead of 1: what everybody states says nothing.

    By chance, a random entity with as many statements as e would share |S_e| Σ share × weight over the statements of
    the anchors, where `share` is a statement's part of all that are made.
    """
    score, chance = np.zeros(len(rows)), np.zeros(len(rows))
    stated, known = np.zeros(LEAST_ROOM, np.uint64), np.zeros(LEAST_ROOM, np.uint64)
    anchored, weight, expected = np.empty(LEAST_ROOM, np.int32), np.empty(LEAST_ROOM), np.empty(LEAST_ROOM)
    hits = np.empty(AT_ONCE, np.int64)
    scale, made = 1 / np.log(max(entities, 2)), max(len(pairs), 1)
    for a in range(len(articles) - 1):
        first, last = articles[a], articles[a + 1]
        total = 0
        for m in range(first, last):
            if anchors[m] >= 0:
                total += indptr[anchors[m] + 1] - indptr[anchors[m]]
        if total == 0:
            continue
        room, known_room = room_for(total), room_for(last - first)
        if len(known) < known_room:
            known = np.zeros(known_room, np.uint64)
        if len(stated) < room:
            stated, anchored = np.zeros(room, np.uint64), np.empty(room, np.int32)
            weight, expected = np.empty(room), np.empty(room)
        statements, mask, stamp = pointer(stated), room - 1, np.uint64(a + 1)
        every = 0.0
        for m in range(first, last):
            if anchors[m] < 0:
                continue
            place = find_stamped(pointer(known), known_room - 1, np.uint64(anchors[m]), stamp)
            if known[place] >> HALF == stamp:  # two names of one entity are one anchor
                continue
            known[place] = stamp << HALF | np.uint64(anchors[m])
            for j in range(indptr[anchors[m]], indptr[anchors[m] + 1]):
                slot = find_stamped(statements, mask, np.uint64(pairs[j]), stamp)
                if statements[slot] >> HALF != stamp:
                    statements[slot], anchored[slot] = stamp << HALF | np.uint64(pairs[j]), 0
                    weight[slot] = weigh(counts[pairs[j]], entities, scale)
                    expected[slot] = counts[pairs[j]] / made * weight[slot]
                    every += expected[slot]
                anchored[slot] += 1
        for m in range(first, last):
            own, others, with_others = anchors[m], every, 0.0
            for j in range(indptr[own] if own >= 0 else 0, indptr[own + 1] if own >= 0 else 0):
                slot = find_stamped(statements, mask, np.uint64(pairs[j]), stamp)
                if anchored[slot] == 1:
                    others -= expected[slot]
                else:
                    with_others += weight[slot]
            others = max(others, 0.0)
            for k in range(offsets[m], offsets[m + 1]):
                if k + 2 * AHEAD < len(rows):
                    fetch_row(pointer(indptr), pointer(pairs), rows[k + AHEAD], rows[k + 2 * AHEAD])
                if rows[k] < 0:
                    continue
                begin, end = indptr[rows[k]], indptr[rows[k] + 1]
                chance[k] = (end - begin) * others
                if rows[k] == own:
                    score[k] = with_others
                    continue
                shared = 0.0
                while begin < end:
                    count = 0
                    for j in range(begin, min(begin + AT_ONCE, end)):  # no branch: who states what is anybody's guess
                        slot = find_stamped(statements, mask, np.uint64(pairs[j]), stamp)
                        hits[count] = slot
                        count += statements[slot] >> HALF == stamp
                    for hit in range(count):
                        slot = hits[hit]
                        pair = np.int32(statements[slot] & LOW_HALF)
                        if own < 0 or anchored[slot] > 1 or not holds(pairs, indptr[own], indptr[own + 1], pair):
                            shared += weight[slot]
                    begin += AT_ONCE
                score[k] = shared
    return score, chance
