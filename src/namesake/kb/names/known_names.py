"""The names of a KB that an update changes: unchanged entities keep theirs, and only the names of others are read.

Names are numbered in the order in which they first occur. An entity that shares a name with one that changed or is gone
is read as well, because the name may now occur first there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from namesake.arrays import Bool, Int8, Int32, Int64, UInt64
from namesake.kb.columns import NameColumns, Ragged, Strings, concatenate, large
from namesake.kb.names.index import drawers
from namesake.kernels.names import index as kernels
from namesake.language import Language

NOWHERE = np.iinfo(np.int32).max
NO_AFFIXES = kernels.Affixes(*[np.empty(0, np.uint64)] * 3)


class Named(NamedTuple):
    """Distinct names in the order in which they first occur: hash and text, the drawer of variants, and entities."""

    key: UInt64
    texts: Strings
    drawer: UInt64
    entities: Ragged
    kinds: Int8


class KnownNames:
    """The names of the old KB, of which some entities are left."""

    def __init__(self, old: NameColumns, row_of: Int32, entities: int) -> None:
        """`row_of` has the new row of each unchanged entity, -1 for others; of `entities` there are now."""
        self.old = old
        row = row_of[old.entities.values]
        name = np.repeat(np.arange(len(old.texts), dtype=np.int32), np.diff(old.entities.indptr))
        is_lost = np.zeros(len(old.texts), np.bool_)
        is_lost[name[row < 0]] = True
        self.read: Bool = np.ones(entities, np.bool_)
        """The entities whose names have to be read."""
        self.read[row_of[row_of >= 0]] = False
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
