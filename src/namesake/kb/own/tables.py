"""Copies of columns with more rows, other values in some rows, or more keys in a hash table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Int64, UInt64, indptr
from namesake.kb.columns import Ragged
from namesake.kernels.hash import fill, slot_of, table_size

Numbers = npt.NDArray[Any]


def after(size: int, rows: Int64, new: Bool) -> Int64:
    """Rows of which the new ones follow `size` others, in their order."""
    return np.where(new, size + np.cumsum(new) - 1, rows)


def with_rows(base: Ragged, rows: Mapping[int, Numbers | Sequence[int]]) -> Ragged:
    """Lists of which some rows are replaced. Rows that follow those of the base are new."""
    size = len(base)
    lengths = np.zeros(max([size, *(row + 1 for row in rows)]), np.int64)
    lengths[:size] = np.diff(base.indptr)
    pieces, end = [], 0
    for row in sorted(rows):
        lengths[row] = len(rows[row])
        pieces += [base.values[end : base.indptr[min(row, size)]], np.asarray(rows[row], base.values.dtype)]
        end = base.indptr[min(row + 1, size)]
    return Ragged(indptr(lengths), np.concatenate([*pieces, base.values[end:]]))


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
