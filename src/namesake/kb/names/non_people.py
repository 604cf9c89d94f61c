"""The names of items that are not people, which are evidence against a person of that name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt8, UInt64
from namesake.kb.columns import Made, NameColumns, Strings, large
from namesake.kb.columns.assemble import Numbering, Statements, distinct_keys, values_of
from namesake.kb.columns.large import AnyArray
from namesake.kb.dump.parse import Items
from namesake.kb.names.normalise import normalise_many
from namesake.kb.names.short_forms import at_comma, characters
from namesake.kernels.columns.group import count_values
from namesake.kernels.hash import fill, table_size
from namesake.kernels.kinds import CHARACTER, NAME, PERSON
from namesake.kernels.names.constants import FAME_STEPS
from namesake.kernels.names.fold import begins_with
from namesake.kernels.names.index import hash_names

MOST_TOKENS = 7
"""Longest name that is kept: no longer ones are searched for, and dumps are full of titles."""
NAME_BYTES, HASH_BYTES = 256, 64  # temporary memory per name, and per hash
NAMED = np.dtype([("turned", np.uint64), ("row", np.int64), ("fame", np.float64)])
"""A name: its hash with the bits that decide its slot highest, its row and its fame."""
SMALLEST_PLACE = 500  # inhabitants from which on the size of a place counts
BEFORE_COMMA, AN_ALIAS = 0.8, 0.7
"""Factor for the fame of a label before its comma (Springfield, Illinois) and of an alias."""


@dataclass(frozen=True)
class NonPeople:
    """Normalised names of items that are not people, their hashes (never 0), and the items' fame."""

    texts: Strings
    hashes: UInt64
    fame: Float64


def stated_by(stated: Statements, items: int) -> Int64:
    """Number of statements of entities that name each item."""
    counts = np.zeros(len(stated.pair_value), np.int64)
    count_values(stated.statements.values, counts)
    found: Int64 = large.zeros(items, np.int64)
    is_item = stated.pair_value >= 0
    np.add.at(found, stated.pair_value[is_item], counts[is_item])
    return found


def non_people_names(items: Items, rows: Numbering, kinds: Int8, stated: Int64) -> NonPeople:
    """Names of items that are no entities: of two or more characters, up to `MOST_TOKENS` tokens, with a capital."""
    is_evidence = ~np.isin(kinds, (PERSON, CHARACTER, NAME)) & (rows.dump_of >= 0)
    is_evidence[rows.entity_item] = False
    row = large.kept(np.flatnonzero(is_evidence))
    dump, fame = large.kept(rows.dump_of[row]), large.empty(len(row), np.float64)
    for low, high in large.blocks(len(row), 128):
        some = dump[low:high]
        fame[low:high] = item_fame(items.sitelinks[some], items.population[some], stated[row[low:high]])

    def each() -> Iterator[tuple[AnyArray, ...]]:
        for raw, item, share in _all_names(items, dump):
            capital = np.flatnonzero(begins_with(raw.data, raw.offsets, characters(str.isupper, str.isdigit)))
            texts = normalise_many(raw.take(capital))
            hashed = hash_names(texts.data, texts.offsets, MOST_TOKENS)
            named = np.flatnonzero(hashed)
            kept = texts.take(named)
            yield np.diff(kept.offsets), kept.data, hashed[named], fame[item[capital[named]]] * share

    lengths, text, *rest = large.gathered(each(), np.int64, np.uint8, np.uint64, np.float64)
    return NonPeople(Strings(large.running(lengths), text), *rest)


def _all_names(items: Items, dump: Int32) -> Iterator[tuple[Strings, Int64, float]]:
    """Labels of items of the dump, aliases, and labels before a comma; the item of each, and a factor for its fame."""
    for low, high in large.blocks(len(dump), NAME_BYTES):
        yield items.label.take(dump[low:high]), np.arange(low, high), 1
    ends, places = values_of(items.alias_indptr, dump)
    for low, high in large.spans(ends, NAME_BYTES):
        whose = np.repeat(np.arange(low, high), np.diff(ends[low : high + 1]))
        yield items.alias.take(places[ends[low] : ends[high]]), whose, AN_ALIAS
    for low, high in large.blocks(len(dump), NAME_BYTES):
        cut, before, _ = at_comma(items.label.take(dump[low:high]))
        yield before, low + cut, BEFORE_COMMA


def build_non_people(names: NonPeople) -> Made:
    """The columns of non-people: the most famous one of each name, the first of two, by parts that fit in memory."""
    size = len(names.hashes)
    turn = np.uint64(64 - table_size(size).bit_length())
    parts, rows = large.Parts(NAMED, size, HASH_BYTES), large.Growing(np.int64)
    for low, high in large.blocks(size, HASH_BYTES):
        hashes, some = names.hashes[low:high], np.empty(high - low, NAMED)
        some["turned"] = hashes << turn | hashes >> np.uint64(64) - turn
        some["row"], some["fame"] = np.arange(low, high), names.fame[low:high]
        parts.add(some["turned"], some)
    for part in parts.each():
        ids = np.empty(len(part), np.int32)
        distinct = distinct_keys(np.ascontiguousarray(part["turned"]), ids)
        most, first = np.zeros(len(distinct)), np.empty(len(distinct), np.int64)
        np.maximum.at(most, ids, part["fame"])
        largest = np.flatnonzero(part["fame"] == most[ids])[::-1]
        first[ids[largest]] = largest  # the last one written remains: the first of equal ones
        rows.append(part["row"][first[np.argsort(distinct)]])
    best = rows.done()
    slots = table_size(len(best))
    keys, fame = large.zeros(slots, np.uint64), large.zeros(slots, np.uint8)
    for low, high in large.blocks(len(best), 64):
        some = best[low:high]
        place = fill(names.hashes[some], keys)
        fame[place] = fame_byte(names.fame[some])
    return {NameColumns.thing_hashes: keys, NameColumns.thing_fame: fame}


def all_fame(items: Items, rows: Numbering, is_person: Bool, statements: Int64, stated: Int64) -> Float64:
    """The fame of each entity. `statements` are where those of each entity end, `stated` counts uses of each item."""
    fame: Float64 = large.empty(len(is_person), np.float64)
    for low, high in large.blocks(len(is_person), 128):
        dump, of_person = rows.entity_dump[low:high], is_person[low:high]
        sitelinks, population = items.sitelinks[dump], items.population[dump]
        of_item = item_fame(sitelinks, population, stated[rows.entity_item[low:high]])
        fame[low:high] = np.where(of_person, entity_fame(sitelinks, np.diff(statements[low : high + 1])), of_item)
    return fame


def entity_fame(sitelinks: npt.NDArray[Any], statements: npt.NDArray[Any]) -> Float64:
    """The fame of people: sitelinks; without any, 0.3 plus 0.05 for each of up to ten statements."""
    return np.where(sitelinks > 0, sitelinks, 0.3 + 0.05 * np.minimum(statements, 10)).astype(np.float64)


def item_fame(sitelinks: npt.NDArray[Any], population: npt.NDArray[Any], stated: npt.NDArray[Any]) -> Float64:
    """The largest of: sitelinks (more than one), and what the population and the number of statements amount to; or 1.

    1.2 (log10(population)**2.6 - 8) is 34 for a town of 10,000 people and 117 for a city of a million;
    8 log10(1 + n)**1.7 is 26 for an item that a hundred entities state, and 67 for three thousand.
    """
    people = np.log10(np.maximum(population, SMALLEST_PLACE))
    of_population = np.where(population >= SMALLEST_PLACE, 1.2 * (people**2.6 - 8), 0)
    of_statements = 8 * np.log10(1 + stated) ** 1.7
    known = np.where(sitelinks > 1, sitelinks, 0)
    fame: Float64 = np.maximum.reduce([known, of_population, of_statements, np.ones(len(known))])
    return fame


def fame_byte(fame: Float64) -> UInt8:
    """Fame as one byte, in `FAME_STEPS` per unit of its logarithm."""
    steps: Float64 = np.rint(FAME_STEPS * np.log1p(fame))
    return np.minimum(steps, 255).astype(np.uint8)
