"""Copies of columns with more rows, more values in some rows, or more keys in a hash table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Int64, UInt64, indptr
from namesake.kb.columns import Ragged, Strings, concatenate
from namesake.kernels.hash import fill, slot_of, table_size

Numbers = npt.NDArray[Any]


def appended(base: Any, more: Any) -> Any:
    """A column, and the rows of another one after it."""
    if isinstance(base, Strings):
        return concatenate([base, more])
    if isinstance(base, Ragged):
        bounds = np.concatenate([base.indptr, base.indptr[-1] + more.indptr[1:]])
        return Ragged(bounds, np.concatenate([base.values, more.values.astype(base.values.dtype)]))
    return np.concatenate([base, np.asarray(more).astype(base.dtype)])


def lists(rows: Sequence[Numbers], dtype: np.dtype[Any]) -> Ragged:
    """Lists of numbers, one after the other."""
    return Ragged(indptr([len(row) for row in rows]), np.concatenate([np.empty(0, dtype), *rows]).astype(dtype))


class Edit:
    """Values that are put into the rows of lists, and values that are dropped."""

    def __init__(self, column: Ragged) -> None:
        self.column = column
        self._added: list[tuple[int, int, int, int]] = []
        self._dropped: list[tuple[int, int]] = []

    def add(self, row: int, place: int, value: int, other: int = 0) -> None:
        """Put a value before the one at `place` of a row; `other` is its number in the parallel column."""
        self._added.append((row, int(self.column.indptr[row]) + place, value, other))

    def drop(self, row: int, place: int) -> None:
        """Drop the value at `place` of a row."""
        self._dropped.append((row, int(self.column.indptr[row]) + place))

    def __bool__(self) -> bool:
        return bool(self._added or self._dropped)

    def done(self, parallel: Numbers | None = None) -> tuple[Ragged, Numbers]:
        """The lists, and a column with one number for each of their values, after all changes."""
        added = np.array(self._added, np.int64).reshape(-1, 4)
        dropped = np.array(self._dropped, np.int64).reshape(-1, 2)
        change = np.zeros(len(self.column) + 1, np.int64)
        np.add.at(change, added[:, 0] + 1, 1)
        np.add.at(change, dropped[:, 0] + 1, -1)
        bounds = self.column.indptr + np.cumsum(change)
        marked = np.zeros(len(self.column.values) + 1, np.bool_)
        marked[dropped[:, 1]] = True
        before = added[:, 1] - np.searchsorted(np.flatnonzero(marked), added[:, 1])
        columns = []
        for numbers, new in ((self.column.values, added[:, 2]), (parallel, added[:, 3])):
            kept = np.empty(0, np.int8) if numbers is None else numbers[~marked[:-1]] if len(dropped) else numbers
            columns.append(kept if numbers is None else np.insert(kept, before, new))
        return Ragged(bounds, columns[0]), columns[1]


def slots(keys: UInt64, hashes: UInt64) -> Int64:
    """The slot of each hash in a table, or the free one where it belongs."""
    return np.array([slot_of(keys, one) for one in hashes], np.int64)


def entered(
    keys: UInt64, hashes: UInt64, columns: Sequence[tuple[Numbers, Any]]
) -> tuple[UInt64, list[Numbers], Int64, Bool]:
    """A copy of a hash table with more keys, and of the columns beside it, each given with the value of a free slot.

    Also the slot of each hash, and whether it is new. The table grows where it would be too full.
    """
    is_new = keys[slots(keys, hashes)] == 0
    taken = np.flatnonzero(keys)
    size = max(len(keys), table_size(len(taken) + int(is_new.sum())))
    if size == len(keys):
        copies, grown = [column.copy() for column, _ in columns], keys.copy()
    else:
        grown = np.zeros(size, np.uint64)
        place = fill(keys[taken], grown)
        copies = [np.full(size, free, column.dtype) for column, free in columns]
        for copy, (column, _) in zip(copies, columns, strict=True):
            copy[place] = column[taken]
    return grown, copies, fill(np.ascontiguousarray(hashes), grown), is_new
