"""Build the name index from the labels and aliases of entities; `index.NameIndex` reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Int8, Int32, Int64, UInt8, take_rows
from namesake.kb.columns import Made, NameColumns, Ragged, Strings, concatenate, large
from namesake.kb.names.index import affixes, file_names
from namesake.kb.names.normalise import normalise_many, other_forms
from namesake.kernels.columns.group import count_values
from namesake.kernels.hash import table_size
from namesake.kernels.names import index as kernels
from namesake.kernels.names.constants import ALIAS, BARE_ALIAS, BARE_LABEL, LABEL
from namesake.kernels.names.variants import list_slips
from namesake.language import Language

BITS_PER_NAME = 16
NO_TEXT = Strings.empty(0)
BARE = np.array([BARE_LABEL, BARE_ALIAS], np.int8)
"""What a form without brackets is, if its text is a label or an alias."""
NAME_BYTES = 256
"""Temporary memory per name."""
SITELINKS = 10
"""Sitelinks that an entity needs for misspellings of its names to be indexed."""


@dataclass(frozen=True)
class EntityNames:
    """The names of entities: all texts, with the label of each entity first and then the aliases; and their rows."""

    language: Language
    aliases: Ragged
    """The rows of each entity's aliases among all aliases."""
    texts: Strings
    normalised: Strings

    @classmethod
    def of(cls, language: Language, labels: Strings, aliases: Ragged, alias_texts: Strings) -> EntityNames:
        """The names of entities in a language: one label for each, and its aliases' rows in `alias_texts`."""
        texts = concatenate([labels, alias_texts])
        return cls(language, aliases, texts, normalise_many(texts))

    def __len__(self) -> int:
        return len(self.aliases)

    def named(self, entities: Int64) -> tuple[Int64, Int64]:
        """The rows of the texts of some entities, labels first; and where the aliases of each entity end."""
        ends, taken = take_rows(self.aliases.indptr, entities)
        return np.concatenate([entities, len(self) + self.aliases.values[taken]]), ends

    def blocks(self, chosen: Bool) -> Iterator[tuple[Int64, EntityNames]]:
        """The chosen entities in blocks that fit in memory: their rows, and their names."""
        for low, high in large.spans(self.aliases.indptr, NAME_BYTES):
            entities = low + np.flatnonzero(chosen[low:high])
            named, ends = self.named(entities)
            aliases = Ragged(ends, np.arange(ends[-1], dtype=np.int32))
            yield entities, EntityNames(self.language, aliases, self.texts.take(named), self.normalised.take(named))


def build_names(names: EntityNames, non_people: Strings = NO_TEXT) -> Made:
    """The columns of the name index, from each entity's label and its aliases.

    `non_people` are the normalised names of items that are not people: their beginnings have bits in `name.prefix` as
    well.
    """
    texts, which, rows, kinds = _every_name(names)
    spelled = kernels.Spelled(texts.data, texts.offsets, which, rows, kinds)
    bits = large.zeros(max(1 << 10, 1 << (BITS_PER_NAME * (len(rows) + len(non_people))).bit_length()) // 8, np.uint8)
    table, found = _fill_table(spelled, affixes(names.language), bits)
    kernels.mark_names(non_people.data, non_people.offsets, bits)
    indptr = large.zeros(len(table.starts) + 1, np.int64)
    count_values(found.name, indptr[1:])
    np.cumsum(indptr, out=indptr)
    by_name = large.order(found.name)
    text, offsets = large.empty(int((table.ends - table.starts).sum()), np.uint8), large.zeros(len(indptr), np.int64)
    kernels.copy_texts(texts.data, table.starts, table.ends, text, offsets)
    names_by_id = Strings(offsets, text)
    variant_keys, variant_names = file_names(names_by_id, names.language)
    return {
        NameColumns.hashes: table.keys,
        NameColumns.slots: table.slots,
        NameColumns.prefixes: bits,
        NameColumns.variant_keys: variant_keys,
        NameColumns.variant_names: variant_names,
        NameColumns.texts: names_by_id,
        NameColumns.entities: Ragged(indptr, large.taken(found.row, by_name)),
        NameColumns.kinds: large.taken(found.kind, by_name),
    }


def _fill_table(spelled: kernels.Spelled, words: kernels.Affixes, bits: UInt8) -> tuple[kernels.Table, kernels.Entries]:
    """The table of names, and which entity has which name. Few names have a bare form, so the table is tried small."""
    most = 2 * len(spelled.rows)  # every text and its bare form
    entries = kernels.Entries(*(large.empty(most, kind) for kind in (np.int32, np.int32, np.int8)))
    room = table_size(len(spelled.rows))
    while True:
        most_names = 3 * room // 4 + 1
        keys, slots = large.zeros(room, np.uint64), large.full(room, kernels.NOBODY, np.int32)
        starts, ends = large.empty(most_names, np.int64), large.empty(most_names, np.int64)
        table = kernels.Table(keys, slots, bits, starts, ends, large.full(most_names, kernels.NOBODY, np.int32))
        names, written = kernels.index_names(spelled, words, table, entries)
        if names >= 0:
            found = kernels.Entries(*(column[:written] for column in entries))
            return table._replace(starts=starts[:names], ends=ends[:names]), found
        room *= 2


def _every_name(names: EntityNames) -> tuple[Strings, Int64, Int32, Int8]:
    """All names, normalised, in the order of the entities: the text, the entity row, the kind of each."""
    which, rows, kinds = (large.Growing(kind) for kind in (np.int64, np.int32, np.int8))
    sizes, data = large.Growing(np.int64), large.Growing(np.uint8)  # of texts without brackets, quotes or peerage
    for low, high in large.spans(names.aliases.indptr, NAME_BYTES):
        entities = np.arange(low, high)
        named, ends = names.named(entities)
        row = np.concatenate([entities, np.repeat(entities, np.diff(ends))])
        plain, of_text = other_forms(names.texts.take(named), names.language)
        bare = normalise_many(plain)
        kind = np.repeat(np.array([LABEL, ALIAS], np.int8), [len(entities), len(named) - len(entities)])
        row, kind = np.append(row, row[of_text]), np.append(kind, BARE[kind[of_text]])
        order = np.argsort(row, kind="stable")
        which.append(np.append(named, len(names.texts) + sizes.size + np.arange(len(bare)))[order])
        rows.append(row[order].astype(np.int32))
        kinds.append(kind[order])
        sizes.append(np.diff(bare.offsets))
        data.append(bare.data)
    texts = concatenate([names.normalised, Strings(large.running(sizes.done()), data.done())])
    return texts, which.done(), rows.done(), kinds.done()


def build_misspellings(names: Strings, entities: Ragged, sitelinks: npt.NDArray[Any]) -> Made:
    """The columns of misspellings by one letter, for names of well-known entities."""
    famous = np.zeros(len(names), np.bool_)
    for low, high in large.spans(entities.indptr, 32):
        ends = entities.indptr[low : high + 1]
        known = sitelinks[entities.values[ends[0] : ends[-1]]] >= SITELINKS
        famous[low + np.searchsorted(ends - ends[0], np.flatnonzero(known), side="right") - 1] = True
    chosen = np.flatnonzero(famous).astype(np.int32)
    room = int(np.diff(names.offsets)[chosen].sum()) + 2 * len(chosen)
    keys, values = np.empty(room, np.uint64), np.empty(room, np.int32)
    count = list_slips(names.data, names.offsets, chosen, keys, values)
    order = np.argsort(keys[:count], kind="stable")
    return {NameColumns.misspelling_hashes: keys[order], NameColumns.misspelling_names: values[order]}
