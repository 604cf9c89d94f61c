"""Statements that an entity shares with the anchors of its article."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import HALF, find_stamped
from namesake.kernels.search import holds
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64

FIRST_ROOM = 16


@kernel(types.uint64[::1](types.uint64[::1], types.int64))
def with_room(entries, count):
    """A table that so many keys fill by half at most: the same if it is large enough, else an empty one."""
    room = len(entries)
    while room < 2 * count:
        room *= 2
    return entries if room == len(entries) else np.zeros(room, np.uint64)


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
    stated, anchored = np.zeros(FIRST_ROOM, np.uint64), np.empty(FIRST_ROOM, np.int32)
    known = np.zeros(FIRST_ROOM, np.uint64)
    scale, made = 1 / np.log(max(entities, 2)), max(len(pairs), 1)
    for a in range(len(articles) - 1):
        first, last = articles[a], articles[a + 1]
        total = 0
        for m in range(first, last):
            if anchors[m] >= 0:
                total += indptr[anchors[m] + 1] - indptr[anchors[m]]
        if total == 0:
            continue
        stated, known = with_room(stated, total), with_room(known, last - first)
        if len(anchored) < len(stated):
            anchored = np.empty(len(stated), np.int32)
        statements, mask, stamp = pointer(stated), len(stated) - 1, np.uint64(a + 1)
        every = 0.0
        for m in range(first, last):
            if anchors[m] < 0:
                continue
            place = find_stamped(pointer(known), len(known) - 1, np.uint64(anchors[m]), stamp)
            if known[place] >> HALF == stamp:  # two names of one entity are one anchor
                continue
            known[place] = stamp << HALF | np.uint64(anchors[m])
            for j in range(indptr[anchors[m]], indptr[anchors[m] + 1]):
                slot = find_stamped(statements, mask, np.uint64(pairs[j]), stamp)
                if statements[slot] >> HALF != stamp:
                    statements[slot], anchored[slot] = stamp << HALF | np.uint64(pairs[j]), 0
                    every += counts[pairs[j]] / made * weigh(counts[pairs[j]], entities, scale)
                anchored[slot] += 1
        for m in range(first, last):
            others, own = every, anchors[m]
            for j in range(indptr[own] if own >= 0 else 0, indptr[own + 1] if own >= 0 else 0):
                if anchored[find_stamped(statements, mask, np.uint64(pairs[j]), stamp)] == 1:
                    others -= counts[pairs[j]] / made * weigh(counts[pairs[j]], entities, scale)
            for k in range(offsets[m], offsets[m + 1]):
                if rows[k] < 0:
                    continue
                chance[k] = (indptr[rows[k] + 1] - indptr[rows[k]]) * max(others, 0.0)
                shared = 0.0
                for j in range(indptr[rows[k]], indptr[rows[k] + 1]):
                    slot = find_stamped(statements, mask, np.uint64(pairs[j]), stamp)
                    if statements[slot] >> HALF != stamp:
                        continue
                    if own >= 0 and anchored[slot] == 1 and holds(pairs, indptr[own], indptr[own + 1], pairs[j]):
                        continue
                    shared += weigh(counts[pairs[j]], entities, scale)
                score[k] = shared
    return score, chance
