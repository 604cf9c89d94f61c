"""Things: what each item is, and the names of what is no person, which speak against a person of that name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt64
from namesake.kb.columns import large
from namesake.kb.columns.assemble import Numbering, Statements
from namesake.kb.columns.column_files import Strings
from namesake.kb.columns.declaration import Made
from namesake.kb.columns.fame import AN_ALIAS, BEFORE_COMMA, stepped, thing_fame
from namesake.kb.columns.name_layout import NameColumns
from namesake.kb.dump.parsed_items import Items, ranges
from namesake.kb.kinds import KINDS, OTHER, PERSON, PLACE, classes
from namesake.kb.names.normalise import TABLE_END, normalise_many
from namesake.kb.names.short_forms import at_comma
from namesake.kernels.columns.group import distinct_keys
from namesake.kernels.columns.links import add_counts, count_values
from namesake.kernels.names.index import hash_names
from namesake.kernels.names.prose import begins_with
from namesake.kernels.tables import fill, keep_largest, table_size

INSTANCE_OF, SUBCLASS_OF = 31, 279
MOST_TOKENS = 7
"""Of a thing's name that is kept: no text is searched for longer ones, and dumps are full of titles."""
STEPS_UP = 5
"""How far a class may be below one whose kind is known."""
NAME_BYTES, HASH_BYTES = 256, 64
"""What a name takes while it is read, and a hash while distinct ones are told."""


@dataclass(frozen=True)
class ThingNames:
    """Normalised names of things and their hashes, none of them 0, each with the fame and the kind of the thing."""

    texts: Strings
    hashes: UInt64
    fame: Float64
    kinds: Int8


def item_kinds(items: Items, rows: Numbering) -> Int8:
    """What each item is: by the first of its classes (P31) whose kind is known; what has a population is a place."""
    of_class = np.full(len(rows.item_qids), OTHER, np.int8)
    known = classes()
    places = rows.find(np.array(list(known), np.int64))
    of_class[places[places >= 0]] = np.array(list(known.values()), np.int8)[places >= 0]
    subclasses = list(_edges(items, rows, SUBCLASS_OF))
    for _ in range(STEPS_UP):
        before = of_class.copy()
        for below, above in subclasses:
            _inherit(below, above, before, of_class)
    kinds = np.full(len(of_class), OTHER, np.int8)
    for below, above in _edges(items, rows, INSTANCE_OF):
        _inherit(below, above, of_class, kinds)
    first = rows.first
    inhabited = rows.item_of[first & (items.population > 0)]
    kinds[inhabited[kinds[inhabited] == OTHER]] = PLACE
    kinds[rows.item_of[first & items.person]] = PERSON
    return kinds


def _edges(items: Items, rows: Numbering, of: int) -> Iterator[tuple[Int32, Int32]]:
    """The item rows of who states a property, and of the items they state, block by block."""
    for low, high in large.blocks(len(items.statement_property), 16):
        value = items.statement_value[low:high]
        statements = np.flatnonzero((items.statement_property[low:high] == of) & (value >= 0))
        source = np.searchsorted(items.statement_indptr, low + statements, side="right") - 1
        counted = rows.first[source]
        yield rows.item_of[source[counted]], rows.find(value[statements[counted]])


def _inherit(below: Int32, above: Int32, of_class: Int8, kinds: Int8) -> None:
    """Where a kind is unknown, it becomes that of the first class above that has one."""
    new = (kinds[below] == OTHER) & (of_class[above] != OTHER)
    kinds[below[new][::-1]] = of_class[above[new]][::-1]  # the last one written stays


def stated_by(stated: Statements, items: int) -> Int64:
    """How many statements of entities name each item."""
    counts = np.zeros(len(stated.pair_value), np.int64)
    count_values(stated.of_entity.values, counts)
    found: Int64 = large.zeros(items, np.int64)
    add_counts(stated.pair_value, counts, found)
    return found


def thing_names(items: Items, rows: Numbering, kinds: Int8, stated: Int64) -> ThingNames:
    """The names that speak against a person: of two characters and up to `MOST_TOKENS` tokens, with a capital.

    First the labels, then the aliases, then what stands before a comma in labels.
    """
    blocks = np.array([kind.blocks for kind in KINDS])[kinds]
    row = large.kept(np.flatnonzero(blocks & (rows.dump_of >= 0)))
    dump = large.kept(rows.dump_of[row])
    fame, ends = large.empty(len(row), np.float64), large.zeros(len(row) + 1, np.int64)
    for low, high in large.blocks(len(row), 128):
        some = dump[low:high]
        fame[low:high] = thing_fame(items.sitelinks[some], items.population[some], stated[row[low:high]])
        ends[low + 1 : high + 1] = items.alias_indptr[some + 1] - items.alias_indptr[some]
    np.cumsum(ends, out=ends)
    found = _FoundNames(fame, kinds, row)
    for low, high in large.blocks(len(dump), NAME_BYTES):
        found.add(items.label.take(dump[low:high]), np.arange(low, high), 1)
    for low, high in large.spans(ends, NAME_BYTES):
        counts = np.diff(ends[low : high + 1])
        aliases = items.alias.take(ranges(items.alias_indptr[dump[low:high]], counts))
        found.add(aliases, np.repeat(np.arange(low, high), counts), AN_ALIAS)
    for low, high in large.blocks(len(dump), NAME_BYTES):
        cut, before, _ = at_comma(items.label.take(dump[low:high]))
        found.add(before, low + cut, BEFORE_COMMA)
    return found.done()


class _FoundNames:
    """Names of things, of which those are kept that may be names of people; by the numbers of the things."""

    def __init__(self, fame: Float64, kinds: Int8, row: Int64) -> None:
        self.of_things = fame, kinds, row
        self.sizes, self.data = large.Growing(np.int64), large.Growing(np.uint8)
        self.hashes, self.fame, self.kinds = large.Growing(np.uint64), large.Growing(np.float64), large.Growing(np.int8)

    def add(self, raw: Strings, thing: Int64, share: float) -> None:
        """Add names as they are written, of these things, whose fame counts by `share`."""
        capital = np.flatnonzero(begins_with(raw.data, raw.offsets, capitals()))
        texts = normalise_many(raw.take(capital))
        hashes = hash_names(texts.data, texts.offsets, MOST_TOKENS)
        named = np.flatnonzero(hashes)
        fame, kinds, row = self.of_things
        thing, kept = thing[capital[named]], texts.take(named)
        self.sizes.append(np.diff(kept.offsets))
        self.data.append(kept.data)
        self.hashes.append(hashes[named])
        self.fame.append(fame[thing] * share)
        self.kinds.append(kinds[row[thing]])

    def done(self) -> ThingNames:
        """All of them, in the order in which they came."""
        texts = Strings(large.running(self.sizes.done()), self.data.done())
        return ThingNames(texts, self.hashes.done(), self.fame.done(), self.kinds.done())


@cache
def capitals() -> Bool:
    """Which characters begin a name, by code point: capitals and digits."""
    return np.array([chr(point).isupper() or chr(point).isdigit() for point in range(TABLE_END)])


def build_things(names: ThingNames) -> Made:
    """The columns of things: the most famous one of each name, and of two the first."""
    best = _most_famous(names)
    slots = table_size(len(best))
    keys, fame, kinds = large.zeros(slots, np.uint64), large.zeros(slots, np.uint8), large.full(slots, OTHER, np.int8)
    for low, high in large.blocks(len(best), 64):
        some = best[low:high]
        place = fill(names.hashes[some], keys)
        fame[place], kinds[place] = stepped(names.fame[some]), names.kinds[some]
    columns = NameColumns
    return dict(
        [
            columns.thing_hashes.holding(keys),
            columns.thing_fame.holding(fame),
            columns.thing_kind.holding(kinds),
        ]
    )


def _most_famous(names: ThingNames) -> Int64:
    """The row of the most famous thing of each name, of two the first; in an order that suits the table.

    Names go by their hash with its lowest bits, which tell the slot, before the others: so the table is written from
    its beginning to its end, some times over. By the same bits they are parted, so that memory can hold a part.
    """
    size = len(names.hashes)
    turn = np.uint64(64 - table_size(size).bit_length())
    parts = (HASH_BYTES * size // (4 * large.room().block)).bit_length()
    turned, best = large.empty(size, np.uint64), large.Growing(np.int64)
    for low, high in large.blocks(size, 32):
        hashes = names.hashes[low:high]
        turned[low:high] = hashes << turn | hashes >> np.uint64(64) - turn
    for part in range(1 << parts):
        rows = _with_high_bits(turned, parts, part)
        ids = np.empty(len(rows), np.int32)
        distinct = distinct_keys(turned[rows].view(np.int64), ids).view(np.uint64)
        found = keep_largest(ids, names.fame[rows], len(distinct))
        best.append(rows[found[np.argsort(distinct)]])
    return best.done()


def _with_high_bits(numbers: UInt64, bits: int, part: int) -> Int64:
    """The rows of the numbers whose highest `bits` bits make the number `part`."""
    if not bits:
        return np.arange(len(numbers))
    found = [
        low + np.flatnonzero(numbers[low:high] >> np.uint64(64 - bits) == part)
        for low, high in large.blocks(len(numbers), 16)
    ]
    return np.concatenate(found)
