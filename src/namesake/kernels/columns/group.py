"""Kernels that turn parsed columns into a KB: distinct values by hashing, groups, unions of words.

None of them sorts more than one entity's row at a time, so that the work grows with the dump and not faster.
"""

import numpy as np

from namesake.kernels.compiled import kernel

EMPTY = -1


@kernel("uint64(uint8[::1], int64, int64)")
def hash_bytes(data, start, end):
    """FNV-1a of some bytes, with the last step of murmur so that low bits are well mixed."""
    h = np.uint64(0xCBF29CE484222325)
    for i in range(start, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    return h ^ (h >> np.uint64(33))


@kernel("boolean(uint8[::1], int64, int64, int64, int64)")
def same_bytes(data, a, a_end, b, b_end):
    """Whether two stretches of bytes are equal."""
    if a_end - a != b_end - b:
        return False
    for i in range(a_end - a):
        if data[a + i] != data[b + i]:
            return False
    return True


@kernel("int64[::1](int64[::1], uint8[::1], int32[::1])")
def distinct_strings(offsets, data, ids):
    """Number the distinct strings in the order they first occur; writes each row's number to `ids`.

    Returns the row where each distinct string first occurs.
    """
    n = len(offsets) - 1
    slots = 16
    while slots < 2 * n:
        slots *= 2
    table = np.full(slots, EMPTY, np.int32)
    first = np.empty(n, np.int64)
    size = 0
    for row in range(n):
        start, end = offsets[row], offsets[row + 1]
        slot = np.int64(hash_bytes(data, start, end) & np.uint64(slots - 1))
        while table[slot] != EMPTY:
            known = first[table[slot]]
            if same_bytes(data, start, end, offsets[known], offsets[known + 1]):
                break
            slot = (slot + 1) & (slots - 1)
        if table[slot] == EMPTY:
            table[slot] = size
            first[size] = row
            size += 1
        ids[row] = table[slot]
    return first[:size].copy()


@kernel("int64(int32[::1], int64[::1], int64)")
def _slot(table, distinct, key):
    """The slot of a key in an open-addressing table: where it is, or where it belongs."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(table) - 1))
    while table[slot] != EMPTY and distinct[table[slot]] != key:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@kernel("int64[::1](int64[::1], int32[::1])")
def distinct_keys(keys, ids):
    """Number distinct 64-bit keys in the order they first occur; writes each row's number to `ids`.

    Returns the distinct keys. The table grows with their number, not with the number of rows.
    """
    slots = 1 << 12
    table = np.full(slots, EMPTY, np.int32)
    distinct = np.empty(slots, np.int64)
    size = 0
    for row in range(len(keys)):
        if 2 * size >= slots:
            slots *= 2
            table = np.full(slots, EMPTY, np.int32)
            grown = np.empty(slots, np.int64)
            grown[:size] = distinct[:size]
            distinct = grown
            for known in range(size):
                table[_slot(table, distinct, distinct[known])] = known
        slot = _slot(table, distinct, keys[row])
        if table[slot] == EMPTY:
            table[slot] = size
            distinct[size] = keys[row]
            size += 1
        ids[row] = table[slot]
    return distinct[:size].copy()


@kernel("int64[::1](int32[::1], int32[::1], int64, int32[::1])")
def group_unique(group, member, groups, values):
    """CSR of the distinct members of each group, ascending; writes them to `values` and returns `indptr`.

    `values` has room for all members; `indptr[-1]` tells how many of them are left.
    """
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
        row = values[start[g] : start[g + 1]]
        row.sort()
        for j in range(len(row)):
            if j == 0 or row[j] != row[j - 1]:
                values[at] = row[j]
                at += 1
        indptr[g + 1] = at
    return indptr


@kernel("Tuple((int64[::1], int32[::1]))(int64[::1], int32[::1], int32[::1], int64)")
def incoming(indptr, target, source, nodes):
    """CSR of the distinct other nodes that link to each node, from rows of targets; see `namesake.kb.graph`."""
    start = np.zeros(nodes + 1, np.int64)
    last = np.full(nodes, EMPTY, np.int32)  # the last node known to link here
    for i in range(len(source)):
        for j in range(indptr[i], indptr[i + 1] if source[i] >= 0 else indptr[i]):
            to = target[j]
            if to >= 0 and to != source[i] and last[to] != source[i]:
                last[to] = source[i]
                start[to + 1] += 1
    for node in range(nodes):
        start[node + 1] += start[node]
    links = np.empty(start[nodes], np.int32)
    place = start[:-1].copy()
    for i in range(len(source)):
        for j in range(indptr[i], indptr[i + 1] if source[i] >= 0 else indptr[i]):
            to = target[j]
            new = to >= 0 and to != source[i] and (place[to] == start[to] or links[place[to] - 1] != source[i])
            if new:
                links[place[to]] = source[i]
                place[to] += 1
    return start, links


RAGGED = "int64[::1], int32[::1]"


@kernel(f"int64({RAGGED}, int64, int32[::1], int32, int32[::1], int64)")
def _add_row(indptr, words, row, stamp, mark, out, at):
    """Append the words of one row that do not bear the mark yet; returns where the next goes.

    Without room in `out` it only counts them.
    """
    for j in range(indptr[row], indptr[row + 1]):
        if stamp[words[j]] != mark:
            stamp[words[j]] = mark
            if at < len(out):
                out[at] = words[j]
            at += 1
    return at


@kernel(f"int64[::1]({RAGGED}, {RAGGED}, int32[::1], {RAGGED}, {RAGGED}, int32[::1], int32[::1])")
def union_words(
    own_indptr, own, indptr, pairs, pair_value, item_indptr, item_words, string_indptr, string_words, stamp, out
):
    """D+S of every entity: its own words and those of its statements' values, ascending, each once.

    A value is an item row, or `~row` of a string. Returns `indptr`; with an empty `out` it only counts, so a
    first call tells how much room the second needs. `stamp` has an entry for every word, all -1 at first.
    """
    n = len(own_indptr) - 1
    result = np.zeros(n + 1, np.int64)
    at = np.int64(0)
    for row in range(n):
        start = at
        at = _add_row(own_indptr, own, row, stamp, np.int32(row), out, at)
        for j in range(indptr[row], indptr[row + 1]):
            value = pair_value[pairs[j]]
            if value >= 0:
                at = _add_row(item_indptr, item_words, value, stamp, np.int32(row), out, at)
            else:
                at = _add_row(string_indptr, string_words, ~value, stamp, np.int32(row), out, at)
        if at <= len(out) and at - start > 1:
            out[start:at].sort()
        result[row + 1] = at
    return result


@kernel("uint64[::1](uint8[::1], int64)")
def hash_titles(text, lines):
    """The hash of each line of a text, underscores read as spaces, as Wikipedia's titles and links are spelt."""
    hashes = np.empty(lines, np.uint64)
    line, start = 0, 0
    for i in range(len(text) + 1):
        if i == len(text) or text[i] == 10:
            hashes[line] = hash_bytes(text, start, i)
            line += 1
            start = i + 1
        elif text[i] == 95:
            text[i] = 32
    return hashes
