"""The types of numpy arrays, and the way to them from Arrow: without a copy where the layout allows it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bool = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
UInt64 = npt.NDArray[np.uint64]
Float32 = npt.NDArray[np.float32]
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


def from_stream(given: object) -> object:
    """A table of whatever has the Arrow stream interface: frames, relations, readers; anything else as it is."""
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatchReader):
        return given.read_all()
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if hasattr(given, "__arrow_c_stream__"):
        table = pa.RecordBatchReader.from_stream(given).read_all()
        return _plain(table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")]))
    inner = getattr(getattr(given, "data", None), "table", None)
    if isinstance(inner, pa.Table) and getattr(given, "_indices", None) is None:
        return inner  # a data set of Hugging Face's, not shuffled or filtered
    return given


def _plain(table: pa.Table) -> pa.Table:
    """The table with texts in Arrow's older layout: views, which Polars gives, cannot be taken from."""
    fields = [field.with_type(pa.large_string()) if field.type == pa.string_view() else field for field in table.schema]
    return table.cast(pa.schema(fields)) if pa.string_view() in table.schema.types else table


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
