"""The types of numpy arrays, and the way to them from Arrow and back: without a copy where the layout allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

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


def number_type(alias: Any) -> type[np.generic]:
    """The type of the numbers of one of these array types, such as `np.int32` for `Int32`.

    It is the last argument, or that of the last argument: `NDArray[np.int32]` stands for
    `ndarray[shape, dtype[np.int32]]` up to NumPy 2.4, and is an alias with the one argument `np.int32` from 2.5 on.
    """
    while not (isinstance(alias, type) and issubclass(alias, np.generic)):
        alias = get_args(alias)[-1]
    return alias


_NOTHING = np.zeros(1, np.uint8)  # kernels index nothing in it, but want an array


def text_buffers(array: pa.Array) -> tuple[UInt8, Int64]:
    """Bytes and offsets of a string array; a null is an empty text."""
    if array.null_count:
        array = array.fill_null(arrow_scalar("", array.type))
    is_large = pa.types.is_large_string(array.type)
    if not is_large and not pa.types.is_string(array.type):
        array, is_large = array.cast(pa.large_string()), True
    _, offsets, data = array.buffers()
    flat = np.frombuffer(data, np.uint8) if data is not None and data.size else _NOTHING
    if not len(array):
        return flat, np.zeros(1, np.int64)
    places = np.frombuffer(offsets, np.int64 if is_large else np.int32)[array.offset : array.offset + len(array) + 1]
    return flat, places.astype(np.int64, copy=False)


def arrow_numbers(values: npt.NDArray[Any], null: Bool | None = None) -> pa.Array:
    """A numpy array of numbers or truth values as an Arrow array, null where `null` says so.

    It is what `pa.array` gives; but that, as `pa.scalar`, `to_numpy` and all functions that are handed Python's values,
    loads pandas wherever it is installed, which takes longer than linking a page.
    """
    data = bitmap(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    valid = None if null is None else bitmap(~null)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def arrow_texts(values: Sequence[str | None], kind: pa.DataType | None = None) -> pa.Array:
    """Texts as an Arrow array of `kind`, `string` or `large_string`, without pandas (see `arrow_numbers`)."""
    kind = pa.string() if kind is None else kind
    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = indptr([len(one) for one in encoded]).astype(np.int64 if pa.types.is_large_string(kind) else np.int32)
    valid = bitmap(np.array([value is not None for value in values], np.bool_)) if None in values else None
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))])


def arrow_scalar(value: str | float | None, kind: pa.DataType) -> pa.Scalar:
    """A text, a number or a null as an Arrow scalar, without pandas (see `arrow_numbers`)."""
    if value is None:
        return pa.nulls(1, kind)[0]
    if isinstance(value, str):
        return arrow_texts([value], kind)[0]
    return arrow_numbers(np.array([value], numpy_type(kind)))[0]


def numpy_type(kind: pa.DataType) -> np.dtype[Any]:
    """The numpy type of an Arrow type of numbers or truth values. Older Arrows need pandas for `to_pandas_dtype`."""
    return np.dtype({"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(kind), str(kind)))


def bitmap(truths: Bool) -> pa.Buffer:
    """Truth values as Arrow holds them, eight to the byte."""
    return pa.py_buffer(np.packbits(truths, bitorder="little"))


def numpy_numbers(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """Numbers or truth values, none of them null, as a numpy array; without pandas (see `arrow_numbers`)."""
    array = one_chunk(array)
    kind, end = numpy_type(array.type), array.offset + len(array)
    data = array.buffers()[1] or b""
    if kind == np.bool_:
        return np.unpackbits(np.frombuffer(data, np.uint8), count=end, bitorder="little")[array.offset :].view(np.bool_)
    return np.frombuffer(data, kind, end)[array.offset :]


def list_parts(array: pa.ListArray) -> tuple[Int64, pa.Array]:
    """Offsets from 0 and the values between them, for a list array with or without nulls, sliced or not."""
    return indptr(sizes(array)), array.flatten()


def sizes(array: pa.Array | pa.ChunkedArray) -> Int64:
    """How many bytes each text has, or how many values each list; a null has none."""
    if array.null_count == len(array):
        return np.zeros(len(array), np.int64)
    lengths = (pc.list_value_length if pa.types.is_nested(array.type) else pc.binary_length)(array)
    lengths = lengths.fill_null(arrow_scalar(0, lengths.type)) if lengths.null_count else lengths
    return numpy_numbers(lengths).astype(np.int64, copy=False)


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
