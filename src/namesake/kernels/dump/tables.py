"""The tables that lines of a dump are written into, without repeated aliases.

Tables are flat, row after row. Text columns share `offsets` and `text`: string i of a column begins at
text[column * capacity + offsets[i * TEXT_COLUMNS + column]], where capacity is counts[CAPACITY]; counts[column] is the
number of strings.
"""

from typing import Any, NamedTuple

from numba import types

from namesake.kernels import hash as hashing
from namesake.kernels.compiled import inlined, inner
from namesake.kernels.dump.jsontext import FAIL, put_text
from namesake.kernels.dump.walk import LANGUAGES
from namesake.kernels.simd import BYTES, NUMBERS

# Text columns, each with its place in `counts`.
LABEL, DESCRIPTION, TITLE, ALIAS, STRING, PROPERTY_LABEL = range(6)
TEXT_COLUMNS = 6
# The rest of `counts`.
ITEMS, STATEMENTS, PROPERTIES, DATES_DROPPED, LINES = range(6, 11)
RESTORED = 11  # the counts before this one are restored after a line that fails
CAPACITY = 11
COUNTS = 12
MOST_ALIASES = 1000  # of a line; one with more is left to a decoder, because each is compared with all others
# Columns of `statements`; until a line is complete, SINCE is the position of the qualifiers and UNTIL that of the text.
PROPERTY, VALUE, SINCE, UNTIL = range(4)
STATEMENT_COLUMNS = 4
OF_LIFE = 4


class Tables(NamedTuple):
    """Arrays for the caller, pointers for the kernels; int64, but languages are uint64, and the last three uint8."""

    found: Any  # what has been found in the current line, see walk.py
    counts: Any
    items: Any
    statements: Any
    properties: Any
    offsets: Any
    languages: Any  # the keys of the languages that are kept: `walk.language_keys`
    text: Any
    deciding: Any  # by property: 0, or 1 more than `type << TYPE_AT | bit`, see `parse.deciding_table`
    dates: Any  # by property: 0, 2 for a date that begins, 3 for one that ends, with OF_LIFE for birth and death


POINTERS = types.NamedTuple([*[NUMBERS] * 6, hashing.KEYS, *[BYTES] * 3], Tables)
ARRAYS = types.NamedTuple([*[types.int64[::1]] * 6, types.uint64[::1], *[types.uint8[::1]] * 3], Tables)


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


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def append_preferred(data, slot, column, to):
    """Append the text in the first language that has one; returns the language, or LANGUAGES if there is none."""
    for code in range(LANGUAGES):
        if to.found[slot + code] > 0:
            length = append_text(data, to.found[slot + code], column, to)
            if length != 0:
                return code if length > 0 else FAIL
            to.counts[column] -= 1
    append_text(data, 0, column, to)
    return LANGUAGES


@inlined(types.boolean(BYTES, types.int64, types.int64, types.int64, types.int64))
def same_span(text, start, end, other, other_end):
    """Whether text[start:end] and text[other:other_end] are equal."""
    return end - start == other_end - other and hashing.same_bytes(text, start, text, other, end - start)


@inner(types.int64(BYTES, types.int64, types.int64, types.boolean, POINTERS))
def append_alias(data, p, first, check, to):
    """Append one decoded alias, unless it is empty, the label, or, with `check`, equal to one from `first` on."""
    row = to.counts[ALIAS]
    length = append_text(data, p, ALIAS, to)
    if length < 0 or (check and row - first > MOST_ALIASES):
        return FAIL
    base, label = LABEL * to.counts[CAPACITY], (to.counts[LABEL] - 1) * TEXT_COLUMNS + LABEL
    aliases = ALIAS * to.counts[CAPACITY]
    start = aliases + to.offsets[row * TEXT_COLUMNS + ALIAS]
    end = start + length
    known = same_span(to.text, start, end, base + to.offsets[label], base + to.offsets[label + TEXT_COLUMNS])
    for other in range(first, row if check else first):
        cell = other * TEXT_COLUMNS + ALIAS
        known |= same_span(to.text, start, end, aliases + to.offsets[cell], aliases + to.offsets[cell + TEXT_COLUMNS])
    if known or length == 0:
        to.counts[ALIAS] = row
    return 0
