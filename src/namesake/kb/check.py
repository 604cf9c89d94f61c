"""Whether the columns of a KB hold what `layout.py` declares: lengths, bounds of lists, ranges, order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.kb.columns import Ragged, Strings
from namesake.kb.declare import ASCENDING, NEVER_FALLING, Axis, Column, Values
from namesake.kb.manifest import Manifest

Numbers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Sizes = dict[Axis, int]
"""The number of rows of each axis, as far as it is known."""


def problems(opened: dict[Column[Any], Any], manifest: Manifest) -> Iterator[tuple[Column[Any], str]]:
    """The columns among `opened` (each with what it holds) that break their declaration, and how."""
    sizes = _sizes(opened, manifest)
    for column, value in opened.items():
        wrong = (
            _rows_problem(column.rows, len(value), sizes, opened)
            or _bounds_problem(value)
            or _values_problem(column.values, _numbers(value), sizes)
            or _order_problem(column.order, value)
        )
        if wrong:
            yield column, wrong


def _sizes(opened: dict[Column[Any], Any], manifest: Manifest) -> Sizes:
    """The number of rows of each axis: the manifest's count, else that of the first column that has the axis."""
    sizes: Sizes = {}
    for column, value in opened.items():
        axis = column.rows
        sizes.setdefault(axis, getattr(manifest, axis.counted) if axis.counted else len(value))
    return sizes


def _numbers(value: Any) -> Numbers:
    """What a column holds, whatever its rows."""
    if isinstance(value, Ragged):
        return value.values
    return value.data if isinstance(value, Strings) else value


def _rows_problem(axis: Axis, rows: int, sizes: Sizes, opened: dict[Column[Any], Any]) -> str | None:
    expected = sizes[axis]
    if axis.one_more_than in sizes:
        expected = sizes[axis.one_more_than] + 1
    for column, value in opened.items():
        if column.file == axis.values_of:
            expected = len(_numbers(value))
    if rows != expected:
        return f"it has {rows:,} rows, not {expected:,}, one for each {axis.name}"
    if axis.power_of_two and rows.bit_count() != 1:
        return f"it has {rows:,} rows, which is no power of two"
    return None


def _bounds_problem(value: Any) -> str | None:
    """Rows of strings and of lists must lie one behind the other, from the first number held to the last."""
    if not isinstance(value, Ragged | Strings):
        return None
    bounds = value.indptr if isinstance(value, Ragged) else value.offsets
    if len(bounds) == 0 or bounds[0] != 0 or bounds[-1] != len(_numbers(value)) or (np.diff(bounds) < 0).any():
        return "its rows do not lie one behind the other"
    return None


def _values_problem(values: Values, numbers: Numbers, sizes: Sizes) -> str | None:
    if not len(numbers) or values == Values():
        return None
    low, high = _limits(values, sizes)
    if not (numbers.min() >= low and numbers.max() <= high):  # so that NaN is wrong as well
        return f"a value is not {values}"
    return None


def _limits(values: Values, sizes: Sizes) -> tuple[float, float]:
    """The smallest and the largest number that a column may hold, as far as the sizes of its axes are known."""
    if values.row_of:
        inverted = -sizes.get(values.inverted, 0) if values.inverted else 0
        return -1 if values.missing else inverted, sizes.get(values.row_of, np.inf) - 1
    if values.count_of:
        return 0, sizes.get(values.count_of, np.inf)
    low = -np.inf if values.low is None else values.low
    return low, np.finfo(np.float64).max if values.high is None else values.high


def _order_problem(order: str, value: Any) -> str | None:
    numbers = _numbers(value)
    if order not in (ASCENDING, NEVER_FALLING) or len(numbers) < 2:
        return None
    before, after = numbers[:-1], numbers[1:]
    falls = after < before if order == NEVER_FALLING else after <= before
    if isinstance(value, Ragged):  # a new row may begin anywhere
        starts = value.indptr[1:-1]
        falls[starts[(starts > 0) & (starts < len(numbers))] - 1] = False
    return f"its values are not {order}" if falls.any() else None
