"""Statements that an entity shares with the anchors of its article."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.link.overlap import first_at_least
from namesake.kernels.types import I32, I64


@kernel(types.int64(I32, I64, types.int64, types.int32))
def find(keys, stamps, stamp, key):
    """Slot of `key` in an open-addressing table whose live slots bear `stamp`, or the free slot where it belongs."""
    mask = len(keys) - 1
    slot = (np.int64(key) * np.int64(0x9E3779B1)) >> 7 & mask
    while stamps[slot] == stamp and keys[slot] != key:
        slot = slot + 1 & mask
    return slot


@kernel(types.boolean(I32, types.int64, types.int64, types.int32))
def holds(ascending, low, high, key):
    """Whether the ascending `ascending[low:high]` holds `key`."""
    at = first_at_least(ascending, low, high, key)
    return at < high and ascending[at] == key


@kernel(types.float64[::1](I64, I64, I64, I64, I64, I32, I32, types.int64))
def shared_statements(articles, offsets, rows, anchors, indptr, pairs, counts, entities):
    """For every candidate e, its statements that an anchor of the article shares: |S_e ∩ ∪ S_u|.

    Article a has mentions `articles[a]` to `articles[a + 1]`; `anchors[m]` is the row of mention m's entity where
    m is an anchor, else -1. A mention is no anchor to itself: a statement of its own anchor counts for it only
    if another anchor states it too. With `entities` > 0, a shared statement counts log(entities / counts[pair])
    / log(entities) instead of 1: what everybody states says nothing.
    """
    score = np.zeros(len(rows))
    room = 16
    keys, anchored, stamps = np.empty(room, np.int32), np.empty(room, np.int32), np.zeros(room, np.int64)
    entity_room = 16
    known, known_stamps = np.empty(entity_room, np.int32), np.zeros(entity_room, np.int64)
    scale = 1 / np.log(max(entities, 2))
    for a in range(len(articles) - 1):
        first, last = articles[a], articles[a + 1]
        total = 0
        for m in range(first, last):
            if anchors[m] >= 0:
                total += indptr[anchors[m] + 1] - indptr[anchors[m]]
        if total == 0:
            continue
        if room < 2 * total:
            while room < 2 * total:
                room *= 2
            keys, anchored, stamps = np.empty(room, np.int32), np.empty(room, np.int32), np.zeros(room, np.int64)
        if entity_room < 2 * (last - first):
            while entity_room < 2 * (last - first):
                entity_room *= 2
            known, known_stamps = np.empty(entity_room, np.int32), np.zeros(entity_room, np.int64)
        stamp = np.int64(a + 1)
        for m in range(first, last):
            if anchors[m] < 0:
                continue
            entity = np.int32(anchors[m])
            place = find(known, known_stamps, stamp, entity)
            if known_stamps[place] == stamp:  # two names of one entity are one anchor
                continue
            known[place], known_stamps[place] = entity, stamp
            for j in range(indptr[anchors[m]], indptr[anchors[m] + 1]):
                slot = find(keys, stamps, stamp, pairs[j])
                if stamps[slot] != stamp:
                    keys[slot], anchored[slot], stamps[slot] = pairs[j], 0, stamp
                anchored[slot] += 1
        for m in range(first, last):
            for k in range(offsets[m], offsets[m + 1]):
                if rows[k] < 0:
                    continue
                shared = 0.0
                for j in range(indptr[rows[k]], indptr[rows[k] + 1]):
                    slot = find(keys, stamps, stamp, pairs[j])
                    if stamps[slot] != stamp:
                        continue
                    own = anchors[m]
                    if own >= 0 and anchored[slot] == 1 and holds(pairs, indptr[own], indptr[own + 1], pairs[j]):
                        continue
                    shared += np.log(entities / counts[pairs[j]]) * scale if entities > 0 else 1.0
                score[k] = shared
    return score
