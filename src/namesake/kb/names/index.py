"""The name index: from a name as anybody spells it to the entities that bear it, O(1) per look-up.

`normalise` folds case, accents, punctuation and spacing. `build_names` makes the index's columns, which
`NameColumns` declares; a build calls it once, with one label for each entity. `NameIndex` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from namesake.arrays import Int8, Int32, Int64, UInt8, UInt64
from namesake.kb.columns import large
from namesake.kb.columns.column_files import Columns, Ragged, Strings, concatenate
from namesake.kb.columns.declaration import Made
from namesake.kb.columns.name_layout import NameColumns
from namesake.kb.names.labels import Spelled
from namesake.kb.names.lookups import PartNames
from namesake.kb.names.normalise import normalise_many, other_forms
from namesake.kb.names.variants import file_names
from namesake.kernels.columns.links import count_values
from namesake.kernels.names import evidence
from namesake.kernels.names import index as kernels
from namesake.language import Language

LABEL, ALIAS, BARE_LABEL, BARE_ALIAS = range(4)
"""How an entity bears a name: as its label, an alias, or one of them without its titles, suffixes or brackets."""

BITS_PER_NAME = 16
TEXTS_AT_A_TIME = 1 << 20
NO_TEXT = Strings(np.zeros(1, np.int64), np.empty(0, np.uint8))


@cache
def affixes(language: Language) -> kernels.Affixes:
    """Hashes of the honorifics, of the suffixes and of the connectors, each ascending."""
    return kernels.Affixes(*map(_hashes, (language.honorifics, language.suffixes, language.connectors)))


def _hashes(words: Iterable[str]) -> UInt64:
    texts = [word.encode() for word in words]
    found = [kernels.name_hash(np.frombuffer(text, np.uint8), 0, len(text)) for text in texts]
    return np.sort(np.array(found, np.uint64))


def build_names(names: Spelled, prose: Strings = NO_TEXT, things: Strings = NO_TEXT) -> Made:
    """The columns of the name index, from each entity's label and its aliases.

    `prose` are texts in which words are mostly words (labels of items that are no people, descriptions): against
    them it shows which names are made of ordinary words, such as "Common Sense". `things` are the normalised names of
    what is no entity: their beginnings have bits in `name.prefix` as well.
    """
    language = names.language
    texts, which, rows, kinds = _every_name(names)
    spelled = kernels.Spelled(texts.data, texts.offsets, which, rows, kinds)
    most = 2 * len(rows)  # every text and its bare form
    room = 1 << (most + 1).bit_length()
    keys, slots = large.zeros(room, np.uint64), large.full(room, kernels.NOBODY, np.int32)
    bits = large.zeros(max(1 << 10, 1 << (BITS_PER_NAME * (len(rows) + len(things))).bit_length()) // 8, np.uint8)
    starts, ends = large.empty(most, np.int64), large.empty(most, np.int64)
    entry_name, entry_row, entry_kind = (large.empty(most, kind) for kind in (np.int32, np.int32, np.int8))
    table, bearers = kernels.Table(keys, slots, bits, starts, ends), kernels.Entries(entry_name, entry_row, entry_kind)
    size, entries = kernels.index_names(spelled, affixes(language), table, bearers)
    kernels.mark_names(things.data, things.offsets, bits)
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
    drawers, filed = file_names(names_by_id, language)
    columns = NameColumns
    return dict(
        [
            columns.hashes.holding(keys),
            columns.slots.holding(slots),
            columns.prefixes.holding(bits),
            columns.person.holding(person_percent(language, names_by_id, prose)),
            columns.drawers.holding(drawers),
            columns.filed.holding(filed),
            columns.texts.holding(names_by_id),
            columns.entities.holding(Ragged(indptr, values)),
            columns.kinds.holding(kind),
        ]
    )


def person_percent(language: Language, names: Strings, prose: Strings) -> UInt8:
    """How much each name looks like a person's, 0 to 100: its best token's share of uses at the edge of a name."""
    room = 1 << (len(names) // 2 + 2).bit_length()
    percent = np.empty(len(names), np.uint8)
    keys, in_names = np.zeros(room, np.uint64), np.zeros(room, np.int32)
    while not evidence.count_in_names(names.data, names.offsets, keys, in_names):
        room *= 2
        keys, in_names = np.zeros(room, np.uint64), np.zeros(room, np.int32)
    in_prose = np.zeros(room, np.int32)
    for first in range(0, len(prose), TEXTS_AT_A_TIME):
        offsets = prose.offsets[first : first + TEXTS_AT_A_TIME + 1]
        some = Strings(offsets - offsets[0], prose.data[offsets[0] : offsets[-1]])
        folded = normalise_many(some)
        evidence.count_in_prose(folded.data, folded.offsets, keys, in_prose)
    evidence.weigh(names.data, names.offsets, keys, in_names, in_prose, affixes(language).honorifics, percent)
    return percent


def _every_name(names: Spelled) -> tuple[Strings, Int64, Int32, Int8]:
    """All names, normalised, and in the order of the entities: which text, whose (entity row), of which kind."""
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
    """The `other_forms` of the texts with marks that call for them, and the row of each form's text."""
    forms: list[tuple[str, int]] = []
    for low, high in large.spans(texts.offsets, 16):
        rows = low + _marked(texts.data[texts.offsets[low] : texts.offsets[high]], texts.offsets[low : high + 1])
        forms += [(form, row) for row in rows.tolist() for form in other_forms(texts[row], language)]
    return Strings.of(form for form, _ in forms), np.array([row for _, row in forms], np.int64)


def _marked(data: UInt8, offsets: Int64) -> Int64:
    """The rows of the texts in `data` with brackets, quotation marks or a comma."""
    marks = (data == ord('"')) | (data == ord("(")) | (data == ord(","))
    before, last = data[:-1], data[1:]
    marks[1:] |= ((before == 0x80) & ((last == 0x9C) | (last == 0x9E))) | ((before == 0xC2) & (last == 0xAB))  # “ „ «
    return np.unique(np.searchsorted(offsets - offsets[0], np.flatnonzero(marks), side="right") - 1)


class Bearers(NamedTuple):
    """Who bears each of several names: those of name i are `rows[indptr[i]:indptr[i + 1]]`, ascending, with kinds."""

    indptr: Int64
    rows: Int32
    kinds: Int8


class NameIndex(PartNames):
    """The name index of a KB: `lookup` one name, or `lookup_many` for a column of them."""

    def __init__(self, columns: Columns, language: Language) -> None:
        """Read the index from the files in `columns`; titles and suffixes are those of the language."""
        super().__init__(columns)
        self.language = language

    def __len__(self) -> int:
        return len(self.texts)

    def lookup(self, name: str) -> tuple[Int32, Int8]:
        """Entity rows that bear the name, ascending, and how each does.

        Bare forms count only where the name is nobody's label or alias; if nobody bears it at all, the name
        is looked up without its titles and suffixes.
        """
        asked = Strings.of([name])
        _, rows, kinds = self.lookup_many(asked.data, asked.offsets)
        return rows, kinds

    def lookup_many(self, data: UInt8, offsets: Int64) -> Bearers:
        """`lookup` for every string of a column in Arrow's layout."""
        return self.bearers(self.find(normalise_many(Strings(offsets, data))))

    def bearers(self, names: Int32) -> Bearers:
        """Who bears each name by its id; nobody where it is -1."""
        indptr = np.zeros(len(names) + 1, np.int64)
        known = self.entities
        kernels.count_bearers(names, known.indptr, self.kinds, ALIAS, indptr)
        rows, kinds = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int8)
        kernels.gather_bearers(names, known.indptr, known.values, self.kinds, indptr, ALIAS, rows, kinds)
        return Bearers(indptr, rows, kinds)

    def find(self, normalised: Strings) -> Int32:
        """Name ids of normalised names, -1 where unknown; a name with titles or suffixes may be found without them."""
        found = np.empty(len(normalised), np.int32)
        names = kernels.Names(self.hashes, self.slots, self.texts.offsets, self.texts.data)
        kernels.find_names(normalised.data, normalised.offsets, affixes(self.language), names, found)
        return found
