"""Arrow arrays made without `pa.array` are those that it makes."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from namesake.arrays import arrow_numbers, arrow_scalar, arrow_texts, number_type, numpy_numbers, sizes

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
