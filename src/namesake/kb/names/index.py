"""The name index: from a name in any spelling to the entities with this name, O(1) per look-up."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from namesake.arrays import Float32, Int8, Int32, Int64, UInt8, UInt64
from namesake.kb.columns.column_files import Columns, Strings
from namesake.kb.columns.layout import NameColumns
from namesake.kb.names.normalise import normalise, normalise_many
from namesake.kernels.hash import hash_bytes, slot_of
from namesake.kernels.names import index as kernels
from namesake.kernels.names.constants import ALIAS, FAME_STEPS
from namesake.kernels.names.slips import slip_openings
from namesake.language import Language


@cache
def affixes(language: Language) -> kernels.Affixes:
    """Hashes of the honorifics, of the suffixes and of the connectors, each ascending."""
    return kernels.Affixes(*map(_hashes, (language.honorifics, language.suffixes, language.connectors)))


def _hashes(words: Iterable[str]) -> UInt64:
    return np.sort(np.array([_hash(word) for word in words], np.uint64))


def _hash(normalised: str) -> np.uint64:
    data = np.frombuffer(normalised.encode(), np.uint8)
    return np.uint64(kernels.name_hash(data, 0, len(data)))


class NamedEntities(NamedTuple):
    """The entities with each of several names: those of name i are `rows[indptr[i]:indptr[i + 1]]`, ascending."""

    indptr: Int64
    rows: Int32
    kinds: Int8
    """What the name is to each entity: `kernels.names.constants.LABEL` and so on."""


class ShortForm(NamedTuple):
    """The entities with a short form that have the largest weights, and the number of all entities with it."""

    rows: Int32
    forms: Int8
    weights: Float32
    entities: int


class TokenCounts(NamedTuple):
    """How many labels of people a token begins, ends, is in the middle of; how often it is in lower case."""

    first: int = 0
    last: int = 0
    middle: int = 0
    lower: int = 0


class NonPerson(NamedTuple):
    """The most famous non-person with a name: its fame, on the scale of sitelinks, and its kind."""

    fame: float
    kind: int


class NameIndex(NameColumns):
    """The name index of a KB: `lookup` one name, or `lookup_many` for a column of them."""

    def __init__(self, columns: Columns, language: Language) -> None:
        """Read the index from the files in `columns`; titles and suffixes are those of the language."""
        super().__init__(columns)
        self.language = language

    def __len__(self) -> int:
        return len(self.texts)

    def lookup(self, name: str) -> tuple[Int32, Int8]:
        """Rows of the entities with this name, ascending, and what the name is to each.

        Bare forms count only if no entity has the name as its label or alias. If no entity has the name at all, it is
        looked up without its titles and suffixes.
        """
        asked = Strings.of([name])
        _, rows, kinds = self.lookup_many(asked.data, asked.offsets)
        return rows, kinds

    def lookup_many(self, data: UInt8, offsets: Int64) -> NamedEntities:
        """`lookup` for every string of a column in Arrow's layout."""
        return self.entities_with(self.find(normalise_many(Strings(offsets, data))))

    def entities_with(self, names: Int32) -> NamedEntities:
        """The entities with each name, given by its id; none where the id is -1."""
        indptr = np.zeros(len(names) + 1, np.int64)
        known = self.entities
        kernels.count_bearers(names, known.indptr, self.kinds, ALIAS, indptr)
        rows, kinds = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int8)
        kernels.gather_bearers(names, known.indptr, known.values, self.kinds, indptr, ALIAS, rows, kinds)
        return NamedEntities(indptr, rows, kinds)

    def find(self, normalised: Strings) -> Int32:
        """Ids of normalised names, -1 if unknown; a name with titles or suffixes may be found without them."""
        found = np.empty(len(normalised), np.int32)
        names = kernels.Names(self.hashes, self.slots, self.texts.offsets, self.texts.data)
        kernels.find_names(normalised.data, normalised.offsets, affixes(self.language), names, found)
        return found

    def short_form(self, name: str) -> ShortForm | None:
        """The entities with this short form."""
        row = int(self.short_slots[slot_of(self.short_hashes, _hash(normalise(name)))])
        if row < 0:
            return None
        place = slice(*self.short_entities.indptr[row : row + 2])
        forms, weights = self.short_forms[place], self.short_weights[place]
        return ShortForm(self.short_entities[row], forms, weights, int(self.short_count[row]))

    def token_counts(self, token: str) -> TokenCounts:
        """How a token is used in the labels of people and elsewhere."""
        data = np.frombuffer(normalise(token).encode(), np.uint8)
        slot = slot_of(self.token_hashes, hash_bytes(data, 0, len(data)))
        columns = self.token_first, self.token_last, self.token_middle, self.token_lower
        return TokenCounts(*(int(column[slot]) for column in columns))

    def non_person(self, name: str) -> NonPerson | None:
        """The most famous entity with this name that is not a person."""
        slot = slot_of(self.thing_hashes, _hash(normalise(name)))
        if not self.thing_hashes[slot]:
            return None
        return NonPerson(float(np.expm1(self.thing_fame[slot] / FAME_STEPS)), int(self.thing_kind[slot]))

    @cached_property
    def misspelling_filter(self) -> UInt8:
        """Bits by which most words are excluded before misspellings are looked up: see `kernels.names.slips`."""
        openings: UInt8 = slip_openings(self.texts.data, self.texts.offsets, self.misspelling_names)
        return openings

    def misspelled(self, one: str, other: str) -> Int32:
        """The names filed under two tokens: first and last less a letter, or last and first less a letter."""
        key = _hash(f"{normalise(one)} {normalise(other)}")
        first, end = (int(np.searchsorted(self.misspelling_hashes, key, side)) for side in ("left", "right"))
        return self.misspelling_names[first:end]
