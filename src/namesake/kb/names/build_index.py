"""Build the name index from the labels and aliases of entities; `index.NameIndex` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Int8, Int32, Int64
from namesake.kb.columns import Made, NameColumns, Ragged, Strings, concatenate, large
from namesake.kb.names.index import affixes, file_names
from namesake.kb.names.normalise import normalise_many, other_forms
from namesake.kernels.columns.group import count_values
from namesake.kernels.names import index as kernels
from namesake.kernels.names.constants import ALIAS, BARE_ALIAS, BARE_LABEL, LABEL
from namesake.kernels.names.slips import list_slips
from namesake.language import Language

BITS_PER_NAME = 16
NO_TEXT = Strings.empty(0)
SITELINKS = 10
"""Sitelinks that an entity needs for misspellings of its names to be indexed."""


@dataclass(frozen=True)
class EntityNames:
    """The label of each entity, the rows of its aliases, and all of these texts: labels first, then the aliases."""

    language: Language
    labels: Strings
    aliases: Ragged
    alias_texts: Strings
    texts: Strings
    normalised: Strings

    @classmethod
    def of(cls, language: Language, labels: Strings, aliases: Ragged, alias_texts: Strings) -> EntityNames:
        """The names of entities in a language: one label for each, and its aliases' rows in `alias_texts`."""
        texts = concatenate([labels, alias_texts])
        return cls(language, labels, aliases, alias_texts, texts, normalise_many(texts))


def build_names(names: EntityNames, non_people: Strings = NO_TEXT) -> Made:
    """The columns of the name index, from each entity's label and its aliases.

    `non_people` are the normalised names of items that are not people: their beginnings have bits in `name.prefix` as
    well.
    """
    language = names.language
    texts, which, rows, kinds = _every_name(names)
    spelled = kernels.Spelled(texts.data, texts.offsets, which, rows, kinds)
    most = 2 * len(rows)  # every text and its bare form
    room = 1 << (most + 1).bit_length()
    keys, slots = large.zeros(room, np.uint64), large.full(room, kernels.NOBODY, np.int32)
    bits = large.zeros(max(1 << 10, 1 << (BITS_PER_NAME * (len(rows) + len(non_people))).bit_length()) // 8, np.uint8)
    starts, ends = large.empty(most, np.int64), large.empty(most, np.int64)
    entry_name, entry_row, entry_kind = (large.empty(most, kind) for kind in (np.int32, np.int32, np.int8))
    table, found = kernels.Table(keys, slots, bits, starts, ends), kernels.Entries(entry_name, entry_row, entry_kind)
    size, entries = kernels.index_names(spelled, affixes(language), table, found)
    kernels.mark_names(non_people.data, non_people.offsets, bits)
    starts, ends = starts[:size], ends[:size]
    entry_name, entry_row, entry_kind = entry_name[:entries], entry_row[:entries], entry_kind[:entries]
    indptr = large.zeros(size + 1, np.int64)
    count_values(entry_name, indptr[1:])
    np.cumsum(indptr, out=indptr)
    values, kind = large.empty(entries, np.int32), large.empty(entries, np.int8)
    kernels.group_entries(entry_name, entry_row, entry_kind, indptr, values, kind)
    text, offsets = large.empty(int((ends - starts).sum()), np.uint8), large.zeros(size + 1, np.int64)
    kernels.copy_texts(texts.data, starts, ends, text, offsets)
    names_by_id = Strings(offsets, text)
    variant_keys, variant_names = file_names(names_by_id, language)
    return {
        NameColumns.hashes: keys,
        NameColumns.slots: slots,
        NameColumns.prefixes: bits,
        NameColumns.variant_keys: variant_keys,
        NameColumns.variant_names: variant_names,
        NameColumns.texts: names_by_id,
        NameColumns.entities: Ragged(indptr, values),
        NameColumns.kinds: kind,
    }


def _every_name(names: EntityNames) -> tuple[Strings, Int64, Int32, Int8]:
    """All names, normalised, in the order of the entities: the text, the entity row, the kind of each."""
    alias_row = np.repeat(np.arange(len(names.aliases), dtype=np.int32), np.diff(names.aliases.indptr))
    label_row = np.arange(len(names.labels), dtype=np.int32)
    alias_text = names.aliases.values.astype(np.int64)
    plain_labels, of_label = _plain(names.language, names.labels)
    plain_aliases, of_alias = _plain(names.language, names.alias_texts.take(alias_text))
    plain = concatenate([plain_labels, plain_aliases])
    texts = concatenate([names.normalised, normalise_many(plain)])
    plain_text = np.arange(len(names.texts), len(names.texts) + len(plain))
    which = large.joined([label_row.astype(np.int64), len(names.labels) + alias_text, plain_text])
    rows = large.joined([label_row, alias_row, of_label.astype(np.int32), alias_row[of_alias]])
    sizes = [len(label_row), len(alias_row), len(of_label), len(of_alias)]
    kinds = np.repeat(np.array([LABEL, ALIAS, BARE_LABEL, BARE_ALIAS], np.int8), sizes)
    order = np.argsort(rows, kind="stable")  # merges runs that ascend
    return texts, large.kept(which[order]), large.kept(rows[order]), large.kept(kinds[order])


def _plain(language: Language, texts: Strings) -> tuple[Strings, Int64]:
    """The `other_forms` of the texts with brackets, quotes or commas, and the row of each form's text."""
    forms: list[tuple[str, int]] = []
    for low, high in large.spans(texts.offsets, 16):
        offsets, data = texts.offsets[low : high + 1], texts.data[texts.offsets[low] : texts.offsets[high]]
        marks = (data == ord('"')) | (data == ord("(")) | (data == ord(","))
        before, last = data[:-1], data[1:]  # the last two bytes of “ „ «
        marks[1:] |= ((before == 0x80) & ((last == 0x9C) | (last == 0x9E))) | ((before == 0xC2) & (last == 0xAB))
        rows = low + np.unique(np.searchsorted(offsets - offsets[0], np.flatnonzero(marks), side="right") - 1)
        forms += [(form, row) for row in rows.tolist() for form in other_forms(texts[row], language)]
    return Strings.of(form for form, _ in forms), np.array([row for _, row in forms], np.int64)


def build_misspellings(names: Strings, entities: Ragged, sitelinks: npt.NDArray[Any]) -> Made:
    """The columns of misspellings by one letter, for names of well-known entities."""
    famous = np.zeros(len(names), np.bool_)
    famous[np.repeat(np.arange(len(names)), np.diff(entities.indptr))[sitelinks[entities.values] >= SITELINKS]] = True
    chosen = np.flatnonzero(famous).astype(np.int32)
    room = int(np.diff(names.offsets)[chosen].sum()) + 2 * len(chosen)
    keys, values = np.empty(room, np.uint64), np.empty(room, np.int32)
    count = list_slips(names.data, names.offsets, chosen, keys, values)
    order = np.argsort(keys[:count], kind="stable")
    return {NameColumns.misspelling_hashes: keys[order], NameColumns.misspelling_names: values[order]}
