"""From Arrow arrays to the flat numpy arrays that kernels read, without a copy where the layout allows it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Float64 = npt.NDArray[np.float64]

_NOTHING = np.zeros(1, np.uint8)  # kernels index nothing in it, but want an array


def text_buffers(array: pa.Array) -> tuple[UInt8, Int64]:
    """Bytes and offsets of a string array; a null is an empty text."""
    if array.null_count:
        array = array.fill_null("")
    if not pa.types.is_large_string(array.type):
        array = array.cast(pa.large_string())
    _, offsets, data = array.buffers()
    flat = np.frombuffer(data, np.uint8) if data is not None and data.size else _NOTHING
    if not len(array):
        return flat, np.zeros(1, np.int64)
    return flat, np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]


def list_parts(array: pa.ListArray) -> tuple[Int64, pa.Array]:
    """Offsets from 0 and the values between them, for a list array with or without nulls, sliced or not."""
    lengths = pc.list_value_length(array).fill_null(0)
    return indptr(lengths.to_numpy(zero_copy_only=False)), array.flatten()


def indptr(lengths: npt.ArrayLike) -> Int64:
    """Offsets of rows with the given lengths."""
    lengths = np.asarray(lengths)
    out = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=out[1:])
    return out


def take_rows(offsets: Int64, rows: Int64) -> tuple[Int64, Int64]:
    """Some rows of a ragged array, in another order: their offsets, and where each of their values was."""
    sizes = np.diff(offsets)[rows]
    taken = indptr(sizes)
    return taken, np.arange(taken[-1]) + np.repeat(offsets[:-1][rows] - taken[:-1], sizes)


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
