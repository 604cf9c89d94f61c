"""Names: hashed token by token, and the table that finds them."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.simd import pointer, word
from namesake.kernels.types import I32, I64, U8

I8 = types.Array(types.int8, 1, "C", readonly=True)
U64 = types.Array(types.uint64, 1, "C", readonly=True)

SPACE = 0x20
NOBODY = -1
MOST_TOKENS = 32  # a longer name has no bare form and no more prefixes

SEED = np.uint64(0xCBF29CE484222325)
FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
LEFT, RIGHT, HALF, FOLDED = np.uint64(25), np.uint64(39), np.uint64(32), np.uint64(29)


@kernel(types.uint64(types.uint64))
def mix(value):
    """Spread a value's information over all of its bits."""
    value ^= value >> HALF
    value *= GOLDEN
    return value ^ (value >> FOLDED)


@kernel(types.uint64(types.uint64, types.uint64))
def absorb(value, eight):
    """Hash of a token with up to eight more bytes, the first of them lowest."""
    return mix((value ^ eight) * GOLDEN)


@kernel(types.uint64(U8, types.int64, types.int64))
def token_hash(data, start, end):
    """Hash of one token, eight bytes at a time."""
    value = SEED
    for i in range(start, end, 8):
        size = min(8, end - i)
        if i + 8 <= len(data):
            eight = word(pointer(data), i) & FIRST_BYTES[size]
        else:
            eight = np.uint64(0)
            for j in range(size):
                eight |= np.uint64(data[i + j]) << np.uint64(8 * j)
        value = absorb(value, eight)
    return value


@kernel(types.uint64(types.uint64, types.uint64))
def extend(name, token):
    """Hash of a name with one more token; the empty name's hash is 0."""
    return mix((name << LEFT | name >> RIGHT) + token)


@kernel(types.uint64(U8, types.int64, types.int64))
def name_hash(data, start, end):
    """Hash of a normalised name: its tokens' hashes, one after the other."""
    value = np.uint64(0)
    token = start
    for i in range(start, end + 1):
        if i == end or data[i] == SPACE:
            value = extend(value, token_hash(data, token, i))
            token = i + 1
    return value


@kernel(types.boolean(U64, types.uint64))
def among(hashes, wanted):
    """Whether the ascending `hashes` hold `wanted`."""
    low, high = 0, len(hashes)
    while low < high:
        middle = (low + high) >> 1
        if hashes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < len(hashes) and hashes[low] == wanted


@kernel(types.int64(U8, types.int64, types.int64, types.int64[::1], types.uint64[::1]))
def tokens(data, start, end, starts, hashes):
    """Where the tokens of a normalised name start and their hashes; at most MOST_TOKENS.

    Returns how many; starts[how many] is one past the space behind them, or past the end where these are all.
    """
    count = 0
    token = start
    for i in range(start, end + 1):
        if (i == end or data[i] == SPACE) and count < MOST_TOKENS:
            starts[count] = token
            hashes[count] = token_hash(data, token, i)
            count += 1
            token = i + 1
    starts[count] = token
    return count


@kernel(
    types.Tuple((types.int64, types.int64))(types.uint64[::1], types.int64, U64, U64, U64, types.int64),
)
def bare(hashes, count, honorifics, suffixes, connectors, least):
    """First token and end of a name without its titles and suffixes, of which `least` tokens must remain.

    A title that a connector follows ("Queen of England") is the name itself.
    """
    first, end = 0, count
    nothing = np.uint64(0)
    while end - first > least:
        if among(suffixes, extend(nothing, hashes[end - 1])):
            end -= 1
        elif end - first >= least + 2 and among(suffixes, extend(extend(nothing, hashes[end - 2]), hashes[end - 1])):
            end -= 2
        else:
            break
    while end - first > least:
        size = 0
        if among(honorifics, extend(nothing, hashes[first])):
            size = 1
        elif end - first >= least + 2 and among(honorifics, extend(extend(nothing, hashes[first]), hashes[first + 1])):
            size = 2
        if size == 0 or among(connectors, extend(nothing, hashes[first + size])):
            break
        first += size
    return first, end


@kernel(
    types.int64(U64, I32, I64, I64, U8, types.uint64, U8, types.int64, types.int64),
)
def slot_of(keys, slots, starts, ends, texts, key, data, start, end):
    """Slot of the name `data[start:end]`, or the empty slot where it would go; name i is texts[starts[i]:ends[i]]."""
    mask = np.uint64(len(keys) - 1)
    at = np.int64(key & mask)
    while slots[at] >= 0:
        if keys[at] == key:
            name = slots[at]
            size = ends[name] - starts[name]
            if size == end - start:
                same = True
                for i in range(size):
                    if texts[starts[name] + i] != data[start + i]:
                        same = False
                        break
                if same:
                    return at
        at = np.int64(np.uint64(at + 1) & mask)
    return at


@kernel(types.void(types.uint64[::1], types.int64, types.int64, types.uint8[::1]))
def mark_prefixes(hashes, low, high, bits):
    """Set the bits of all beginnings, of two tokens or more, of the name hashes[low:high]."""
    mask = np.uint64(len(bits) * 8 - 1)
    prefix = extend(np.uint64(0), hashes[low])
    for i in range(low + 1, high):
        prefix = extend(prefix, hashes[i])
        bit = np.int64(prefix & mask)
        bits[bit >> 3] |= np.uint8(1 << (bit & 7))


@kernel(
    types.Tuple((types.int64, types.int64))(
        U8,  # texts, one after the other
        I64,  # their offsets
        I64,  # which text comes next
        I32,  # its entity row, ascending
        I8,  # its kind
        U64,  # honorifics
        U64,  # suffixes
        U64,  # connectors
        types.uint64[::1],  # keys of the table
        types.int32[::1],  # its names
        types.uint8[::1],  # bits of the prefixes
        types.int64[::1],  # start of each name
        types.int64[::1],  # end of each name
        types.int32[::1],  # name of each entry
        types.int32[::1],  # entity row of each entry
        types.int8[::1],  # kind of each entry
    ),
)
def index_names(
    texts,
    offsets,
    which,
    rows,
    kinds,
    honorifics,
    suffixes,
    connectors,
    keys,
    slots,
    bits,
    starts,
    ends,
    entry_name,
    entry_row,
    entry_kind,
):
    """Fill the table with every text and its bare form; returns how many names and how many entries there are.

    An entry is a (name, entity row) with its best kind; a bare form's kind is its text's plus 2.
    """
    at = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    latest = np.full(len(starts), NOBODY, np.int64)  # latest entry of each name
    names = 0
    entries = 0
    for text in range(len(rows)):
        start_of_text, end_of_text = offsets[which[text]], offsets[which[text] + 1]
        if start_of_text == end_of_text:
            continue
        count = tokens(texts, start_of_text, end_of_text, at, hashes)
        whole = at[count] == end_of_text + 1
        first, end = bare(hashes, count, honorifics, suffixes, connectors, 2) if whole else (0, count)
        for form in range(1 if first == 0 and end == count else 2):
            low = 0 if form == 0 else first
            high = count if form == 0 else end
            start, stop = at[low], at[high] - 1
            key = np.uint64(0)
            for i in range(low, high):
                key = extend(key, hashes[i])
            if not whole:
                stop = end_of_text
                key = name_hash(texts, start, stop)
            slot = slot_of(keys, slots, starts, ends, texts, key, texts, start, stop)
            if slots[slot] < 0:
                keys[slot] = key
                slots[slot] = names
                starts[names] = start
                ends[names] = stop
                mark_prefixes(hashes, low, high, bits)
                names += 1
            name = slots[slot]
            kind = np.int8(kinds[text] + 2 * form) if kinds[text] < 2 else kinds[text]
            if latest[name] >= 0 and entry_row[latest[name]] == rows[text]:
                entry_kind[latest[name]] = min(entry_kind[latest[name]], kind)
                continue
            latest[name] = entries
            entry_name[entries] = name
            entry_row[entries] = rows[text]
            entry_kind[entries] = kind
            entries += 1
    return names, entries


@kernel(types.void(I32, I32, I8, I64, types.int32[::1], types.int8[::1]))
def group_entries(entry_name, entry_row, entry_kind, indptr, rows, kinds):
    """Sort the entries by name, keeping their order within it: CSR from `indptr`."""
    write = indptr[:-1].copy()
    for entry in range(len(entry_name)):
        at = write[entry_name[entry]]
        rows[at] = entry_row[entry]
        kinds[at] = entry_kind[entry]
        write[entry_name[entry]] = at + 1


@kernel(types.void(U8, I64, I64, types.uint8[::1], types.int64[::1]))
def copy_texts(texts, starts, ends, out, offsets):
    """Write the texts between `starts` and `ends` one after the other."""
    write = 0
    for name in range(len(starts)):
        for i in range(starts[name], ends[name]):
            out[write] = texts[i]
            write += 1
        offsets[name + 1] = write


@kernel(types.void(U8, I64, U64, U64, U64, U64, I32, I64, U8, types.int32[::1]))
def find_names(data, offsets, honorifics, suffixes, connectors, keys, slots, name_offsets, name_texts, found):
    """Id of each normalised text, as it is or else without titles and suffixes; NOBODY where there is none."""
    at = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    starts, ends = name_offsets[:-1], name_offsets[1:]
    for text in range(len(offsets) - 1):
        start, end = offsets[text], offsets[text + 1]
        found[text] = NOBODY
        if start == end:
            continue
        key = name_hash(data, start, end)
        found[text] = slots[slot_of(keys, slots, starts, ends, name_texts, key, data, start, end)]
        if found[text] >= 0:
            continue
        count = tokens(data, start, end, at, hashes)
        first, last = bare(hashes, count, honorifics, suffixes, connectors, 1)
        if at[count] == end + 1 and (first > 0 or last < count):
            start, end = at[first], at[last] - 1
            key = name_hash(data, start, end)
            found[text] = slots[slot_of(keys, slots, starts, ends, name_texts, key, data, start, end)]


@kernel(types.int64(I8, types.int64, types.int64, types.int64))
def count_up_to(kinds, start, end, worst):
    """How many of kinds[start:end] are `worst` or better."""
    count = 0
    for i in range(start, end):
        count += kinds[i] <= worst
    return count


@kernel(types.void(I32, I64, I8, types.int64, types.int64[::1]))
def count_bearers(names, indptr, kinds, worst, out_indptr):
    """CSR offsets of each name's bearers: those of kinds up to `worst`, or all where none is so good."""
    for i in range(len(names)):
        size = 0
        if names[i] >= 0:
            start, end = indptr[names[i]], indptr[names[i] + 1]
            size = count_up_to(kinds, start, end, worst)
            size = size if size else end - start
        out_indptr[i + 1] = out_indptr[i] + size


@kernel(types.void(I32, I64, I32, I8, I64, types.int64, types.int32[::1], types.int8[::1]))
def gather_bearers(names, indptr, rows, kinds, out_indptr, worst, out_rows, out_kinds):
    """Copy the bearers that `count_bearers` counted."""
    for i in range(len(names)):
        write = out_indptr[i]
        if out_indptr[i + 1] == write:
            continue
        start, end = indptr[names[i]], indptr[names[i] + 1]
        every = out_indptr[i + 1] - write == end - start
        for j in range(start, end):
            if every or kinds[j] <= worst:
                out_rows[write] = rows[j]
                out_kinds[write] = kinds[j]
                write += 1
