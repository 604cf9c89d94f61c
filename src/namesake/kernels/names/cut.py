"""Raw text cut into tokens: words of ASCII letters in blocks of 64 bytes, what is special word by word.

Almost all words are of ASCII letters, with one space between them. `list_words` notes where they stand, up to a byte
that is special; gaps that are more than a space are read one by one; hashes and bits are made of all words at once,
when the whole text has been read, in loops that the compiler turns into vector instructions.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import (
    KEYS,
    LOWERED,
    ONE,
    ZERO,
    add_byte,
    find,
    finish,
    hash_ahead,
    hash_short,
    hash_word,
)
from namesake.kernels.names.fold import HARD as UNKNOWN
from namesake.kernels.names.fold import LETTERS, SPACE, WIDTHS
from namesake.kernels.names.gaps import APOSTROPHES, DOT, IS_ASCII, possessive, read_gap, read_plain_gap, read_short_gap
from namesake.kernels.names.tokens import (
    APOSTROPHE,
    CAPITAL,
    HAS_CAPITAL,
    HONORIFIC,
    IS_CAPITAL,
    IS_DOTTED,
    IS_INITIALS,
    IS_JOINED,
    IS_LONG,
    IS_NUMBER,
    IS_UPPER,
    LOOK_CLOSER,
    SOFT,
    SUFFIX,
    TABLES,
    TOKENS,
    UPPER_LETTER,
)
from namesake.kernels.simd import (
    BYTES,
    LANES,
    NUMBERS,
    among,
    among_folded,
    below,
    byte,
    equal,
    first_bits,
    having,
    lowest,
    ones,
    pointer,
    without_lowest,
)
from namesake.kernels.text.characters import AHEAD, LONG, code_point, write_words
from namesake.kernels.types import U8, own_record

LONGEST_RUN = 64  # bytes of initials that make one token
FAR = 8  # blocks that are looked at before gaps are read
TAG = 0x3C
I, MASK = types.int64, types.uint64
ALL, LAST = ~ZERO, ONE << np.uint64(LANES - 1)
CLASSES = types.CPointer(types.uint32)
WORD = types.Tuple((I, I, types.uint64, I))


class Words(NamedTuple):
    """What `cut` reads and where it writes, as pointers: a text, `Tables`, `Tokens` and `Draft`."""

    text: Annotated[Any, BYTES]
    plain_end: Annotated[Any, types.int64]
    """Where the last word that is read in blocks may end."""
    kinds: Annotated[Any, BYTES]
    word_keys: Annotated[Any, KEYS]
    word_bits: Annotated[Any, CLASSES]
    word_mask: Annotated[Any, types.int64]
    starts: Annotated[Any, NUMBERS]
    ends: Annotated[Any, NUMBERS]
    gaps: Annotated[Any, BYTES]
    marks: Annotated[Any, BYTES]
    heads: Annotated[Any, KEYS]
    tails: Annotated[Any, KEYS]
    odd: Annotated[Any, NUMBERS]
    changed: Annotated[Any, NUMBERS]
    new_hashes: Annotated[Any, KEYS]
    new_bits: Annotated[Any, BYTES]
    gap_keys: Annotated[Any, KEYS]
    gap_facts: Annotated[Any, BYTES]


WORDS = own_record(Words)


@inlined(MASK(BYTES, I))
def letters_in(text, at):
    """Where the 64 bytes from `at` on are ASCII letters or digits, as bits."""
    return among_folded(text, at, np.uint8(0x61), np.uint8(26)) | among(text, at, np.uint8(0x30), np.uint8(10))


@inner(types.uint64(U8, types.int64, types.int64, WIDTHS, LETTERS))
def hash_letters(data, at, end, widths, letters):
    """Hash of all letters between two bytes as one token, whatever parts them."""
    hashed, rest, length = ZERO, ZERO, np.int64(0)
    while at < end:
        point, width = code_point(data, at, end)
        for i in range(max(widths[point], 0)):
            hashed, rest, length = add_byte(hashed, rest, length, np.uint64(letters[point, i]))
        at += width
    return finish(hashed, rest, length)


@inner(WORD(U8, types.int64, types.int64, WIDTHS, LETTERS, U8))
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


@inlined(MASK(BYTES, I, MASK, MASK))
def special_in(text, at, letters, behind):
    """Where the 64 bytes from `at` on are beyond ASCII, the beginning of a tag, or an apostrophe at a letter, as bits.

    `behind`: where a letter stands before.
    """
    apostrophe = equal(text, at, np.uint8(APOSTROPHES[0])) | equal(text, at, np.uint8(APOSTROPHES[1]))
    apostrophe &= letters >> ONE | behind | LAST
    return ~below(text, at, np.uint8(0x80)) | equal(text, at, np.uint8(TAG)) | apostrophe


@inlined(MASK(MASK))
def bits_below(bit):
    """The bits below one, which is given by its place."""
    return (ONE << bit) - ONE


@inlined(types.UniTuple(I, 2)(WORDS, I, I, I, I))
def list_words(to, at, end, blocks, count):
    """Write the words from byte `at` on, where one begins, as tokens `count` and so on, up to a special byte.

    A word that the special byte may belong to is left out. At most so many blocks of 64 bytes are looked at. Returns
    how many tokens there are then, and how many of them are odd: a lone letter, or more than a space follows.
    """
    text, starts, ends, heads, tails, odd = to.text, to.starts, to.ends, to.heads, to.tails, to.odd
    base, before, odds, opened = at, ZERO, 0, count
    for _ in range(blocks):
        letters, inside, left = letters_in(text, base), ALL, end - base
        behind = letters << ONE | before
        special = special_in(text, base, letters, behind)
        if left < LANES:
            letters &= bits_below(np.uint64(left))
            behind &= bits_below(np.uint64(left)) << ONE | ONE
            special &= bits_below(np.uint64(left))
            inside = bits_below(np.uint64(left)) << ONE | ONE
        if special != ZERO:
            inside = (special - ONE) & ~special
        begin, stop = letters & ~behind & inside, ~letters & behind & inside
        strange = stop & (~(equal(text, base, np.uint8(SPACE)) & letters >> ONE) | begin << ONE | ONE)
        while strange != ZERO:
            odd[odds] = count + ones(stop & bits_below(np.uint64(lowest(strange))))
            strange = without_lowest(strange)
            odds += 1
        opened, count = write_words(text, base, begin, stop, starts, ends, heads, tails, opened, count)
        if special != ZERO or left < LANES:
            break
        before = letters >> np.uint64(LANES - 1)
        base += LANES
    return count, odds


@inlined(types.boolean(BYTES, I, I))
def lone_letter(text, start, stop):
    """Whether a word of ASCII letters and digits is one letter."""
    return stop - start == 1 and byte(text, start) > 0x39


@inlined(types.boolean(WORDS, types.uint64))
def abbreviates(to, hashed):
    """Whether a word is an abbreviation that may stand before or behind names: Mr, Jr."""
    return to.word_bits[find(to.word_keys, to.word_mask, hashed)] & (HONORIFIC | SUFFIX) != 0


@inlined(types.boolean(WORDS, I, I, I))
def abbreviated(to, start, stop, end):
    """Whether a word of ASCII letters is an abbreviation, with its period behind it."""
    if lone_letter(to.text, start, stop):
        return True
    return stop < end and byte(to.text, stop) == DOT and abbreviates(to, hash_word(to.text, start, stop))


@inlined(I(WORDS, I, I, types.uint64, I))
def change(to, changes, token, hashed, flags):
    """Note the hash and bits of the last token; without a hash, further bits. Returns how many are changed."""
    same = changes > 0 and to.changed[changes - 1] == token
    at = changes - 1 if same else changes
    old = to.new_hashes[at] if same else ZERO
    to.changed[at] = token
    to.new_bits[at] = np.uint8(flags | to.new_bits[at] if hashed == ZERO and same else flags)
    to.new_hashes[at] = hashed if hashed != ZERO else old
    return at + 1


@inlined(types.UniTuple(I, 2)(WORDS, I, I, I, I, I))
def read_gaps(to, first, count, odds, end, changes):
    """Read the gaps between tokens `first` to `count`, of which the last `odds` tokens noted are odd.

    Stops where two lone letters may be one token. Returns how many tokens are left, and how many are changed.
    """
    text, starts, ends = to.text, to.starts, to.ends
    for k in range(first, count):
        to.gaps[k] = to.marks[k] = np.uint8(SOFT)
    for j in range(odds):
        k = to.odd[j]
        if k + 1 >= count:
            break
        short = abbreviated(to, starts[k], ends[k], end)
        gap, dotted, mark = read_short_gap(
            text, ends[k], starts[k + 1], end, short, to.kinds, to.gap_keys, to.gap_facts
        )
        to.gaps[k + 1], to.marks[k + 1] = np.uint8(gap), np.uint8(mark)
        if gap == SOFT and lone_letter(text, starts[k], ends[k]) and lone_letter(text, starts[k + 1], ends[k + 1]):
            return k + 1, changes
        if dotted:
            changes = change(to, changes, k, ZERO, np.int64(IS_DOTTED))
    return count, changes


@inlined(types.void(TOKENS, WORDS, I))
def hash_words(tokens, to, count):
    """The hashes of words of ASCII letters by their heads and tails."""
    hashes = pointer(tokens.hashes)
    for k in range(count):
        hashes[k] = hash_short(to.heads[k], to.tails[k], to.ends[k] - to.starts[k])


@inlined(types.void(TOKENS, WORDS, I))
def note_bits(tokens, to, count):
    """The bits of words of ASCII letters; and the hashes of long ones."""
    hashes, bits = pointer(tokens.hashes), pointer(tokens.bits)
    for k in range(count):
        first, second = np.int64(to.heads[k]) & 0xFF, np.int64(to.heads[k]) >> 8 & 0xFF
        digit, capital = (first >= 0x30) & (first <= 0x39), (first >= 0x41) & (first <= 0x5A)
        length, upper = to.ends[k] - to.starts[k], (second >= 0x41) & (second <= 0x5A)
        flags = IS_CAPITAL * (digit | capital) + IS_NUMBER * digit + IS_LONG * (length >= LONG)
        bits[k] = np.uint8(flags + (IS_INITIALS * (not digit) if length == 1 else IS_UPPER * upper))
    for at in range(0, count, LANES):
        long = having(bits, at, np.uint8(IS_LONG)) & first_bits(count - at)
        while long != ZERO:
            k = at + lowest(long)
            long = without_lowest(long)
            bits[k] = np.uint8(np.int64(bits[k]) & ~IS_LONG)
            if to.ends[k] <= to.plain_end:
                hashes[k] = hash_ahead(to.text, to.starts[k], to.ends[k], LOWERED)


@inlined(types.void(TOKENS, WORDS, I, I))
def finish_tokens(tokens, to, count, changes):
    """Make hashes, bits, marks and classes of so many tokens of which the places and gaps are known."""
    hash_words(tokens, to, count)
    note_bits(tokens, to, count)
    hashes, bits, marks, classes = (
        pointer(tokens.hashes), pointer(tokens.bits), pointer(tokens.marks), pointer(tokens.classes)
    )  # fmt: skip
    for j in range(changes):
        k = to.changed[j]
        if to.new_hashes[j] != ZERO:
            hashes[k], bits[k] = to.new_hashes[j], np.uint8(0)
        bits[k] |= to.new_bits[j]
    for k in range(count):
        marks[k] |= np.uint8(HAS_CAPITAL * (bits[k] & (IS_CAPITAL | IS_NUMBER) == IS_CAPITAL))
    for k in range(count):  # look-ups that wait neither for each other nor for the text
        classes[k] = to.word_bits[find(to.word_keys, to.word_mask, hashes[k])]


@inner(I(U8, I, I, TABLES, TOKENS, I))
def cut(data, begin, end, tables, tokens, most):
    """Cut a text into normalised tokens, at most `most`, and return how many; `oracle_tokens.Tokeniser` is its twin.

    Apostrophes vanish, a possessive s is left out, initials that follow each other are one token, and a gap is HARD
    where the text itself parts two words. Pointers spare the test of every index for being negative.
    """
    text, room = pointer(data), len(data) - AHEAD  # beyond it there is no block to look at
    widths, letters, kinds, draft = tables.widths, tables.letters, tables.kinds, tokens.draft
    to = Words(
        *(
            text,
            room + LANES,
            pointer(kinds),
            pointer(tables.word_keys),
            pointer(tables.word_bits),
            len(tables.word_keys) - 1,
        ),
        *(pointer(tokens.starts), pointer(tokens.ends), pointer(tokens.gaps), pointer(tokens.marks)),
        *(pointer(draft.heads), pointer(draft.tails), pointer(draft.odd), pointer(draft.changed)),
        *(pointer(draft.new_hashes), pointer(draft.new_bits), pointer(draft.gap_keys), pointer(draft.gap_facts)),
    )
    count = changes = 0
    reach, mark, bits = np.int64(FAR), np.int64(LOOK_CLOSER), np.int64(0)  # bits are those of the last token
    at, gap, _ = read_gap(data, begin, end, False, False, widths, kinds)
    while at < end and count < most:
        before = count
        goes_on = bits & IS_INITIALS != 0 and gap == SOFT  # if a lone letter follows
        if not goes_on and at <= room and IS_ASCII[byte(text, at)] != 0:
            blocks = min(reach, (room - at) // LANES + 1, (most - count) // 8 + 1)
            listed, odds = list_words(to, at, end, blocks, count)
            count, changes = read_gaps(to, before, listed, odds, end, changes)
            reach = np.int64(1) if count < listed else min(2 * reach, np.int64(FAR))
            count = min(count, most)
        if count > before:
            to.gaps[before], to.marks[before] = np.uint8(gap), np.uint8(mark)
            start, at = to.starts[count - 1], to.ends[count - 1]
            stop, short = at, abbreviated(to, start, at, end)
            bits = np.int64(IS_INITIALS * lone_letter(text, start, at) | IS_CAPITAL * (byte(text, start) < 0x61))
        else:
            start, last = at, count
            at, stop, hashed, flags = read_word(data, start, end, widths, letters, kinds)
            if goes_on and flags & IS_INITIALS and stop - to.starts[count - 1] <= LONGEST_RUN:
                if (bits ^ flags) & IS_CAPITAL == 0 and (bits & IS_DOTTED or flags & IS_CAPITAL):
                    last = count - 1
                    hashed = hash_letters(data, to.starts[last], stop, widths, letters)
                    flags = bits & ~IS_DOTTED | IS_JOINED
            if last == count:
                to.starts[last], to.gaps[last], to.marks[last] = start, np.uint8(gap), np.uint8(LOOK_CLOSER)
                count += 1
            to.ends[last], bits = stop, flags
            changes = change(to, changes, last, hashed, flags)
            short = flags & IS_INITIALS != 0 or (at < end and byte(text, at) == DOT and abbreviates(to, hashed))
        following, gap, dotted, mark = read_plain_gap(text, at, end, short, to.kinds)
        if at != stop:
            mark = np.int64(LOOK_CLOSER)  # apostrophes behind the word are part of what stands before the next
        if following < 0:
            following, gap, dotted = read_gap(data, at, end, True, short, widths, kinds)
        if dotted:
            bits |= IS_DOTTED
            changes = change(to, changes, count - 1, ZERO, np.int64(IS_DOTTED))
        at = following
    finish_tokens(tokens, to, count, changes)
    return count
