"""What an update keeps of the old KB: entities whose records have not changed, with their names and short forms."""

from typing import NamedTuple

import numpy as np

from namesake import __version__
from namesake.arrays import Bool, Int8, Int32, Int64, UInt64, take_rows
from namesake.errors import NamesakeError
from namesake.kb.build_options import Options
from namesake.kb.columns import NameColumns, Ragged, Strings, concatenate, large
from namesake.kb.columns.assemble import Numbering
from namesake.kb.columns.large import AnyArray
from namesake.kb.manifest import OWN_FILE
from namesake.kb.names.index import drawers
from namesake.kb.store import KB
from namesake.kernels.kinds import PERSON
from namesake.kernels.names import index as kernels
from namesake.kernels.names.constants import DEMONYM
from namesake.kernels.text.lookup import look_up_all
from namesake.language import Language
from namesake.text import table

NOWHERE = np.iinfo(np.int32).max
NO_AFFIXES = kernels.Affixes(*[np.empty(0, np.uint64)] * 3)


class Left(NamedTuple):
    """The old KB, and the new row of each of its entities; -1 where the record has changed or does not count."""

    old: KB
    rows: Int32


def same_rules(options: Options) -> bool:
    """Whether this version of Namesake has built the old KB, if there is one."""
    sources = options.base and options.base[1].sources
    return sources is None or sources.version == __version__


def unchanged(options: Options, rows: Numbering) -> Left | None:
    """What the old KB still tells; None in a build, and where everything is computed anew.

    That is the case with own entities, a damaged KB, one of another version, and too little memory for all columns.
    """
    if options.base is None or large.room().folder is not None or not same_rules(options):
        return None
    folder, manifest = options.base
    if manifest.sources is None or OWN_FILE in manifest.files or not len(rows.entity_item):
        return None
    try:
        old = KB.open(folder)
    except NamesakeError:
        return None
    if old.manifest != manifest:  # another process has replaced it
        return None
    entity_of = np.full(len(rows.item_qids) + 1, -1, np.int32)
    of_old_record = np.flatnonzero(rows.entity_dump < manifest.sources.gathered.items)
    entity_of[rows.entity_item[of_old_record]] = of_old_record
    return Left(old, entity_of[rows.find(old.qids)])


class Named(NamedTuple):
    """Distinct names in the order in which they first occur: hash and text, the drawer of variants, and entities."""

    key: UInt64
    texts: Strings
    drawer: UInt64
    entities: Ragged
    kinds: Int8


class KnownNames:
    """The names of the old KB, of which some entities are left.

    Names are numbered in the order in which they first occur. An entity that shares a name with one that changed or is
    gone is read as well, because the name may now occur first there.
    """

    def __init__(self, left: Left, entities: int) -> None:
        """`entities` is the number of entities that there are now."""
        self.old = old = NameColumns(left.old.columns)
        row = left.rows[old.entities.values]
        name = np.repeat(np.arange(len(old.texts), dtype=np.int32), np.diff(old.entities.indptr))
        is_lost = np.zeros(len(old.texts), np.bool_)
        is_lost[name[row < 0]] = True
        self.read: Bool = np.ones(entities, np.bool_)  # the entities whose names have to be read
        self.read[left.rows[left.rows >= 0]] = False
        self.read[row[is_lost[name] & (row >= 0)]] = True
        kept = np.flatnonzero((row >= 0) & ~self.read[row])
        self.name, self.row, self.kind = name[kept], row[kept], old.kinds[kept]

    def joined(self, key: UInt64, texts: Strings, entities: Ragged, kinds: Int8, language: Language) -> Named:
        """All names, with those of the entities that were read, which are in the order in which they first occur."""
        old = self.old
        found = np.empty(len(key), np.int32)
        known = kernels.Names(old.hashes, old.slots, old.texts.offsets, old.texts.data)
        kernels.find_names(texts.data, texts.offsets, NO_AFFIXES, known, found)
        new = np.flatnonzero(found < 0)
        found[new] = len(old.texts) + np.arange(len(new), dtype=np.int32)
        ids = self._order(found, entities.values[entities.indptr[:-1]], len(old.texts) + len(new))
        place = np.empty(len(old.texts) + len(new), np.int64)
        place[ids] = np.arange(len(ids))
        name = np.append(place[self.name], np.repeat(place[found], np.diff(entities.indptr)))
        row = np.append(self.row, entities.values)
        order = np.argsort(name << 32 | row, kind="stable")
        indptr = large.running(np.bincount(name, minlength=len(ids)))
        of_old = np.zeros((2, len(old.texts)), np.uint64)
        taken = np.flatnonzero(old.hashes)
        of_old[0, old.slots[taken]] = old.hashes[taken]
        of_old[1, old.variant_names] = old.variant_keys
        added = texts.take(new)
        return Named(
            np.append(of_old[0], key[new])[ids],
            concatenate([old.texts, added]).take(ids),
            np.append(of_old[1], drawers(added, language))[ids],
            Ragged(indptr, row[order]),
            np.append(self.kind, kinds)[order],
        )

    def _order(self, found: Int32, first: Int32, size: int) -> Int64:
        """The names that occur, in the order of their first entity; `found` and `first` are those that were read."""
        row, within = np.full(size, NOWHERE, np.int64), np.arange(size)
        row[self.name[::-1]] = self.row[::-1]  # the last one written remains: the first entity
        earlier = np.flatnonzero(first < row[found])
        row[found[earlier]], within[found[earlier]] = first[earlier], earlier
        ids = np.flatnonzero(row < NOWHERE)
        ordered: Int64 = ids[np.argsort((row << 32 | within)[ids], kind="stable")]
        return ordered


class KnownForms:
    """The short forms of the old KB, with the new rows of their entities."""

    def __init__(self, left: Left, is_person: Bool, used: Int64, statements: Ragged) -> None:
        """An entity has other weights if its kind, its uses or its number of statements are others."""
        kb, rows, old = left.old, left.rows, NameColumns(left.old.columns)
        same = (kb.kind == PERSON) == is_person[rows]
        same &= kb.used == used[rows]
        same &= np.diff(kb.statements.indptr) == np.diff(statements.indptr)[rows]
        self.changed = np.ones(len(is_person), np.bool_)
        self.changed[rows[same & (rows >= 0)]] = False
        self.ends, self.forms = old.short_entities.indptr, old.short_forms
        self.keys = np.empty(len(old.short_entities), np.uint64)
        taken = np.flatnonzero(old.short_slots >= 0)
        self.keys[old.short_slots[taken]] = old.short_hashes[taken]
        self.rows: Int32 = rows[old.short_entities.values]
        is_stale = (self.rows < 0) | self.changed[self.rows] | (self.forms == DEMONYM)  # which may move to another
        self._stale = self.keys[np.searchsorted(self.ends, np.flatnonzero(is_stale), side="right") - 1]

    def renew(self, entries: AnyArray) -> AnyArray:
        """Those entries whose keys also have changed entries, now or before; others are as they were, and stay."""
        is_changed = self.changed[entries["row"]] | (entries["form"] == DEMONYM)
        keys = np.unique(np.concatenate([self._stale, entries["key"][is_changed]]))
        renewed = table(keys, np.zeros(len(keys), np.int32))
        stay = np.flatnonzero(look_up_all(self.keys, *renewed) != 0)
        self.keys = self.keys[stay]
        self.ends, taken = take_rows(self.ends, stay)
        self.rows, self.forms = self.rows[taken], self.forms[taken]
        chosen: Bool = look_up_all(np.ascontiguousarray(entries["key"]), *renewed) == 0
        return entries[chosen]
