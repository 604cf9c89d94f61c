"""From parsed columns in dump order to the columns of a KB: rows by QID, distinct statements, links.

What the dump says stays mapped. Held in memory are some bytes per item, and what is said of the entities alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from namesake.kb.columns import Ragged, Strings
from namesake.kb.dates import FOREVER, MISSING
from namesake.kb.graph import incoming
from namesake.kb.items import Items, ranges
from namesake.kb.manifest import Reject
from namesake.kernels.columns import bitmap
from namesake.kernels.columns import group as kernels

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Numbering:
    """Which row everything has: items (all that the dump holds or names) and entities (the kept ones), by QID."""

    item_qids: Int64
    item_of: Int32
    """Item row of each item of the dump."""
    dump_of: Int32
    """Where each item row stands in the dump, -1 where it is only named."""
    entity_item: Int32
    """Item row of each entity."""
    first: Bool
    """Whether an item of the dump is the first of its QID; the others count for nothing."""
    bits: UInt64
    before: Int32
    """The QIDs of the items as a bitmap with running counts."""

    def find(self, qids: Int64) -> Int32:
        """The item row of each QID, -1 for what is none."""
        rows: Int32 = bitmap.find(self.bits, self.before, qids)
        return rows

    @property
    def entity_dump(self) -> Int32:
        """Where each entity stands in the dump."""
        return self.dump_of[self.entity_item]

    @property
    def entity_qids(self) -> Int64:
        """QID of each entity, ascending."""
        return self.item_qids[self.entity_item]


def number(items: Items) -> Numbering:
    """Give every item and entity its row. Without sorting: a QID's row is the number of QIDs below it."""
    values = items.statement_value
    largest = max(int(items.qid.max(initial=0)), int(values.max(initial=0)))
    bits = np.zeros(largest // 64 + 1, np.uint64)
    first = bitmap.add_first(bits, items.qid)
    bitmap.add_all(bits, values)
    before = bitmap.count_before(bits)
    item_qids = bitmap.members(bits, int(before[-1]))
    item_of = bitmap.find(bits, before, items.qid)
    dump_of = np.full(len(item_qids), -1, np.int32)
    dump_of[item_of[first]] = np.flatnonzero(first)
    kept_item = np.zeros(len(item_qids), np.bool_)
    kept_item[item_of[first & items.kept]] = True
    entity_item = np.flatnonzero(kept_item).astype(np.int32)
    return Numbering(item_qids, item_of, dump_of, entity_item, first, bits, before)


def repeated(items: Items, rows: Numbering) -> Iterator[Reject]:
    """Items whose QID had occurred before."""
    for row in np.flatnonzero(~rows.first).tolist():
        yield Reject(items.file_of(row), int(items.line[row]), f"QID twice: Q{items.qid[row]}")


def links(items: Items, rows: Numbering) -> Ragged:
    """The items that link to each item, all of them kept or not."""
    source = np.where(rows.first, rows.item_of, np.int32(-1))
    return incoming(items.statement_indptr, rows.find(items.statement_value), source, len(rows.item_qids))


@dataclass(frozen=True)
class Statements:
    """What entities state: distinct pairs, each entity's pairs, and the periods of those that are dated."""

    pair_property: Int32
    pair_value: Int32
    of_entity: Ragged
    tenure_entity: Int32
    tenure_pair: Int32
    tenure_start: Int32
    tenure_end: Int32
    strings: Strings


def state(items: Items, rows: Numbering) -> Statements:
    """The statements of the entities, each distinct (property, value) numbered once, by property, then value."""
    starts = items.statement_indptr[rows.entity_dump]
    counts = items.statement_indptr[rows.entity_dump + 1] - starts
    entity = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    kept = ranges(starts, counts)
    value, strings = _values(items, rows, kept)
    pair, distinct = _pairs(items.statement_property[kept], value)
    of_entity = group(entity, pair, len(rows.entity_item))
    tenure = _tenure(entity, pair, items.statement_start[kept], items.statement_end[kept])
    return Statements(
        pair_property=(distinct >> 32).astype(np.int32),
        pair_value=(distinct & 0xFFFFFFFF).astype(np.uint32).view(np.int32),
        of_entity=of_entity,
        tenure_entity=tenure[0],
        tenure_pair=tenure[1],
        tenure_start=tenure[2],
        tenure_end=tenure[3],
        strings=strings,
    )


def _values(items: Items, rows: Numbering, kept: Int64) -> tuple[Int32, Strings]:
    """The values of these statements: item rows, or `~row` of the distinct strings, which come with them."""
    said = items.statement_value[kept]
    value = rows.find(said)
    text = np.flatnonzero(said < 0)
    used = items.strings.take(~said[text])
    ids = np.empty(len(used), np.int32)
    first = kernels.distinct_strings(used.offsets, used.data, ids)
    value[text] = ~ids
    return value, used.take(first)


def _pairs(prop: Int32, value: Int32) -> tuple[Int32, Int64]:
    """The pair id of each statement, and the distinct pairs as `property << 32 | value`, ascending."""
    keys = (prop.astype(np.int64) << 32) | value.view(np.uint32)
    ids = np.empty(len(keys), np.int32)
    distinct = kernels.distinct_keys(keys, ids)
    order = np.argsort(distinct)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place[ids], distinct[order]


def group(groups: Int32, members: Int32, size: int) -> Ragged:
    """The distinct members of each of `size` groups, ascending."""
    values = np.empty(len(members), np.int32)
    indptr = kernels.group_unique(groups, members, size, values)
    return Ragged(indptr, values[: indptr[-1]].copy())


def _tenure(entity: Int32, pair: Int32, start: Int32, end: Int32) -> tuple[Int32, Int32, Int32, Int32]:
    """The dated statements by entity, pair, then start; no start is the smallest day, no end the largest."""
    dated = np.flatnonzero((start != MISSING) | (end != MISSING))
    entity, pair, start, end = entity[dated], pair[dated], start[dated], end[dated]
    end = np.where(end == MISSING, np.int32(FOREVER), end)
    order = np.lexsort((end, start, pair, entity))
    return entity[order], pair[order], start[order], end[order]
