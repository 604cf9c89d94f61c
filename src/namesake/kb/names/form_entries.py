"""Which entity has which short form: entries in parts that fit in memory, and the columns made from them.

The lowest bits of a key decide its place in the hash table of short forms, so parts by these bits fill the table from
beginning to end. The columns do not depend on the number of parts.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from namesake.arrays import Float64, Int8, UInt64, take_rows
from namesake.kb.columns import Made, NameColumns, Ragged, large
from namesake.kb.columns.assemble import distinct_keys
from namesake.kb.columns.large import AnyArray
from namesake.kb.left import KnownForms
from namesake.kernels.hash import fill, table_size
from namesake.kernels.names import forms as kernels

MOST = 10
"""Number of entities that are kept for a short form."""
ENTRY = np.dtype([("key", np.uint64), ("row", np.int32), ("weight", np.float32), ("form", np.int8)])
NAME_BYTES = 512
"""Temporary memory for the entries of one name."""
AnyRows = npt.NDArray[np.int32] | npt.NDArray[np.int64]


class FormEntries:
    """Entries of short forms: a key, the entity, the number of the form, the weight. Entries with key 0 are ignored."""

    def __init__(self, names: int, known: KnownForms | None = None) -> None:
        """`names` is the number of labels and aliases that have short forms, which decides the number of parts."""
        self._turn = np.uint64(65 - table_size(names).bit_length())
        self._parts = large.Parts(ENTRY, names, NAME_BYTES)
        self._known = known

    def add(self, keys: UInt64, rows: AnyRows, forms: Int8, weights: Float64) -> None:
        """Add entries."""
        chosen = np.flatnonzero(keys)
        entries = np.empty(len(chosen), ENTRY)
        for name, column in zip(("key", "row", "form", "weight"), (keys, rows, forms, weights), strict=True):
            entries[name] = column[chosen]
        self._parts.add(self._turned(entries["key"]), entries)

    def _turned(self, keys: UInt64) -> UInt64:
        """The keys with the bits that decide their slots highest."""
        return keys << self._turn | keys >> np.uint64(64) - self._turn

    def columns(self) -> Made:
        """The columns of short forms, in the order of `_turned` keys. Entries cannot be added afterwards."""
        types = np.uint64, np.int64, np.int32, np.int8
        distinct, sizes, entities, which = large.gathered(self._all_best(), *types)
        ends = large.running(sizes)
        if self._known is not None:
            order = np.argsort(self._turned(distinct), kind="stable")
            ends, taken = take_rows(ends, order)
            distinct, entities, which = distinct[order], entities[taken], which[taken]
        size = table_size(len(distinct))
        hashes, slots = large.zeros(size, np.uint64), large.full(size, -1, np.int32)
        for low, high in large.blocks(len(distinct), 16):
            slots[fill(distinct[low:high], hashes)] = np.arange(low, high, dtype=np.int32)
        return {
            NameColumns.short_hashes: hashes,
            NameColumns.short_slots: slots,
            NameColumns.short_entities: Ragged(ends, entities),
            NameColumns.short_forms: which,
        }

    def _all_best(self) -> Iterator[tuple[AnyArray, ...]]:
        """The distinct keys of each part, in their order, the number of the best entities with each, these, forms."""
        for part in self._parts.each():
            if self._known is not None:  # in memory, so that there is one part
                part = self._known.renew(part)
            entries = part[np.argsort(part["row"], kind="stable")]
            ids = np.empty(len(entries), np.int32)
            found = distinct_keys(np.ascontiguousarray(entries["key"]), ids)
            order = np.argsort(self._turned(found))
            place = np.empty(len(order), np.int32)
            place[order] = np.arange(len(order), dtype=np.int32)
            size = min(len(ids), MOST * len(found))
            rows, forms, weights = (np.empty(size, kind) for kind in (np.int32, np.int8, np.float32))
            best = kernels.Grouped(np.zeros(len(found) + 1, np.int64), rows, forms, weights)
            columns = (np.ascontiguousarray(entries[name]) for name in ("row", "form", "weight"))
            kernels.best_bearers(place[ids], *columns, MOST, best)
            yield found[order], np.diff(best.indptr), rows[: best.indptr[-1]], forms[: best.indptr[-1]]
        if (known := self._known) is not None:
            yield known.keys, np.diff(known.ends), known.rows, known.forms
