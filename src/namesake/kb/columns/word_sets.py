"""The words of a KB: sets of word ids for descriptions, statement values and first paragraphs, and D+S made of them."""

from __future__ import annotations

import numpy as np

from namesake.arrays import Int32, Int64
from namesake.kb.columns import large
from namesake.kb.columns.assemble import Statements, group
from namesake.kb.columns.column_files import Ragged, Strings, concatenate
from namesake.kb.columns.declaration import Made
from namesake.kb.columns.layout import KBColumns
from namesake.kb.columns.vocabulary import index_words
from namesake.kb.dump.parsed_items import Items, ranges
from namesake.kernels.columns import group as kernels
from namesake.kernels.types import Ragged as Rows
from namesake.language import Language

UNION_BYTES = 256
"""What the words of an entity take while they are gathered."""


def index_kb_words(
    items: Items,
    dump_of: Int32,
    stated: Statements,
    descriptions: Strings,
    paragraphs: Strings,
    language: Language,
    how: str,
) -> Made:
    """The columns of words. Labels and aliases of items count only where an entity states the item."""
    values = stated_items(stated, len(dump_of))
    of_dump = dump_of[values]
    starts = items.alias_indptr[of_dump]
    alias_counts = np.where(of_dump < 0, 0, items.alias_indptr[of_dump + 1] - starts)
    aliases = items.alias.take(ranges(starts, alias_counts))
    texts = (descriptions, paragraphs, items.label.take(of_dump), aliases, stated.strings)
    found = index_words([(column.data, column.offsets) for column in texts], language, how)
    d, p, labels, each_alias, strings = (Ragged(column.indptr, column.words) for column in found.columns)
    of_item = spread(labels, values, len(dump_of))
    of_alias = np.repeat(np.arange(len(values), dtype=np.int32), alias_counts)
    alias_words = group(np.repeat(of_alias, np.diff(each_alias.indptr)), each_alias.values, len(values))
    columns = KBColumns
    return dict(
        [
            columns.words.holding(Strings.of(found.vocabulary)),
            columns.words_d.holding(d),
            columns.words_p.holding(p),
            columns.words_ds.holding(union(d, stated, of_item, strings, len(found.vocabulary))),
            columns.words_item.holding(of_item),
            columns.words_item_aliases.holding(spread(alias_words, values, len(dump_of))),
            columns.words_string.holding(strings),
            columns.surface_hash.holding(found.surface_hash),
            columns.surface_word.holding(found.surface_word),
            columns.stem_hash.holding(found.stem_hash),
            columns.stem_word.holding(found.stem_word),
        ]
    )


def stated_items(stated: Statements, items: int) -> Int64:
    """The rows of the items that entities state, ascending."""
    is_value = np.zeros(items, np.bool_)
    is_value[stated.pair_value[stated.pair_value >= 0]] = True
    return np.flatnonzero(is_value)


def prose(items: Items, dump_of: Int32, stated: Statements, descriptions: Strings) -> Strings:
    """Texts in which words are mostly words: descriptions, and labels of stated items that are no people."""
    of_dump = dump_of[stated_items(stated, len(dump_of))]
    of_dump = of_dump[of_dump >= 0]
    return concatenate([descriptions, items.label.take(of_dump[~items.person[of_dump]])])


def spread(rows: Ragged, places: Int64, size: int) -> Ragged:
    """Ragged rows as the rows `places` (ascending) of a longer column whose other rows are empty."""
    indptr = large.zeros(size + 1, np.int64)
    indptr[places + 1] = rows.indptr[1:] - rows.indptr[:-1]
    np.cumsum(indptr, out=indptr)
    return Ragged(indptr, rows.values)


def union(own: Ragged, stated: Statements, of_item: Ragged, of_string: Ragged, words: int) -> Ragged:
    """D+S: the words of each entity's description and of its statements' values."""
    sizes, values = large.Growing(np.int64), large.Growing(np.int32)
    for low, high in large.blocks(len(own), UNION_BYTES):
        entities = (_rows(Ragged(rows.indptr[low : high + 1], rows.values)) for rows in (own, stated.of_entity))
        columns = (*entities, stated.pair_value, *map(_rows, (of_item, of_string)))
        counted = kernels.union_words(*columns, np.full(words, -1, np.int32), np.empty(0, np.int32))
        some = np.empty(int(counted[-1]), np.int32)
        sizes.append(np.diff(kernels.union_words(*columns, np.full(words, -1, np.int32), some)))
        values.append(some)
    return Ragged(large.running(sizes.done()), values.done())


def _rows(column: Ragged) -> Rows:
    return Rows(column.indptr, column.values)
