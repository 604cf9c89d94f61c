"""How a column is declared: its files, type, meaning and origin, what its rows stand for, and what it may hold.

A declaration is a class attribute of a `Mapped` class and also the attribute of the column: `kb.sitelinks` maps the
file when it is first used. `layout.py` holds the declarations; all code that handles columns reads them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from namesake.kb.columns.column_files import Columns, Ragged, Strings

C = TypeVar("C")
S = TypeVar("S", bound=np.generic)

ASCENDING, NEVER_FALLING = "ascending", "never falling"
"""Orders of values; in lists, of the values in each row."""
LONGEST_RUN = 4096
"""Most occupied slots in a row that a hash table may have; a table that is three quarters full has some hundred."""


@dataclass(frozen=True)
class Axis:
    """What the rows of a column stand for. All columns of one axis have the same number of rows."""

    name: str  # in the singular
    counted: str = ""  # the field of the manifest that has the number of rows, if one has
    values_of: str = ""  # the file name of the lists whose values have one row each here
    one_more_than: "Axis | None" = None  # the axis between and around whose rows these stand
    power_of_two: bool = False  # whether the number of rows is a power of two: slots of a hash table


@dataclass(frozen=True)
class Values:
    """What the numbers of a column may be: any, a row of an axis, a count, or numbers within limits."""

    low: float | None = None
    high: float | None = None
    row_of: Axis | None = None
    missing: bool = False  # whether -1 may stand for no row
    inverted: Axis | None = None  # another axis: a negative number is `~row` of it
    taken_in: str = ""  # the keys of a hash table: a free slot has no row (-1), every other slot has one
    count_of: Axis | None = None  # the axis whose number of rows is the largest value
    keys: bool = False  # whether these are the keys of a hash table: 0 in a free slot, of which there are enough
    entry: int = 1  # how many numbers belong to a key, including the key, which comes first

    def __str__(self) -> str:
        if self.row_of:
            other = f", or `~row` of {self.inverted.name}" if self.inverted else ""
            other += f", or -1 where `{self.taken_in}` is 0" if self.taken_in else ", or -1" if self.missing else ""
            return f"row of {self.row_of.name}{other}"
        if self.keys:
            return "hashes, 0 where free" if self.entry == 1 else f"entries of {self.entry}: hash, 0 where free, …"
        if self.count_of:
            return f"0 to the number of {self.count_of.name} rows"
        if self.low is None:
            return ""
        return f"{self.low:,.0f} or more" if self.high is None else f"{self.low:,.0f} to {self.high:,.0f}"


ANY = Values()


class Column(cached_property[C]):
    """One column, whose values are a C: an attribute that is mapped at its first use and ordinary from then on."""

    kind: ClassVar[str]
    holder: ClassVar[type[Any] | None] = None  # the class of the content; None where there is one file and one array
    parts: ClassVar[dict[str, str]] = {}  # the holder's arrays, by the suffixes of their files

    def __init__(
        self, file: str, dtype: Any, rows: Axis, doc: str, values: Values = ANY, order: str = "", dump: bool = False
    ) -> None:
        """With `dump`, the last part of the file's name is a field of the dump's items, picked for the entities."""
        super().__init__(lambda owner: self.open(owner.columns))
        self.file, self.dtype, self.rows = file, np.dtype(dtype), rows
        self.__doc__, self.values, self.order = doc, values, order
        self.dump_field = file.rpartition(".")[2] if dump else ""

    @property
    def files(self) -> dict[str, np.dtype[Any]]:
        """The type of each of its files, by name without `.npy`. Offsets of rows are int64."""
        names = [self.file + suffix for suffix in self.parts] or [self.file]
        return {name: np.dtype(np.int64) for name in names[:-1]} | {names[-1]: self.dtype}

    def open(self, columns: Columns) -> C:
        """The column in a folder, mapped."""
        arrays: list[Any] = [columns.array(name, dtype) for name, dtype in self.files.items()]
        opened: C = self.holder(*arrays) if self.holder else arrays[0]
        return opened

    def arrays(self, value: C) -> dict[str, npt.NDArray[Any]]:
        """What to write: each array by the name of its file. Its type must be the declared one."""
        parts = [getattr(value, part) for part in self.parts.values()] or [value]
        found = dict(zip(self.files, parts, strict=True))
        for name, dtype in self.files.items():
            assert found[name].dtype == dtype, f"{name} is declared as {dtype}, not {found[name].dtype}"
        return found


Made = dict[Column[Any], Any]  # columns with their contents, ready to be written


class Array(Column[npt.NDArray[S]], Generic[S]):
    """One number for each row: the file `NAME.npy`."""

    kind = "array"

    def __init__(
        self, file: str, dtype: type[S], rows: Axis, doc: str, values: Values = ANY, order: str = "", dump: bool = False
    ) -> None:
        super().__init__(file, dtype, rows, doc, values, order, dump)


class Text(Column[Strings]):
    """One string for each row, in Arrow's layout: `NAME.offsets.npy` and `NAME.bytes.npy`."""

    kind = "strings"
    holder = Strings
    parts: ClassVar = {".offsets": "offsets", ".bytes": "data"}

    def __init__(self, file: str, rows: Axis, doc: str, dump: bool = False) -> None:
        super().__init__(file, np.uint8, rows, doc, dump=dump)


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
