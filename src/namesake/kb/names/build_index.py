"""Build the name index from the labels and aliases of entities; `index.NameIndex` reads it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Int8, Int32, Int64, UInt8, UInt64, take_rows
from namesake.kb.columns import Made, NameColumns, Ragged, Strings, concatenate, large
from namesake.kb.columns.assemble import values_of
from namesake.kb.columns.large import AnyArray
from namesake.kb.left import KnownNames, Named
from namesake.kb.names.index import affixes, drawers, filed
from namesake.kb.names.normalise import most_other_forms, normalise_many, other_forms
from namesake.kernels.columns.group import distinct_strings
from namesake.kernels.hash import table_size
from namesake.kernels.names import index as kernels
from namesake.kernels.names.constants import ALIAS, BARE_ALIAS, BARE_LABEL, LABEL
from namesake.kernels.names.variants import list_slips
from namesake.language import Language

BITS_PER_NAME = 16
NO_TEXT = Strings.empty(0)
BARE = np.array([BARE_LABEL, BARE_ALIAS], np.int8)
"""What a form without brackets is, if its text is a label or an alias."""
NAME_BYTES = 256  # temporary memory per name
NAMED = kernels.Occurrences._fields
OCCURRENCE = np.dtype([*zip(NAMED, ("u8", "i8", "i4", "i4", "i1"), strict=True), ("at", "i8")])
"""`kernels.Occurrences`, and its number among all."""
ENTERED = np.dtype([("key", np.uint64), ("name", np.int32)])
"""A name that is entered into the table of names."""
SLOT_BYTES = 64  # temporary memory per name while the table is filled
SITELINKS = 10  # sitelinks that an entity needs for misspellings of its names to be indexed


@dataclass(frozen=True)
class EntityNames:
    """The names of entities: all texts, with the label of each entity first and then the aliases; and their rows."""

    language: Language
    aliases: Ragged  # the rows of each entity's aliases among all aliases
    texts: Strings
    normalised: Strings

    @classmethod
    def of(cls, language: Language, labels: Strings, aliases: Ragged, alias_texts: Strings) -> "EntityNames":
        """The names of entities in a language: one label for each, and its aliases' rows in `alias_texts`."""
        texts = concatenate([labels, alias_texts])
        return cls(language, aliases, texts, normalise_many(texts))

    def __len__(self) -> int:
        return len(self.aliases)

    def named(self, entities: Int64) -> tuple[Int64, Int64]:
        """The rows of the texts of some entities, labels first; and where the aliases of each entity end."""
        ends, taken = take_rows(self.aliases.indptr, entities)
        return np.concatenate([entities, len(self) + self.aliases.values[taken]]), ends

    def blocks(self, chosen: Bool) -> Iterator[tuple[Int64, "EntityNames"]]:
        """The chosen entities in blocks that fit in memory: their rows, and their names."""
        for low, high in large.spans(self.aliases.indptr, NAME_BYTES):
            entities = low + np.flatnonzero(chosen[low:high])
            yield entities, self.some(entities)

    def some(self, entities: Int64) -> "EntityNames":
        """The names of some entities."""
        named, ends = self.named(entities)
        aliases = Ragged(ends, np.arange(ends[-1], dtype=np.int32))
        return EntityNames(self.language, aliases, self.texts.take(named), self.normalised.take(named))


def build_names(names: EntityNames, non_people: Strings = NO_TEXT, known: KnownNames | None = None) -> Made:
    """The columns of the name index, from each entity's label and its aliases.

    `non_people` are the normalised names of items that are not people: their beginnings have bits in `name.prefix` as
    well. `known` are the names of the KB that is updated.
    """
    if known is None:
        size, named = _read_names(names)
    else:
        size = len(names.texts)
        if _sizes(size, len(non_people)) != _sizes(size + most_other_forms(names.texts), len(non_people)):
            size += len(other_forms(names.texts, names.language)[1])
        entities = np.flatnonzero(known.read)
        _, read = _read_names(names.some(entities))
        rows = Ragged(read.entities.indptr, entities[read.entities.values].astype(np.int32))
        named = known.joined(read.key, read.texts, rows, read.kinds, names.language)
    bytes_of_bits, room = _sizes(size, len(non_people))
    bits = large.zeros(bytes_of_bits, np.uint8)
    for marked in (named.texts, non_people):
        kernels.mark_names(marked.data, marked.offsets, bits)
    while 4 * (len(named.key) - 1) >= 3 * room:
        room *= 2
    keys, slots = table_of_names(named.key, room)
    variant_keys, variant_names = filed(named.drawer)
    return {
        NameColumns.hashes: keys,
        NameColumns.slots: slots,
        NameColumns.prefixes: bits,
        NameColumns.variant_keys: variant_keys,
        NameColumns.variant_names: variant_names,
        NameColumns.texts: named.texts,
        NameColumns.entities: named.entities,
        NameColumns.kinds: named.kinds,
    }


def _sizes(names: int, non_people: int) -> tuple[int, int]:
    """Bytes of `name.prefix`, and slots of the table of names, of which few have a bare form."""
    return max(1 << 10, 1 << (BITS_PER_NAME * (names + non_people)).bit_length()) // 8, table_size(names)


def _occurrences(spelled: kernels.Spelled, words: kernels.Affixes) -> large.Parts:
    """Each time that an entity has a name, in parts by the hashes of names."""
    parts, size = large.Parts(OCCURRENCE, len(spelled.rows), NAME_BYTES), 0
    for low, high in large.blocks(len(spelled.rows), NAME_BYTES):
        found = kernels.Occurrences(*(np.empty(2 * (high - low), OCCURRENCE[name]) for name in NAMED))
        some = np.empty(kernels.list_names(spelled, words, low, high, found), OCCURRENCE)
        for name, column in zip(NAMED, found, strict=True):
            some[name] = column[: len(some)]
        some["at"] = np.arange(size, size + len(some))
        parts.add(some["key"], some)
        size += len(some)
    return parts


def _read_names(names: EntityNames) -> tuple[int, Named]:
    """The number of texts with the forms without brackets, and all distinct names. Each part fits in memory."""
    texts, which, rows, kinds = _every_name(names)
    spelled = kernels.Spelled(texts.data, texts.offsets, which, rows, kinds)
    each = (_names_of(part, texts.data) for part in _occurrences(spelled, affixes(names.language)).each())
    types = np.int64, np.uint64, np.int64, np.int32, np.int64, np.int32, np.int8
    first, key, start, size, counts, entities, best = large.gathered(each, *types)
    ends = large.running(counts)
    if large.room().folder is not None:  # otherwise there is one part, which is in order
        order = large.order(first)
        key, start, size = (large.taken(column, order) for column in (key, start, size))
        ends, places = values_of(ends, order)
        entities, best = large.taken(entities, places), large.taken(best, places)
    text, offsets = large.empty(int(size.sum()), np.uint8), large.zeros(len(key) + 1, np.int64)
    kernels.copy_texts(texts.data, start, size, text, offsets)
    by_id = Strings(offsets, text)
    return len(rows), Named(key, by_id, drawers(by_id, names.language), Ragged(ends, entities), best)


def _names_of(part: npt.NDArray[np.void], texts: UInt8) -> tuple[AnyArray, ...]:
    """The distinct names of a part in the order in which they first occur, with the entities that have each name.

    Returns for each name where it occurs first, hash, first byte, size and number of entities; then for each of these
    entities, which are ascending, the row and the best kind.
    """
    at, start, size, row, kind = (np.ascontiguousarray(part[name]) for name in ("at", "start", "size", "row", "kind"))
    text, offsets = np.empty(int(size.sum()), np.uint8), np.zeros(len(part) + 1, np.int64)
    kernels.copy_texts(texts, start, size, text, offsets)
    ids = np.empty(len(part), np.int32)
    first = distinct_strings(offsets, text, ids)
    rows, kinds = np.empty_like(row), np.empty_like(kind)
    counts = np.bincount(ids, minlength=len(first))
    kernels.group_entries(ids, row, kind, rows, kinds, large.running(counts))
    name = np.repeat(np.arange(len(first)), counts)
    new = np.flatnonzero(np.append(True, (name[1:] != name[:-1]) | (rows[1:] != rows[:-1]))[: len(name)])
    best = np.minimum.reduceat(kinds, new) if len(new) else kinds
    entities = np.bincount(name[new], minlength=len(first))
    return at[first], part["key"][first], start[first], size[first], entities, rows[new], best


def table_of_names(hashes: UInt64, size: int) -> tuple[UInt64, Int32]:
    """The table of names: hash and name by slot. Names are entered in their order, equal hashes into several slots.

    Large tables are filled one range of slots at a time. A name for which its range has no slot is entered into the
    next range, in its turn among the names of that range; the first range follows the last one. It is filled again if
    it gets such names.
    """
    keys, slots = large.zeros(size, np.uint64), large.full(size, kernels.NOBODY, np.int32)
    step = size >> large.part_bits(len(hashes), SLOT_BYTES)
    if step in (0, size):
        kernels.fill_table(hashes, keys, slots)
        return keys, slots
    parts = large.Parts(ENTERED, len(hashes), SLOT_BYTES)
    for low, high in large.blocks(len(hashes), SLOT_BYTES):
        some = np.empty(high - low, ENTERED)
        some["key"], some["name"] = hashes[low:high], np.arange(low, high)
        parts.add(some["key"] << np.uint64(65 - size.bit_length()), some)
    named = list(parts.each())
    part, left, known = 0, named[0][:0], dict[int, AnyArray]()
    while part not in known or not np.array_equal(known[part], left):
        known[part], some = left, np.concatenate([named[part], left])
        some = some[np.argsort(some["name"])]
        here = slice(part * step, (part + 1) * step)
        keys[here], slots[here] = 0, kernels.NOBODY
        columns = (np.ascontiguousarray(some[name]) for name in ("key", "name"))
        left = some[kernels.fill_range(*columns, size - 1, here.start, keys[here], slots[here])]
        part = (part + 1) % len(named)
    return keys, slots


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


def build_misspellings(names: Strings, entities: Ragged, sitelinks: AnyArray) -> Made:
    """The columns of misspellings by one letter, for names of well-known entities."""
    famous = np.zeros(len(names), np.bool_)
    for low, high in large.spans(entities.indptr, 32):
        ends = entities.indptr[low : high + 1]
        known = sitelinks[entities.values[ends[0] : ends[-1]]] >= SITELINKS
        famous[low + np.searchsorted(ends - ends[0], np.flatnonzero(known), side="right") - 1] = True
    chosen = np.flatnonzero(famous).astype(np.int32)
    room = int((names.offsets[chosen + 1] - names.offsets[chosen]).sum()) + 2 * len(chosen)
    keys, values = large.empty(room, np.uint64), large.empty(room, np.int32)
    count = list_slips(names.data, names.offsets, chosen, keys, values)
    order = large.order(keys[:count])
    return {
        NameColumns.misspelling_hashes: large.taken(keys, order),
        NameColumns.misspelling_names: large.taken(values, order),
    }
