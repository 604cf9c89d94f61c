"""Things: what each item is, and the names of what is no person, which speak against a person of that name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from namesake.kb.assemble import Numbering, Statements
from namesake.kb.columns import Strings, concatenate
from namesake.kb.declare import Made
from namesake.kb.fame import AN_ALIAS, BEFORE_COMMA, stepped, thing_fame
from namesake.kb.items import Items, ranges
from namesake.kb.kinds import KINDS, OTHER, PERSON, PLACE, classes
from namesake.kb.name_layout import NameColumns
from namesake.kb.shorts import at_comma
from namesake.kb.spelling import TABLE_END, normalise_many
from namesake.kernels.columns.group import distinct_keys
from namesake.kernels.names.index import hash_names
from namesake.kernels.names.prose import begins_with
from namesake.kernels.tables import keep_largest, table_of

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

INSTANCE_OF, SUBCLASS_OF = 31, 279
MOST_TOKENS = 7
"""Of a thing's name that is kept: no text is searched for longer ones, and dumps are full of titles."""
STEPS_UP = 5
"""How far a class may be below one whose kind is known."""


@dataclass(frozen=True)
class ThingNames:
    """Normalised names of things and their hashes, each with the fame and the kind of the thing."""

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
    below, above = _edges(items, rows, SUBCLASS_OF)
    for _ in range(STEPS_UP):
        of_class = _inherited(below, above, of_class, of_class)
    kinds = _inherited(*_edges(items, rows, INSTANCE_OF), of_class, np.full(len(of_class), OTHER, np.int8))
    first = rows.first
    inhabited = rows.item_of[first & (items.population > 0)]
    kinds[inhabited[kinds[inhabited] == OTHER]] = PLACE
    kinds[rows.item_of[first & items.person]] = PERSON
    return kinds


def _edges(items: Items, rows: Numbering, of: int) -> tuple[Int32, Int32]:
    """The item rows of who states a property, and of the items they state."""
    statements = np.flatnonzero((items.statement_property == of) & (items.statement_value >= 0))
    source = np.searchsorted(items.statement_indptr, statements, side="right") - 1
    counted = rows.first[source]
    return rows.item_of[source[counted]], rows.find(items.statement_value[statements[counted]])


def _inherited(below: Int32, above: Int32, of_class: Int8, kinds: Int8) -> Int8:
    """The kinds, where they are unknown those of the first class above that has one."""
    new = (kinds[below] == OTHER) & (of_class[above] != OTHER)
    kinds = kinds.copy()
    kinds[below[new][::-1]] = of_class[above[new]][::-1]  # the last one written stays
    return kinds


def stated_by(stated: Statements, items: int) -> Int64:
    """How many statements of entities name each item."""
    counts = np.bincount(stated.of_entity.values, minlength=len(stated.pair_value))
    named = stated.pair_value >= 0
    return np.bincount(stated.pair_value[named], counts[named], items).astype(np.int64)


def thing_names(items: Items, rows: Numbering, kinds: Int8, stated: Int64) -> ThingNames:
    """The names that speak against a person: of two characters and up to `MOST_TOKENS` tokens, with a capital."""
    blocks = np.array([kind.blocks for kind in KINDS])[kinds]
    row = np.flatnonzero(blocks & (rows.dump_of >= 0))
    dump = rows.dump_of[row]
    fame = thing_fame(items.sitelinks[dump], items.population[dump], stated[row])
    labels = items.label.take(dump)
    counts = np.diff(items.alias_indptr)[dump]
    aliases = items.alias.take(ranges(items.alias_indptr[dump], counts))
    cut, before, _ = at_comma(labels)
    raw = concatenate([labels, aliases, before])
    thing = np.concatenate([np.arange(len(row)), np.repeat(np.arange(len(row)), counts), cut])
    share = np.repeat([1, AN_ALIAS, BEFORE_COMMA], [len(labels), len(aliases), len(cut)])
    capital = np.flatnonzero(begins_with(raw.data, raw.offsets, capitals()))
    texts = normalise_many(raw.take(capital))
    hashes = hash_names(texts.data, texts.offsets, MOST_TOKENS)
    named = np.flatnonzero(hashes)
    thing, share = thing[capital[named]], share[capital[named]]
    return ThingNames(texts.take(named), hashes[named], fame[thing] * share, kinds[row[thing]])


@cache
def capitals() -> Bool:
    """Which characters begin a name, by code point: capitals and digits."""
    return np.array([chr(point).isupper() or chr(point).isdigit() for point in range(TABLE_END)])


def build_things(names: ThingNames) -> Made:
    """The columns of things: the most famous one of each name, and of two the first."""
    ids = np.empty(len(names.hashes), np.int32)
    distinct = distinct_keys(names.hashes.view(np.int64), ids).view(np.uint64)
    best = keep_largest(ids, names.fame, len(distinct))
    keys, place = table_of(distinct)
    fame, kinds = np.zeros(len(keys), np.uint8), np.full(len(keys), OTHER, np.int8)
    fame[place], kinds[place] = stepped(names.fame[best]), names.kinds[best]
    columns = NameColumns
    return dict(
        [
            columns.thing_hashes.holding(keys),
            columns.thing_fame.holding(fame),
            columns.thing_kind.holding(kinds),
        ]
    )
