"""How often the tokens of a name begin, end, and stand inside people's labels."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import find, slot_of
from namesake.kernels.names.index import token_hashes
from namesake.kernels.names.lattice import Texts
from namesake.kernels.names.tokens import AT_START, HAS_CAPITAL
from namesake.kernels.simd import pointer
from namesake.kernels.types import I32, I64, U8, U64, own_record, record

UNASKED = -1.0


@kernel(types.UniTuple(types.float64[::1], 3)(U8, I64, U64, I32, I32, I32))
def count_labels(texts, offsets, keys, begins, inside, ends):
    """For each normalised name the labels that begin with its first token, have its rarest middle token, end with its
    last, by the KB's table of tokens and its counts.

    UNASKED for names of one token, and for the middle of names of two.
    """
    size = len(offsets) - 1
    first, middle, last = np.full(size, UNASKED), np.full(size, UNASKED), np.full(size, UNASKED)
    indptr = np.zeros(size + 1, np.int64)
    hashes = token_hashes(texts, offsets, indptr)
    for name in range(size):
        low, high = indptr[name], indptr[name + 1] - 1
        if low >= high:
            continue
        first[name], last[name] = begins[slot_of(keys, hashes[low])], ends[slot_of(keys, hashes[high])]
        for token in range(low + 1, high):
            count = np.float64(inside[slot_of(keys, hashes[token])])
            middle[name] = count if middle[name] == UNASKED else min(middle[name], count)
    return first, middle, last


class WordCounts(NamedTuple):
    """How the words of each name are used: see `count_words`."""

    first_names: Annotated[Any, types.float64[::1]]
    last_names: Annotated[Any, types.float64[::1]]
    least_lower: Annotated[Any, types.float64[::1]]
    last_lower: Annotated[Any, types.float64[::1]]
    lower_in_text: Annotated[Any, types.int32[::1]]
    capital_in_text: Annotated[Any, types.int32[::1]]


@kernel(own_record(WordCounts)(record(Texts), I64, I64, U64, I32, I32, I32))
def count_words(texts, first, end, keys, begins, ends, lower):
    """The uses of the words of names, which are the tokens first to end, in the order of texts.

    Labels of people that begin and end with the first word; how often the KB's descriptions have the words in lower
    case, at least and the last one; how often the text has a name of one word in lower case, and how often it has the
    first word with a capital inside a sentence.
    """
    count = len(first)
    found = WordCounts(
        *(np.zeros(count), np.zeros(count), np.full(count, np.inf), np.zeros(count)),
        *(np.zeros(count, np.int32), np.zeros(count, np.int32)),
    )
    slots, mask, text, room = pointer(keys), len(keys) - 1, -1, 16
    table, small, inside = np.zeros(room, np.uint64), np.zeros(room, np.int32), np.zeros(room, np.int32)
    for m in range(count):
        if text < 0 or first[m] >= texts.indptr[text + 1]:
            while text < 0 or first[m] >= texts.indptr[text + 1]:
                text += 1
            room = 16
            while room < 2 * (texts.indptr[text + 1] - texts.indptr[text]):
                room *= 2
            table, small, inside = np.zeros(room, np.uint64), np.zeros(room, np.int32), np.zeros(room, np.int32)
            for i in range(texts.indptr[text], texts.indptr[text + 1]):
                slot = find(pointer(table), room - 1, texts.hashes[i])
                table[slot] = texts.hashes[i]
                if texts.marks[i] & HAS_CAPITAL == 0:
                    small[slot] += 1
                elif texts.marks[i] & AT_START == 0:
                    inside[slot] += 1
        for i in range(first[m], end[m]):
            slot = find(slots, mask, texts.hashes[i])
            uses = np.float64(lower[slot])
            found.least_lower[m], found.last_lower[m] = min(found.least_lower[m], uses), uses
            if i == first[m]:
                found.first_names[m], found.last_names[m] = begins[slot], ends[slot]
        slot = find(pointer(table), room - 1, texts.hashes[first[m]])
        found.capital_in_text[m] = inside[slot]
        found.lower_in_text[m] = small[slot] if end[m] - first[m] == 1 else 0
    return found
