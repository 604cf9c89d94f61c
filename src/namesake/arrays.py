"""Types of numpy arrays, conversion between numpy and Arrow without a copy, and Arrow tables in plain layouts.

Most functions avoid `pa.array`, `pa.scalar` and `to_numpy`: with Python values they import pandas if it is installed,
which takes longer than linking a page. Plain layouts are those that all Arrow functions support. `take`, `filter` and
`cast` do not support every layout that Polars and DuckDB return, such as views, dictionaries and run-end encoding.
"""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from namesake.errors import NamesakeError

Bool = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
UInt64 = npt.NDArray[np.uint64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


def number_type(alias: Any) -> type[np.generic]:
    """The number type of one of these array types, such as `np.int32` for `Int32`, with any version of NumPy."""
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


def list_parts(array: pa.ListArray | pa.ChunkedArray) -> tuple[Int64, pa.Array]:
    """Offsets from 0, and the values between them, of a list array with or without nulls, sliced or not."""
    return indptr(sizes(array)), one_chunk(array).flatten()


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


def take_rows(offsets: Int64, rows: Int64 | Int32) -> tuple[Int64, Int64]:
    """Selected rows of a ragged array: their new offsets, and the old position of each of their values."""
    sizes = offsets[1:][rows] - offsets[:-1][rows]
    taken = indptr(sizes)
    return taken, np.arange(taken[-1]) + np.repeat(offsets[:-1][rows] - taken[:-1], sizes)


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def from_stream(given: object) -> object:
    """A table of a frame, relation or reader with the Arrow stream interface, in plain layouts; else the object."""
    if isinstance(given, pa.RecordBatch):
        given = pa.Table.from_batches([given])
    if isinstance(given, pa.Table):
        return plain_table(given)
    if hasattr(given, "__arrow_c_stream__"):
        try:
            table = pa.RecordBatchReader.from_stream(given).read_all()
        except pa.ArrowException as problem:
            reason = str(problem).partition("\n")[0]
            raise NamesakeError(
                f"the frame has a column that Arrow cannot hold ({reason}): drop it or convert it to text"
            ) from None
        return plain_table(table.drop_columns([n for n in table.column_names if n.startswith("__index_level_")]))
    inner = getattr(getattr(given, "data", None), "table", None)
    if isinstance(inner, pa.Table) and getattr(given, "_indices", None) is None:
        return plain_table(inner)  # a Hugging Face data set, not shuffled or filtered
    return given


def plain_table(table: pa.Table) -> pa.Table:
    """The table with every column in a layout that all Arrow functions support (see `plain`).

    Two kinds of columns keep their type: categories of text, with plain values, and extension types with plain storage.
    `decoded` returns their values.
    """
    for at, field in enumerate(table.schema):
        if not _is_plain(field.type):
            chunks = [_plain_column(chunk) for chunk in table.column(at).chunks]
            kind = chunks[0].type if chunks else _plain_type(field.type)
            table = table.set_column(at, field.with_type(kind), pa.chunked_array(chunks, kind))
    return table


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of a plain table with categories and extension types replaced by their values."""
    if not (pa.types.is_dictionary(column.type) or isinstance(column.type, pa.BaseExtensionType)):
        return column
    chunks = [plain(chunk) for chunk in column.chunks]
    return pa.chunked_array(chunks, plain(pa.nulls(0, column.type)).type)


def plain(array: pa.Array) -> pa.Array:
    """The same values without views, dictionaries, run-end encoding and extension types, at any depth."""
    kind = array.type
    if _is_plain(kind):
        return array
    if isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_dictionary(kind):
        return plain(array.dictionary).take(array.indices)
    if pa.types.is_run_end_encoded(kind):
        rows = np.arange(array.offset, array.offset + len(array))
        runs = np.searchsorted(numpy_numbers(array.run_ends), rows, side="right")
        return plain(array.values).take(arrow_numbers(runs))
    if kind in (pa.string_view(), pa.binary_view()):
        plain_kind = pa.large_string() if kind == pa.string_view() else pa.large_binary()
        try:
            return array.cast(plain_kind)
        except pa.ArrowNotImplementedError:  # before pyarrow 18
            return pa.array(array.to_pylist(), plain_kind)
    if pa.types.is_union(kind):
        return _plain_union(array)
    return _plain_nested(array)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    try:
        return _plain_column(pa.nulls(0, kind)).type
    except pa.ArrowNotImplementedError:  # Arrow cannot make an empty array of every nested type
        return pa.null()


def _plain_column(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        values = plain(array.dictionary)
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            return pa.DictionaryArray.from_arrays(array.indices, values, ordered=array.type.ordered)
    if isinstance(array.type, pa.BaseExtensionType) and _is_plain(array.type.storage_type):
        return array
    return plain(array)


def _plain_nested(array: pa.Array) -> pa.Array:
    """A struct, list or map whose children become plain; lists of any kind become large lists."""
    kind, null = array.type, array.is_null()
    if pa.types.is_struct(kind):
        children = [plain(array.field(at)) for at in range(kind.num_fields)]
        fields = [kind.field(at).with_type(child.type) for at, child in enumerate(children)]
        return pa.StructArray.from_arrays(children, fields=fields, mask=null)
    if pa.types.is_map(kind):
        keys, items = plain(array.keys), plain(array.items)
        whole = pa.map_(keys.type, items.type)
        values = pa.StructArray.from_arrays([keys, items], fields=[whole.key_field, whole.item_field])
    else:
        values = plain(array.values)
        is_fixed = pa.types.is_fixed_size_list(kind)
        makers = {pa.ListType: pa.list_, pa.LargeListType: pa.large_list, pa.ListViewType: pa.list_view}
        make = makers.get(type(kind), pa.large_list_view)
        whole = pa.list_(values.type, kind.list_size) if is_fixed else make(values.type)
    own = array.buffers()[: whole.num_buffers]
    made = pa.Array.from_buffers(whole, len(array), own, offset=array.offset, children=[values])
    if not _is_list_view(kind):
        return made
    offsets, values = list_parts(made)
    return pa.LargeListArray.from_arrays(arrow_numbers(offsets), values, mask=null)


def _plain_union(array: pa.UnionArray) -> pa.UnionArray:
    kind, part = array.type, slice(array.offset, array.offset + len(array))  # Arrow's own properties ignore slices
    children = [plain(array.field(at)) for at in range(kind.num_fields)]
    names = [kind.field(at).name for at in range(kind.num_fields)]
    _, codes, *rest = array.buffers()
    which = arrow_numbers(np.frombuffer(codes or b"", np.int8)[part])
    if kind.mode == "sparse":
        return pa.UnionArray.from_sparse(which, children, names, kind.type_codes)
    where = arrow_numbers(np.frombuffer(rest[0] or b"", np.int32)[part])
    return pa.UnionArray.from_dense(which, where, children, names, kind.type_codes)


def _is_list_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))


def _is_plain(kind: pa.DataType) -> bool:
    """Whether all Arrow functions support a type and all types within it."""
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return False
    if kind in (pa.string_view(), pa.binary_view()) or _is_list_view(kind):
        return False
    return all(_is_plain(kind.field(at).type) for at in range(kind.num_fields))
