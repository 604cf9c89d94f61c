"""Raw text cut into the tokens that names are made of, in one pass: hashes, places, capitals, what parts them."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import ZERO, add_byte, find, finish, hash_word
from namesake.kernels.names.fold import HARD as UNKNOWN
from namesake.kernels.names.fold import LETTERS, SPACE, WIDTHS
from namesake.kernels.simd import BYTES, LANES, among, among_folded, byte, lowest, pointer, word
from namesake.kernels.text.case import has_capitals
from namesake.kernels.types import U8, U32, U64, own_record, record
from namesake.kernels.utf8 import code_point

# what a character is, by bits
UPPER_LETTER, CAPITAL, BLANK, APOSTROPHE, HYPHEN, POSSESSIVE = 1, 2, 4, 8, 16, 32
# what a token is, by bits
IS_CAPITAL, IS_INITIALS, IS_UPPER, IS_DOTTED, IS_NUMBER, IS_JOINED = 1, 2, 4, 8, 16, 32
# what a word is, by bits
HONORIFIC, SUFFIX, FUNCTION, ORDINARY, FIRM, TITLE, BEFORE_FIRM = 1, 2, 4, 8, 16, 32, 64
PARTICLE, NUMERAL, NAME_TITLE, ROYAL, LOWER_TITLE, NOBLE, SAINT, ROLE = (1 << bit for bit in range(7, 15))
IN_PLACE, TO_PLACE, BASED, DISTRICT, DATE, NEVER, FAMILY, GENERATION = (1 << bit for bit in range(15, 23))
FIRM_WORD, OWNED, SHARES, OF, ARTICLE, AND, BY, CREDIT, OTHER = (1 << bit for bit in range(23, 32))
NO_NAME = NEVER | DATE | NAME_TITLE | NUMERAL | FUNCTION | SUFFIX | FIRM  # by itself no name of one word
# what stands before a token, by bits, and whether it has a capital, also behind an apostrophe (d'Estaing)
HAS_CAPITAL, AT_START, AFTER_HYPHEN, AFTER_DOT, LOOK_CLOSER = 1, 2, 4, 8, 16
SOFT, COMMA, HARD = 0, 1, 2  # what stands before a token
LOWER, CASED, ALL_CAPITALS = 0, 1, 2  # how a text is written

LONGEST_TAG = 1000
LONGEST_RUN = 64  # bytes of initials that make one token
WORDS_TO_A_CAPITAL = 33  # in a text with capitals there is one in so many words


class Tables(NamedTuple):
    """What each character folds to (width, letters) and is (bits); the listed words, and which lists have them (bits).

    The words are a hash table (see `kernels.hash`).
    """

    widths: Annotated[Any, WIDTHS]
    letters: Annotated[Any, LETTERS]
    kinds: Annotated[Any, U8]
    word_keys: Annotated[Any, U64]
    word_bits: Annotated[Any, U32]


class Tokens(NamedTuple):
    """The tokens of a text: hash, start and end byte, bits, bits of the word, the gap before, and marks.

    `cut` marks the tokens to look closer at, and `mark_gaps` makes of it what stands before each.
    """

    hashes: Annotated[Any, types.uint64[::1]]
    starts: Annotated[Any, types.int64[::1]]
    ends: Annotated[Any, types.int64[::1]]
    bits: Annotated[Any, types.uint8[::1]]
    classes: Annotated[Any, types.uint32[::1]]
    gaps: Annotated[Any, types.uint8[::1]]
    marks: Annotated[Any, types.uint8[::1]]


TABLES, TOKENS = record(Tables), own_record(Tokens)


def _ascii_letters():
    """What each byte is in a normalised token where it is an ASCII letter or digit, else 0."""
    table = np.zeros(256, np.uint8)
    for letter in b"abcdefghijklmnopqrstuvwxyz0123456789":
        table[letter] = letter
    table[ord("A") : ord("Z") + 1] = table[ord("a") : ord("z") + 1]
    return table


def _first_bits():
    """The bits of a token that its first byte tells."""
    table = np.zeros(256, np.uint8)
    table[ord("A") : ord("Z") + 1] = IS_CAPITAL
    table[ord("0") : ord("9") + 1] = IS_CAPITAL | IS_NUMBER
    return table


ASCII = _ascii_letters()
FIRST_BITS = _first_bits()
SECOND_BITS = np.where(FIRST_BITS == IS_CAPITAL, np.uint8(IS_UPPER), np.uint8(0))
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


@kernel(types.boolean(U8, types.int64, types.int64, WIDTHS))
def in_word(data, at, end, widths):
    """Whether the character at byte `at` belongs to a word."""
    if at >= end:
        return False
    point, _ = code_point(data, at, end)
    return point >= 0 and point < len(widths) and widths[point] > 0


@kernel(types.int64(U8, types.int64, types.int64))
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


@inlined(types.uint64(BYTES, types.int64))
def letters_in(text, at):
    """Where the 64 bytes from `at` on are ASCII letters or digits, as bits."""
    return among_folded(text, at, np.uint8(0x61), np.uint8(26)) | among(text, at, np.uint8(0x30), np.uint8(10))


@kernel(types.uint64(U8, types.int64, types.int64, WIDTHS, LETTERS))
def hash_letters(data, at, end, widths, letters):
    """Hash of all letters between two bytes as one token, whatever parts them."""
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    while at < end:
        point, width = code_point(data, at, end)
        for i in range(max(widths[point], 0)):
            hashed, rest, length = add_byte(hashed, rest, length, np.uint64(letters[point, i]))
        at += width
    return finish(hashed, rest, length)


WORD = types.Tuple((types.int64, types.int64, types.uint64, types.int64))
GAP = types.Tuple((types.int64, types.int64, types.boolean))
PLAIN_GAP = types.Tuple((types.int64, types.int64, types.boolean, types.int64))


@kernel(types.boolean(U8, types.int64, types.int64, WIDTHS, U8))
def possessive(data, at, end, widths, kinds):
    """Whether the letter of a possessive, one of ASCII, stands at byte `at`, behind an apostrophe."""
    letter = at < end and data[at] < 0x80 and kinds[data[at]] & POSSESSIVE != 0
    return letter and not in_word(data, at + 1, end, widths)


@kernel(WORD(U8, types.int64, types.int64, WIDTHS, LETTERS, U8))
def read_word(data, at, end, widths, letters, kinds):
    """Read a word from byte `at` on: where what follows it starts, where its last letter ends, its hash and bits."""
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    flags = read = np.int64(0)
    stop = at
    while at < end:
        point, width = code_point(data, at, end)
        folded = np.int64(widths[point]) if point >= 0 and point < len(widths) else np.int64(UNKNOWN)
        if folded < 0:
            break
        if folded == 0 and kinds[point] & APOSTROPHE and possessive(data, at + width, end, widths, kinds):
            break
        at += width
        if folded == 0:
            continue
        for i in range(folded):
            hashed, rest, length = add_byte(hashed, rest, length, np.uint64(letters[point, i]))
        kind = np.int64(kinds[point])
        if read == 0:
            digit = letters[point, 0] <= 0x39
            flags = np.int64(IS_CAPITAL * (kind & CAPITAL != 0) | IS_NUMBER * digit)
            flags |= IS_INITIALS * (not digit and (folded == 1 or letters[point, 0] >= 0xC3))
        else:
            flags &= ~IS_INITIALS
            flags |= IS_UPPER * (read == 1 and kind & UPPER_LETTER != 0)
        read += 1
        stop = at
    return at, stop, finish(hashed, rest, length), flags


@kernel(GAP(U8, types.int64, types.int64, types.boolean, types.boolean, WIDTHS, U8))
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


@inlined(types.int64(BYTES, types.int64, types.int64, U8))
def apostrophe_width(text, at, end, kinds):
    """How many bytes of a gap the apostrophe at byte `at` takes, two with the letter of a possessive; -1: unknown."""
    if at + 2 >= end:
        return np.int64(-1)
    letter, behind = byte(text, at + 1), byte(text, at + 2)
    if letter >= 0x80 or kinds[letter] & POSSESSIVE == 0:
        return np.int64(1)
    if behind >= 0x80:
        return np.int64(-1)
    return np.int64(1 if ASCII[behind] != 0 else 2)


@inlined(PLAIN_GAP(BYTES, types.int64, types.int64, types.boolean, U8))
def read_plain_gap(text, begin, end, abbreviation, kinds):
    """`read_gap` right behind a word, for gaps of ASCII without tags, and its marks; the end is -1 where it is another.

    The bits of all bytes are gathered first: what a gap is made of is hard to foresee.
    """
    behind = newlines = dots = np.int64(0)
    at = begin
    while at < end and ASCII[byte(text, at)] == 0:
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


@inlined(types.int64(types.int64))
def capital_mark(flags):
    """The mark of a token with these bits that begins with a capital, and with no digit."""
    return HAS_CAPITAL * (flags & (IS_CAPITAL | IS_NUMBER) == IS_CAPITAL)


@inlined(TOKENS(types.int64))
def room_for_tokens(most):
    """Room for so many tokens."""
    bits, classes, gaps = np.empty(most, np.uint8), np.empty(most, np.uint32), np.empty(most + 1, np.uint8)
    starts, ends, marks = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most + 8, np.uint8)
    return Tokens(np.empty(most, np.uint64), starts, ends, bits, classes, gaps, marks)


@kernel(types.int64(U8, types.int64, types.int64, TABLES, TOKENS, types.int64))
def cut(data, begin, end, tables, tokens, most):
    """Cut a text into normalised tokens, at most `most`, and return how many; `oracle_tokens.Tokeniser` is its twin.

    Apostrophes vanish, a possessive s is left out, initials that follow each other are one token, and a gap is HARD
    where the text itself parts two words. Words of ASCII letters, almost all, are read here, in blocks of 64 bytes, and
    the others by `read_word`. Pointers spare the test of every index for being negative.
    """
    text, room = pointer(data), len(data) - LANES - 8  # beyond it there is no block to look at
    hashes, starts, ends = pointer(tokens.hashes), pointer(tokens.starts), pointer(tokens.ends)
    bits, classes, gaps = pointer(tokens.bits), pointer(tokens.classes), pointer(tokens.gaps)
    marks, mark = pointer(tokens.marks), np.int64(LOOK_CLOSER)
    word_keys, word_bits, mask = pointer(tables.word_keys), pointer(tables.word_bits), len(tables.word_keys) - 1
    widths, letters, kinds = tables.widths, tables.letters, tables.kinds
    count = 0
    at, gap, _ = read_gap(data, begin, end, False, False, widths, kinds)
    base, block = at - LANES, ZERO  # where the block in view begins, and where it has letters
    while at < end and count < most:
        start, stop, value, length = at, at, ZERO, np.int64(LANES)
        flags = np.int64(FIRST_BITS[byte(text, start)])
        if at <= room:
            behind = at - base  # how much of the block is behind us
            length = lowest(~(block >> np.uint64(behind))) if behind < LANES else np.int64(LANES)
            if behind + length >= LANES:
                base, block = at, letters_in(text, at)
                length = lowest(~block)
            length = min(length, end - at)
            value = hash_word(text, at, at + length)
            at += length
            stop = at
        if length == LANES or (at < end and (byte(text, at) >= 0x80 or byte(text, at) in APOSTROPHES)):
            at, stop, value, flags = read_word(data, start, end, widths, letters, kinds)
            mark = np.int64(LOOK_CLOSER)
        elif at - start > 1:
            flags |= SECOND_BITS[byte(text, start + 1)]
        else:
            flags |= IS_INITIALS * (flags & IS_NUMBER == 0)
        last = count
        if flags & IS_INITIALS and gap == SOFT and count > 0 and bits[count - 1] & IS_INITIALS:
            same = (np.int64(bits[count - 1]) ^ flags) & IS_CAPITAL == 0 and stop - starts[count - 1] <= LONGEST_RUN
            if same and (bits[count - 1] & IS_DOTTED or flags & IS_CAPITAL):
                last = count - 1
                value = hash_letters(data, starts[last], stop, widths, letters)
                flags = np.int64(bits[last]) & ~IS_DOTTED | IS_JOINED
        if last == count:
            count += 1
            starts[last], gaps[last], marks[last] = start, np.uint8(gap), np.uint8(mark | capital_mark(flags))
        hashes[last], ends[last], bits[last] = value, stop, np.uint8(flags)
        if at + 1 < end and byte(text, at) == SPACE and ASCII[byte(text, at + 1)] != 0:
            at, gap, mark = at + 1, np.int64(SOFT), np.int64(0)
            continue
        abbreviation = flags & IS_INITIALS != 0 or word_bits[find(word_keys, mask, value)] & (HONORIFIC | SUFFIX) != 0
        following, gap, dotted, mark = read_plain_gap(text, at, end, abbreviation, kinds)
        if at != stop:
            mark = np.int64(LOOK_CLOSER)  # apostrophes behind the word are part of what stands before the next
        if following < 0:
            following, gap, dotted = read_gap(data, at, end, True, abbreviation, widths, kinds)
        bits[last] |= np.uint8(IS_DOTTED * dotted)
        at = following
    for i in range(count):  # look-ups that wait neither for each other nor for the text
        classes[i] = word_bits[find(word_keys, mask, hashes[i])]
    return count


@kernel(types.int64(types.uint8[::1], types.int64))
def style_of(bits, count):
    """Whether capitals tell names: not in a text (almost) without them, nor in one with little else."""
    words = capitals = uppers = 0
    for i in range(count):  # without branches: a capital is hard to foresee
        word_here = bits[i] & IS_NUMBER == 0
        capital = word_here & (bits[i] & IS_CAPITAL != 0)
        words += word_here
        capitals += capital
        uppers += capital & (bits[i] & IS_UPPER != 0)
    if not has_capitals(capitals, words, WORDS_TO_A_CAPITAL):
        return LOWER
    return ALL_CAPITALS if 2 * uppers > words else CASED


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


@kernel(types.void(U8, TOKENS, types.int64))
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
                marks[i] = np.uint8(mark | capital_mark(bits[i]))
            gaps[i] = np.uint8(SOFT if marks[i] & AFTER_DOT else gaps[i])
