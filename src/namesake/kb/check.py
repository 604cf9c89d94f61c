"""Checks that the columns of a KB match their declarations: lengths, bounds of lists, ranges, order, tables, text.

Kernels use the numbers of a KB as indices without checking them.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from namesake import __version__
from namesake.arrays import Int64
from namesake.errors import NamesakeError
from namesake.kb.columns import Axis, Column, Columns, KBColumns, Ragged, Strings, Values, columns
from namesake.kb.columns.declaration import ASCENDING, LONGEST_RUN, NEVER_FALLING
from namesake.kb.manifest import BASE, FORMAT_VERSION, MANIFEST, OWN_FILE, REJECTS, SOURCES, Manifest
from namesake.language import LANGUAGES
from namesake.machine import cache_folder

Numbers = npt.NDArray[Any]
Opened = dict[Column[Any], Any]  # every column with its content
Problem = tuple[Column[Any], str]  # a column that does not match its declaration, and the reason

BLOCK = 1 << 22  # numbers checked at a time, where a pass needs memory
WORDS = ("stem", "lemma", "none")
NOT_CONTIGUOUS = "its rows are not contiguous"


def manifest_problem(manifest: Manifest) -> str | None:
    """An unknown language, normalisation of words or file that a manifest names."""
    if manifest.language not in LANGUAGES:
        return f"its {MANIFEST} names the language {manifest.language!r:.80}; known are {', '.join(sorted(LANGUAGES))}"
    if manifest.words_how not in WORDS:
        return f"its {MANIFEST} has words as {manifest.words_how!r:.80}; known are {', '.join(WORDS)}"
    files = {f"{name}.npy" for column in columns().values() for name in column.files}
    others = {REJECTS, OWN_FILE, f"{BASE}{MANIFEST}", *(f"{BASE}{name}" for name in files)}
    files |= {f"{SOURCES}{name}" for name in (manifest.sources.gathered.types if manifest.sources else ())}
    for name in sorted(files.symmetric_difference(manifest.files.keys() - others)):
        return f"its {MANIFEST} does not list {name}" if name in files else f"{name!r:.80} is no part of a KB"
    return None


def problems(files: Columns, manifest: Manifest, quick: bool = False) -> Iterator[Problem]:
    """Columns that do not match their declarations; with `quick`, only by lengths and ends. Stop at the first."""
    opened: Opened = {column: column.open(files) for column in columns().values()}
    sizes: dict[Axis, int] = {}  # the manifest's count, else that of the first column that has the axis
    for column, value in opened.items():
        bounds, numbers = _parts(value)
        if bounds is not None and (not len(bounds) or bounds[0] != 0 or bounds[-1] != len(numbers)):
            yield column, NOT_CONTIGUOUS
        counted = column.rows.counted
        sizes.setdefault(column.rows, getattr(manifest, counted) if counted else len(value))
    for column, value in opened.items():  # checks rely on those before
        if wrong := _rows_problem(column.rows, len(value), sizes, opened):
            yield column, wrong
    for column, value in () if quick else opened.items():
        if wrong := _content_problem(column, value, sizes, opened):
            yield column, wrong


def _parts(value: Any) -> tuple[Int64 | None, Numbers]:
    """The bounds of the rows of a column of strings or lists, and the flat values of any column."""
    if isinstance(value, Ragged):
        return value.indptr, value.values
    return (value.offsets, value.data) if isinstance(value, Strings) else (None, value)


def _blocks(size: int) -> Iterator[slice]:
    """Slices of one block each, with the first place of the next block."""
    for start in range(0, size, BLOCK):
        yield slice(start, min(start + BLOCK + 1, size))


def _rows_problem(axis: Axis, rows: int, sizes: dict[Axis, int], opened: Opened) -> str | None:
    expected = sizes[axis.one_more_than] + 1 if axis.one_more_than in sizes else sizes[axis]
    for column, value in opened.items():
        if column.file == axis.values_of:
            expected = len(_parts(value)[1])
    if rows != expected:
        return f"it has {rows:,} rows, not {expected:,}, one for each {axis.name}"
    if axis.power_of_two and rows.bit_count() != 1:
        return f"it has {rows:,} rows, which is not a power of two"
    return None


def _content_problem(column: Column[Any], value: Any, sizes: dict[Axis, int], opened: Opened) -> str | None:
    (bounds, numbers), values = _parts(value), column.values
    if bounds is not None and _falls(bounds, np.less):
        return NOT_CONTIGUOUS
    if isinstance(value, Strings):
        return None if value.is_valid() else "it is not UTF-8"
    if column.dtype == np.bool_:
        return "a value is neither true nor false" if numbers.view(np.uint8).max(initial=0) > 1 else None
    if values.keys:
        return _table_problem(numbers[:: values.entry])
    if values.taken_in:
        [keys] = (held for other, held in opened.items() if other.file == values.taken_in)
        if any(((keys[part] != 0) != (numbers[part] >= 0)).any() for part in _blocks(len(keys))):
            return f"it has a row for a free slot of {values.taken_in}, or none for a taken one"
    return _range_problem(values, numbers, sizes) or _order_problem(column.order, numbers, bounds)


def _table_problem(keys: Numbers) -> str | None:
    """A search for a key ends at the next free slot: there must be one nearby."""
    first = last = None
    longest = 0
    for part in _blocks(len(keys)):
        free = np.flatnonzero(keys[part] == 0) + part.start
        if len(free):
            first = free[0] if first is None else first
            longest = max(longest, free[0] - (free[0] if last is None else last), np.diff(free).max(initial=0))
            last = free[-1]
    if first is None or last is None:
        return "it has no free slot"
    longest = max(longest, first + len(keys) - last)
    return f"{longest:,} of its slots in a row are taken" if longest > LONGEST_RUN else None


def _range_problem(values: Values, numbers: Numbers, sizes: dict[Axis, int]) -> str | None:
    if not len(numbers) or values == Values():
        return None
    low = -np.inf if values.low is None else values.low
    high = np.finfo(np.float64).max if values.high is None else values.high
    if values.row_of:
        low = -1 if values.missing else -sizes[values.inverted] if values.inverted else 0
        high = sizes[values.row_of] - 1
    elif values.count_of:
        low, high = 0, sizes[values.count_of]
    if not (numbers.min() >= low and numbers.max() <= high):  # false for NaN as well
        return f"a value is not {values}"
    return None


def _order_problem(order: str, numbers: Numbers, bounds: Int64 | None) -> str | None:
    if order not in (ASCENDING, NEVER_FALLING):
        return None
    wrong = _falls(numbers, np.less if order == NEVER_FALLING else np.less_equal, bounds)
    return f"its values are not {order}" if wrong else None


def _falls(numbers: Numbers, falls: Callable[[Numbers, Numbers], Any], bounds: Int64 | None = None) -> bool:
    """Whether a number `falls` below the one before it, except at the beginning of a row if `bounds` are given."""
    for part in _blocks(len(numbers)):
        some = numbers[part]
        places = np.flatnonzero(falls(some[1:], some[:-1])) + part.start + 1
        if len(places) and (bounds is None or (bounds[np.searchsorted(bounds, places)] != places).any()):
            return True
    return False


def derived_problems(files: Columns) -> Iterator[Problem]:
    """Derived columns that differ from what their functions compute, which may be caused by the other columns."""
    from namesake.kb.columns.derived import DERIVED  # loads kernels that only a check needs

    kb = KBColumns(files)
    for column, function in DERIVED.items():
        try:
            if not np.array_equal(function(kb), column.open(files)):
                yield column, "it does not follow from the columns that it is derived from"
        except NamesakeError as problem:
            yield column, str(problem)


CHECKS = 2  # raised when a check is added, so that every KB is checked again
MOST = 1000  # marks; the oldest are deleted first


def mark(states: dict[str, os.stat_result]) -> Path:
    """The mark of a KB whose files are in these states, for this version of namesake."""
    fields = "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"  # unlike the others, ctime cannot be set
    files = [(name, [getattr(states[name], field) for field in fields]) for name in sorted(states)]
    state = __version__, FORMAT_VERSION, CHECKS, files
    return cache_folder() / "known" / sha256(msgspec.json.encode(state)).hexdigest()


def is_known(states: dict[str, os.stat_result]) -> bool:
    """Whether a KB was built or checked here and has not changed since."""
    try:
        return mark(states).is_file()
    except (OSError, RuntimeError):  # no home folder
        return False


def remember(states: dict[str, os.stat_result]) -> None:
    """Mark a KB as checked. If no mark can be written, it is checked again at its next use."""
    with suppress(OSError, RuntimeError):
        path = mark(states)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        marks = list(path.parent.iterdir())
        if len(marks) > MOST:
            for old in sorted(marks, key=lambda one: one.stat().st_mtime)[: MOST // 10]:
                old.unlink(missing_ok=True)
