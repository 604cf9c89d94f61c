"""Kernels that turn parsed columns into a KB: distinct values, groups, unions of words, links, PageRank, revisions.

None of them sorts more than one entity's row at a time, so that time is linear in the size of the dump.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import FREE, find, find_next, hash_bytes, home, probe, same_bytes
from namesake.kernels.search import sort_range
from namesake.kernels.simd import pointer
from namesake.kernels.types import F64, I32, I64, RAGGED, U8, U64

FIRST_ROOM = 1 << 12
LONGS, INTS, HASHES = types.int64[::1], types.int32[::1], types.uint64[::1]


@inner(types.Tuple((HASHES, INTS))(HASHES, INTS, types.boolean))
def grow(keys, ids, hashed):
    """A table of the same keys and four times the size; keys are hashes, or numbers."""
    mask = 4 * len(keys) - 1
    new_keys, new_ids = np.zeros(mask + 1, np.uint64), np.empty(mask + 1, np.int32)
    for old in range(len(keys)):
        if keys[old] != FREE:
            slot = np.int64(keys[old] & np.uint64(mask)) if hashed else home(keys[old], mask)
            slot = probe(pointer(new_keys), mask, FREE, slot)  # equal hashes keep separate slots
            new_keys[slot], new_ids[slot] = keys[old], ids[old]
    return new_keys, new_ids


@kernel(LONGS(I64, U8, INTS))
def distinct_strings(offsets, data, ids):
    """Write to `ids` the number of each row's string; returns the row where each distinct string first occurs."""
    rows, text, size = len(offsets) - 1, pointer(data), 0
    first = np.empty(rows, np.int64)
    keys, known = np.zeros(FIRST_ROOM, np.uint64), np.empty(FIRST_ROOM, np.int32)
    for row in range(rows):
        if 4 * size >= 3 * len(keys):
            keys, known = grow(keys, known, True)
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        key, mask = hash_bytes(data, start, start + length), len(keys) - 1
        slot = find(pointer(keys), mask, key)
        while keys[slot] != FREE:
            other = first[known[slot]]
            if offsets[other + 1] - offsets[other] == length and same_bytes(text, start, text, offsets[other], length):
                break
            slot = find_next(pointer(keys), mask, key, slot)
        if keys[slot] == FREE:
            keys[slot], known[slot], first[size] = key, size, row
            size += 1
        ids[row] = known[slot]
    return first[:size].copy()


@inner(types.UniTuple(types.int64, 2)(U64, types.int64, HASHES, INTS, types.int64, INTS))
def _number_some(numbers, row, keys, known, size, ids):
    """Number rows until the table is too full; returns the next row, and how many distinct numbers are known."""
    table, mask = pointer(keys), len(keys) - 1
    while row < len(numbers) and 4 * size < 3 * len(keys):
        key = numbers[row]
        slot = probe(table, mask, key, home(key, mask))
        if keys[slot] == FREE:
            keys[slot], known[slot] = key, size
            size += 1
        ids[row] = known[slot]
        row += 1
    return row, size


@kernel(types.Tuple((HASHES, INTS, types.int64))(U64, HASHES, INTS, types.int64, INTS))
def number_keys(numbers, keys, known, size, ids):
    """Write to `ids` the place of each number, which is not 0, among the distinct ones, of which `size` are known.

    `keys` and `known` are a table of the known ones; it is returned, larger if need be, with the new size.
    """
    row = 0
    while row < len(numbers):
        if 4 * size >= 3 * len(keys):
            keys, known = grow(keys, known, False)
        row, size = _number_some(numbers, row, keys, known, size, ids)
    return keys, known, size


@kernel("int64[::1](int32[::1], int32[::1], int64, int32[::1])")
def group_unique(group, member, groups, values):
    """CSR of the distinct members of each group, ascending; writes them to `values` and returns `indptr`."""
    start = np.zeros(groups + 1, np.int64)
    for i in range(len(group)):
        start[group[i] + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    place = start[:-1].copy()
    for i in range(len(group)):
        values[place[group[i]]] = member[i]
        place[group[i]] += 1
    indptr = np.zeros(groups + 1, np.int64)
    at = 0
    for g in range(groups):
        sort_range(values, start[g], start[g + 1])
        for j in range(start[g], start[g + 1]):
            if at == indptr[g] or values[j] != values[at - 1]:
                values[at] = values[j]
                at += 1
        indptr[g + 1] = at
    return indptr


@inner(types.int64(RAGGED, types.int64, INTS, types.int32, INTS, types.int64))
def _add_row(rows, row, stamp, mark, out, at):
    """Append, or if `out` is full count, the words of a row that do not have the mark; returns the next position."""
    words = rows.values
    for j in range(rows.indptr[row], rows.indptr[row + 1]):
        if stamp[words[j]] != mark:
            stamp[words[j]] = mark
            if at < len(out):
                out[at] = words[j]
            at += 1
    return at


@kernel(LONGS(RAGGED, RAGGED, I32, RAGGED, RAGGED, INTS, INTS))
def union_words(own, statements, pair_value, items, strings, stamp, out):
    """D+S of every entity: its own words and those of its statements' values, ascending, each once.

    A value is an item row, or `~row` of a string. Returns `indptr`; an `out` that is too small has to be replaced by
    one of the size that `indptr` ends with. `stamp` has an entry for every word, all -1 at first.
    """
    n = len(own.indptr) - 1
    indptr, pairs = statements
    result = np.zeros(n + 1, np.int64)
    at = np.int64(0)
    for row in range(n):
        start = at
        at = _add_row(own, row, stamp, np.int32(row), out, at)
        for j in range(indptr[row], indptr[row + 1]):
            value = pair_value[pairs[j]]
            if value >= 0:
                at = _add_row(items, value, stamp, np.int32(row), out, at)
            else:
                at = _add_row(strings, ~value, stamp, np.int32(row), out, at)
        if at <= len(out) and at - start > 1:
            sort_range(out, start, at)
        result[row + 1] = at
    return result


@kernel(types.void(I64, I32, I32, types.int64, INTS, LONGS, INTS))
def place_links(indptr, target, row_of, first, last, place, links):
    """Write the distinct other nodes that link to each node from `first` on; without room in `links`, count them.

    Node i links to target[indptr[row]:indptr[row + 1]] where row is row_of[i]; negative numbers are ignored. `place`
    has the next position in `links` of each node, or the count; `last` the last node that links to it, or -1.
    """
    for node in range(len(row_of)):
        row = row_of[node]
        if row < 0:
            continue
        for j in range(indptr[row], indptr[row + 1]):
            to = target[j] - first
            if to >= 0 and to < len(last) and target[j] != node and last[to] != node:
                last[to] = node
                if len(links) > 0:
                    links[place[to]] = node
                place[to] += 1


@kernel(types.void(I32, LONGS))
def count_values(values, counts):
    """Add the number of occurrences of each value to `counts`."""
    for i in range(len(values)):
        counts[values[i]] += 1


@kernel(types.int64(I64, I64, I32, I32, F64, LONGS, INTS, types.float64[::1]))
def split_links(linked, starts, links, place, share, indptr, among, rest):
    """Split the links to each linked node: to `among` as places of linked nodes, to `rest` the sum of other shares."""
    at = 0
    for i in range(len(linked)):
        total = 0.0
        for j in range(starts[linked[i]], starts[linked[i] + 1]):
            source = links[j]
            if place[source] >= 0:
                among[at] = place[source]
                at += 1
            else:
                total += share[source]
        rest[i] = total
        indptr[i + 1] = at
    return at


@kernel(types.float64(I64, I32, F64, F64, types.float64, types.float64, types.float64, types.float64[::1]))
def step(indptr, links, given, rest, damping, base, least, ranks):
    """Update `ranks` to damping · (Σ `given` over incoming links + `base` · rest) + least; returns Σ of the changes."""
    moved = 0.0
    for i in range(len(ranks)):
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += given[links[j]]
        rank = damping * (total + base * rest[i]) + least
        moved += abs(rank - ranks[i])
        ranks[i] = rank
    return moved


NONE = -1  # the item has no record, or is deleted; an event i that redirects the item is NONE - 1 - i


@kernel("int64(int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int32[::1])")
def settle(item, revision, gone_item, gone_target, gone_before, current):
    """Write to `current` the record of each item that counts; returns how many records are older than one before them.

    A record replaces those before it, except one of a later revision. A deletion or redirect replaces all before it:
    event i stands before record gone_before[i].
    """
    older, event = 0, 0
    for row in range(len(item) + 1):
        while event < len(gone_item) and (gone_before[event] <= row or row == len(item)):
            current[gone_item[event]] = NONE - 1 - event if gone_target[event] else NONE
            event += 1
        if row == len(item):
            break
        known = current[item[row]]
        if known >= 0 and 0 < revision[row] < revision[known]:
            older += 1
        else:
            current[item[row]] = row
    return older
