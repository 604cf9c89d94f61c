"""Mutual support: statements that a candidate shares with candidates of other mentions, or in which they name it."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import HALF, KEYS, ONE, find_stamped
from namesake.kernels.link.word_sums import fetch_row
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
READ = 1 << 30  # where the statements of an entity begin that have been read, before some of them are chosen
WORDS, SIX, LAST_WORD, LAST_BIT = 128, np.uint64(6), np.uint64(127), np.uint64(63)
"""A set of numbers, by their lowest bits, is 128 words of 64 bits."""
STEPS, MOST_LOGARITHMS = 64, 2048
LOGARITHMS = np.log1p(np.arange(MOST_LOGARITHMS) / STEPS)


class Facts(NamedTuple):
    """The KB's statements as pairs of property and value; the value and the rarity of each pair; items of entities."""

    indptr: Annotated[Any, I64]
    pairs: Annotated[Any, I32]
    values: Annotated[Any, I32]
    rarity: Annotated[Any, F64]
    items: Annotated[Any, I32]


INTS, SUMS = types.CPointer(types.int32), types.CPointer(types.float64)


class Tables(NamedTuple):
    """The candidates of an article, their entities, and the statements of these.

    Entities have slots in a hash table of items: `own[k]` is that of candidate k. Slot `none` stands for no entity, and
    the next one for those without a row. By slot: the summed probabilities of the candidates (`present`), and of those
    with a statement that names the entity, times its rarity (`named`); where its statements begin and end. By
    statement: its entity; the slot of its pair in another table, with summed probabilities (`shared`); the entity that
    it names; its rarity.
    """

    own: Annotated[Any, INTS]
    items: Annotated[Any, KEYS]
    present: Annotated[Any, SUMS]
    named: Annotated[Any, SUMS]
    begin: Annotated[Any, INTS]
    end: Annotated[Any, INTS]
    entity: Annotated[Any, INTS]
    pair: Annotated[Any, INTS]
    other: Annotated[Any, INTS]
    rarity: Annotated[Any, SUMS]
    pairs: Annotated[Any, KEYS]
    shared: Annotated[Any, SUMS]
    none: Annotated[Any, types.int64]


FACTS, TABLES = record(Facts), own_record(Tables)


@inlined(types.UniTuple(types.uint64, 2)(types.int32))
def place_in_set(number):
    """The word of a number in a set, and its bit."""
    return np.uint64(number) >> SIX & LAST_WORD, ONE << (np.uint64(number) & LAST_BIT)


@inlined(types.float64(types.float64))
def logarithm(x):
    """log(1 + x) to eleven digits, in a quarter of the time; 0 if x is negative."""
    if x >= MOST_LOGARITHMS // STEPS:
        return np.log1p(x)
    place = np.uint64(max(x, 0.0) * STEPS)
    rest = (1 + max(x, 0.0)) / (1 + np.float64(place) / STEPS) - 1
    return LOGARITHMS[place] + rest * (1 - rest * (1 / 2 - rest * (1 / 3 - rest * (1 / 4 - rest / 5))))


@inlined(types.void(types.int64, types.float64, TABLES))
def add(j, p, tables):
    """Add the probability of a candidate to the statements of its entity, and to the entities that they name."""
    for s in range(tables.begin[j], tables.end[j]):
        tables.shared[tables.pair[s]] += p
        tables.named[tables.other[s]] += p * tables.rarity[s]


@inlined(types.UniTuple(types.float64, 4)(types.int64, types.float64, TABLES))
def support_of(j, less, tables):
    """The four numbers of an entity, whose statements have the probability `less` too much."""
    names, shares, same = 0.0, 0.0, max(tables.present[j], 0.0)
    for s in range(tables.begin[j], tables.end[j]):
        shares += tables.rarity[s] * logarithm(tables.shared[tables.pair[s]] - less - same)
        names += tables.rarity[s] * min(max(tables.present[tables.other[s]], 0.0), 1.0)
    return names, max(tables.named[j], 0.0), shares, min(same, 1.0)


@inlined(types.int64(FACTS, I64, F64, types.int64, types.uint64, types.uint64[:, ::1], TABLES))
def read_entities(facts, rows, probability, mask, stamp, sets, tables):
    """Find the entities of an article's candidates, and read the statements of those that are asked for.

    The sets are: the items of entities, pairs that were read, and pairs that were read twice. Returns how many
    statements were read.
    """
    indptr, pairs, values, count = facts.indptr, pointer(facts.pairs), pointer(facts.values), 0
    items, once, twice = sets[0], sets[1], sets[2]
    for k in range(len(rows)):
        later = rows[min(k + AHEAD, len(rows) - 1)]
        fetch_row(pointer(indptr), pairs, rows[min(k + 1, len(rows) - 1)], later)
        prefetch(pointer(facts.items), later)
        tables.own[k] = tables.none + 1
        if rows[k] < 0:
            continue
        item = facts.items[rows[k]]
        j = tables.own[k] = find_stamped(tables.items, mask, np.uint64(item), stamp)
        if tables.items[j] >> HALF != stamp:
            tables.items[j] = stamp << HALF | np.uint64(item)
            tables.present[j], tables.named[j], tables.begin[j], tables.end[j] = 0.0, 0.0, 0, 0
            word, bit = place_in_set(item)
            items[word] |= bit
        tables.present[j] += probability[k]
        if probability[k] < LEAST_ASKED or tables.begin[j] > 0:
            continue
        for s in range(indptr[rows[k]], min(indptr[rows[k] + 1], indptr[rows[k]] + MOST_STATEMENTS)):
            tables.pair[count], tables.entity[count] = pairs[s], j
            prefetch(values, pairs[s])
            word, bit = place_in_set(pairs[s])
            twice[word] |= once[word] & bit
            once[word] |= bit
            count += 1
        tables.begin[j] = READ
    return count


@inlined(types.void(FACTS, types.int64, types.int64, types.uint64, types.uint64[:, ::1], TABLES))
def choose_statements(facts, count, mask, stamp, sets, tables):
    """Of the statements that were read, keep those that another entity may share or that may name one."""
    values, items, twice, kept = pointer(facts.values), sets[0], sets[2], 0
    for s in range(count):  # without a branch, because branch prediction fails here
        pair, value = tables.pair[s], values[tables.pair[s]]
        (word, bit), (item_word, item_bit) = place_in_set(pair), place_in_set(value)
        names_one = (value >= 0) & (items[item_word] & item_bit != 0)
        tables.pair[kept], tables.entity[kept], tables.other[kept] = pair, tables.entity[s], value if names_one else -1
        kept += names_one | (twice[word] & bit != 0)
    pair_mask = (2 << width(np.uint64(kept))) - 1
    for s in range(kept):
        pair, value, j = np.uint64(tables.pair[s]), tables.other[s], tables.entity[s]
        slot = find_stamped(tables.pairs, pair_mask, pair, stamp)
        tables.pairs[slot], tables.shared[slot] = stamp << HALF | pair, 0.0
        tables.pair[s], tables.rarity[s], tables.other[s] = slot, facts.rarity[pair], tables.none
        tables.begin[j], tables.end[j] = min(tables.begin[j], s), s + 1
        if value >= 0:
            slot = find_stamped(tables.items, mask, np.uint64(value), stamp)
            if tables.items[slot] >> HALF == stamp and slot != j:
                tables.other[s] = slot


@kernel(types.UniTuple(types.float64[::1], 4)(I64, I64, I64, F64, FACTS))
def mutual_support(articles, offsets, rows, probability, facts):
    """For every candidate, by the probabilities of other mentions' candidates and the rarity of statements:

    how much its statements name them, how much their statements name it, how much statements they share, and the
    probability that another mention is the same entity. The work is linear in the statements of the candidates.
    """
    found, longest, most = np.zeros((4, len(rows))), 0, 0
    for a in range(len(articles) - 1):
        asked, low, high = 0, offsets[articles[a]], offsets[articles[a + 1]]
        for k in range(low, high):
            asked += probability[k] >= LEAST_ASKED
        longest, most = max(longest, high - low), max(most, asked * MOST_STATEMENTS)
    room, pair_room = 2 << width(np.uint64(longest)), 2 << width(np.uint64(most))
    items, pairs, sets = np.zeros(room, np.uint64), np.zeros(pair_room, np.uint64), np.empty((3, WORDS), np.uint64)
    own, ends, sums = np.empty(longest, np.int32), np.zeros((2, room + 2), np.int32), np.zeros((2, room + 2))
    numbers, rarity, shared = np.empty((3, most), np.int32), np.empty(most), np.empty(pair_room)
    for a in range(len(articles) - 1):
        low, high, stamp = offsets[articles[a]], offsets[articles[a + 1]], np.uint64(a + 1)
        tables = Tables(
            *(pointer(own), pointer(items), pointer(sums[0]), pointer(sums[1]), pointer(ends[0]), pointer(ends[1])),
            *(pointer(numbers[0]), pointer(numbers[1]), pointer(numbers[2]), pointer(rarity)),
            *(pointer(pairs), pointer(shared), room),
        )
        mask, sets[:] = (2 << width(np.uint64(high - low))) - 1, 0
        read = read_entities(facts, rows[low:high], probability[low:high], mask, stamp, sets, tables)
        choose_statements(facts, read, mask, stamp, sets, tables)
        for k in range(low, high):
            if probability[k] >= LEAST:
                add(tables.own[k - low], probability[k], tables)
        for m in range(articles[a], articles[a + 1]):
            begin, end, asked = offsets[m], offsets[m + 1], 0
            for k in range(begin, end):  # a mention does not support itself
                tables.present[tables.own[k - low]] -= probability[k]
                asked += probability[k] >= LEAST_ASKED
            for k in range(begin, end if asked > 1 else begin):
                if probability[k] >= LEAST:
                    add(tables.own[k - low], -probability[k], tables)
            for k in range(begin, end):
                if rows[k] >= 0 and probability[k] >= LEAST_ASKED:
                    less = probability[k] if asked == 1 and probability[k] >= LEAST else 0.0
                    found[0, k], found[1, k], found[2, k], found[3, k] = support_of(tables.own[k - low], less, tables)
            for k in range(begin, end):
                tables.present[tables.own[k - low]] += probability[k]
                if asked > 1 and probability[k] >= LEAST:
                    add(tables.own[k - low], probability[k], tables)
    return found[0], found[1], found[2], found[3]
