"""The tables that a dump's lines are written into, and how text and statements enter them only once.

Tables are flat, row after row. Text columns share `offsets` and `text`: string i of a column begins at
text[column * capacity + offsets[i * TEXT_COLUMNS + column]], where capacity is counts[CAPACITY], and counts[column]
says how many strings there are. `slots` are three hash tables of row + 1; what earlier lines left in them is below
first + 1 for the first row of the line at hand, and counts as empty.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.dump.jsontext import FAIL, put_text
from namesake.kernels.dump.walk import LANGUAGES
from namesake.kernels.simd import BYTES, NUMBERS

# Text columns, each with its place in `counts`.
LABEL, DESCRIPTION, TITLE, ALIAS, STRING, PROPERTY_LABEL = range(6)
TEXT_COLUMNS = 6
# The rest of `counts`.
ITEMS, STATEMENTS, PROPERTIES, DATES_DROPPED, LINES = range(6, 11)
RESTORED = 11  # those before are as they were after a line that fails
CAPACITY, LARGEST_MASK = 11, 12
COUNTS = 13
# Columns of `items`.
QID, LINE, PERSON, KEPT, SITELINK_COUNT, PROPERTY_COUNT, ALIAS_END, STATEMENT_END = range(8)
BIRTH, BIRTH_PRECISION, DEATH, DEATH_PRECISION = range(8, 12)
ITEM_COLUMNS = 12
# Columns of `statements`; until a line is done, SINCE holds where the qualifiers stand and UNTIL where the text does.
PROPERTY, VALUE, SINCE, UNTIL = range(4)
STATEMENT_COLUMNS = 4
# Columns of `slots`.
ALIAS_SLOTS, STRING_SLOTS, STATEMENT_SLOTS = range(3)
SLOT_COLUMNS = 3


class Tables(NamedTuple):
    """Arrays for the caller, pointers for the kernels; all of int64 but `text`."""

    found: Any  # what the line at hand has shown so far, see walk.py
    counts: Any
    items: Any
    statements: Any
    properties: Any
    offsets: Any
    slots: Any
    text: Any


POINTERS = types.NamedTuple([*[NUMBERS] * 7, BYTES], Tables)
ARRAYS = types.NamedTuple([*[types.int64[::1]] * 7, types.uint8[::1]], Tables)


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def append_text(data, p, column, to):
    """Decode the text at p (0: an empty one) behind the others of its column; returns its length."""
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
    """Decode the text in the preferred language that has one; returns which, or how many languages there are."""
    for code in range(LANGUAGES):
        if to.found[slot + code] > 0:
            length = append_text(data, to.found[slot + code], column, to)
            if length != 0:
                return code if length > 0 else FAIL
            to.counts[column] -= 1
    append_text(data, 0, column, to)
    return LANGUAGES


@inner(types.boolean(BYTES, types.int64, types.int64, types.int64, types.int64))
def same_bytes(text, start, end, other, other_end):
    """Whether text[start:end] and text[other:other_end] are equal."""
    if end - start != other_end - other:
        return False
    for i in range(end - start):
        if text[start + i] != text[other + i]:
            return False
    return True


@inner(types.int64(types.int64, types.int64, types.int64, types.int64, POINTERS))
def same_text(table, mask, column, first, to):
    """The row from `first` on that holds the same text as the newest one of a column: that one where it is new."""
    base, row = column * to.counts[CAPACITY], to.counts[column] - 1
    start = base + to.offsets[row * TEXT_COLUMNS + column]
    end = base + to.offsets[(row + 1) * TEXT_COLUMNS + column]
    h = np.int64(2166136261)
    for i in range(start, end):
        h = ((h ^ np.int64(to.text[i])) * 16777619) & 0xFFFFFFFF
    h = (h ^ (h >> 15)) & mask
    while to.slots[h * SLOT_COLUMNS + table] > first:
        other = to.slots[h * SLOT_COLUMNS + table] - 1
        cell = other * TEXT_COLUMNS + column
        if same_bytes(to.text, start, end, base + to.offsets[cell], base + to.offsets[cell + TEXT_COLUMNS]):
            return other
        h = (h + 1) & mask
    to.slots[h * SLOT_COLUMNS + table] = row + 1
    return row


@inner(types.boolean(types.int64, types.int64, types.int64, POINTERS))
def new_statement(mask, first, row, to):
    """Whether no row from `first` on states the same as `row`, of the same days."""
    cell = row * STATEMENT_COLUMNS
    of, value = to.statements[cell + PROPERTY], to.statements[cell + VALUE]
    since, until = to.statements[cell + SINCE], to.statements[cell + UNTIL]
    h = ((of & 0xFFFFFF) * 2654435761 + (value & 0xFFFFFFFF) * 40503) & 0xFFFFFFFFFF
    h ^= ((since & 0xFFFFFFFF) * 31 + (until & 0xFFFFFFFF)) << 3
    h = (h ^ (h >> 17)) & mask
    while to.slots[h * SLOT_COLUMNS + STATEMENT_SLOTS] > first:
        other = (to.slots[h * SLOT_COLUMNS + STATEMENT_SLOTS] - 1) * STATEMENT_COLUMNS
        same = to.statements[other + PROPERTY] == of and to.statements[other + VALUE] == value
        if same and to.statements[other + SINCE] == since and to.statements[other + UNTIL] == until:
            return False
        h = (h + 1) & mask
    to.slots[h * SLOT_COLUMNS + STATEMENT_SLOTS] = row + 1
    return True


@inner(types.int64(BYTES, types.int64, types.int64, types.int64, POINTERS))
def append_alias(data, p, first, mask, to):
    """Decode one alias, unless it is empty, the label, or one of those from `first` on."""
    length = append_text(data, p, ALIAS, to)
    if length < 0:
        return FAIL
    row, label = to.counts[ALIAS] - 1, (to.counts[LABEL] - 1) * TEXT_COLUMNS + LABEL
    end = ALIAS * to.counts[CAPACITY] + to.offsets[(row + 1) * TEXT_COLUMNS + ALIAS]
    base = LABEL * to.counts[CAPACITY]
    is_label = same_bytes(to.text, end - length, end, base + to.offsets[label], base + to.offsets[label + TEXT_COLUMNS])
    if length == 0 or is_label or same_text(ALIAS_SLOTS, mask, ALIAS, first, to) != row:
        to.counts[ALIAS] = row
    return 0
