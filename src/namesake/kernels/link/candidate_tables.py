"""Kernels over the candidates of mentions: the two best, their pages, their descriptions, and QIDs as text."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.simd import BYTES, pointer
from namesake.kernels.types import I32, I64, U8

KEYS = types.Array(types.float64, 2, "C", readonly=True)


@kernel(types.boolean(KEYS, types.int64, types.int64))
def beats(keys, one, other):
    """Whether candidate `one` is better than `other`, which has a lower position: at the first key that differs."""
    for k in range(len(keys)):
        if keys[k, one] != keys[k, other]:
            return keys[k, one] > keys[k, other]
    return False


@kernel(types.UniTuple(types.int64[::1], 3)(I64, KEYS))
def top_two(offsets, keys):
    """Best and second candidate of each mention (-1: none), and the key that set them apart.

    The deciding key is `len(keys)` if all tie and the position decides, -1 if there is no second.
    """
    first = np.full(len(offsets) - 1, -1, np.int64)
    second = np.full(len(offsets) - 1, -1, np.int64)
    decided = np.full(len(offsets) - 1, -1, np.int64)
    for m in range(len(first)):
        for k in range(offsets[m], offsets[m + 1]):
            if first[m] < 0 or beats(keys, k, first[m]):
                second[m] = first[m]
                first[m] = k
            elif second[m] < 0 or beats(keys, k, second[m]):
                second[m] = k
        if second[m] >= 0:
            decided[m] = len(keys)
            for key in range(len(keys)):
                if keys[key, first[m]] != keys[key, second[m]]:
                    decided[m] = key
                    break
    return first, second, decided


@kernel(types.float64[::1](I64, I64, I64, I32))
def pages_of_names(offsets, rows, taken, pages):
    """The sum of the pages of each mention's candidates, without the row that is `taken`."""
    total = np.zeros(len(taken))
    for m in range(len(taken)):
        for k in range(offsets[m], offsets[m + 1]):
            if rows[k] >= 0 and rows[k] != taken[m]:
                total[m] += pages[rows[k]]
    return total


NO, YES, UNSURE = 0, 1, 2
COMMA, CAPITAL_A, CAPITAL_Z, CASE, BEYOND_ASCII = 0x2C, 0x41, 0x5A, 0x20, 0x80


@inlined(types.boolean(types.int64))
def separates(byte):
    """Whether an ASCII byte separates words: a comma, or white space as Python defines it."""
    return (byte == 0x20) | (byte == COMMA) | ((byte >= 0x09) & (byte <= 0x0D)) | ((byte >= 0x1C) & (byte <= 0x1F))


@inlined(types.boolean(BYTES, types.int64, types.int64, U8, I64))
def listed(text, begin, end, words, indptr):
    """Whether text[begin:end] in lower case is one of the words."""
    for word in range(len(indptr) - 1):
        start, size = indptr[word], indptr[word + 1] - indptr[word]
        same = 0
        while same < size and size == end - begin:
            byte = text[begin + same]
            byte |= CASE if CAPITAL_A <= byte <= CAPITAL_Z else 0
            if byte != words[start + same]:
                break
            same += 1
        if same == size:
            return True
    return False


@kernel(types.uint8[::1](I64, I64, I64, U8, I64, U8, I64))
def described(asked, offsets, rows, texts, text_indptr, words, indptr):
    """For each mention in `asked`, whether a candidate's description contains one of the words, in any case.

    UNSURE if no word is found and a description has non-ASCII characters, which may separate words as well.
    """
    found, text = np.full(len(asked), NO, np.uint8), pointer(texts)
    for i in range(len(asked)):
        for k in range(offsets[asked[i]], offsets[asked[i] + 1]):
            if rows[k] < 0 or found[i] == YES:
                continue
            begin, end = text_indptr[rows[k]], text_indptr[rows[k] + 1]
            for at in range(begin, end + 1):
                if at == end or separates(np.int64(text[at])):
                    if at > begin and listed(text, begin, at, words, indptr):
                        found[i] = YES
                        break
                    begin = at + 1
                elif text[at] >= BEYOND_ASCII:
                    found[i] = UNSURE
    return found


@kernel(types.int64[::1](U8, I64))
def parse_qids(data, offsets):
    """The number of each text `Q` + digits in Arrow's layout; -1 if the text is not a QID."""
    out = np.full(len(offsets) - 1, -1, np.int64)
    for i in range(len(out)):
        begin, end = offsets[i], offsets[i + 1]
        if not 2 <= end - begin <= 18 or data[begin] != 81 or data[begin + 1] == 48:
            continue
        number = np.int64(0)
        for at in range(begin + 1, end):
            digit = np.int64(data[at]) - 48
            if not 0 <= digit <= 9:
                number = np.int64(-1)
                break
            number = number * 10 + digit
        out[i] = number
    return out


@kernel(types.Tuple((types.int32[::1], types.uint8[::1]))(I64))
def format_qids(numbers):
    """Texts `Q` + digits in Arrow's layout; empty for negative numbers."""
    offsets = np.zeros(len(numbers) + 1, np.int32)
    data = np.empty(20 * len(numbers) + 1, np.uint8)
    digits = np.empty(20, np.uint8)
    size = 0
    for i in range(len(numbers)):
        number = numbers[i]
        if number >= 0:
            count = 0
            while number > 0 or count == 0:
                digits[count] = 48 + number % 10
                number //= 10
                count += 1
            data[size] = 81
            for k in range(count):
                data[size + 1 + k] = digits[count - 1 - k]
            size += count + 1
        offsets[i + 1] = size
    return offsets, data[:size].copy()
