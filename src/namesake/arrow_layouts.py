"""Arrow tables from frames of other libraries, converted to layouts that all Arrow functions support.

`take`, `filter` and `cast` do not support every layout that Polars and DuckDB return: views, dictionaries, run-end
encoding and extension types.
"""

import numpy as np
import pyarrow as pa

from namesake.arrays import arrow_numbers, list_parts, numpy_numbers
from namesake.errors import NamesakeError


def from_stream(given: object) -> object:
    """A table of an object with the Arrow stream interface (frames, relations, readers), in plain layouts.

    Other objects are returned unchanged. NamesakeError if a column cannot be represented in Arrow.
    """
    if isinstance(given, pa.Table):
        return plain_table(given)
    if isinstance(given, pa.RecordBatch):
        return plain_table(pa.Table.from_batches([given]))
    if isinstance(given, pa.RecordBatchReader):
        return plain_table(given.read_all())
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
        ends = numpy_numbers(array.run_ends).astype(np.int64)
        rows = np.searchsorted(ends, np.arange(array.offset, array.offset + len(array)), side="right")
        return plain(array.values).take(arrow_numbers(rows))
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
    """The type of a plain column without chunks."""
    try:
        return _plain_column(pa.nulls(0, kind)).type
    except pa.ArrowNotImplementedError:  # Arrow cannot make an empty array of every nested type
        return pa.null()


def _plain_column(array: pa.Array) -> pa.Array:
    """A column of a plain table."""
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
        pairs = pa.StructArray.from_arrays([plain(array.keys), plain(array.items)], ["key", "value"])
        buffers, where = array.buffers()[:2], array.offset
        array = pa.Array.from_buffers(pa.list_(pairs.type), len(array), buffers, offset=where, children=[pairs])
    offsets, values = list_parts(array)
    values = plain(values)
    if pa.types.is_map(kind):
        starts = arrow_numbers(offsets.astype(np.int32), np.append(numpy_numbers(null), False))
        return pa.MapArray.from_arrays(starts, values.field(0), values.field(1))
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
