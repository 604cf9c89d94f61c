"""Parse chunks of a dump into columns.

A compiled scanner parses the lines that Wikidata writes, without the interpreter's lock. Any other line is repaired and
scanned again, or rejected with a reason if it is not an entity.
"""

import threading
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Int32, Int64, UInt8, number_type
from namesake.kb.columns import KBColumns, Strings
from namesake.kb.dump.chunks import CHUNK, Chunk
from namesake.kb.dump.repair import NOT_AN_ENTITY, BadLineError, entities_on, removed_by, repair
from namesake.kb.manifest import Reject
from namesake.kernels.dump import tables as t
from namesake.kernels.dump import wikidata
from namesake.kernels.dump.entity import ITEM_COLUMNS, scan
from namesake.kernels.dump.statements import ENTITY_ID, FOUND, OTHER, QUANTITY, TIME_VALUE
from namesake.kernels.dump.wikidata import BIRTH_DATE, BIT_MASK, DECIDING_END, POPULATION, PUBLICATION_DATE, TYPE_AT
from namesake.kernels.kinds import PERSON
from namesake.kernels.simd import LANES
from namesake.kinds import PEOPLE, deciding_bits, kinds
from namesake.language import Language

SMALLEST_STATEMENT = 64  # bytes of the shortest statement with a value
SMALLEST_ALIAS = 13
SMALLEST_ENTITY = 16  # of an answer of the API, with its key
KEPT_SCRATCH = 32 << 20  # bytes of the largest chunk whose scratch memory is kept for the next one
TEXT_COLUMNS = ("label", "description", "title", "alias", "strings", "property_label")
STATEMENT_COLUMNS = ("statement_property", "statement_value", "statement_start", "statement_end")
"""The columns of the scanner's other tables, in their order; `ITEM_COLUMNS` are those of items."""
GONE = ("gone_qid", "gone_target", "gone_before")
TYPES = {BIRTH_DATE: TIME_VALUE, PUBLICATION_DATE: TIME_VALUE, POPULATION: QUANTITY, wikidata.COORDINATES: OTHER}
"""The types of values of properties whose values are not items, among those that decide a kind."""


class Items:
    """The content of some lines of a dump, or of all dumps, in dump order.

    Columns without a prefix have one row per item. Properties are stored separately, lexemes are not kept. Besides the
    columns below, an object has the fields of the dump that `layout.py` picks for entities, such as `birth`.
    """

    qid: Int64
    revision: Int64  # the number of the item's last revision; 0 if unknown
    kept: Bool
    person: Bool
    sitelinks: Int32
    population: Int32  # the largest stated number of inhabitants (P1082); 0 if unknown
    deciding: Int32  # a bit for each property that decides a kind (`kinds.deciding_bits`) and has a value
    label: Strings  # in the first of the language's codes (`Language.labels`) that has a label; else empty
    description: Strings
    title: Strings  # in the language's Wikipedia; empty for items that are not kept
    alias_indptr: Int64  # aliases of item i are alias[alias_indptr[i]:alias_indptr[i + 1]]
    alias: Strings  # in all of these codes, with the labels that were not chosen: distinct, not the label, not empty
    statement_indptr: Int64
    statement_property: Int32
    statement_value: Int64  # the QID of an item, or ~i for the string i of `strings`, which only kept items have
    statement_start: Int32  # first day of the qualifier P580, `wikidata.MISSING` if unknown
    statement_end: Int32  # last day of the qualifier P582, `wikidata.MISSING` if unknown
    strings: Strings
    property_id: Int32
    property_label: Strings
    gone_qid: Int64  # items that are deleted or redirected, in dump order
    gone_target: Int64  # the item to which each is redirected; 0 if it is deleted
    gone_before: Int64  # the number of items of the dump before each deletion or redirect

    def __init__(self, columns: dict[str, Any], rejected: Sequence[Reject] = (), dropped: int = 0) -> None:
        """Besides the columns: the rejected lines, and the number of dates that name no possible day."""
        vars(self).update(columns)
        self.rejected, self.dates_dropped = rejected, dropped

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All columns as arrays: those of texts are two, `.offsets` and `.bytes`."""
        found: dict[str, npt.NDArray[Any]] = {}
        for name in FIELDS:
            column = getattr(self, name)
            is_text = isinstance(column, Strings)
            found |= {f"{name}.offsets": column.offsets, f"{name}.bytes": column.data} if is_text else {name: column}
        return found


_OWN = {name: np.uint8 if kind is Strings else number_type(kind) for name, kind in get_type_hints(Items).items()}
FIELDS = {column.dump_field: column.dtype for column in KBColumns.declared().values() if column.dump_field}
FIELDS |= {name: np.dtype(kind) for name, kind in _OWN.items()}
"""The type of every column: the attributes of `Items`, and the fields of the dump that `layout.py` picks."""


def parse_chunk(chunk: Chunk, keep: str, language: Language) -> Items:
    """Parse the lines of `chunk`. Of items that are not `kept` only texts and links are stored.

    "people" keeps people. Any other `keep` keeps everything, because the kinds of items follow from all of them.
    """
    to = _scratch(chunk)._replace(languages=t.language_keys(language.labels, language.wikipedia))
    keep_all = keep != PEOPLE
    rejected = [Reject(chunk.file, chunk.first_line, chunk.problem)] if chunk.problem else []
    gone: list[tuple[int, int, int]] = []

    def parse(text: bytes, check: bool) -> bool:
        end: int = scan(np.frombuffer(text + bytes(LANES), np.uint8), 0, len(text), keep_all, check, to)
        return end == len(text)

    def scan_on(start: int) -> int:
        stop = stops[bisect_left(stops, start)]
        return int(scan(buffer, start, stop, keep_all, True, to))

    buffer, stops = np.frombuffer(chunk.text, np.uint8), [*_not_utf8(chunk), chunk.size]
    position = scan_on(0)
    while position < chunk.size:
        end, number = chunk.text.find(b"\n", position, chunk.size) + 1 or chunk.size, int(to.counts[t.LINES])
        for key, entity in entities_on(bytes(chunk.text[position:end]).lstrip(b"[, \t\r").rstrip(b"], \t\r\n")):
            try:
                removed, has_content = removed_by(key, entity)
                gone += [(*one, int(to.counts[t.ITEMS])) for one in removed]
                is_plain = key and is_utf8(entity) and parse(entity, True)
                if has_content and not is_plain and not parse(repair(entity, language), False):
                    raise BadLineError(NOT_AN_ENTITY)
            except BadLineError as problem:
                rejected.append(Reject(chunk.file, number, str(problem)))
        to.counts[t.LINES] = number + 1
        position = scan_on(end)
    columns = zip(GONE, np.array(gone, np.int64).reshape(-1, len(GONE)).T, strict=True)
    return Items(_columns(to) | dict(columns), rejected, int(to.counts[t.DATES_DROPPED]))


def is_utf8(text: bytes) -> bool:
    """Whether some bytes are UTF-8, several times as fast as Python decodes them."""
    return Strings(np.array([0, len(text)], np.int64), np.frombuffer(text, np.uint8)).is_valid()


def _not_utf8(chunk: Chunk) -> list[int]:
    """Where the lines begin that are not UTF-8."""
    if is_utf8(chunk.text):
        return []
    ends = np.flatnonzero(np.frombuffer(chunk.text, np.uint8, chunk.size) == ord("\n")) + 1
    lines = pairwise([0, *ends.tolist(), chunk.size])
    return [start for start, end in lines if not is_utf8(chunk.text[start:end])]


def _columns(to: t.Tables) -> dict[str, Any]:
    """Copies of the columns of the tables."""
    made: dict[str, Any] = {}
    for place, name in enumerate(TEXT_COLUMNS):
        rows = to.offsets[: (to.counts[place] + 1) * t.TEXT_COLUMNS].reshape(-1, t.TEXT_COLUMNS)
        offsets, base = rows[:, place].copy(), place * to.counts[t.CAPACITY]
        made[name] = Strings(offsets, to.text[base : base + offsets[-1]].copy())
    tables = (ITEM_COLUMNS, to.items, t.ITEMS), (STATEMENT_COLUMNS, to.statements, t.STATEMENTS)
    for names, table, count in (*tables, (("property_id",), to.properties, t.PROPERTIES)):
        rows = table[: to.counts[count] * len(names)].reshape(-1, len(names))
        made |= {name: rows[:, place].astype(FIELDS[name]) for place, name in enumerate(names)}
    return made | {name: np.append(np.int64(0), made[name]) for name in ("alias_indptr", "statement_indptr")}


def deciding_table() -> UInt8:
    """By property: 0, or 1 more than the type of its values and its bit in the column `deciding`."""
    table = np.zeros(DECIDING_END, np.uint8)
    for one, bit in deciding_bits().items():
        assert bit < BIT_MASK, "a bit for each property has to fit in an int32"
        table[one] = (TYPES.get(one, ENTITY_ID) << TYPE_AT | bit) + 1
    return table


def dates_table() -> UInt8:
    """By property: 0, or how its dates are stored (`tables.Tables.dates`)."""
    table = np.zeros(DECIDING_END, np.uint8)
    for kind in kinds():
        life = t.OF_LIFE if kind.number == PERSON else 0
        for entry, properties in ((2, kind.begins), (3, kind.ends)):
            table[list(properties)] = np.maximum(table[list(properties)], entry + life)
    return table


_local = threading.local()


def _scratch(chunk: Chunk) -> t.Tables:
    """Empty tables that no chunk of this size can overflow; each thread reuses its own. Untouched pages are free."""
    to: t.Tables | None = getattr(_local, "tables", None)
    if to is None or to.counts[t.CAPACITY] < chunk.size or len(to.properties) < chunk.lines:
        size = max(chunk.size, CHUNK)
        lines = max(2 * chunk.lines, size // SMALLEST_ENTITY)
        strings = max(lines, size // SMALLEST_ALIAS) + 2
        to = t.Tables(
            found=np.zeros(FOUND, np.int64),
            counts=np.full(t.COUNTS, size, np.int64),
            items=np.empty(lines * len(ITEM_COLUMNS), np.int64),
            statements=np.empty((size // SMALLEST_STATEMENT + 1) * t.STATEMENT_COLUMNS, np.int64),
            properties=np.empty(lines, np.int64),
            offsets=np.empty(strings * t.TEXT_COLUMNS, np.int64),
            languages=np.empty(0, np.uint64),
            keys=np.zeros(t.KEY_SLOTS, np.uint64),
            text=np.empty(t.TEXT_COLUMNS * size, np.uint8),
            deciding=deciding_table(),
            dates=dates_table(),
            at=np.empty(size // 2 + 2, np.int32),
            past=np.empty(size // 2 + 2, np.int32),
        )
        _local.tables = to if chunk.size <= KEPT_SCRATCH else None
    to.offsets[: t.TEXT_COLUMNS] = 0
    to.counts[: t.RESTORED] = 0
    to.counts[t.LINES] = chunk.first_line
    return to
