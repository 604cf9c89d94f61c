"""The tokens of people's names: how often each begins and ends labels, and how often it is a mere word."""

from __future__ import annotations

from functools import cache

import numpy as np

from namesake.arrays import Bool, Int32, Int64
from namesake.kb.columns import large
from namesake.kb.columns.column_files import Strings
from namesake.kb.columns.declaration import Made
from namesake.kb.columns.name_layout import NameColumns
from namesake.kb.dump.parsed_items import Items
from namesake.kb.names.normalise import TABLE_END, fold_table
from namesake.kb.names.short_forms import ListedForms
from namesake.kernels.names import prose as kernels
from namesake.kernels.tables import count_each, table_of

Texts = tuple[Strings, Bool]
"""A column of texts, and which of them count."""


@cache
def lower_letters() -> Bool:
    """Which characters are letters in lower case, by code point."""
    return np.array([chr(point).islower() for point in range(TABLE_END)])


def prose_of(items: Items, first: Bool) -> list[Texts]:
    """What words stand in as words: descriptions, and names in lower case of what is no person; `first` of its QID."""
    thing = first & ~items.person
    of_alias = large.empty(len(items.alias), np.bool_)
    for low, high in large.spans(items.alias_indptr, 16):
        ends = items.alias_indptr[low : high + 1]
        of_alias[ends[0] : ends[-1]] = np.repeat(thing[low:high], np.diff(ends))
    return [(items.description, first), _in_lower_case(items.label, thing), _in_lower_case(items.alias, of_alias)]


def _in_lower_case(texts: Strings, counted: Bool) -> Texts:
    return texts, counted & kernels.begins_with(texts.data, texts.offsets, lower_letters())


def count_tokens(listed: ListedForms, prose: list[Texts]) -> Made:
    """The columns of tokens: all that people's names have and that are counted at least once."""
    keys, _ = table_of(listed.tokens)
    lower = np.zeros(len(keys), np.int32)
    for texts, counted in prose:
        kernels.count_lower(texts.data, texts.offsets, counted, *fold_table(), lower_letters(), keys, lower)
    counts = [*(count_each(tokens, keys) for tokens in (listed.firsts, listed.lasts, listed.middles)), lower]
    used = np.flatnonzero(np.logical_or.reduce([count > 0 for count in counts]))
    smaller, place = table_of(keys[used])
    first, last, middle, lower = (_moved(count[used], place, len(smaller)) for count in counts)
    columns = NameColumns
    return dict(
        [
            columns.token_hashes.holding(smaller),
            columns.token_first.holding(first),
            columns.token_last.holding(last),
            columns.token_middle.holding(middle),
            columns.token_lower.holding(lower),
        ]
    )


def _moved(counts: Int32, place: Int64, slots: int) -> Int32:
    moved = np.zeros(slots, np.int32)
    moved[place] = counts
    return moved
