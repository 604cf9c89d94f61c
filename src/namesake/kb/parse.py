"""A chunk of a dump as flat columns, one row an item in the order of the dump.

A compiled scanner does the lines that are as Wikidata writes them, without the interpreter's lock; any other line
goes through a full JSON decoder, and is set aside with its reason where it holds no entity.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from namesake.kb.columns import Strings
from namesake.kb.dates import MISSING
from namesake.kb.decode import BadLineError, Entity, decode
from namesake.kb.dump import CHUNK, Chunk
from namesake.kb.manifest import Reject
from namesake.kernels.dump import tables as t
from namesake.kernels.dump.entity import scan
from namesake.kernels.dump.walk import FOUND

__all__ = ["MISSING", "Parsed", "parse_chunk"]

Bool = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

SMALLEST_STATEMENT = 64  # bytes that a statement with a value has at the least
SMALLEST_ALIAS = 13
KEPT_SCRATCH = 32 << 20  # bytes of the largest chunk whose scratch memory is kept for the next


@dataclass(frozen=True)
class Parsed:
    """What a chunk says. Columns without a prefix have a row an item; properties stand apart, lexemes are not kept."""

    qid: Int64
    line: Int64
    """Line of the dump file, from 1."""
    kept: Bool
    person: Bool
    """Whether the item is a human (P31 = Q5)."""
    sitelinks: Int32
    """NS."""
    properties: Int32
    """NP: distinct properties with a statement that is not deprecated and has a value, of any datatype."""
    label: Strings
    """In the first language that has one of en, mul, en-gb, en-ca; empty where none has."""
    description: Strings
    """Likewise; of kept items only."""
    title: Strings
    """Of the English Wikipedia's page; of kept items only."""
    birth: Int32
    """Days since 1970-01-01, MISSING where not given."""
    birth_precision: Int8
    """As Wikidata has it: 11 a day, 10 a month, 9 a year …; 0 where not given."""
    death: Int32
    death_precision: Int8
    alias_indptr: Int64
    """Aliases of item i are alias[alias_indptr[i]:alias_indptr[i + 1]]."""
    alias: Strings
    """Of all four languages, with the labels that were not chosen; distinct, never the label, never empty."""
    statement_indptr: Int64
    statement_property: Int32
    statement_value: Int64
    """The QID of an item; ~i for the string i of `strings`. Strings are of kept items only."""
    statement_start: Int32
    """First day of the qualifier P580, MISSING where not given."""
    statement_end: Int32
    """Last day of the qualifier P582, MISSING where not given."""
    strings: Strings
    property_id: Int32
    property_label: Strings
    rejected: list[Reject]
    """Lines set aside."""
    dates_dropped: int
    """Dates that name no possible day."""


def parse_chunk(chunk: Chunk, keep: Literal["people", "all"]) -> Parsed:
    """Parse whole lines. Threads may do so side by side: nearly all of the time is spent without the lock."""
    to = _scratch(chunk)
    keep_all = keep == "all"
    rejected = [Reject(chunk.file, chunk.first_line, chunk.problem)] if chunk.problem else []
    position = scan(chunk.buffer, 0, chunk.size, keep_all, to)
    while position < chunk.size:
        line = chunk.line_at(position)
        try:
            _write(decode(line.lstrip(b"[, \t\r").rstrip(b"], \t\r\n"), keep_all), to)
        except BadLineError as problem:
            rejected.append(Reject(chunk.file, chunk.first_line + int(to.counts[t.LINES]), str(problem)))
        to.counts[t.LINES] += 1
        position = scan(chunk.buffer, position + len(line), chunk.size, keep_all, to)
    return _columns(to, chunk, rejected)


_local = threading.local()


def _scratch(chunk: Chunk) -> t.Tables:
    """Empty tables that no chunk of this size can overflow; a thread uses its own again and again."""
    to: t.Tables | None = getattr(_local, "tables", None)
    if to is None or to.counts[t.CAPACITY] < chunk.size or len(to.properties) < chunk.lines:
        to = _allocate(max(chunk.size, CHUNK), max(2 * chunk.lines, CHUNK >> 7))
        _local.tables = to if chunk.size <= KEPT_SCRATCH else None
    for entries in (to.alias_entries, to.string_entries, to.statement_entries):
        entries[: to.counts[t.LARGEST_MASK] + 1] = 0
    to.counts[t.LARGEST_MASK] = 0
    to.counts[: t.RESTORED] = 0
    return to


def _allocate(size: int, lines: int) -> t.Tables:
    """Most of this memory is never touched, and what is not touched is not taken."""
    counts = np.zeros(t.COUNTS, np.int64)
    counts[t.CAPACITY] = size
    strings = max(lines, size // SMALLEST_ALIAS) + 2
    offsets = np.empty(strings * t.TEXT_COLUMNS, np.int64)
    offsets[: t.TEXT_COLUMNS] = 0
    slots = 1 << max(6, (size >> 3).bit_length())
    return t.Tables(
        found=np.zeros(FOUND, np.int64),
        counts=counts,
        items=np.empty(lines * t.ITEM_COLUMNS, np.int64),
        statements=np.empty((size // SMALLEST_STATEMENT + 1) * t.STATEMENT_COLUMNS, np.int64),
        properties=np.empty(lines, np.int64),
        offsets=offsets,
        alias_entries=np.zeros(slots, np.uint64),
        string_entries=np.zeros(slots, np.uint64),
        statement_entries=np.zeros(slots, np.uint64),
        text=np.empty(t.TEXT_COLUMNS * size, np.uint8),
    )


def _write(entity: Entity, to: t.Tables) -> None:
    """Write an entity that was decoded into the tables, as the scanner would have."""
    if entity.kind == "L":
        return
    if entity.kind == "P":
        to.properties[to.counts[t.PROPERTIES]] = entity.number
        to.counts[t.PROPERTIES] += 1
        _append(entity.label, t.PROPERTY_LABEL, to)
        return
    for text, column in ((entity.label, t.LABEL), (entity.description, t.DESCRIPTION), (entity.title, t.TITLE)):
        _append(text, column, to)
    for alias in entity.aliases:
        _append(alias, t.ALIAS, to)
    strings: dict[str, int] = {}
    for statement in entity.statements:
        value = statement.value
        if isinstance(value, str):
            if value not in strings:
                strings[value] = _append(value, t.STRING, to)
            value = ~strings[value]
        row = to.counts[t.STATEMENTS] * t.STATEMENT_COLUMNS
        to.statements[row : row + t.STATEMENT_COLUMNS] = statement.property, value, statement.start, statement.end
        to.counts[t.STATEMENTS] += 1
    row = to.counts[t.ITEMS] * t.ITEM_COLUMNS
    to.items[row : row + t.ITEM_COLUMNS] = (
        *(entity.number, to.counts[t.LINES], entity.person, entity.kept, entity.sitelinks, entity.properties),
        *(to.counts[t.ALIAS], to.counts[t.STATEMENTS], *entity.birth, *entity.death),
    )
    to.counts[t.ITEMS] += 1
    to.counts[t.DATES_DROPPED] += entity.dates_dropped


def _append(text: str, column: int, to: t.Tables) -> int:
    """Add a string to a text column; returns its row."""
    row = int(to.counts[column])
    data = np.frombuffer(text.encode(), np.uint8)
    start = int(to.offsets[row * t.TEXT_COLUMNS + column])
    base = column * int(to.counts[t.CAPACITY])
    to.text[base + start : base + start + len(data)] = data
    to.offsets[(row + 1) * t.TEXT_COLUMNS + column] = start + len(data)
    to.counts[column] = row + 1
    return row


def _columns(to: t.Tables, chunk: Chunk, rejected: list[Reject]) -> Parsed:
    """Copy what the tables hold into columns of their own."""
    counts = to.counts
    items = to.items[: counts[t.ITEMS] * t.ITEM_COLUMNS].reshape(-1, t.ITEM_COLUMNS)
    statements = to.statements[: counts[t.STATEMENTS] * t.STATEMENT_COLUMNS].reshape(-1, t.STATEMENT_COLUMNS)
    return Parsed(
        qid=items[:, t.QID].copy(),
        line=items[:, t.LINE] + chunk.first_line,
        kept=items[:, t.KEPT].astype(np.bool_),
        person=items[:, t.PERSON].astype(np.bool_),
        sitelinks=items[:, t.SITELINK_COUNT].astype(np.int32),
        properties=items[:, t.PROPERTY_COUNT].astype(np.int32),
        label=_strings(to, t.LABEL),
        description=_strings(to, t.DESCRIPTION),
        title=_strings(to, t.TITLE),
        birth=items[:, t.BIRTH].astype(np.int32),
        birth_precision=items[:, t.BIRTH_PRECISION].astype(np.int8),
        death=items[:, t.DEATH].astype(np.int32),
        death_precision=items[:, t.DEATH_PRECISION].astype(np.int8),
        alias_indptr=np.concatenate((np.zeros(1, np.int64), items[:, t.ALIAS_END])),
        alias=_strings(to, t.ALIAS),
        statement_indptr=np.concatenate((np.zeros(1, np.int64), items[:, t.STATEMENT_END])),
        statement_property=statements[:, t.PROPERTY].astype(np.int32),
        statement_value=statements[:, t.VALUE].copy(),
        statement_start=statements[:, t.SINCE].astype(np.int32),
        statement_end=statements[:, t.UNTIL].astype(np.int32),
        strings=_strings(to, t.STRING),
        property_id=to.properties[: counts[t.PROPERTIES]].astype(np.int32),
        property_label=_strings(to, t.PROPERTY_LABEL),
        rejected=rejected,
        dates_dropped=int(counts[t.DATES_DROPPED]),
    )


def _strings(to: t.Tables, column: int) -> Strings:
    rows = to.offsets[: (to.counts[column] + 1) * t.TEXT_COLUMNS].reshape(-1, t.TEXT_COLUMNS)
    offsets = rows[:, column].copy()
    base = column * to.counts[t.CAPACITY]
    return Strings(offsets, to.text[base : base + offsets[-1]].copy())
