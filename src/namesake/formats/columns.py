"""Columns of Arrow tables that are called otherwise than ours."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import decoded
from namesake.errors import NamesakeError, did_you_mean
from namesake.formats.fields import Fields, Reading, choose_fields, listed


class Naming:
    """Gives the columns of a file's tables the names of `ARTICLES`: as the user says, else as the first table tells."""

    def __init__(self, reading: Reading, where: str, begin: str = "", mentions: str | None = None) -> None:
        self.reading, self.where, self.begin, self.mentions = reading, where, begin, mentions
        self.fields: Fields | None = None

    def renamed(self, table: pa.Table, before: int = 0) -> pa.Table:
        """The table with the columns `id`, `text` and, where there are such, `title` and `date`.

        Without a column of ids they are row numbers, from `before` + 1 on, behind what ids `begin` with. Columns of
        such names that the user did not mean keep their values under another name, with `_` behind it. The column that
        `mentions` names is called `mentions`.
        """
        table = self._with_mentions(table)
        named = self.reading.named
        if not named and {"id", "text"} <= set(table.column_names):
            return table
        if self.fields is None:
            paths = [path for path in named.values() if _column(table, path) is not None]
            numbered = "ids are file and row" if self.begin else None
            self.fields = choose_fields(table.column_names, self.reading, self.where, paths, numbered)
        wanted = {"id": self.fields.id, "text": self.fields.text, "title": self.fields.title, "date": self.fields.date}
        columns = {ours: _column(table, theirs) for ours, theirs in wanted.items() if theirs is not None}
        rest = [name for name in table.column_names if name not in wanted.values()]
        numbers = pa.array(np.arange(before + 1, before + table.num_rows + 1)).cast(pa.string())
        numbers = pc.binary_join_element_wise(pa.scalar(self.begin), numbers, "")
        made = {"id": numbers} | {ours: _text(column, ours) for ours, column in columns.items() if column is not None}
        for name in rest:
            made[_free(name, made, rest)] = table.column(name)
        return pa.table(made)

    def _with_mentions(self, table: pa.Table) -> pa.Table:
        """The table with the column of given names under our name."""
        if self.mentions is None:
            return table
        if self.mentions not in table.column_names:
            hint = did_you_mean(self.mentions, table.column_names)
            raise NamesakeError(f"{self.where}: no field {self.mentions!r}{hint}; it has {listed(table.column_names)}")
        made: dict[str, object] = {"mentions": table.column(self.mentions)}
        rest = [name for name in table.column_names if name != self.mentions]
        for name in rest:
            made[_free(name, made, rest)] = table.column(name)
        return pa.table(made)


def _column(table: pa.Table, path: str) -> pa.ChunkedArray | None:
    """The column of that name, or the field b within the column a for `a.b`."""
    if path in table.column_names:
        return table.column(path)
    head, *rest = path.split(".")
    if head not in table.column_names or not rest:
        return None
    try:
        return pc.struct_field(table.column(head), rest)
    except (pa.ArrowException, TypeError):
        return None


def _text(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """A column as text: numbers and dates as they are written."""
    column = decoded(column)
    kind = column.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)
    try:
        if pa.types.is_timestamp(kind):
            return pc.strftime(column.cast(pa.timestamp("s", kind.tz), safe=False), "%Y-%m-%d")
        return column.cast(pa.string()) if plain else column
    except pa.ArrowException as problem:
        raise NamesakeError(f"the column of the {what}, which is {kind}, cannot be read ({problem})") from None


def _free(name: str, made: dict[str, object], rest: list[str]) -> str:
    """A name that is not taken: that of a column whose name is ours now has `_` behind it."""
    while name in made:
        name += "_"
        while name in rest:
            name += "_"
    return name
