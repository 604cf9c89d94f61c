"""The Penn Treebank rules for one piece of text between spaces: its end, and its clitics and contractions.

The published rules are regular expressions that insert spaces, one after the other. Here each is a test on a
character's neighbours, so that one pass suffices; a property test compares the results.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import KEYS, ZERO
from namesake.kernels.simd import BYTES, NUMBERS, pointer
from namesake.kernels.text import characters
from namesake.kernels.text.boundaries import WORDS, period_break, skip_space, stop_break
from namesake.kernels.text.characters import CLASS, DOT, HIGH, INTEGER, LOWER, SPACE, STOP, character, hash_token

LONGEST = 4096  # bytes of a piece; a longer one without a break is cut there
FULL = 1024  # tokens collected before they are looked up: they stay in the first-level cache
BUFFER = 2 * FULL + LONGEST // 2 + 128  # any word may part into two
NEVER, LATE, EARLY = 0, 1, 2  # when the rules put a space after a piece


class Buffers(NamedTuple):
    """Buffers of tokens and sentence starts, as arrays for reading."""

    starts: Any
    ends: Any
    hashes: Any  # then the heads, tails and marks of `To`
    breaks: Any  # starts of sentences


class To(NamedTuple):
    """The same buffers as pointers, for writing.

    Plain words have no hash at first, but their first eight bytes (heads) and the next eight; other heads are 0.
    """

    starts: Any
    ends: Any
    hashes: Any
    heads: Any
    tails: Any
    marks: Any  # 1 for long words and possible contractions
    breaks: Any


BUFFERS = types.NamedTuple([types.int64[::1], types.int64[::1], types.uint64[::1], types.int64[::1]], Buffers)
TO = types.NamedTuple([NUMBERS, NUMBERS, KEYS, KEYS, KEYS, BYTES, NUMBERS], To)


@inlined(BUFFERS())
def new_buffers():
    """Buffers with room for what one call of `scan` writes."""
    starts, ends, breaks = np.empty(BUFFER, np.int64), np.empty(BUFFER, np.int64), np.empty(BUFFER, np.int64)
    return Buffers(starts, ends, np.empty(4 * BUFFER, np.uint64), breaks)


@inlined(TO(BUFFERS))
def pointers(buffers):
    """The argument of `scan`. Callers read from the buffers: Numba frees an array after the last line that names it."""
    hashes = buffers.hashes
    return To(
        *(pointer(buffers.starts), pointer(buffers.ends), pointer(hashes), pointer(hashes[BUFFER:])),
        *(pointer(hashes[2 * BUFFER :]), pointer(hashes[3 * BUFFER :].view(np.uint8)), pointer(buffers.breaks)),
    )


CONTRACTIONS, CONTRACTION_MASK = np.zeros(256, np.uint64), np.uint64(255)
"""A table by the lowest bits of hashes, which are distinct. Each contraction parts after three letters."""
for _hash in characters.hash_words(["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"]):
    CONTRACTIONS[_hash & CONTRACTION_MASK] = _hash
TIS, TWAS, MORE = characters.hash_words(["tis", "twas", "more"])


@inner(INTEGER(BYTES, INTEGER, INTEGER))
def run_length(data, k, end):
    """The number of characters in a row that have the class of the one at `k` (‘ ’ count as ')."""
    kind, width = character(data, k, end)
    first, count = kind, 0
    while kind == first:
        count += 1
        k += width
        if k >= end:
            break
        kind, width = character(data, k, end)
    return count


@inner(types.Tuple((INTEGER, INTEGER))(BYTES, *[INTEGER] * 5, WORDS))
def piece_end(data, start, k, end, sentence, flags, words):
    """End of the piece, before clitics are split off, that is known up to `k`; and the next sentence's start, or -1."""
    while k < end and k - start < LONGEST:
        kind, width = character(data, k, end)
        if kind <= characters.SPLIT:
            break
        if kind >= HIGH:
            k += width
            continue
        count = run_length(data, k, end)
        if kind == characters.COMMA:
            if count > 1 or k + 1 >= end or CLASS[data[k + 1]] != characters.DIGIT:
                break
        elif kind == DOT:
            if count > 2:
                break
            if count == 1:
                following = period_break(data, start, k, end, sentence, flags, words)
                if following >= 0 and k > start:
                    return k, following
            width = count
        elif count > 1:  # -- '' ``
            break
        k += width
    return k, -1


@inner(INTEGER(BYTES, INTEGER, INTEGER))
def apostrophe_before(data, k, start):
    """Width of the apostrophe that ends at `k` and begins after `start`; 0 if there is none."""
    if k - 1 > start and data[k - 1] == 39:
        return 1
    if k - 3 > start and data[k - 3] == 0xE2 and data[k - 2] == 0x80 and data[k - 1] | 1 == 0x99:
        return 3
    return 0


@inner(INTEGER(BYTES, INTEGER, INTEGER))
def part_short_clitic(data, start, end):
    """The start of 's 'm 'd or a single ' at the end of a piece; `end` if there is none."""
    width = apostrophe_before(data, end, start)
    if width:
        return end - width
    if LOWER[data[end - 1]] in (115, 109, 100):
        width = apostrophe_before(data, end - 1, start)
        if width:
            return end - 1 - width
    return end


@inner(INTEGER(BYTES, INTEGER, INTEGER))
def part_long_clitic(data, start, end):
    """The start of 'll 're 've or n't at the end of a piece, in one case: 'll and 'LL, not 'Ll; else `end`."""
    if end - start < 4:
        return end
    before, last = np.int64(data[end - 2]), np.int64(data[end - 1])
    pair = (before << 8) | last
    if pair in (0x6C6C, 0x4C4C, 0x7265, 0x5245, 0x7665, 0x5645):
        width = apostrophe_before(data, end - 2, start)
        return end - 2 - width if width else end
    if last != 116 and last != 84:
        return end
    width = apostrophe_before(data, end - 1, start)
    cut = end - 2 - width
    if width and cut > start and data[cut] == last - 6 and apostrophe_before(data, cut, start - 1) == 0:  # n't, N'T
        return cut
    return end


@inlined(INTEGER(INTEGER, INTEGER, types.uint64, INTEGER, TO))
def add_token(start, end, hashed, count, to):
    """Add a token whose hash is known."""
    to.starts[count], to.ends[count], to.hashes[count], to.heads[count] = start, end, hashed, ZERO
    return count + 1


@inner(INTEGER(BYTES, *[INTEGER] * 3, TO))
def emit(data, start, end, count, to):
    """Add the token [start, end) if it starts with a letter, or with a non-ASCII character, which Python checks."""
    if start < end and (CLASS[data[start]] == characters.LETTER or CLASS[data[start]] == HIGH):
        if CLASS[data[start]] == HIGH and character(data, start, end)[0] != HIGH:
            return count
        count = add_token(start, end, hash_token(data, start, end), count, to)
    return count


@inner(types.boolean(BYTES, INTEGER, INTEGER))
def is_word(data, k, end):
    """Whether the character at `k` is a word character (`\\w` of the regular expressions)."""
    kind, _ = character(data, k, end)
    return kind == HIGH or kind >= characters.UNDERSCORE


@inner(INTEGER(BYTES, INTEGER, INTEGER, INTEGER))
def part_it_was(data, start, end, past):
    """Start of `is` (`was` if `past`) in a piece that begins with 'tis ('twas) and a word boundary; else -1."""
    kind, width = character(data, start, end)
    verb = start + width + 1
    stop, wanted = (verb + 3, TWAS) if past else (verb + 2, TIS)
    if kind != characters.APOSTROPHE or stop > end or hash_token(data, verb - 1, stop) != wanted:
        return -1
    return -1 if stop < end and is_word(data, stop, end) else verb


@inner(types.Tuple((INTEGER, INTEGER))(BYTES, *[INTEGER] * 3))
def part_contraction(data, start, stop, end):
    """Where the word [start, stop) of a piece that ends at `end` is split, and the end of its second half; else -1, -1.

    can|not gim|me gon|na got|ta lem|me wan|na, d|'ye, more|'n: whole words, wan|na only at the piece's end.
    """
    length = stop - start
    if length == 5 or length == 6:
        hashed = hash_token(data, start, stop)
        if CONTRACTIONS[hashed & CONTRACTION_MASK] == hashed and (LOWER[data[start]] != 119 or stop == end):
            return start + 3, stop
    elif (length == 1 and LOWER[data[start]] == 100) or length == 4:
        if stop == end:
            return -1, -1
        kind, width = character(data, stop, end)
        tail = stop + width
        if kind != characters.APOSTROPHE or tail >= end:
            return -1, -1
        if length == 1 and tail + 1 < end and LOWER[data[tail]] == 121 and LOWER[data[tail + 1]] == 101:
            tail += 2
        elif length == 4 and LOWER[data[tail]] == 110 and hash_token(data, start, stop) == MORE:
            tail += 1
        else:
            return -1, -1
        if tail == end or not is_word(data, tail, end):
            return stop, tail
    return -1, -1


@inner(INTEGER(BYTES, *[INTEGER] * 2, types.boolean, *[INTEGER] * 2, TO))
def emit_piece(data, start, end, padded, spaced, count, to):
    """Split off a piece's clitics and contractions and add its tokens.

    `padded`: a space (not a newline) is before the piece; `spaced`: NEVER, LATE or EARLY after it.
    """
    middle = end - (apostrophe_before(data, end, start) if spaced == EARLY else 0)
    main = end
    if spaced:
        middle = part_short_clitic(data, start, middle)
        main = part_long_clitic(data, start, middle)
    k = start
    while True:
        for past in range(2):
            verb = part_it_was(data, start, main, past) if padded and start < main else -1
            if verb >= 0:
                k = start = verb + 2 + past
                count = emit(data, verb, start, count, to)
        while k < main and not is_word(data, k, main):
            k += character(data, k, main)[1]
        if k >= main:
            break
        first = k
        while k < main and is_word(data, k, main):
            k += character(data, k, main)[1]
        half, stop = part_contraction(data, first, k, main)
        if half < 0:
            padded = False
            continue
        count = emit(data, start, first, count, to)
        count = emit(data, first, half, count, to)
        count = emit(data, half, stop, count, to)
        start = k = stop
        padded = True
    count = emit(data, start, main, count, to)
    return emit(data, main, middle, count, to)


@inner(types.UniTuple(INTEGER, 3)(BYTES, *[INTEGER] * 4, WORDS))
def lead(data, i, end, sentence, flags, words):
    """Read the beginning of a piece that starts with neither a letter nor a digit.

    Returns the start of the piece, the end of its known part (equal to the start if there is no piece), and the start
    of the next sentence if the character ended one, else -1.
    """
    kind, width = character(data, i, end)
    following = -1
    if kind in (SPACE, characters.HARD):
        return i + width, i + width, -1
    if kind == characters.BLANK:
        following, newlines = skip_space(data, i, end)
        return following, following, following if newlines > 1 else -1
    if kind in (STOP, DOT):
        following = stop_break(data, i, end, sentence, flags, words)
        if following >= 0:
            return following, following, following
    if kind == STOP:
        return i + width, i + width, -1
    if kind >= HIGH:
        return i, i + width, -1
    count = run_length(data, i, end)
    if kind == characters.COMMA:  # pairs are parted one from the other; the second of a pair clings to what follows
        after = i + count
        if count & 1 and (after >= end or CLASS[data[after]] != characters.DIGIT):
            return after, after, -1
        return after - 1, after, -1
    rest = count % 3 if kind == DOT else count & 1  # ... -- '' `` part off, what is left clings to what follows
    for _ in range(count - rest):
        i += character(data, i, end)[1]
    known = i
    for _ in range(rest):
        known += character(data, known, end)[1]
    return i, known, -1


@inner(INTEGER(BYTES, *[INTEGER] * 2))
def spacing(data, k, end):
    """When the rules put a space after a piece that ends at `k`: NEVER before a tab or newline within a sentence.

    EARLY is before the rule for a single apostrophe, LATE (brackets, quotes, dashes, the end of the sentence) after it.
    """
    if k >= end:
        return LATE
    kind, _ = character(data, k, end)
    if kind in (SPACE, characters.BLANK):
        following, newlines = skip_space(data, k, end)
        if following == end or newlines > 1:
            return LATE
        return EARLY if kind == SPACE else NEVER
    if kind == characters.HARD:
        early = data[k] in (59, 64, 35, 36, 37, 38) or (data[k] == 0xE2 and data[k + 2] <= 0x95)  # ;@#$%& and dashes
        return EARLY if early else LATE
    return LATE if kind in (characters.APOSTROPHE, characters.DASH) else EARLY
