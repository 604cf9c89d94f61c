"""The columns of a KB that are a matter of picking rows: entities, items, properties, statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Int32
from namesake.kb.columns.assemble import Numbering, Statements
from namesake.kb.columns.column_files import Ragged, Strings
from namesake.kb.columns.declaration import Made
from namesake.kb.columns.large import running
from namesake.kb.columns.layout import KBColumns
from namesake.kb.dump.parsed_items import Items, ranges
from namesake.kb.dump.wikipedia import Wikipedia


@dataclass(frozen=True)
class EntityTexts:
    """The texts of the entities, by their rows."""

    labels: Strings
    descriptions: Strings
    paragraphs: Strings
    aliases: Ragged
    alias_texts: Strings

    @staticmethod
    def of(items: Items, rows: Numbering, descriptions: Strings, wikipedia: Wikipedia | None) -> EntityTexts:
        """The labels and aliases of the entities, with their `descriptions` and Wikipedia's first paragraphs."""
        dump = rows.entity_dump
        counts = np.diff(items.alias_indptr)[dump]
        aliases = items.alias.take(ranges(items.alias_indptr[dump], counts))
        return EntityTexts(
            labels=items.label.take(dump),
            descriptions=descriptions,
            paragraphs=wikipedia.paragraphs if wikipedia else Strings.empty(len(dump)),
            aliases=Ragged(running(counts), np.arange(len(aliases), dtype=np.int32)),
            alias_texts=aliases,
        )


def pick(items: Items, rows: Numbering) -> Made:
    """The columns whose source is one of the dump: the rows of the entities, as they are."""
    dump = rows.entity_dump
    columns = KBColumns.declared().values()
    return {column: _rows(getattr(items, column.source.dump), dump) for column in columns if column.source.dump}


def _rows(column: Strings | npt.NDArray[Any], rows: Int32) -> Strings | npt.NDArray[Any]:
    return column.take(rows) if isinstance(column, Strings) else column[rows]


def entity_columns(rows: Numbering, texts: EntityTexts) -> Made:
    """Who the entities are, and their texts that are not picked as they are."""
    columns = KBColumns
    return dict(
        [
            columns.qids.holding(rows.entity_qids),
            columns.entity_item.holding(rows.entity_item),
            columns.paragraphs.holding(texts.paragraphs),
            columns.aliases.holding(texts.aliases),
            columns.alias_texts.holding(texts.alias_texts),
        ]
    )


def item_columns(items: Items, rows: Numbering) -> Made:
    """Items and properties with their labels; of a property that occurs twice, the first in the last file."""
    row = np.arange(len(items.property_id))
    file = np.searchsorted([file.property for file in items.files], row, side="right")
    order = np.lexsort((row, -file, items.property_id))
    properties, first = np.unique(items.property_id[order], return_index=True)
    columns = KBColumns
    return dict(
        [
            columns.item_qids.holding(rows.item_qids),
            columns.item_labels.holding(items.label.take(rows.dump_of)),
            columns.property_ids.holding(properties),
            columns.property_labels.holding(items.property_label.take(order[first])),
        ]
    )


def statement_columns(stated: Statements) -> Made:
    """Pairs, who states them, and when."""
    columns = KBColumns
    return dict(
        [
            columns.statements.holding(stated.of_entity),
            columns.pair_property.holding(stated.pair_property),
            columns.pair_value.holding(stated.pair_value),
            columns.tenure_entity.holding(stated.tenure_entity),
            columns.tenure_pair.holding(stated.tenure_pair),
            columns.tenure_start.holding(stated.tenure_start),
            columns.tenure_end.holding(stated.tenure_end),
            columns.strings.holding(stated.strings),
        ]
    )
