"""What the scanner writes down of a dump, each column declared once: where the tables of the kernels have it.

Chunks of a dump and whole dumps have the same columns, in dump order. Columns without a prefix have a row for each
item; properties stand apart, lexemes are not kept.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Int8, Int32, Int64, number_type
from namesake.kb.columns.column_files import Strings
from namesake.kernels.dump import tables as t

TABLES = {
    "items": (t.ITEMS, t.ITEM_COLUMNS),
    "statements": (t.STATEMENTS, t.STATEMENT_COLUMNS),
    "properties": (t.PROPERTIES, 1),
}
"""Of each table of numbers: where `counts` has its rows, and how many columns it has."""


@dataclass(frozen=True)
class Number:
    """A column of one of the tables of numbers."""

    table: str
    place: int = 0
    is_end: bool = False
    """Whether it says where the rows of each item end in another column; then a 0 goes before."""

    def read(self, to: t.Tables, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The column, of its own type."""
        counted, columns = TABLES[self.table]
        used: Int64 = getattr(to, self.table)[: to.counts[counted] * columns]
        column = used.reshape(-1, columns)[:, self.place].astype(dtype)
        return np.concatenate((np.zeros(1, dtype), column)) if self.is_end else column


def of_item(place: int, is_end: bool = False) -> Number:
    """A number of each item."""
    return Number("items", place, is_end)


def of_statement(place: int) -> Number:
    """A number of each statement."""
    return Number("statements", place)


@dataclass(frozen=True)
class TextAt:
    """A text column of the tables; `of_item` where each item has exactly one."""

    place: int
    of_item: bool = False

    def read(self, to: t.Tables, _: np.dtype[Any]) -> Strings:
        """The strings, copied."""
        rows = to.offsets[: (to.counts[self.place] + 1) * t.TEXT_COLUMNS].reshape(-1, t.TEXT_COLUMNS)
        offsets = rows[:, self.place].copy()
        base = self.place * to.counts[t.CAPACITY]
        return Strings(offsets, to.text[base : base + offsets[-1]].copy())


@dataclass(frozen=True)
class Scanned:
    """What lines of a dump say."""

    qid: Annotated[Int64, of_item(t.QID)]
    line: Annotated[Int64, of_item(t.LINE)]
    """Line of the dump file, from 1."""
    kept: Annotated[Bool, of_item(t.KEPT)]
    person: Annotated[Bool, of_item(t.PERSON)]
    """Whether the item is a human (P31 = Q5)."""
    sitelinks: Annotated[Int32, of_item(t.SITELINK_COUNT)]
    """NS."""
    properties: Annotated[Int32, of_item(t.PROPERTY_COUNT)]
    """NP: distinct properties with a statement that is not deprecated and has a value, of any datatype."""
    birth: Annotated[Int32, of_item(t.BIRTH)]
    """Days since 1970-01-01, `dates.MISSING` where not given."""
    birth_precision: Annotated[Int8, of_item(t.BIRTH_PRECISION)]
    """As Wikidata has it: 11 a day, 10 a month, 9 a year …; 0 where not given."""
    death: Annotated[Int32, of_item(t.DEATH)]
    death_precision: Annotated[Int8, of_item(t.DEATH_PRECISION)]
    population: Annotated[Int32, of_item(t.POPULATION)]
    """The largest number of inhabitants stated (P1082); 0 where there is none."""
    label: Annotated[Strings, TextAt(t.LABEL, of_item=True)]
    """In the first that has one of the languages that are kept (`Language.labels`); empty where none has."""
    description: Annotated[Strings, TextAt(t.DESCRIPTION, of_item=True)]
    """Likewise."""
    title: Annotated[Strings, TextAt(t.TITLE, of_item=True)]
    """Of the page in the language's Wikipedia; of kept items only."""
    alias_indptr: Annotated[Int64, of_item(t.ALIAS_END, is_end=True)]
    """Aliases of item i are alias[alias_indptr[i]:alias_indptr[i + 1]]."""
    alias: Annotated[Strings, TextAt(t.ALIAS)]
    """Of all those languages, with the labels that were not chosen; distinct, never the label, never empty."""
    statement_indptr: Annotated[Int64, of_item(t.STATEMENT_END, is_end=True)]
    statement_property: Annotated[Int32, of_statement(t.PROPERTY)]
    statement_value: Annotated[Int64, of_statement(t.VALUE)]
    """The QID of an item; ~i for the string i of `strings`. Strings are of kept items only."""
    statement_start: Annotated[Int32, of_statement(t.SINCE)]
    """First day of the qualifier P580, `dates.MISSING` where not given."""
    statement_end: Annotated[Int32, of_statement(t.UNTIL)]
    """Last day of the qualifier P582, `dates.MISSING` where not given."""
    strings: Annotated[Strings, TextAt(t.STRING)]
    property_id: Annotated[Int32, Number("properties")]
    property_label: Annotated[Strings, TextAt(t.PROPERTY_LABEL)]


@dataclass(frozen=True)
class Field:
    """One column of `Scanned`: its place in the scanner's tables, and the type of its numbers."""

    place: Number | TextAt
    dtype: np.dtype[Any]


def _fields() -> dict[str, Field]:
    hints = get_type_hints(Scanned, include_extras=True)
    found = {}
    for field in fields(Scanned):
        kind, place = get_args(hints[field.name])
        found[field.name] = Field(place, np.dtype(np.uint8 if kind is Strings else number_type(kind)))
    return found


FIELDS = _fields()
"""The columns of `Scanned` by name."""


def read(to: t.Tables) -> dict[str, Any]:
    """Copy what the tables hold into columns of their own, by the names of `Scanned`."""
    return {name: field.place.read(to, field.dtype) for name, field in FIELDS.items()}
