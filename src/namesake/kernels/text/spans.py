"""Spans in whitespace tokens, characters and bytes of UTF-8, and the names in them."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.search import first_at_least
from namesake.kernels.simd import LANES, below, ones, pointer, prefetch
from namesake.kernels.text.characters import code_point
from namesake.kernels.types import I32, I64, PAIRS, U8

BAD = -1  # start and end of a span that does not fit its text
ASCII_END = np.uint8(0x80)


@inner("boolean(int64)")
def is_space(point):
    """Whether Python's `str.split` separates words at this character."""
    if point <= 0x20:
        return point == 0x20 or 0x09 <= point <= 0x0D or 0x1C <= point <= 0x1F
    if point < 0x1680:
        return point in (0x85, 0xA0)
    return point in (0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000) or 0x2000 <= point <= 0x200A


@kernel(types.int32[:, ::1](U8, I64, I64, PAIRS))
def tokens_to_characters(data, offsets, indptr, spans):
    """Spans of whitespace tokens as spans of characters.

    Text i is `data[offsets[i]:offsets[i + 1]]`, its spans are `spans[indptr[i]:indptr[i + 1]]`. A span that
    is empty, reversed or past the text becomes BAD.
    """
    out = np.full(spans.shape, BAD, np.int32)
    starts, ends = np.empty(len(data) // 2 + 1, np.int32), np.empty(len(data) // 2 + 1, np.int32)  # of one text
    for text in range(len(offsets) - 1):
        if indptr[text] == indptr[text + 1]:
            continue
        tokens, position, inside = 0, 0, False
        at, end = offsets[text], offsets[text + 1]
        while at < end:
            point, size = code_point(data, at, end)
            if is_space(point) == inside:
                if inside:
                    ends[tokens - 1] = position
                else:
                    starts[tokens] = position
                    tokens += 1
                inside = not inside
            at += size
            position += 1
        if inside:
            ends[tokens - 1] = position
        for k in range(indptr[text], indptr[text + 1]):
            if 0 <= spans[k, 0] < spans[k, 1] <= tokens:
                out[k, 0] = starts[spans[k, 0]]
                out[k, 1] = ends[spans[k, 1] - 1]
    return out


BLOCK = LANES  # bytes between two counts of characters
CONTINUATION_END = np.uint8(0xC0)


@inner(types.int64(U8, types.int64, types.int64, types.int32[::1]))
def count_characters(data, begin, end, counts):
    """Count the characters of `data[begin:end]`; `counts[k]` becomes the number before its byte `k * BLOCK`."""
    raw = pointer(data)
    whole = (end - begin) // BLOCK
    total = 0
    for k in range(whole):
        counts[k] = total
        at = begin + k * BLOCK
        total += BLOCK - ones(below(raw, at, CONTINUATION_END) & ~below(raw, at, ASCII_END))
    counts[whole] = total
    for at in range(begin + whole * BLOCK, end):
        total += (data[at] & 0xC0) != 0x80
    return total


@inner(types.int64(U8, types.int64, types.int64, I32, types.int64))
def byte_of(data, begin, end, counts, character):
    """The first byte, counted from `begin`, of a character; the end if there is no such character."""
    block = first_at_least(counts, 0, (end - begin + BLOCK - 1) // BLOCK, np.int32(character + 1)) - 1
    seen = np.int64(counts[block]) - 1
    for at in range(begin + block * BLOCK, end):
        seen += (data[at] & 0xC0) != 0x80
        if seen == character:
            return at - begin
    return end - begin


@kernel(types.int32[:, ::1](U8, I64, I64, PAIRS))
def characters_to_bytes(data, offsets, indptr, spans):
    """Spans of characters as spans of bytes, both counted from the start of their text; BAD where they do not fit."""
    out = np.full(spans.shape, BAD, np.int32)
    counts = np.empty(len(data) // BLOCK + 1, np.int32)  # of one text
    for text in range(len(offsets) - 1):
        first, last = indptr[text], indptr[text + 1]
        if first == last:
            continue
        begin, end = offsets[text], offsets[text + 1]
        characters = count_characters(data, begin, end, counts)
        ascii_only = characters == end - begin
        for k in range(first, last):
            start, stop = spans[k, 0], spans[k, 1]
            if 0 <= start < stop <= characters:
                out[k, 0] = start if ascii_only else byte_of(data, begin, end, counts, start)
                out[k, 1] = stop if ascii_only else byte_of(data, begin, end, counts, stop)
    return out


@inner(types.int64(U8, types.int64, types.int64, I32))
def character_at(data, begin, at, counts):
    """How many characters a text from byte `begin` on has before its byte `at`, given its `count_characters`."""
    block = at // BLOCK
    seen = np.int64(counts[block])
    for place in range(begin + block * BLOCK, begin + at):
        seen += (data[place] & 0xC0) != 0x80
    return seen


@kernel(types.int32[:, ::1](U8, I64, I64, PAIRS))
def bytes_to_characters(data, offsets, indptr, spans):
    """Spans of bytes as spans of characters, both counted from the start of their text."""
    out = spans.copy()
    counts = np.empty(len(data) // BLOCK + 1, np.int32)  # of one text
    for text in range(len(offsets) - 1):
        begin, end, first, last = offsets[text], offsets[text + 1], indptr[text], indptr[text + 1]
        if first < last and count_characters(data, begin, end, counts) < end - begin:
            for k in range(first, last):
                for side in range(2):
                    out[k, side] = character_at(data, begin, spans[k, side], counts)
    return out


PLACES = types.Array(types.int64, 2, "C", readonly=True)
AHEAD = 16  # names


@kernel(types.Tuple((types.int32[::1], types.uint8[::1], types.boolean))(U8, PLACES))
def cut_out(data, where):
    """The texts between pairs of bytes, in Arrow's layout, and whether one has a line break or another control code."""
    size = np.int64(0)
    for name in range(len(where)):
        size += where[name, 1] - where[name, 0]
    offsets, out, text = np.zeros(len(where) + 1, np.int32), np.empty(size, np.uint8), pointer(data)
    write, broken = np.int64(0), False
    for name in range(len(where)):
        prefetch(text, where[min(name + AHEAD, len(where) - 1), 0])
        for at in range(where[name, 0], where[name, 1]):
            out[write] = text[at]
            broken |= text[at] < 0x20
            write += 1
        offsets[name + 1] = write
    return offsets, out, broken
