"""Statements that a candidate shares with the anchors of its article."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import HALF, find_stamped
from namesake.kernels.link.mutual import WORDS, place_in_set
from namesake.kernels.link.word_sums import AHEAD, fetch_row
from namesake.kernels.search import holds
from namesake.kernels.simd import pointer, prefetch, width
from namesake.kernels.types import F64, I32, I64

AT_ONCE = 64  # statements of a candidate


@kernel(types.UniTuple(types.float64[::1], 2)(I64, I64, I64, I64, I64, I32, I32, F64))
def shared_statements(articles, offsets, rows, anchors, indptr, pairs, counts, rarity):
    """For every candidate e, its statements that an anchor of the article shares: |S_e ∩ ∪ S_u|; and chance.

    Article a has mentions `articles[a]` to `articles[a + 1]`; `anchors[m]` is the row of mention m's entity where
    m is an anchor, else -1. Neither the mention's own anchor nor the candidate itself counts as an anchor: their
    statements count only if another anchor has them too. A shared statement counts `rarity[pair]`, or 1 if `rarity` is
    empty.

    By chance, a random entity with as many statements as e shares |S_e| Σ share × weight over the anchors' statements,
    where `share` is a statement's share of all statements.
    """
    score, chance, most, longest = np.zeros(len(rows)), np.zeros(len(rows)), 0, 0
    sizes = np.zeros(len(articles), np.int64)
    for a in range(len(articles) - 1):
        for m in range(articles[a], articles[a + 1]):
            if anchors[m] >= 0:
                sizes[a] += indptr[anchors[m] + 1] - indptr[anchors[m]]
        most, longest = max(most, sizes[a]), max(longest, articles[a + 1] - articles[a])
    known_mask, room = (2 << width(np.uint64(longest))) - 1, 2 << width(np.uint64(most))
    known, first_of = np.zeros(known_mask + 1, np.uint64), np.empty(known_mask + 1, np.int64)
    own_slots, anchor_of = np.empty(longest + 1, np.int64), np.empty(longest, np.int64)
    alone, common = np.empty(longest), np.empty(longest)
    stated, anchored, weight, expected = (
        np.zeros(room, np.uint64),
        np.empty(room, np.int32),
        np.empty(room),
        np.empty(room),
    )
    slots, sieve, hits = np.empty(most, np.int32), np.empty(WORDS, np.uint64), np.empty(AT_ONCE, np.int32)
    pair_at, indptr_at, made = pointer(pairs), pointer(indptr), max(len(pairs), 1)
    for a in range(len(articles) - 1):
        if sizes[a] == 0:
            continue
        first, last = articles[a], articles[a + 1]
        statements, mask, stamp = pointer(stated), (2 << width(np.uint64(sizes[a]))) - 1, np.uint64(a + 1)
        every, used, sieve[:] = 0.0, 0, 0
        for m in range(first, last):
            fetch_row(indptr_at, pair_at, anchors[min(m + 2, last - 1)], anchors[min(m + AHEAD, len(anchors) - 1)])
            for j in range(indptr[max(anchors[m], 0)], indptr[anchors[m] + 1]):
                prefetch(pointer(counts), pair_at[j])
        for m in range(first, last):
            own_slots[m - first], anchor_of[m - first] = used, m - first
            if anchors[m] < 0:
                continue
            place = find_stamped(pointer(known), known_mask, np.uint64(anchors[m]), stamp)
            if known[place] >> HALF == stamp:  # two names of one entity are one anchor
                anchor_of[m - first] = first_of[place]
                continue
            known[place], first_of[place] = stamp << HALF | np.uint64(anchors[m]), m - first
            for j in range(indptr[anchors[m]], indptr[anchors[m] + 1]):
                pair = pair_at[j]
                slot = find_stamped(statements, mask, np.uint64(pair), stamp)
                if statements[slot] >> HALF != stamp:
                    statements[slot], anchored[slot] = stamp << HALF | np.uint64(pair), 0
                    weight[slot] = rarity[pair] if len(rarity) > 0 else 1.0
                    expected[slot] = counts[pair] / made * weight[slot]
                    every += expected[slot]
                    word, bit = place_in_set(pair)
                    sieve[word] |= bit
                anchored[slot] += 1
                slots[used] = slot
                used += 1
        own_slots[last - first] = used
        for m in range(last - first):
            missing = shared = 0.0
            for j in range(own_slots[m], own_slots[m + 1]):
                slot = np.uint64(slots[j])
                missing += expected[slot] if anchored[slot] == 1 else 0.0
                shared += weight[slot] if anchored[slot] > 1 else 0.0
            alone[m], common[m] = missing, shared
        for m in range(first, last):
            for k in range(offsets[m], offsets[m + 1]):
                if k + 2 * AHEAD < len(rows):
                    fetch_row(indptr_at, pair_at, rows[k + AHEAD], rows[k + 2 * AHEAD])
                if rows[k] < 0:
                    continue
                own, rest = anchors[m], every - alone[anchor_of[m - first]]
                begin, end = indptr_at[rows[k]], indptr_at[rows[k] + 1]
                size, itself, shared = end - begin, 0, 0.0
                place = find_stamped(pointer(known), known_mask, np.uint64(rows[k]), stamp)
                if known[place] >> HALF == stamp:  # the candidate is an anchor
                    itself = 1
                    if own < 0 or own == rows[k]:
                        shared, rest, begin = common[first_of[place]], every - alone[first_of[place]], end
                while begin < end:
                    count = 0
                    for j in range(begin, min(begin + AT_ONCE, end)):  # no branch: prediction fails here
                        hits[np.uint64(count)] = pair_at[j]
                        word, bit = place_in_set(pair_at[j])
                        count += sieve[word] & bit != 0
                    for hit in range(count):
                        pair = hits[hit]
                        slot = find_stamped(statements, mask, np.uint64(pair), stamp)
                        if statements[slot] >> HALF != stamp:
                            continue
                        others = anchored[slot] - itself
                        if others == 1 and own >= 0:
                            others -= holds(pairs, indptr[own], indptr[own + 1], pair)
                        if others > 0:
                            shared += weight[slot]
                        elif itself:
                            rest -= expected[slot]
                    begin += AT_ONCE
                score[k], chance[k] = shared, size * max(rest, 0.0)
    return score, chance
