"""From parsed columns in dump order to the columns of a KB: rows by QID, distinct statements, picked rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from namesake.arrays import Bool, Int8, Int32, Int64, UInt64, take_rows
from namesake.kb.columns import Column, KBColumns, Made, Ragged, Strings, large
from namesake.kb.columns.large import AnyArray
from namesake.kb.dump.parse import Items
from namesake.kb.dump.ranks import incoming
from namesake.kernels.columns import bitmap
from namesake.kernels.columns import group as kernels
from namesake.kernels.dump.wikidata import FOREVER, MISSING
from namesake.kinds import ALL, PEOPLE, parse_kinds

FIRST_SLOTS = 1 << 12


@dataclass(frozen=True)
class Numbering:
    """The rows of items (all that the dump contains or names) and of entities (the kept items), by QID."""

    item_qids: Int64
    item_of: Int32  # item row of each item of the dump, -1 where another one counts and nothing names it
    dump_of: Int32  # position of each item row in the dump, -1 where the dump only names the item
    entity_item: Int32  # item row of each entity
    first: Bool  # whether an item of the dump is the one of its QID that counts (`dump.revisions`)
    bits: UInt64
    before: Int32  # the QIDs of the items as a bitmap with running counts

    def find(self, qids: Int64) -> Int32:
        """The item row of each QID, -1 if there is none."""
        rows: Int32 = bitmap.find(self.bits, self.before, qids)
        return rows

    @cached_property
    def entity_dump(self) -> Int32:
        """Position of each entity in the dump."""
        return large.taken(self.dump_of, self.entity_item)

    @cached_property
    def entity_qids(self) -> Int64:
        """QID of each entity, ascending."""
        return large.taken(self.item_qids, self.entity_item)


def number(items: Items, first: Bool) -> Numbering:
    """Give every item and entity its row: the number of smaller QIDs. `first` are the items of the dump that count."""
    largest = max(int(items.qid.max(initial=0)), int(items.statement_value.max(initial=0)))
    bits = np.zeros(largest // 64 + 1, np.uint64)
    bitmap.add_all(bits, items.qid if first.all() else items.qid[first])
    for low, high in large.spans(items.statement_indptr, 16):
        ends = items.statement_indptr[low : high + 1]
        values = items.statement_value[ends[0] : ends[-1]]
        bitmap.add_all(bits, values if first[low:high].all() else values[np.repeat(first[low:high], np.diff(ends))])
    before = bitmap.count_before(bits)
    item_qids = large.empty(int(before[-1]), np.int64)
    for low, high in large.blocks(len(bits), 1024):
        item_qids[before[low] : before[high]] = 64 * low + bitmap.members(bits[low:high])
    item_of = large.kept(bitmap.find(bits, before, items.qid))
    dump_of, kept_item = large.full(len(item_qids), -1, np.int32), np.zeros(len(item_qids), np.bool_)
    for low, high in large.blocks(len(item_of), 16):
        counted = np.flatnonzero(first[low:high])
        dump_of[item_of[low:high][counted]] = low + counted
        kept_item[item_of[low:high][first[low:high] & items.kept[low:high]]] = True
    entity_item = large.Growing(np.int32)
    for low, high in large.blocks(len(kept_item), 16):
        entity_item.append((low + np.flatnonzero(kept_item[low:high])).astype(np.int32))
    return Numbering(item_qids, item_of, dump_of, entity_item.done(), first, bits, before)


def select(rows: Numbering, kinds: Int8, keep: str) -> Numbering:
    """The numbering in which only items of the kinds `keep` are entities; the scanner selects people and all items."""
    if keep in (ALL, PEOPLE):
        return rows
    return replace(rows, entity_item=large.kept(rows.entity_item[np.isin(kinds[rows.entity_item], parse_kinds(keep))]))


def links(items: Items, rows: Numbering) -> Ragged:
    """The items that link to each item, kept or not."""
    source = large.kept(rows.item_of.copy())
    source[~rows.first] = -1
    target = large.computed(np.int32, 4, rows.find, items.statement_value)
    return incoming(items.statement_indptr, target, source, len(rows.item_qids))


@dataclass(frozen=True)
class Statements:
    """The statements of entities, by the names of the columns that hold them."""

    statements: Ragged
    pair_property: Int32
    pair_value: Int32
    tenure_entity: Int32
    tenure_pair: Int32
    tenure_start: Int32
    tenure_end: Int32
    strings: Strings


def values_of(indptr: Int64, rows: Int32) -> tuple[Int64, Int64]:
    """Where each of some rows of a ragged column ends, if they follow each other; and the places of their values."""
    counts = large.computed(np.int64, 32, lambda some: indptr[some + 1] - indptr[some], rows)
    ends = large.running(counts)
    places = large.empty(int(ends[-1]), np.int64)
    for low, high in large.spans(ends, 64):
        places[ends[low] : ends[high]] = take_rows(indptr, rows[low:high])[1]
    return ends, places


def empty_table() -> tuple[UInt64, Int32]:
    """A table for `kernels.number_keys`."""
    return np.zeros(FIRST_SLOTS, np.uint64), np.empty(FIRST_SLOTS, np.int32)


def distinct_keys(keys: UInt64, ids: Int32) -> UInt64:
    """The distinct keys, in the order in which they first occur; the number of each key is written to `ids`."""
    table, known, size = kernels.number_keys(keys, *empty_table(), 0, ids)
    taken = np.flatnonzero(table)
    distinct = np.empty(size, np.uint64)
    distinct[known[taken]] = table[taken]
    return distinct


def state(items: Items, rows: Numbering) -> Statements:
    """The statements of the entities. Each distinct (property, value) has a number, by property, then value."""
    ends, places = values_of(items.statement_indptr, rows.entity_dump)
    value, strings = _values(items, rows, large.taken(items.statement_value, places))
    pair, distinct = _pairs(large.taken(items.statement_property, places), value)
    by_entity = large.gathered(_by_entity(items, ends, places, pair), np.int64, *[np.int32] * 5)
    sizes, pairs, entity, dated_pair, start, end = by_entity
    return Statements(
        Ragged(large.running(sizes), pairs),
        (distinct >> 32).astype(np.int32),
        (distinct & 0xFFFFFFFF).astype(np.uint32).view(np.int32),
        *(entity, dated_pair, start, end),
        strings,
    )


def _values(items: Items, rows: Numbering, stated: Int64) -> tuple[Int32, Strings]:
    """The values of these statements, item rows or `~row` of a distinct string; and these strings."""
    value, text = large.computed(np.int32, 16, rows.find, stated), large.Growing(np.int64)
    for low, high in large.blocks(len(stated), 16):
        text.append(low + np.flatnonzero(stated[low:high] < 0))
    places = text.done()
    used = items.strings.take(~stated[places])
    ids = large.empty(len(used), np.int32)
    first = kernels.distinct_strings(used.offsets, used.data, ids)
    for low, high in large.blocks(len(places), 16):
        value[places[low:high]] = ~ids[low:high]
    return value, used.take(first)


def _pairs(prop: Int32, value: Int32) -> tuple[Int32, Int64]:
    """The pair id of each statement, and the distinct pairs as `property << 32 | value`, ascending."""
    keys, ids = large.empty(len(prop), np.uint64), large.empty(len(prop), np.int32)
    for low, high in large.blocks(len(keys), 16):
        keys[low:high] = (prop[low:high].astype(np.uint64) << np.uint64(32)) | value[low:high].view(np.uint32)
    distinct = distinct_keys(keys, ids).view(np.int64)
    order = np.argsort(distinct)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return large.taken(place, ids), distinct[order]


def group(groups: Int32, members: Int32, size: int) -> Ragged:
    """The distinct members of each of `size` groups, ascending."""
    values = large.empty(len(members), np.int32)
    indptr = kernels.group_unique(groups, members, size, values)
    return Ragged(indptr, values[: indptr[-1]])


def _by_entity(items: Items, ends: Int64, places: Int64, pair: Int32) -> Iterator[tuple[AnyArray, ...]]:
    """How many distinct pairs entities have, and which, ascending; and the columns of distinct dated statements."""
    for low, high in large.spans(ends, 64):
        some = slice(ends[low], ends[high])
        entity = np.repeat(np.arange(low, high, dtype=np.int32), np.diff(ends[low : high + 1]))
        distinct = group(entity - np.int32(low), pair[some], high - low)
        start, end = items.statement_start[places[some]], items.statement_end[places[some]]
        dated = np.flatnonzero((start != MISSING) | (end != MISSING))
        start, end = start[dated], np.where(end == MISSING, np.int32(FOREVER), end)[dated]  # `MISSING` is the first day
        rows = np.stack([entity[dated], pair[some][dated], start, end])
        rows = rows[:, np.lexsort(rows[::-1])]
        rows = rows[:, np.append(True, (rows[:, 1:] != rows[:, :-1]).any(0))[: rows.shape[1]]]
        yield np.diff(distinct.indptr), distinct.values, *rows


def pick(items: Items, rows: Numbering) -> Iterator[tuple[Column[Any], Any]]:
    """The columns that come from the dump unchanged, one after the other: the rows of the entities."""
    for column in KBColumns.declared().values():
        if column.dump_field:
            every, dump = getattr(items, column.dump_field), rows.entity_dump
            yield column, every.take(dump) if isinstance(every, Strings) else large.taken(every, dump)


def entity_aliases(items: Items, rows: Numbering) -> tuple[Ragged, Strings]:
    """The rows of each entity's aliases, and the aliases."""
    ends, places = values_of(items.alias_indptr, rows.entity_dump)
    return Ragged(ends, large.kept(np.arange(len(places), dtype=np.int32))), items.alias.take(places)


def stating(items: Items, rows: Numbering, properties: Sequence[int]) -> Bool:
    """Whether each entity states one of these properties."""
    found = np.zeros(len(items.qid), np.bool_)
    for low, high in large.blocks(len(items.statement_property), 16):
        statements = low + np.flatnonzero(np.isin(items.statement_property[low:high], properties))
        found[np.searchsorted(items.statement_indptr, statements, side="right") - 1] = True
    return found[rows.entity_dump]


def stated_texts(stated: Statements, prop: int) -> tuple[Int32, Strings]:
    """The entities that state a property with a text as its value, and the texts."""
    low, high = np.searchsorted(stated.pair_property, [prop, prop + 1])
    found = [(np.empty(0, np.int64), np.empty(0, np.int32))]
    for first, end in large.spans(stated.statements.indptr, 16):
        ends = stated.statements.indptr[first : end + 1]
        pairs = stated.statements.values[ends[0] : ends[-1]]
        at = np.flatnonzero((pairs >= low) & (pairs < high))
        found.append((first + np.searchsorted(ends - ends[0], at, side="right") - 1, pairs[at]))
    rows, pairs = (np.concatenate(column) for column in zip(*found, strict=True))
    texts = ~stated.pair_value[pairs]
    return rows[texts >= 0].astype(np.int32), stated.strings.take(texts[texts >= 0])


def item_columns(items: Items, rows: Numbering) -> Made:
    """QIDs of entities and items, labels of items and properties (of a repeated one, the last)."""
    properties, last = np.unique(items.property_id[::-1], return_index=True)
    return {
        KBColumns.qids: rows.entity_qids,
        KBColumns.entity_item: rows.entity_item,
        KBColumns.item_qids: rows.item_qids,
        KBColumns.item_labels: items.label.take(rows.dump_of),
        KBColumns.property_ids: properties,
        KBColumns.property_labels: items.property_label.take(len(items.property_id) - 1 - last),
    }
