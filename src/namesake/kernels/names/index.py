"""Names: hashed token by token, and the table that finds them."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import FREE, KEYS, ZERO, extend, find, find_next, hash_bytes, probe, same_bytes
from namesake.kernels.search import among
from namesake.kernels.simd import BYTES, NUMBERS, byte, pointer
from namesake.kernels.types import I8, I32, I64, U8, U64, record

SPACE = 0x20
NOBODY = -1
MOST_TOKENS = 32  # a longer name has no bare form and no more prefixes


class Affixes(NamedTuple):
    """What a name may be without: hashes of titles and suffixes, and of what makes a title the name; all ascending."""

    honorifics: Annotated[Any, U64]
    suffixes: Annotated[Any, U64]
    connectors: Annotated[Any, U64]


class Spelled(NamedTuple):
    """The names to be indexed: texts, and in the order of the entities which text it is, whose, and of what kind."""

    texts: Annotated[Any, U8]
    offsets: Annotated[Any, I64]
    which: Annotated[Any, I64]
    rows: Annotated[Any, I32]
    kinds: Annotated[Any, I8]


class Occurrences(NamedTuple):
    """Each time that an entity has a name: hash, first byte and size of the name; entity row and kind."""

    key: Annotated[Any, types.uint64[::1]]
    start: Annotated[Any, types.int64[::1]]
    size: Annotated[Any, types.int32[::1]]
    row: Annotated[Any, types.int32[::1]]
    kind: Annotated[Any, types.int8[::1]]


class Names(NamedTuple):
    """The table of names as it is searched: hash and name by slot, and the texts of the names."""

    keys: Annotated[Any, U64]
    slots: Annotated[Any, I32]
    offsets: Annotated[Any, I64]
    texts: Annotated[Any, U8]


AFFIXES = record(Affixes)


@kernel(types.uint64(U8, types.int64, types.int64))
def name_hash(data, start, end):
    """Hash of a normalised name: its tokens' hashes, one after the other."""
    value = ZERO
    token = start
    for i in range(start, end + 1):
        if i == end or data[i] == SPACE:
            value = extend(value, hash_bytes(data, token, i))
            token = i + 1
    return value


@inner(types.int64(U8, types.int64, types.int64, types.int64[::1], types.uint64[::1]))
def tokens(data, start, end, starts, hashes):
    """Where the tokens of a normalised name start and their hashes; at most MOST_TOKENS.

    Returns how many; starts[how many] is one past the space behind them, or past the end where these are all.
    """
    count, text = 0, pointer(data)
    token = start
    for i in range(start, end + 1):
        if (i == end or byte(text, i) == SPACE) and count < MOST_TOKENS:
            starts[count] = token
            hashes[count] = hash_bytes(data, token, i)
            count += 1
            token = i + 1
    starts[count] = token
    return count


@kernel(types.uint64[::1](U8, I64, types.int64[::1]))
def token_hashes(data, offsets, indptr):
    """The hashes of all tokens of normalised names, one name after the other.

    `indptr` gets where those of each name begin and end; where nobody wants to know, it is empty.
    """
    found = np.empty(len(data) + 1, np.uint64)  # what is not touched takes no memory
    count, text = 0, pointer(data)
    for name in range(len(offsets) - 1):
        token, end = offsets[name], offsets[name + 1]
        for i in range(token, end + 1):
            if i > token and (i == end or byte(text, i) == SPACE):
                found[count] = hash_bytes(data, token, i)
                count += 1
                token = i + 1
        if len(indptr) > 0:
            indptr[name + 1] = count
    return found[:count]


@inner(types.int64(U8, types.int64, types.int64))
def letters_in(text, start, end):
    """How many characters text[start:end] has."""
    count = 0
    for i in range(start, end):
        count += text[i] & 0xC0 != 0x80
    return count


@kernel(types.uint64[::1](U8, I64, types.int64))
def hash_names(data, offsets, most):
    """The hash of each normalised name; 0 for one of less than two characters or more than `most` tokens."""
    hashes = np.zeros(len(offsets) - 1, np.uint64)
    for name in range(len(hashes)):
        start, end, size = offsets[name], offsets[name + 1], 1
        for i in range(start, end):
            size += data[i] == SPACE
        if letters_in(data, start, end) > 1 and size <= most:
            hashes[name] = name_hash(data, start, end)
    return hashes


@inner(types.UniTuple(types.int64, 2)(types.uint64[::1], types.int64, AFFIXES, types.int64))
def bare(hashes, count, affixes, least):
    """First token and end of a name without its titles and suffixes, of which `least` tokens must remain.

    A title that a connector follows ("Queen of England") is the name itself.
    """
    first, end = 0, count
    honorifics, suffixes, connectors = affixes
    while end - first > least:
        if among(suffixes, extend(ZERO, hashes[end - 1])):
            end -= 1
        elif end - first >= least + 2 and among(suffixes, extend(extend(ZERO, hashes[end - 2]), hashes[end - 1])):
            end -= 2
        else:
            break
    while end - first > least:
        size = 0
        if among(honorifics, extend(ZERO, hashes[first])):
            size = 1
        elif end - first >= least + 2 and among(honorifics, extend(extend(ZERO, hashes[first]), hashes[first + 1])):
            size = 2
        if size == 0 or among(connectors, extend(ZERO, hashes[first + size])):
            break
        first += size
    return first, end


@inlined(
    types.int64(
        *(KEYS, types.int64, types.CPointer(types.int32), NUMBERS, NUMBERS, BYTES),
        *(types.uint64, BYTES, types.int64, types.int64),
    )
)
def slot_of(keys, mask, slots, starts, ends, texts, key, data, start, end):
    """Slot of the name `data[start:end]`, or the free slot where it would go; name i is texts[starts[i]:ends[i]]."""
    slot = find(keys, mask, key)
    while keys[slot] != FREE:
        name = slots[slot]
        if ends[name] - starts[name] == end - start and same_bytes(texts, starts[name], data, start, end - start):
            break
        slot = find_next(keys, mask, key, slot)
    return slot


@inner(types.void(types.uint64, types.uint8[::1]))
def mark(key, bits):
    """Set the bit of a hash."""
    bit = np.int64(key & np.uint64(len(bits) * 8 - 1))
    bits[bit >> 3] |= np.uint8(1 << (bit & 7))


@inner(types.void(U64, types.int64, types.int64, types.uint8[::1]))
def mark_prefixes(hashes, low, high, bits):
    """Set the bits of all beginnings, of two tokens or more, of the name hashes[low:high]."""
    prefix = extend(ZERO, hashes[low])
    for i in range(low + 1, high):
        prefix = extend(prefix, hashes[i])
        mark(prefix, bits)


@kernel(types.int64(record(Spelled), AFFIXES, types.int64, types.int64, record(Occurrences)))
def list_names(spelled, affixes, first_text, last_text, to):
    """Write the names of some of the texts: each text and its bare form, whose kind is the text's plus 2.

    Returns how many there are.
    """
    texts, offsets, which, rows, kinds = spelled
    at = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    written = 0
    for text in range(first_text, last_text):
        start_of_text, end_of_text = offsets[which[text]], offsets[which[text] + 1]
        if start_of_text == end_of_text:
            continue
        count = tokens(texts, start_of_text, end_of_text, at, hashes)
        whole = at[count] == end_of_text + 1
        first, end = bare(hashes, count, affixes, 2) if whole else (0, count)
        for form in range(1 if first == 0 and end == count else 2):
            low = 0 if form == 0 else first
            high = count if form == 0 else end
            start, stop = at[low], at[high] - 1
            key = ZERO
            for i in range(low, high):
                key = extend(key, hashes[i])
            if not whole:
                stop = end_of_text
                key = name_hash(texts, start, stop)
            to.key[written], to.start[written], to.size[written] = key, start, stop - start
            to.row[written] = rows[text]
            to.kind[written] = np.int8(kinds[text] + 2 * form) if kinds[text] < 2 else kinds[text]
            written += 1
    return written


@kernel(types.void(U64, types.uint64[::1], types.int32[::1]))
def fill_table(hashes, keys, slots):
    """Enter the hash of each name into the table, equal hashes into slots of their own; `slots` gets the names."""
    mask = len(keys) - 1
    for name in range(len(hashes)):
        slot = probe(pointer(keys), mask, FREE, np.int64(hashes[name] & np.uint64(mask)))
        keys[slot], slots[slot] = hashes[name], name


@kernel(types.int64[::1](U64, I32, types.int64, types.int64, types.uint64[::1], types.int32[::1]))
def fill_range(hashes, names, mask, first, keys, slots):
    """`fill_table` for a range of the slots, from `first` on; names whose slot is not in it go to the first free one.

    Returns which of the names have found no free slot.
    """
    left, count = np.empty(len(hashes), np.int64), 0  # what is not touched takes no memory
    for row in range(len(hashes)):
        slot = np.int64(hashes[row] & np.uint64(mask)) - first
        if slot < 0 or slot >= len(keys):
            slot = 0
        while slot < len(keys) and keys[slot] != FREE:
            slot += 1
        if slot < len(keys):
            keys[slot], slots[slot] = hashes[row], names[row]
        else:
            left[count] = row
            count += 1
    return left[:count].copy()


@kernel(types.void(U8, I64, types.uint8[::1]))
def mark_names(data, offsets, bits):
    """`mark_prefixes` of each of these normalised names."""
    at = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    for name in range(len(offsets) - 1):
        mark_prefixes(hashes, 0, tokens(data, offsets[name], offsets[name + 1], at, hashes), bits)


@kernel(types.void(I32, I32, I8, types.int32[::1], types.int8[::1], types.int64[::1]))
def group_entries(entry_name, entry_row, entry_kind, rows, kinds, write):
    """Sort the entries by name, keeping their order within it; `write` has where those of each name begin."""
    for entry in range(len(entry_name)):
        at = write[entry_name[entry]]
        rows[at] = entry_row[entry]
        kinds[at] = entry_kind[entry]
        write[entry_name[entry]] = at + 1


@kernel(types.void(U8, I64, I32, types.uint8[::1], types.int64[::1]))
def copy_texts(texts, starts, sizes, out, offsets):
    """Write the texts of these sizes from `starts` on one after the other."""
    write = 0
    for name in range(len(starts)):
        for i in range(starts[name], starts[name] + sizes[name]):
            out[write] = texts[i]
            write += 1
        offsets[name + 1] = write


@kernel(types.void(U8, I64, AFFIXES, record(Names), types.int32[::1]))
def find_names(data, offsets, affixes, names, found):
    """Id of each normalised text, as it is or else without titles and suffixes; NOBODY where there is none."""
    at = np.empty(MOST_TOKENS + 1, np.int64)
    hashes = np.empty(MOST_TOKENS, np.uint64)
    keys, slots, starts, texts = names
    ends = starts[1:]
    table = (pointer(keys), len(keys) - 1, pointer(slots), pointer(starts), pointer(ends), pointer(texts))
    for text in range(len(offsets) - 1):
        start, end = offsets[text], offsets[text + 1]
        found[text] = NOBODY
        if start == end:
            continue
        found[text] = slots[slot_of(*table, name_hash(data, start, end), pointer(data), start, end)]
        if found[text] >= 0:
            continue
        count = tokens(data, start, end, at, hashes)
        first, last = bare(hashes, count, affixes, 1)
        if at[count] == end + 1 and (first > 0 or last < count):
            start, end = at[first], at[last] - 1
            found[text] = slots[slot_of(*table, name_hash(data, start, end), pointer(data), start, end)]
