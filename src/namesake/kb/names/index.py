"""The name index: from a name in any spelling to the entities with this name; tables for the search for variants."""

from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from namesake.arrays import Int8, Int32, Int64, UInt8, UInt64, indptr, take_rows
from namesake.kb.columns import Columns, NameColumns, Strings, large
from namesake.kb.names.normalise import normalise, normalise_many
from namesake.kernels.hash import hash_bytes, slot_of, table_of
from namesake.kernels.names import index as kernels
from namesake.kernels.names import sounds, variants
from namesake.kernels.names.constants import ALIAS, FAME_STEPS, FEW_USES
from namesake.language import Language


@cache
def affixes(language: Language) -> kernels.Affixes:
    """Hashes of the honorifics, of the suffixes and of the connectors, each ascending."""
    lists = language.honorifics, language.suffixes, language.connectors
    return kernels.Affixes(*(np.sort(np.array([name_key(word) for word in words], np.uint64)) for words in lists))


def name_key(normalised: str) -> np.uint64:
    """The hash of a normalised name."""
    data = np.frombuffer(normalised.encode(), np.uint8)
    return np.uint64(kernels.name_hash(data, 0, len(data)))


class NamedEntities(NamedTuple):
    """The entities with each of several names: those of name i are `rows[indptr[i]:indptr[i + 1]]`, ascending."""

    indptr: Int64
    rows: Int32
    kinds: Int8  # what the name is to each entity: `kernels.names.constants.LABEL` and so on


class ShortForm(NamedTuple):
    """The most famous entities with a short form, and its form for each."""

    rows: Int32
    forms: Int8


class TokenCounts(NamedTuple):
    """How many labels of people a token begins, ends, is in the middle of; how often it is in lower case."""

    first: int = 0
    last: int = 0
    middle: int = 0
    lower: int = 0


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
        names = self.find(normalise_many(Strings(offsets, data)))
        known = np.flatnonzero(names >= 0)
        ends, entries = take_rows(self.entities.indptr, names[known].astype(np.int64))
        of_name = np.repeat(known, np.diff(ends))
        is_own = self.kinds[entries] <= ALIAS
        has_own = np.bincount(of_name[is_own], minlength=len(names)) > 0
        kept = is_own | ~has_own[of_name]
        counts = np.bincount(of_name[kept], minlength=len(names))
        return NamedEntities(indptr(counts), self.entities.values[entries[kept]], self.kinds[entries[kept]])

    def find(self, normalised: Strings) -> Int32:
        """Ids of normalised names, -1 if unknown; a name with titles or suffixes may be found without them."""
        found = np.empty(len(normalised), np.int32)
        names = kernels.Names(self.hashes, self.slots, self.texts.offsets, self.texts.data)
        kernels.find_names(normalised.data, normalised.offsets, affixes(self.language), names, found)
        return found

    def short_form(self, name: str) -> ShortForm | None:
        """The entities with this short form."""
        row = int(self.short_slots[slot_of(self.short_hashes, name_key(normalise(name)))])
        if row < 0:
            return None
        place = slice(*self.short_entities.indptr[row : row + 2])
        return ShortForm(self.short_entities[row], self.short_forms[place])

    def token_counts(self, token: str) -> TokenCounts:
        """How a token is used in the labels of people and elsewhere."""
        slot = slot_of(self.token_hashes, np.uint64(token_hash(normalise(token))))
        columns = self.token_first, self.token_last, self.token_middle, self.token_lower
        return TokenCounts(*(int(column[slot]) for column in columns))

    def non_person_fame(self, name: str) -> float | None:
        """The fame of the most famous item with this name that is not a person, on the scale of sitelinks."""
        slot = slot_of(self.thing_hashes, name_key(normalise(name)))
        return float(np.expm1(self.thing_fame[slot] / FAME_STEPS)) if self.thing_hashes[slot] else None

    @cached_property
    def misspelling_filter(self) -> UInt8:
        """Bits by which most words are excluded before misspellings are looked up: see `kernels.names.variants`."""
        openings: UInt8 = variants.slip_openings(self.texts.data, self.texts.offsets, self.misspelling_names)
        return openings

    @cached_property
    def common_words(self) -> UInt64:
        """A table of the words that are no names by themselves in texts without capitals: see `kernels.hash`."""
        common: UInt64 = self.token_hashes[self.token_lower > FEW_USES]
        return table_of(common)[0]

    @property
    def searched(self) -> variants.Known:
        """The columns that the search for variants reads."""
        return variants.Known(
            *(self.variant_keys, self.variant_names),
            *(self.misspelling_hashes, self.misspelling_names, self.misspelling_filter),
            *(self.texts.offsets, self.texts.data, self.hashes, self.slots),
            *(self.token_hashes, self.token_first, self.token_last),
        )

    def misspelled(self, one: str, other: str) -> Int32:
        """The names filed under two tokens: first and last less a letter, or last and first less a letter."""
        key = name_key(f"{normalise(one)} {normalise(other)}")
        first, end = (int(np.searchsorted(self.misspelling_hashes, key, side)) for side in ("left", "right"))
        return self.misspelling_names[first:end]


SOUNDS = str.maketrans("yjwcqzeo", "iivkksau", "")
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяєіїђјљњћџ"
CYRILLIC_START, CYRILLIC_ROW = 0x0400, 256


@cache
def romans(language: Language) -> UInt8:
    """What each ASCII byte (rows from 0) and each Cyrillic letter (rows from 256) sounds like, as up to 4 letters."""
    written = zip(CYRILLIC, language.cyrillic.split(), strict=True)
    table = np.zeros((CYRILLIC_ROW + 128, 4), np.uint8)
    sounds = {ord(letter): letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789"} | {ord("x"): "ks"}
    sounds |= {CYRILLIC_ROW + ord(c) - CYRILLIC_START: latin.strip("-") for c, latin in written}
    for row, letters in sounds.items():
        sounded = letters.translate(SOUNDS).encode()
        table[row, : len(sounded)] = list(sounded)
    return table


@cache
def nicknames(language: Language) -> variants.Nicknames:
    """The language's nicknames for the kernel: every two names of a group may stand for each other."""
    others: dict[int, set[str]] = {}
    for group in language.nicknames:
        for name in group:
            others.setdefault(token_hash(name), set()).update(set(group) - {name})
    keys = sorted(others)
    members = [sorted(others[key]) for key in keys]
    flat = [name for group in members for name in group]
    return variants.Nicknames(
        np.array(keys, np.uint64),
        np.cumsum([0, *map(len, members)]).astype(np.int64),
        np.array([token_hash(name) for name in flat], np.uint64),
        np.array([name[0].translate(SOUNDS).encode()[0] for name in flat], np.uint8),
    )


def token_hash(token: str) -> int:
    """The hash of one token."""
    data = np.frombuffer(token.encode(), np.uint8)
    return int(hash_bytes(data, 0, len(data)))


def drawers(names: Strings, language: Language) -> UInt64:
    """The search key of each name, 0 for one that has none."""
    keys: UInt64 = large.empty(len(names), np.uint64)
    sounds.file_names(names.data, names.offsets, romans(language), keys)
    return keys


def filed(keys: UInt64) -> tuple[UInt64, Int32]:
    """Search keys of names, ascending, and the name of each: names with the same sound and first letter share one."""
    order = large.order(keys)
    ascending = large.taken(keys, order)
    first = np.searchsorted(ascending, np.uint64(1))
    return ascending[first:], order[first:]
