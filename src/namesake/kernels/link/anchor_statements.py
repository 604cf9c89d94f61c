"""Statements that a candidate shares with the anchors of its article."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import HALF, KEYS, LOW_HALF, find_stamped
from namesake.kernels.link.mutual import WORDS, place_in_set
from namesake.kernels.link.word_sums import AHEAD, LINE, fetch_row
from namesake.kernels.search import holds
from namesake.kernels.simd import pointer, prefetch, width
from namesake.kernels.types import F64, I32, I64

AT_ONCE = 64  # statements of a candidate
ROWS, WEIGHTS, STATEMENTS = types.int32[::1], types.float64[::1], types.CPointer(types.int32)


@inlined(types.void(I64, I64, I64, STATEMENTS, STATEMENTS, types.int64))
def fetch_statements(articles, anchors, indptr, pairs, counts, a):
    """Prefetch the data of the statements of an article's anchors, and the first statements of the next article's."""
    for m in range(articles[a], articles[a + 1]):
        if anchors[m] >= 0:
            for j in range(indptr[anchors[m]], indptr[anchors[m] + 1]):
                prefetch(counts, pairs[j])
    for m in range(articles[a + 1], articles[min(a + 2, len(articles) - 1)]):
        if anchors[m] >= 0:
            prefetch(pairs, indptr[anchors[m]])
            prefetch(pairs, indptr[anchors[m]] + LINE)


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
    own_slots, of_anchor = np.empty((longest, 2), np.int64), np.empty((longest, 2))
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
        fetch_statements(articles, anchors, indptr, pair_at, pointer(counts), a)
        statements, mask, stamp = pointer(stated), (2 << width(np.uint64(sizes[a]))) - 1, np.uint64(a + 1)
        every, used, sieve[:] = 0.0, 0, 0
        for m in range(first, last):
            own_slots[m - first, 0] = own_slots[m - first, 1] = used
            if anchors[m] < 0:
                continue
            place = find_stamped(pointer(known), known_mask, np.uint64(anchors[m]), stamp)
            if known[place] >> HALF == stamp:  # two names of one entity are one anchor
                own_slots[m - first, 0] = own_slots[first_of[place], 0]
                own_slots[m - first, 1] = own_slots[first_of[place], 1]
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
            own_slots[m - first, 1] = used
        for m in range(first, last):
            alone = common = 0.0
            for j in range(own_slots[m - first, 0], own_slots[m - first, 1]):
                slot = np.uint64(slots[j])
                alone += expected[slot] if anchored[slot] == 1 else 0.0
                common += weight[slot] if anchored[slot] > 1 else 0.0
            of_anchor[m - first, 0], of_anchor[m - first, 1] = alone, common
        for m in range(first, last):
            own, others = anchors[m], every - of_anchor[m - first, 0]
            for k in range(offsets[m], offsets[m + 1]):
                if k + 2 * AHEAD < len(rows):
                    fetch_row(indptr_at, pair_at, rows[k + AHEAD], rows[k + 2 * AHEAD])
                if rows[k] < 0:
                    continue
                begin, end = indptr_at[rows[k]], indptr_at[rows[k] + 1]
                place = find_stamped(pointer(known), known_mask, np.uint64(rows[k]), stamp)
                if known[place] >> HALF == stamp:  # the candidate is an anchor
                    mine = first_of[place]
                    score[k], rest = of_anchor[mine, 1], every - of_anchor[mine, 0]
                    if own >= 0 and rows[k] != own:
                        score[k], rest = without_itself(
                            *(slots, anchored, pairs, weight, expected, statements),
                            *(own_slots[mine, 0], own_slots[mine, 1], indptr[own], indptr[own + 1], others),
                        )
                    chance[k] = (end - begin) * max(rest, 0.0)
                    continue
                chance[k] = (end - begin) * max(others, 0.0)
                shared = 0.0
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
                        if own < 0 or anchored[slot] > 1 or not holds(pairs, indptr[own], indptr[own + 1], pair):
                            shared += weight[slot]
                    begin += AT_ONCE
                score[k] = shared
    return score, chance
