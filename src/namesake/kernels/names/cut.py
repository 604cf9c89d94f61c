"""Raw text cut into tokens, one word and one gap after the other.

Most words are ASCII letters with one space between them: their hashes are made of eight bytes at a time. All else is
read character by character.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ZERO, add_byte, find, finish
from namesake.kernels.names import tokens as t
from namesake.kernels.names.fold import HARD as UNKNOWN
from namesake.kernels.names.fold import SEPARATOR, SPACE
from namesake.kernels.simd import pointer
from namesake.kernels.text.characters import code_point, plain_word
from namesake.kernels.types import U8

I = types.int64
GAP = types.Tuple((I, I, types.boolean))
WORD = types.Tuple((I, I, types.uint64, I))
LONGEST_RUN = 64  # bytes of initials that make one token
LONGEST_TAG = 1000
NEW_LINE, QUOTE, SINGLE_QUOTE, COMMA, DASH, DOT, TAG, END_OF_TAG = 0x0A, 0x22, 0x27, 0x2C, 0x2D, 0x2E, 0x3C, 0x3E
AMPERSAND, LETTER_S = 0x26, 0x73
ENDS_SENTENCE = np.zeros(256, np.bool_)  # of ASCII; a quotation mark and a bullet have three bytes
ENDS_SENTENCE[list(b'.!?:;\n"*|')] = True
# the third byte of signs that begin with E2 80
HYPHENS, APOSTROPHE, CLOSING_QUOTE, SENTENCE_SIGNS = (0x90, 0x91), 0x99, 0x9D, (0x98, 0x9C, 0x9D, 0xA2)


@inlined(types.Tuple((I, I, I))(U8, I, I, t.TABLES))
def folded(data, at, end, tables):
    """The character at byte `at`, its number of bytes, and the width that it folds to."""
    point, size = code_point(data, at, end)
    return point, size, I(tables.widths[point] if 0 <= point < len(tables.widths) else UNKNOWN)


@inlined(types.boolean(U8, I, I, t.TABLES))
def in_word(data, at, end, tables):
    """Whether the character at byte `at` belongs to a word."""
    return at < end and folded(data, at, end, tables)[2] > 0


@inner(types.boolean(U8, I, I, t.TABLES))
def possessive(data, at, end, tables):
    """Whether the letter of a possessive, one of ASCII, stands at byte `at`, behind an apostrophe."""
    is_letter = at < end and data[at] < 0x80 and tables.kinds[data[at]] & t.POSSESSIVE != 0
    return is_letter and not in_word(data, at + 1, end, tables)


@inner(I(U8, I, I))
def tag_end(data, at, end):
    """Where the tag that opens at byte `at` closes, or -1 where it is no tag."""
    following = data[at + 1] if at + 1 < end else SPACE
    if not (following in (0x21, 0x2F) or 0x61 <= following | 0x20 <= 0x7A):
        return -1
    for i in range(at, min(end, at + LONGEST_TAG + 1)):
        if data[i] == END_OF_TAG:
            return i
    return -1


@inner(types.uint64(U8, I, I, t.TABLES))
def hash_letters(data, at, end, tables):
    """Hash of all letters between two bytes as one token, whatever parts them."""
    hashed, rest, length = ZERO, ZERO, I(0)
    while at < end:
        point, size, width = folded(data, at, end, tables)
        for i in range(width):
            hashed, rest, length = add_byte(hashed, rest, length, np.uint64(tables.letters[point, i]))
        at += size
    return finish(hashed, rest, length)


@inlined(WORD(U8, I, I, t.TABLES))
def read_word(data, at, end, tables):
    """Read a word from byte `at` on: where what follows it starts, where its last letter ends, its hash and bits."""
    stop, hashed = plain_word(pointer(data), at, end)
    if at < stop < end and data[stop] < 0x80 and tables.widths[data[stop]] < 0:
        flags = t.IS_CAPITAL * (data[at] < 0x61)
        flags |= t.IS_INITIALS if stop - at == 1 else t.IS_UPPER * (data[at + 1] < 0x61)
        return stop, stop, hashed, flags
    flags, start, stop, read = I(0), at, at, 0
    while at < end:
        point, size, width = folded(data, at, end, tables)
        if width < 0 or (
            width == 0 and tables.kinds[point] & t.APOSTROPHE and possessive(data, at + size, end, tables)
        ):
            break
        at += size
        if width == 0:
            continue
        kind, first = tables.kinds[point], tables.letters[point, 0]
        if read == 0:
            is_digit = first <= 0x39
            flags = t.IS_CAPITAL * (kind & t.CAPITAL != 0) | t.IS_NUMBER * is_digit
            flags |= t.IS_INITIALS * (not is_digit and (width == 1 or first >= 0xC3))
        else:
            flags &= ~t.IS_INITIALS
            flags |= t.IS_UPPER * (read == 1 and kind & t.UPPER_LETTER != 0)
        read += 1
        stop = at
    return at, stop, hash_letters(data, start, stop, tables), flags


@inlined(types.boolean(types.uint8, t.TABLES))
def parts_words(sign, tables):
    """Whether a sign of ASCII between two spaces always parts the words: no letter, blank, apostrophe or tag."""
    is_known = sign < 0x80 and sign != TAG and tables.widths[sign] == SEPARATOR
    return is_known and tables.kinds[sign] & (t.APOSTROPHE | t.BLANK) == 0


@inlined(GAP(U8, I, I, types.boolean, types.boolean, t.TABLES))
def read_gap(data, at, end, ended, abbreviation, tables):
    """Read what parts two words, from byte `at` on: where the next starts, the kind of gap, and whether a period says
    that the word before was an abbreviation. `ended`: a word stands right before.
    """
    if ended and at + 3 < end:
        size = 1 if data[at] == SPACE else 2 * (data[at + 1] == SPACE and (data[at] == COMMA or data[at] == DOT))
        if size == 1 and data[at + 2] == SPACE and parts_words(data[at + 1], tables):
            size = 3
        if size > 0 and data[at + size] < 0x80 and tables.widths[data[at + size]] > 0:
            dotted = size == 2 and data[at] == DOT and abbreviation
            gap = I(t.SOFT) if size == 1 or dotted else I(t.COMMA) if data[at] == COMMA else I(t.HARD)
            return at + size, gap, dotted
    gap, dotted, newlines = I(t.SOFT if ended else t.HARD), False, 0
    while at < end:
        point, size, width = folded(data, at, end, tables)
        if width > 0:
            break
        kind = tables.kinds[point] if width != UNKNOWN else np.uint8(0)
        close = tag_end(data, at, end) if point == TAG else -1
        if kind & t.APOSTROPHE and possessive(data, at + size, end, tables):
            gap = I(t.HARD)
            size += 1
        elif close >= 0:
            gap = I(t.HARD)
            size = close + 1 - at
        elif width == 0:
            pass
        elif kind & t.BLANK:
            newlines += point == NEW_LINE
            gap = I(t.HARD) if newlines > 1 else gap
        elif point == DOT and ended and abbreviation:
            dotted = True
        elif point == COMMA and ended:
            gap = I(t.COMMA)
        elif not (kind & t.HYPHEN and ended and in_word(data, at + size, end, tables)):
            gap = I(t.HARD)
        ended = False
        at += size
    return at, gap, dotted


@inlined(types.boolean(U8, I, I, I))
def is_sign(data, at, end, last):
    """Whether the three bytes E2 80 and `last` stand at byte `at`, before byte `end`."""
    return at + 2 < end and data[at] == 0xE2 and data[at + 1] == 0x80 and data[at + 2] == last


@inlined(types.boolean(U8, I, I))
def small_before_capital(data, start, end):
    """Whether a small letter, an apostrophe and a capital begin a word: d'Estaing."""
    after = start + 4 if is_sign(data, start + 1, end, APOSTROPHE) else start + 2
    has_apostrophe = after < end and (after == start + 4 or data[start + 1] == SINGLE_QUOTE)
    return has_apostrophe and 0x61 <= data[start] <= 0x7A and 0x41 <= data[after] <= 0x5A


@inner(types.boolean(U8, I, I, types.boolean))
def starts_sentence(data, begin, end, is_dotted):
    """Whether a sentence or a quotation begins behind the gap between two tokens, the first dotted or not."""
    if data[begin] == COMMA and data[end - 1] == SPACE:  # "Yes," he said
        is_quote = end - begin == 3 and data[begin + 1] == QUOTE
        if is_quote or (end - begin == 5 and is_sign(data, begin + 1, end, CLOSING_QUOTE)):
            return False
    starts, dots, others = False, 0, 0
    for at in range(begin, end):
        starts |= ENDS_SENTENCE[data[at]]
        if data[at] == 0xE2:
            for sign in SENTENCE_SIGNS:
                starts |= is_sign(data, at, end, sign)
        dots += data[at] == DOT
        others += data[at] not in (DOT, SPACE)
    return starts and not (is_dotted and others == 0 and dots <= 1)


@inner(types.boolean(U8, I, I))
def is_joined(data, begin, end):
    """Whether a name may reach over the bytes between two tokens: a possessive s (People's Republic) or & (AT&T)."""
    size = end - begin
    if size > 1 and data[end - 1] != SPACE:
        return False
    if size == 1 or (size == 3 and data[begin] == SPACE):
        return data[begin + size // 2] == AMPERSAND
    is_long = size == 5 and is_sign(data, begin, end, APOSTROPHE)
    return (is_long or (size == 3 and data[begin] == SINGLE_QUOTE)) and data[begin + size - 2] | 0x20 == LETTER_S


@inlined(I(U8, I, I, types.boolean))
def gap_marks(data, begin, end, is_dotted):
    """The marks of what stands between two tokens, from byte `begin` to `end`."""
    only = data[begin] if end - begin == 1 else np.uint8(0)
    if only == SPACE:
        return 0
    if only == DOT:
        return t.AFTER_DOT
    if only == DASH or (
        end - begin == 3 and (is_sign(data, begin, end, HYPHENS[0]) or is_sign(data, begin, end, HYPHENS[1]))
    ):
        return t.AFTER_HYPHEN
    return t.AT_START * starts_sentence(data, begin, end, is_dotted) | t.IS_JOINED * is_joined(data, begin, end)


@inlined(I(U8, I, I, t.TABLES, t.TOKENS, I, I))
def cut(data, begin, end, tables, tokens, base, most):
    """Cut a text into the tokens from `base` to `most`, or fewer, and return the place behind the last one.

    Apostrophes vanish, a possessive s is left out, initials that follow each other are one token, and a gap is HARD
    where punctuation, a tag or an empty line parts two words. `oracle_tokens.Tokeniser` is its twin.
    """
    starts, ends, bits, keys = tokens.starts, tokens.ends, tokens.bits, pointer(tables.word_keys)
    at, gap, _ = read_gap(data, begin, end, False, False, tables)
    count, read = base, begin  # from byte `read` on, new lines are still to be looked for
    while at < end and count < most:
        start, last, before = at, count, I(bits[count - 1]) if count > base else I(0)
        at, stop, hashed, flags = read_word(data, start, end, tables)
        if gap == t.SOFT and before & flags & t.IS_INITIALS and (before ^ flags) & t.IS_CAPITAL == 0:
            if (before & t.IS_DOTTED or flags & t.IS_CAPITAL) and stop - begin - starts[count - 1] <= LONGEST_RUN:
                last, flags = count - 1, before & ~t.IS_DOTTED
                read = begin + starts[last]
                hashed = hash_letters(data, read, stop, tables)
        if last == count:
            mark = I(t.AT_START | t.STARTS_LINE) if count == base else I(0)
            if count > base and (start - read != 1 or data[read] != SPACE):
                mark = gap_marks(data, begin + ends[count - 1], start, before & t.IS_DOTTED != 0)
                for place in range(read, start):
                    mark |= t.STARTS_LINE * (data[place] == NEW_LINE)
            case = flags & (t.IS_CAPITAL | t.IS_NUMBER)
            if case == t.IS_CAPITAL or (case == 0 and small_before_capital(data, start, stop)):
                mark |= t.HAS_CAPITAL
            starts[last], tokens.gaps[last], tokens.marks[last], read = start - begin, gap, mark, stop
            count += 1
        word = tables.word_bits[find(keys, len(tables.word_keys) - 1, hashed)]
        abbreviation = flags & t.IS_INITIALS != 0 or word & (t.HONORIFIC | t.SUFFIX) != 0
        at, gap, dotted = read_gap(data, at, end, True, abbreviation, tables)
        ends[last], tokens.hashes[last], tokens.classes[last] = stop - begin, hashed, word
        bits[last] = flags | t.IS_DOTTED * dotted
    return count
