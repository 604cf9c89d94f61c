"""Arrow arrays made without `pa.array` are those that it makes."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from namesake.arrays import (
    arrow_numbers,
    arrow_scalar,
    arrow_texts,
    decoded,
    from_stream,
    number_type,
    numpy_numbers,
    plain,
    sizes,
)

Scalar = TypeVar("Scalar", bound=np.generic)
KINDS = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64")


@pytest.mark.parametrize("kind", KINDS)
@given(values=st.lists(st.tuples(st.integers(0, 100), st.booleans())))
def test_numbers(kind, values):
    numbers = np.array([number % 3 if kind == "bool" else number for number, _ in values], kind)
    null = np.array([gone for _, gone in values], np.bool_)
    for ours, theirs in (
        (arrow_numbers(numbers), pa.array(numbers)),
        (arrow_numbers(numbers, null), pa.array(numbers, mask=null)),
        (arrow_numbers(numbers[::2]), pa.array(numbers[::2])),
    ):
        ours.validate(full=True)
        assert (ours, ours.type, ours.null_count) == (theirs, theirs.type, theirs.null_count)


@pytest.mark.parametrize("kind", KINDS)
@given(values=st.lists(st.integers(0, 100)), cut=st.integers(0, 20))
def test_numbers_come_back(kind, values, cut):
    numbers = np.array(values).astype(kind)
    for array in (pa.array(numbers), pa.chunked_array([pa.array(numbers[:cut]), pa.array(numbers[cut:])])):
        back = numpy_numbers(array.slice(cut))
        assert back.dtype == numbers.dtype
        assert back.tolist() == numbers[cut:].tolist()


def test_what_is_no_number_is_not_null():
    assert arrow_numbers(np.array([np.nan, 1.0])).null_count == 0


@given(values=st.lists(st.none() | st.text()))
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts(values, kind):
    ours = arrow_texts(values, kind)
    ours.validate(full=True)
    assert ours == pa.array(values, kind)


@pytest.mark.parametrize(
    ("value", "kind"), [("é", pa.string()), ("", pa.large_string()), (3, pa.int32()), (None, pa.string())]
)
def test_scalars(value, kind):
    assert arrow_scalar(value, kind).equals(pa.scalar(value, kind))


@given(values=st.lists(st.none() | st.text()))
def test_sizes(values):
    lists = pa.array([None if value is None else list(value) for value in values], pa.list_(pa.string()))
    assert sizes(pa.array(values, pa.string())).tolist() == [len((value or "").encode()) for value in values]
    assert sizes(lists).tolist() == [len(value or "") for value in values]


# layouts that Arrow's functions do not all support


def arrays_of(children: st.SearchStrategy[pa.Array]) -> st.SearchStrategy[pa.Array]:
    """Arrays that are made of other arrays, in every layout that Arrow has for them."""
    return children.flatmap(lambda child: st.sampled_from(NESTED).flatmap(lambda nest: nest(child)))


def masks(count: int) -> st.SearchStrategy[pa.Array]:
    return st.lists(st.booleans(), min_size=count, max_size=count).map(lambda null: pa.array(null, pa.bool_()))


@st.composite
def lists(draw, child: pa.Array) -> pa.Array:
    kind = draw(st.sampled_from([pa.ListArray, pa.LargeListArray]))
    ends = sorted(draw(st.lists(st.integers(0, len(child)), min_size=1, max_size=6)))
    wide = np.int64 if kind is pa.LargeListArray else np.int32
    return kind.from_arrays(pa.array(np.array(ends, wide)), child, mask=draw(masks(len(ends) - 1)))


@st.composite
def list_views(draw, child: pa.Array) -> pa.Array:
    kind = draw(st.sampled_from([pa.ListViewArray, pa.LargeListViewArray]))
    wide = np.int64 if kind is pa.LargeListViewArray else np.int32
    starts = draw(st.lists(st.integers(0, len(child)), max_size=5))
    sizes = [draw(st.integers(0, len(child) - start)) for start in starts]
    places = (pa.array(np.array(some, wide)) for some in (starts, sizes))
    return kind.from_arrays(*places, child, mask=draw(masks(len(starts))))


@st.composite
def fixed_lists(draw, child: pa.Array) -> pa.Array:
    size = draw(st.sampled_from([1, 2]))
    whole = child.slice(0, len(child) // size * size)
    kind = pa.list_(child.type, size)
    return pa.FixedSizeListArray.from_arrays(whole, type=kind, mask=draw(masks(len(whole) // size)))


@st.composite
def structs(draw, child: pa.Array) -> pa.Array:
    fields = [pa.field("a", child.type), pa.field("b", pa.int64())]
    return pa.StructArray.from_arrays(
        [child, pa.array(range(len(child)), pa.int64())], fields=fields, mask=draw(masks(len(child)))
    )


def maps(child: pa.Array) -> st.SearchStrategy[pa.Array]:
    ends = st.lists(st.integers(0, len(child)), min_size=1, max_size=5).map(sorted)
    keys = pa.array([f"k{at}" for at in range(len(child))], pa.string_view())
    return ends.map(lambda some: pa.MapArray.from_arrays(pa.array(some, pa.int32()), keys, child))


@st.composite
def dictionaries(draw, child: pa.Array) -> pa.Array:
    places = st.none() | st.integers(0, len(child) - 1) if len(child) else st.none()
    kind = draw(st.sampled_from([pa.int8(), pa.uint32()]))
    return pa.DictionaryArray.from_arrays(pa.array(draw(st.lists(places, max_size=6)), kind), child)


def runs(child: pa.Array) -> st.SearchStrategy[pa.Array]:
    if not len(child):
        return st.just(child)  # Arrow cannot make an empty array of every such type
    lengths = st.lists(st.integers(1, 3), min_size=len(child), max_size=len(child))
    ends = lengths.map(lambda some: pa.array(np.cumsum(some, dtype=np.int32), pa.int32()))
    return ends.map(lambda some: pa.RunEndEncodedArray.from_arrays(some, child))


class Marked(pa.ExtensionType):
    """An extension type over any storage."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "namesake.test.marked")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> "Marked":
        return cls(storage_type)


@st.composite
def unions(draw, child: pa.Array) -> pa.Array:
    which = draw(st.lists(st.integers(0, 1), min_size=len(child), max_size=len(child)))
    codes, other = pa.array(which, pa.int8()), pa.array(range(len(child)), pa.int64())
    if draw(st.booleans()):
        return pa.UnionArray.from_sparse(codes, [child, other])
    return pa.UnionArray.from_dense(codes, pa.array(range(len(child)), pa.int32()), [child, other])


NESTED = [lists, list_views, fixed_lists, structs, maps, dictionaries]
if int(pa.__version__.partition(".")[0]) >= 20:  # older ones cannot themselves make or check all of these
    NESTED += [runs, unions]
LEAVES = {
    **dict.fromkeys([pa.string(), pa.large_string(), pa.string_view()], st.text(max_size=20)),
    **dict.fromkeys([pa.binary(), pa.large_binary(), pa.binary_view()], st.binary(max_size=20)),
    pa.int16(): st.integers(-9, 9),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
    pa.decimal128(9, 2): st.decimals(-99, 99, places=2),
    pa.null(): st.none(),
}
leaves = st.sampled_from(list(LEAVES)).flatmap(
    lambda kind: st.lists(st.none() | LEAVES[kind], max_size=8).map(lambda values: pa.array(values, kind))
)
any_array = st.recursive(leaves, arrays_of, max_leaves=4)
SUPPORTED = "string large_string binary large_binary int16 int64 bool date32[day] timestamp[us] decimal128(9, 2) null"


def types_within(kind: pa.DataType) -> set[str]:
    """The names of a type and of all types within it, as Arrow writes them."""
    if kind.num_fields == 0 or not pa.types.is_nested(kind):
        return {str(kind)}
    return {type(kind).__name__}.union(*(types_within(kind.field(at).type) for at in range(kind.num_fields)))


@given(array=any_array, start=st.integers(0, 3), stop=st.integers(0, 8))
@settings(max_examples=400, deadline=None)
def test_any_layout_becomes_plain_with_the_same_values(array, start, stop):
    """Whole and sliced; the values are those that Arrow's own `to_pylist` gives."""
    array.validate(full=True)
    for given_array in (array, array.slice(start, stop)):
        made = plain(given_array)
        made.validate(full=True)
        assert made.to_pylist() == given_array.to_pylist()
        known = {"ListType", "LargeListType", "FixedSizeListType", "StructType", "MapType"}
        known |= {"SparseUnionType", "DenseUnionType", "decimal128(9, 2)", *SUPPORTED.split()}
        assert types_within(made.type) <= known
        backwards = pa.array(range(len(made))[::-1], pa.int64())
        assert made.take(backwards).to_pylist() == made.to_pylist()[::-1]


@given(array=any_array, cut=st.integers(0, 8))
@settings(max_examples=200, deadline=None)
def test_a_table_of_any_layout_can_be_taken_from(array, cut):
    column = pa.chunked_array([array.slice(0, cut), array.slice(cut)])
    for source in (column, column.slice(0, 0), pa.chunked_array([], array.type)):
        made = from_stream(pa.table({"a": source}))
        rows = pa.array(range(len(source))[::-1], pa.int64())
        assert made.column("a").take(rows).to_pylist() == source.to_pylist()[::-1]
        assert decoded(made.column("a")).to_pylist() == source.to_pylist()


def test_categories_and_extension_types_stay_what_they_are():
    values = pa.array(["a", "b"], pa.string_view())
    categories = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.uint32()), values, ordered=True)
    table = from_stream(pa.table({"c": categories, "m": pa.ExtensionArray.from_storage(MARK, pa.array([1, 2, 3]))}))
    assert table.schema.types == [pa.dictionary(pa.uint32(), pa.large_string(), ordered=True), MARK]
    assert table.column("c").to_pylist() == ["b", None, "a"]


@pytest.mark.parametrize("values", [["a", None], [["a"], None], [{"a": "b"}, None]], ids=["text", "list", "struct"])
def test_extension_types_give_the_values_of_their_storage(values):
    """Not generated: pyarrow itself crashes on some unions of extension types."""
    storage = pa.array(values, pa.array(values).type if isinstance(values[0], list | dict) else pa.string_view())
    column = pa.chunked_array([pa.ExtensionArray.from_storage(Marked(storage.type), storage)])
    made = from_stream(pa.table({"a": column}))
    assert decoded(made.column("a")).to_pylist() == values
    assert made.column("a").take(pa.array([1, 0])).to_pylist() == values[::-1]


MARK = Marked(pa.int64())


@pytest.mark.parametrize(
    "alias",
    [
        npt.NDArray,
        np.ndarray[tuple[Any, ...], np.dtype[Scalar]],  # what NDArray is up to NumPy 2.4
        TypeAliasType("NDArray", np.ndarray[tuple[Any, ...], np.dtype[Scalar]], type_params=(Scalar,)),  # from 2.5 on
    ],
    ids=["installed", "up to 2.4", "from 2.5"],
)
@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.int64, np.float32])
def test_the_type_of_the_numbers_of_an_array_type(alias, kind):
    assert number_type(alias[kind]) is kind
