"""What parts two tokens of a text: spaces and signs, tags, a possessive s; and what it says of the one behind it."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import KEYS, ONE, ZERO, home
from namesake.kernels.names.fold import HARD as UNKNOWN
from namesake.kernels.names.fold import SPACE, WIDTHS
from namesake.kernels.names.tokens import (
    AFTER_DOT,
    AFTER_HYPHEN,
    APOSTROPHE,
    AT_START,
    BLANK,
    COMMA,
    GAPS,
    HARD,
    HAS_CAPITAL,
    HYPHEN,
    IS_CAPITAL,
    IS_DOTTED,
    IS_NUMBER,
    LOOK_CLOSER,
    POSSESSIVE,
    SOFT,
    TOKENS,
)
from namesake.kernels.simd import BYTES, byte, pointer, word
from namesake.kernels.text.characters import code_point
from namesake.kernels.types import U8

LONGEST_TAG = 1000
IS_ASCII = np.zeros(256, np.uint8)  # 1 for the letters and digits of ASCII
for _letter in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789":
    IS_ASCII[_letter] = 1
GAP = types.Tuple((types.int64, types.int64, types.boolean))
PLAIN_GAP = types.Tuple((types.int64, types.int64, types.boolean, types.int64))
ENDS_SENTENCE = np.zeros(256, np.uint8)  # of ASCII; a quotation mark and a bullet have three bytes
for _mark in b'.!?:;\n"*|':
    ENDS_SENTENCE[_mark] = 1
APOSTROPHES = (0x27, 0x60)  # of ASCII; they may stand inside a word
DOT, DASH, QUOTE = 0x2E, 0x2D, 0x22

# what a byte of a gap does, by bits: it ends a sentence, it parts two words (blanks and apostrophes do not), it is
# neither a dot nor a space, it needs a closer look
ENDS, PARTS, MORE, STRANGE = 1, 2, 4, 8


def _gap_bits():
    """What each byte does in a gap."""
    table = np.full(256, PARTS | MORE, np.int64)
    table[[*range(0x09, 0x0E), *range(0x1C, 0x20)]] = MORE
    table[SPACE], table[DOT] = 0, PARTS
    table[ENDS_SENTENCE != 0] |= ENDS
    table[[ord("<"), *APOSTROPHES, *range(0x80, 0x100)]] = STRANGE | MORE
    return table


IN_GAP = _gap_bits()


@inner(types.boolean(U8, types.int64, types.int64, WIDTHS))
def in_word(data, at, end, widths):
    """Whether the character at byte `at` belongs to a word."""
    if at >= end:
        return False
    point, _ = code_point(data, at, end)
    return point >= 0 and point < len(widths) and widths[point] > 0


@inner(types.int64(U8, types.int64, types.int64))
def tag_end(data, at, end):
    """Where the tag that opens at byte `at` closes, or -1 where it is no tag."""
    if at + 1 >= end:
        return np.int64(-1)
    following = data[at + 1]
    if not (following in (0x21, 0x2F) or (following | 0x20 >= 0x61 and following | 0x20 <= 0x7A)):
        return np.int64(-1)
    for i in range(at, min(end, at + LONGEST_TAG + 1)):
        if data[i] == 0x3E:
            return np.int64(i)
    return np.int64(-1)


@inner(types.boolean(U8, types.int64, types.int64, WIDTHS, U8))
def possessive(data, at, end, widths, kinds):
    """Whether the letter of a possessive, one of ASCII, stands at byte `at`, behind an apostrophe."""
    letter = at < end and data[at] < 0x80 and kinds[data[at]] & POSSESSIVE != 0
    return letter and not in_word(data, at + 1, end, widths)


@inner(GAP(U8, types.int64, types.int64, types.boolean, types.boolean, WIDTHS, U8))
def read_gap(data, at, end, ended, abbreviation, widths, kinds):
    """Read what parts two words, from byte `at` on: where the next starts, the kind of gap, and whether a period says
    that the word before was an abbreviation. `ended`: a word stands right before.
    """
    gap, dotted = np.int64(SOFT if ended else HARD), False
    newlines = 0
    while at < end:
        point, width = code_point(data, at, end)
        folded = np.int64(widths[point]) if point >= 0 and point < len(widths) else np.int64(UNKNOWN)
        if folded > 0:
            break
        kind = np.int64(kinds[point]) if folded != UNKNOWN else np.int64(0)
        close = tag_end(data, at, end) if point == 0x3C else np.int64(-1)
        if kind & APOSTROPHE and possessive(data, at + width, end, widths, kinds):
            gap = np.int64(HARD)
            width += 1
        elif close >= 0:
            gap = np.int64(HARD)
            width = close + 1 - at
        elif folded == 0:
            pass
        elif kind & BLANK:
            newlines += point == 0x0A
            gap = np.int64(HARD) if newlines > 1 else gap
        elif point == 0x2E and ended and abbreviation:
            dotted = True
        elif point == 0x2C and ended:
            gap = np.int64(COMMA)
        elif not (kind & HYPHEN and ended and in_word(data, at + width, end, widths)):
            gap = np.int64(HARD)
        ended = False
        at += width
    return at, gap, dotted


@inlined(types.int64(BYTES, types.int64, types.int64, BYTES))
def apostrophe_width(text, at, end, kinds):
    """How many bytes of a gap the apostrophe at byte `at` takes, two with the letter of a possessive; -1: unknown."""
    if at + 2 >= end:
        return np.int64(-1)
    letter, behind = byte(text, at + 1), byte(text, at + 2)
    if letter >= 0x80 or kinds[letter] & POSSESSIVE == 0:
        return np.int64(1)
    if behind >= 0x80:
        return np.int64(-1)
    return np.int64(1 if IS_ASCII[behind] != 0 else 2)


@inlined(PLAIN_GAP(BYTES, types.int64, types.int64, types.boolean, BYTES))
def read_plain_gap(text, begin, end, abbreviation, kinds):
    """`read_gap` right behind a word, for gaps of ASCII without tags, and its marks; the end is -1 where it is another.

    The bits of all bytes are gathered first: what a gap is made of is hard to foresee.
    """
    behind = newlines = dots = np.int64(0)
    at = begin
    while at < end and IS_ASCII[byte(text, at)] == 0:
        this, width = byte(text, at), np.int64(1)
        if IN_GAP[this] & STRANGE:
            width = apostrophe_width(text, at, end, kinds) if this in APOSTROPHES else np.int64(-1)
            if width < 0:
                return np.int64(-1), np.int64(SOFT), False, np.int64(LOOK_CLOSER)
            behind |= PARTS * (width == 2)
        behind |= IN_GAP[this] * (at > begin)
        newlines += this == 0x0A
        dots += this == DOT
        at += width
    first, alone = byte(text, begin) if at > begin else SPACE, at - begin == 1
    dotted = (first == DOT) & abbreviation
    joins = dotted | (first == 0x2C) | ((first == DASH) & alone)
    hard = (newlines > 1) | (behind & PARTS != 0) | ((IN_GAP[first] & PARTS != 0) & (not joins))
    whole = IN_GAP[first] | behind
    starts = (whole & ENDS != 0) & (not (dotted & (whole & MORE == 0) & (dots <= 1)))
    if first == 0x2C and at - begin == 3:  # "Yes," he said
        starts &= byte(text, begin + 1) != QUOTE or byte(text, begin + 2) != SPACE
    mark = AFTER_HYPHEN * (first == DASH) + AFTER_DOT * (first == DOT) if alone else np.int64(0)
    mark = mark if mark != 0 else np.int64(AT_START * starts)
    return at, np.int64(HARD if hard else COMMA * (first == 0x2C)), dotted, mark


FACTS = types.UniTuple(types.int64, 3)
SHORT_GAP = 7  # bytes
LENGTH, BEHIND_ABBREVIATION = np.uint64(56), np.uint64(63)  # where the key of a gap holds them
DOTTED = 4  # its dot is that of an abbreviation; the two lowest bits are the kind of gap, and the marks stand above


@inlined(FACTS(BYTES, types.int64, types.int64, types.int64, types.boolean, BYTES, KEYS, BYTES))
def read_short_gap(text, begin, stop, end, abbreviation, kinds, keys, facts):
    """What `read_plain_gap` says of a gap from byte `begin` to `stop`, as (kind, whether dotted, marks).

    There are few different ones, so it is remembered by the bytes. An apostrophe must not stand beside a letter.
    """
    size = stop - begin
    if size > SHORT_GAP:
        _, gap, dotted, mark = read_plain_gap(text, begin, end, abbreviation, kinds)
        return gap, np.int64(dotted), mark
    key = word(text, begin) & ((ONE << np.uint64(8 * size)) - ONE)
    key |= np.uint64(size) << LENGTH | np.uint64(abbreviation) << BEHIND_ABBREVIATION
    slot = home(key, GAPS - 1)
    if keys[slot] != key:
        _, gap, dotted, mark = read_plain_gap(text, begin, end, abbreviation, kinds)
        keys[slot], facts[slot] = key, np.uint8(gap | DOTTED * dotted | mark << 3)
    known = np.int64(facts[slot])
    return known & 3, known & DOTTED, known >> 3


CLOSER_OR_DOT = np.uint64(0x0101010101010101 * (LOOK_CLOSER | AFTER_DOT))  # eight times
LONG_MARKS = (0x9C, 0x9D, 0x98, 0xA2)  # the third byte of “ ” ‘ and •
CLOSING = 0x9D  # the third byte of ”
LONG_HYPHENS = (0x90, 0x91)  # of ‐ and ‑


@inlined(types.boolean(BYTES, types.int64, types.int64))
def small_before_capital(text, start, end):
    """Whether a small letter, an apostrophe and a capital begin a word: d'Estaing."""
    if end - start < 3 or not 0x61 <= byte(text, start) <= 0x7A:
        return False
    second = byte(text, start + 1)
    capital = np.int64(start + 2)
    if second == 0xE2 and end - start >= 5 and byte(text, start + 2) == 0x80 and byte(text, start + 3) == 0x99:
        capital = start + 4
    elif second != 0x27:
        return False
    return 0x41 <= byte(text, capital) <= 0x5A


@inlined(types.boolean(BYTES, types.int64, types.int64))
def ends_quotation(text, at, size):
    """Whether so many bytes from `at` on are a quotation mark that may end a quotation."""
    if size == 3 and byte(text, at) == 0xE2 and byte(text, at + 1) == 0x80:
        return byte(text, at + 2) == CLOSING
    return size == 1 and byte(text, at) == QUOTE


@inlined(types.int64(BYTES, types.int64, types.int64, types.boolean))
def gap_marks(text, begin, end, abbreviated):
    """The marks of what stands between two tokens, from byte `begin` to `end`."""
    size = end - begin
    if size == 1:
        only = byte(text, begin)
        if only == 0x2D:
            return np.int64(AFTER_HYPHEN)
        if only == 0x2E:
            return np.int64(AFTER_DOT)
    elif size == 3 and byte(text, begin) == 0xE2 and byte(text, begin + 1) == 0x80:
        if byte(text, begin + 2) in LONG_HYPHENS:
            return np.int64(AFTER_HYPHEN)
    starts, dots, others = False, 0, 0
    if size == 1 and byte(text, begin) == SPACE:
        return np.int64(0)
    if byte(text, begin) == 0x2C and byte(text, end - 1) == SPACE and ends_quotation(text, begin + 1, size - 2):
        return np.int64(0)  # "Yes," he said
    for at in range(begin, end):
        this = byte(text, at)
        starts |= ENDS_SENTENCE[this] != 0
        if this == 0xE2 and at + 2 < end and byte(text, at + 1) == 0x80:
            starts |= byte(text, at + 2) in LONG_MARKS
        dots += this == 0x2E
        others += this not in (0x2E, SPACE)
    return np.int64(AT_START * (starts and not (abbreviated and others == 0 and dots <= 1)))


@inner(types.void(U8, TOKENS, types.int64))
def mark_gaps(data, tokens, count):
    """Make the marks of the tokens to look closer at. What a lone dot parts is no more parted."""
    text = pointer(data)
    starts, ends, bits, gaps, marks = (
        pointer(tokens.starts), pointer(tokens.ends), pointer(tokens.bits), pointer(tokens.gaps), pointer(tokens.marks)
    )  # fmt: skip
    for eight in range(0, count, 8):
        if word(marks, eight) & CLOSER_OR_DOT == ZERO:
            continue
        for i in range(eight, min(eight + 8, count)):
            if marks[i] & LOOK_CLOSER:
                mark = np.int64(AT_START)
                if i > 0:
                    mark = gap_marks(text, ends[i - 1], starts[i], bits[i - 1] & IS_DOTTED != 0)
                if bits[i] & (IS_CAPITAL | IS_NUMBER) == 0 and small_before_capital(text, starts[i], ends[i]):
                    mark |= HAS_CAPITAL
                marks[i] = np.uint8(mark | HAS_CAPITAL * (bits[i] & (IS_CAPITAL | IS_NUMBER) == IS_CAPITAL))
            gaps[i] = np.uint8(SOFT if marks[i] & AFTER_DOT else gaps[i])
