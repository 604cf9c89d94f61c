"""A chunk of a dump as flat columns, one row for each item, in the order of the dump.

A compiled scanner does the lines that are as Wikidata writes them, without the interpreter's lock; any other line
goes through a full JSON decoder, and is set aside with its reason where it holds no entity.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

import numpy as np

from namesake.kb.dates import MISSING
from namesake.kb.dump.chunks import CHUNK, Chunk
from namesake.kb.dump.decode import BadLineError, Entity, decode
from namesake.kb.dump.scanner_tables import FIELDS, Number, Scanned, TextAt, read
from namesake.kb.manifest import Reject
from namesake.kernels.dump import tables as t
from namesake.kernels.dump.entity import scan
from namesake.kernels.dump.walk import FOUND, language_keys
from namesake.language import Language

__all__ = ["MISSING", "Parsed", "parse_chunk"]

SMALLEST_STATEMENT = 64  # bytes that a statement with a value has at the least
SMALLEST_ALIAS = 13
KEPT_SCRATCH = 32 << 20  # bytes of the largest chunk whose scratch memory is kept for the next

_PLACES = {name: field.place for name, field in FIELDS.items()}
TEXTS = {name: at.place for name, at in _PLACES.items() if isinstance(at, TextAt) and at.of_item}
NUMBERS = {name: at.place for name, at in _PLACES.items() if isinstance(at, Number) and at.table == "items"}
"""Where the tables have the texts and the numbers of an item, by the names of `Scanned`."""
COUNTED = {"line": t.LINES, "alias_indptr": t.ALIAS, "statement_indptr": t.STATEMENTS}
"""What a decoded item does not say, but the tables so far: its line, and where its aliases and statements end."""


@dataclass(frozen=True)
class Parsed(Scanned):
    """What a chunk says."""

    rejected: list[Reject]
    """Lines set aside."""
    dates_dropped: int
    """Dates that name no possible day."""


def parse_chunk(chunk: Chunk, keep: Literal["people", "all"], language: Language) -> Parsed:
    """Parse the lines of `chunk`; of the items that `keep` names everything is kept, of others label and links.

    Labels, descriptions and titles are those in `language`. Threads may parse side by side: nearly all of the time is
    spent without the lock.
    """
    to = _scratch(chunk)._replace(languages=language_keys(language.labels, language.wikipedia))
    keep_all = keep == "all"
    rejected = [Reject(chunk.file, chunk.first_line, chunk.problem)] if chunk.problem else []
    position = scan(chunk.buffer, 0, chunk.size, keep_all, to)
    while position < chunk.size:
        line = chunk.line_at(position)
        try:
            _write(decode(line.lstrip(b"[, \t\r").rstrip(b"], \t\r\n"), keep_all, language), to)
        except BadLineError as problem:
            rejected.append(Reject(chunk.file, int(to.counts[t.LINES]), str(problem)))
        to.counts[t.LINES] += 1
        position = scan(chunk.buffer, position + len(line), chunk.size, keep_all, to)
    return Parsed(**read(to), rejected=rejected, dates_dropped=int(to.counts[t.DATES_DROPPED]))


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
    to.counts[t.LINES] = chunk.first_line
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
        languages=np.empty(0, np.uint64),
        text=np.empty(t.TEXT_COLUMNS * size, np.uint8),
    )


def _write(entity: Entity, to: t.Tables) -> None:
    """Write an entity that was decoded into the tables, as the scanner would have."""
    if entity.kind == "L":
        return
    if entity.kind == "P":
        to.properties[to.counts[t.PROPERTIES]] = entity.qid
        to.counts[t.PROPERTIES] += 1
        _append(entity.label, t.PROPERTY_LABEL, to)
        return
    for alias in entity.aliases:
        _append(alias, t.ALIAS, to)
    _write_statements(entity, to)
    for name, place in TEXTS.items():
        _append(getattr(entity, name), place, to)
    row = to.counts[t.ITEMS] * t.ITEM_COLUMNS
    for name, place in NUMBERS.items():
        to.items[row + place] = to.counts[COUNTED[name]] if name in COUNTED else getattr(entity, name)
    to.counts[t.ITEMS] += 1
    to.counts[t.DATES_DROPPED] += entity.dates_dropped


def _write_statements(entity: Entity, to: t.Tables) -> None:
    """Write what a decoded item states; a string that it states twice is one."""
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
