"""Types of numpy arrays, and conversion between numpy and Arrow without a copy where the layout allows it.

These functions avoid `pa.array`, `pa.scalar` and `to_numpy`: with Python values they import pandas if it is installed,
which takes longer than linking a page.
"""

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
    """The number type of one of these array types, such as `np.int32` for `Int32`.

    `NDArray[np.int32]` is `ndarray[shape, dtype[np.int32]]` up to NumPy 2.4, and an alias with the one argument
    `np.int32` from 2.5 on.
    """
    while not (isinstance(alias, type) and issubclass(alias, np.generic)):
        alias = get_args(alias)[-1]
    return alias


_EMPTY = np.zeros(1, np.uint8)  # kernels need an array, even if they read nothing from it


def text_buffers(array: pa.Array) -> tuple[UInt8, Int64]:
    """Bytes and offsets of a string array; a null is an empty text."""
    if array.null_count:
        array = array.fill_null(arrow_scalar("", array.type))
    is_large = pa.types.is_large_string(array.type)
    if not is_large and not pa.types.is_string(array.type):
        array, is_large = array.cast(pa.large_string()), True
    _, offsets, data = array.buffers()
    flat = np.frombuffer(data, np.uint8) if data is not None and data.size else _EMPTY
    if not len(array):
        return flat, np.zeros(1, np.int64)
    places = np.frombuffer(offsets, np.int64 if is_large else np.int32)[array.offset : array.offset + len(array) + 1]
    return flat, places.astype(np.int64, copy=False)


def arrow_numbers(values: npt.NDArray[Any], null: Bool | None = None) -> pa.Array:
    """A numpy array of numbers or booleans as an Arrow array, null where `null` is true."""
    data = bitmap(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    valid = None if null is None else bitmap(~null)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def arrow_texts(values: Sequence[str | None], kind: pa.DataType | None = None) -> pa.Array:
    """Texts as an Arrow array of `kind`, `string` or `large_string`."""
    kind = pa.string() if kind is None else kind
    encoded = [b"" if value is None else value.encode() for value in values]
    offsets = indptr([len(one) for one in encoded]).astype(np.int64 if pa.types.is_large_string(kind) else np.int32)
    valid = bitmap(np.array([value is not None for value in values], np.bool_)) if None in values else None
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))])


def arrow_scalar(value: str | float | None, kind: pa.DataType) -> pa.Scalar:
    """A text, a number or a null as an Arrow scalar."""
    if value is None:
        return pa.nulls(1, kind)[0]
    if isinstance(value, str):
        return arrow_texts([value], kind)[0]
    return arrow_numbers(np.array([value], numpy_type(kind)))[0]


def numpy_type(kind: pa.DataType) -> np.dtype[Any]:
    """The numpy type of an Arrow type of numbers or booleans. Arrow's own `to_pandas_dtype` may need pandas."""
    return np.dtype({"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(kind), str(kind)))


def bitmap(truths: Bool) -> pa.Buffer:
    """Booleans as Arrow stores them, eight per byte."""
    return pa.py_buffer(np.packbits(truths, bitorder="little"))


def numpy_numbers(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """Numbers or booleans without nulls as a numpy array."""
    array = one_chunk(array)
    kind, end = numpy_type(array.type), array.offset + len(array)
    data = array.buffers()[1] or b""
    if kind == np.bool_:
        return np.unpackbits(np.frombuffer(data, np.uint8), count=end, bitorder="little")[array.offset :].view(np.bool_)
    return np.frombuffer(data, kind, end)[array.offset :]


def list_parts(array: pa.ListArray) -> tuple[Int64, pa.Array]:
    """Offsets from 0, and the values between them, of a list array with or without nulls, sliced or not."""
    return indptr(sizes(array)), array.flatten()


def sizes(array: pa.Array | pa.ChunkedArray) -> Int64:
    """The number of bytes of each text, or of values of each list; 0 for a null."""
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


def positions(ascending: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> Int64:
    """The first position of each wanted number in an ascending array, -1 if it is missing."""
    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    at = np.searchsorted(ascending, wanted)
    at[at == len(ascending)] = 0
    return np.where(ascending[at] == wanted, at, -1).astype(np.int64, copy=False)


def take_rows(offsets: Int64, rows: Int64) -> tuple[Int64, Int64]:
    """Selected rows of a ragged array: their new offsets, and the old position of each of their values."""
    sizes = np.diff(offsets)[rows]
    taken = indptr(sizes)
    return taken, np.arange(taken[-1]) + np.repeat(offsets[:-1][rows] - taken[:-1], sizes)


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
