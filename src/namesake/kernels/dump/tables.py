"""The tables that lines of a dump are written into, and the memory for reading a line.

Tables are flat, row after row. Text columns share `offsets` and `text`: string i of a column begins at
text[column * capacity + offsets[i * TEXT_COLUMNS + column]], where capacity is counts[CAPACITY]; counts[column] is the
number of strings.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from namesake.kernels import hash as hashing
from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump.jsontext import FAIL, Literal, keyword, literal, put_text
from namesake.kernels.simd import BYTES, NUMBERS, pointer

# Text columns, each with its place in `counts`.
LABEL, DESCRIPTION, TITLE, ALIAS, STRING, PROPERTY_LABEL = range(6)
TEXT_COLUMNS = 6
# The rest of `counts`.
ITEMS, STATEMENTS, PROPERTIES, DATES_DROPPED, LINES = range(6, 11)
RESTORED = 11  # the counts before this one are restored after a line that fails
CAPACITY, STAMP = 11, 12  # STAMP: the number of lines that were read with the same `keys`
COUNTS = 13
KEY_SLOTS = 4096
MOST_ALIASES = 1000  # of a line; one with more is left to a decoder, because each is compared with all others
# Columns of `statements`; until a line is complete, SINCE is the position of the qualifiers and UNTIL that of the text.
PROPERTY, VALUE, SINCE, UNTIL = range(4)
STATEMENT_COLUMNS = 4
OF_LIFE = 4
LANGUAGES = 4


class Tables(NamedTuple):
    """Arrays for the caller, pointers for the kernels."""

    found: Any  # what has been found in the current line, see entity.py
    counts: Any
    items: Any
    statements: Any
    properties: Any
    offsets: Any
    languages: Any  # the keys of the languages that are kept: `language_keys`
    keys: Any  # a stamped table of the keys of the current line
    text: Any
    deciding: Any  # by property: 0, or 1 more than `type << TYPE_AT | bit`, see `parse.deciding_table`
    dates: Any  # by property: 0, 2 for a date that begins, 3 for one that ends, with OF_LIFE for birth and death
    at: Any  # of the keys and values of the current line, see tape.py
    past: Any


NUMBER_TYPES = (*[types.int64] * 6, *[types.uint64] * 2, *[types.uint8] * 3, *[types.int32] * 2)
POINTERS = types.NamedTuple([types.CPointer(one) for one in NUMBER_TYPES], Tables)
ARRAYS = types.NamedTuple([one[::1] for one in NUMBER_TYPES], Tables)


@inlined(POINTERS(ARRAYS))
def pointers(arrays):
    """The addresses of arrays, which the caller keeps."""
    found, counts, items, statements, properties, offsets, languages, keys, text, deciding, dates, at, past = arrays
    return Tables(
        *(pointer(found), pointer(counts), pointer(items), pointer(statements), pointer(properties)),
        *(pointer(offsets), pointer(languages), pointer(keys), pointer(text)),
        *(pointer(deciding), pointer(dates), pointer(at), pointer(past)),
    )


def language_keys(labels: Sequence[str], wikipedia: str) -> npt.NDArray[np.uint64]:
    """The literals of the kept languages and of the Wikipedia, in the layout of `held`."""
    unused = [literal("\n")] * (LANGUAGES - len(labels))  # occurs nowhere in a line
    return np.array([*map(keyword, labels), *unused, keyword(wikipedia)], np.uint64).ravel()


@inlined(Literal(hashing.KEYS, types.int64))
def held(keys, number):
    """A literal of `language_keys`."""
    k = 6 * number
    return keys[k], keys[k + 1], keys[k + 2], keys[k + 3], keys[k + 4], keys[k + 5]


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def append_text(data, p, column, to):
    """Append the decoded text at p (0: an empty one) to its column; returns its length."""
    cell = to.counts[column] * TEXT_COLUMNS + column
    base = column * to.counts[CAPACITY]
    start = base + to.offsets[cell]
    end = put_text(data, p, to.text, start) if p > 0 else start
    if end < 0:
        return FAIL
    to.offsets[cell + TEXT_COLUMNS] = end - base
    to.counts[column] += 1
    return end - start


@inner(types.int64(BYTES, types.int64, types.int64, types.boolean, POINTERS))
def append_alias(data, p, first, check, to):
    """Append one decoded alias, unless it is empty, the label, or, with `check`, equal to one from `first` on."""
    row = to.counts[ALIAS]
    length = append_text(data, p, ALIAS, to)
    if length < 0 or (check and row - first > MOST_ALIASES):
        return FAIL
    start = ALIAS * to.counts[CAPACITY] + to.offsets[row * TEXT_COLUMNS + ALIAS]
    known = length == 0
    for other in range(first - 1, row if check else first):  # the first one stands for the label
        column, text = (ALIAS, other) if other >= first else (LABEL, to.counts[LABEL] - 1)
        cell = text * TEXT_COLUMNS + column
        if to.offsets[cell + TEXT_COLUMNS] - to.offsets[cell] == length:
            place = column * to.counts[CAPACITY] + to.offsets[cell]
            known |= hashing.same_bytes(to.text, start, to.text, place, length)
    if known:
        to.counts[ALIAS] = row
    return 0


@inner([types.void(types.UniTuple(types.int64, size), types.int64, NUMBERS, POINTERS) for size in (4, 14)])
def append_row(numbers, count, table, to):
    """Append a row to a table of numbers, whose rows are counted in counts[count]."""
    start = to.counts[count] * len(numbers)
    for i in range(len(numbers)):
        table[start + i] = numbers[i]
    to.counts[count] += 1
