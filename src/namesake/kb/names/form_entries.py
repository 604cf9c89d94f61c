"""Which entity has which short form: entries in parts that fit in memory, and the columns made from them.

The lowest bits of a key decide its place in the hash table of short forms, so parts by these bits fill the table from
beginning to end. The columns do not depend on the number of parts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from namesake.arrays import Float64, Int8, Int32, UInt64
from namesake.kb.columns import Made, NameColumns, Ragged, large
from namesake.kb.columns.assemble import distinct_keys
from namesake.kernels.hash import fill, table_size
from namesake.kernels.names import forms as kernels

MOST = 10
"""Number of entities that are kept for a short form."""
ENTRY = np.dtype([("key", np.uint64), ("row", np.int32), ("weight", np.float32), ("form", np.int8)])
NAME_BYTES = 512
"""Temporary memory for the entries of one name."""
AnyRows = npt.NDArray[np.int32] | npt.NDArray[np.int64]


class FormEntries:
    """Entries of short forms: a key, the entity, the weight, the number of the form. Entries with key 0 are ignored."""

    def __init__(self, names: int) -> None:
        """`names` is the number of labels and aliases that have short forms, which decides the number of parts."""
        self._turn = np.uint64(65 - table_size(names).bit_length())
        self._parts = large.Parts(ENTRY, names, NAME_BYTES)

    def add(self, keys: UInt64, rows: AnyRows, forms: Int8, weights: Float64) -> None:
        """Add entries."""
        chosen = np.flatnonzero(keys)
        entries = np.empty(len(chosen), ENTRY)
        for name, column in (("key", keys), ("row", rows), ("form", forms), ("weight", weights)):
            entries[name] = column[chosen]
        self._parts.add(self._turned(entries["key"]), entries)

    def _turned(self, keys: UInt64) -> UInt64:
        """The keys with the bits that decide their slots highest."""
        return keys << self._turn | keys >> np.uint64(64) - self._turn

    def columns(self) -> Made:
        """The columns of short forms, in the order of `_turned` keys. Entries cannot be added afterwards."""
        keys, sizes, rows, forms = (large.Growing(kind) for kind in (np.uint64, np.int64, np.int32, np.int8))
        for entries in self._parts.each():
            distinct, best = self._best(entries[np.argsort(entries["row"], kind="stable")])
            keys.append(distinct)
            sizes.append(np.diff(best.indptr))
            rows.append(best.rows[: best.indptr[-1]])
            forms.append(best.forms[: best.indptr[-1]])
        hashes, slots = _table(keys.done())
        return {
            NameColumns.short_hashes: hashes,
            NameColumns.short_slots: slots,
            NameColumns.short_entities: Ragged(large.running(sizes.done()), rows.done()),
            NameColumns.short_forms: forms.done(),
        }

    def _best(self, entries: npt.NDArray[np.void]) -> tuple[UInt64, kernels.Grouped]:
        """The distinct keys of a part, in their order, and the best entities with each. Entries are by entity."""
        ids = np.empty(len(entries), np.int32)
        found = distinct_keys(np.ascontiguousarray(entries["key"]), ids)
        order = np.argsort(self._turned(found))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        size = min(len(ids), MOST * len(found))
        best = kernels.Grouped(
            *(np.zeros(len(found) + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.int8)),
            np.empty(size, np.float32),
        )
        columns = (np.ascontiguousarray(entries[name]) for name in ("row", "form", "weight"))
        kernels.best_bearers(place[ids], *columns, MOST, best)
        return found[order], best


def _table(keys: UInt64) -> tuple[UInt64, Int32]:
    """A hash table of distinct keys, and the position of each key by slot, -1 in free slots."""
    size = table_size(len(keys))
    table, slots = large.zeros(size, np.uint64), large.full(size, -1, np.int32)
    for low, high in large.blocks(len(keys), 16):
        slots[fill(keys[low:high], table)] = np.arange(low, high, dtype=np.int32)
    return table, slots
