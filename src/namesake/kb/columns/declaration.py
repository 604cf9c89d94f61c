"""How a column is declared: its files, type and meaning, what its rows stand for, what it may hold, who makes it.

A declaration is a class attribute of a `Mapped` class and is the column's attribute as well: `kb.sitelinks` maps the
file at its first use. `layout.py` holds the declarations; everything that handles columns follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from namesake.kb.columns.column_files import Columns, Ragged, Strings

C = TypeVar("C")
S = TypeVar("S", bound=np.generic)
AnyArray = npt.NDArray[Any]

ASCENDING, NEVER_FALLING = "ascending", "never falling"
"""Orders of values; in lists, of those in each row."""
LONGEST_RUN = 4096
"""Slots of a hash table in a row that are taken; some hundred are the most in one that is three quarters full."""


@dataclass(frozen=True)
class Axis:
    """What the rows of a column stand for. All columns of one axis have the same number of rows."""

    name: str
    """In the singular: one row for each such thing."""
    counted: str = ""
    """The field of the manifest that has their number, if one has."""
    values_of: str = ""
    """The file name of the lists whose every value has a row here."""
    one_more_than: Axis | None = None
    """The axis between whose rows, and around them, these stand."""
    power_of_two: bool = False
    """Whether their number is a power of two: slots of a hash table."""


@dataclass(frozen=True)
class Values:
    """What the numbers of a column may be: any, a row of an axis, or within limits."""

    low: float | None = None
    high: float | None = None
    row_of: Axis | None = None
    missing: bool = False
    """Whether -1 may stand for no row."""
    inverted: Axis | None = None
    """Whether a negative number is `~row` of another axis."""
    taken_in: str = ""
    """The keys of the hash table whose free slots have no row, -1, and all others one."""
    count_of: Axis | None = None
    """The axis whose number of rows is the largest value."""
    keys: bool = False
    """Whether these are the keys of a hash table: 0 in a free slot, of which there are enough."""
    entry: int = 1
    """How many numbers belong to a key, itself the first of them."""

    def __str__(self) -> str:
        if self.row_of:
            other = f", or `~row` of {self.inverted.name}" if self.inverted else ", or -1" if self.missing else ""
            return f"row of {self.row_of.name}{other}{f' where `{self.taken_in}` is 0' if self.taken_in else ''}"
        if self.keys:
            return "hashes, 0 where free" if self.entry == 1 else f"entries of {self.entry}: hash, 0 where free, …"
        if self.count_of:
            return f"0 to the number of {self.count_of.name} rows"
        if self.low is None:
            return ""
        return f"{self.low:,.0f} or more" if self.high is None else f"{self.low:,.0f} to {self.high:,.0f}"


def row_of(axis: Axis, *, missing: bool = False, inverted: Axis | None = None, taken_in: str = "") -> Values:
    """Rows of `axis`; also -1 where `missing`, or in the free slots of `taken_in`; also `~row` of `inverted`."""
    return Values(row_of=axis, missing=missing or bool(taken_in), inverted=inverted, taken_in=taken_in)


def count_of(axis: Axis) -> Values:
    """From 0 to the number of rows of `axis`, inclusive."""
    return Values(count_of=axis)


def between(low: float, high: float | None = None) -> Values:
    """From `low` to `high`, inclusive; without an end if there is no `high`."""
    return Values(low=low, high=high)


def entries(numbers: int) -> Values:
    """The entries of a hash table, each of so many numbers, the first of which is its key."""
    return Values(keys=True, entry=numbers)


ANY = Values()
KEYS = Values(keys=True)


@dataclass(frozen=True)
class Source:
    """Where a column comes from: a column of the dump's items, or a function of the build."""

    dump: str = ""
    """The field of `scanned.Scanned` whose rows are picked for the entities."""
    function: str = ""
    """The function that makes it, as `module.name` in this room."""

    def __str__(self) -> str:
        return f"dump: `{self.dump}`" if self.dump else f"`{self.function}`"


def picked(dump: str) -> Source:
    """From the dump's column `dump`: the rows of the entities, as they are."""
    return Source(dump=dump)


def made_by(function: str) -> Source:
    """By the function `module.name` of this room, in the course of a build."""
    return Source(function=function)


class Column(Generic[C]):
    """One column, whose values are a C: an attribute that is mapped at its first use and ordinary from then on."""

    kind: ClassVar[str]
    holder: ClassVar[type[Any] | None] = None
    """What holds the arrays of its files; None where there is one file and the array is all."""
    parts: ClassVar[dict[str, str]] = {}
    """The holder's arrays, by the suffixes of their files."""

    def __init__(
        self,
        file: str,
        dtype: type[np.generic],
        rows: Axis,
        doc: str,
        source: Source,
        values: Values = ANY,
        order: str = "",
    ) -> None:
        """Declare the column `file` of `dtype` with one row for each of `rows`; `doc` says what it means.

        `source` says who makes it, `values` what numbers it may hold, `order` how they are sorted.
        """
        self.file = file
        self.dtype = np.dtype(dtype)
        self.rows = rows
        self.__doc__ = doc
        self.source = source
        self.values = values
        self.order = order

    @property
    def files(self) -> dict[str, np.dtype[Any]]:
        """The type of each of its files, by name without `.npy`: where rows end is int64, what they hold the dtype."""
        names = [self.file + suffix for suffix in self.parts] or [self.file]
        return {name: np.dtype(np.int64) for name in names[:-1]} | {names[-1]: self.dtype}

    def open(self, columns: Columns) -> C:
        """The column in a folder, mapped."""
        arrays: list[Any] = [columns.array(name, dtype) for name, dtype in self.files.items()]
        opened: C = self.holder(*arrays) if self.holder else arrays[0]
        return opened

    def arrays(self, value: C) -> dict[str, AnyArray]:
        """What to write: each array by its file's name. Another type than the declared one is a mistake of ours."""
        parts = [getattr(value, part) for part in self.parts.values()] or [value]
        found = dict(zip(self.files, parts, strict=True))
        for name, dtype in self.files.items():
            assert found[name].dtype == dtype, f"{name} is declared as {dtype}, not {found[name].dtype}"
        return found

    def holding(self, value: C) -> tuple[Column[Any], C]:
        """The column with what it is to hold, for a dictionary of columns to write; mypy compares their types."""
        return self, value

    def __set_name__(self, owner: type[Mapped], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, kind: type[Mapped]) -> Self: ...
    @overload
    def __get__(self, owner: Mapped, kind: type[Mapped]) -> C: ...
    def __get__(self, owner: Mapped | None, kind: type[Mapped]) -> Self | C:
        if owner is None:
            return self
        opened = self.open(owner.columns)
        vars(owner)[self.name] = opened  # found before this descriptor from now on
        return opened


Made = dict[Column[Any], Any]
"""Columns with what they are to hold; made of `Column.holding`."""


class Array(Column[npt.NDArray[S]], Generic[S]):
    """One number for each row: the file `NAME.npy`."""

    kind = "array"

    def __init__(
        self, file: str, dtype: type[S], rows: Axis, doc: str, source: Source, values: Values = ANY, order: str = ""
    ) -> None:
        super().__init__(file, dtype, rows, doc, source, values, order)


class Text(Column[Strings]):
    """One string for each row, in Arrow's layout: `NAME.offsets.npy` and `NAME.bytes.npy`."""

    kind = "strings"
    holder = Strings
    parts: ClassVar = {".offsets": "offsets", ".bytes": "data"}

    def __init__(self, file: str, rows: Axis, doc: str, source: Source) -> None:
        super().__init__(file, np.uint8, rows, doc, source)


class Lists(Column[Ragged]):
    """A list of numbers for each row, CSR: `NAME.indptr.npy` and `NAME.values.npy`."""

    kind = "ragged"
    holder = Ragged
    parts: ClassVar = {".indptr": "indptr", ".values": "values"}


class Mapped:
    """A class whose attributes are the declared columns of a folder."""

    def __init__(self, columns: Columns) -> None:
        """Read the declared columns from the files in `columns`."""
        self.columns = columns

    @classmethod
    def declared(cls) -> dict[str, Column[Any]]:
        """Every declared column by its attribute's name, in the order of declaration."""
        of_class = [vars(kind) for kind in reversed(cls.__mro__)]
        return {name: value for names in of_class for name, value in names.items() if isinstance(value, Column)}
