"""Decisions about rows of a table, which a review page saves and `namesake reconcile --choices` applies.

A decision belongs to the content of a row, not to its number: it stores the cells that the row was matched by. It
applies to every row with these cells, wherever the row stands, and to no other row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from unicodedata import normalize

import msgspec
import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files.lines import json_lines
from namesake.formats.link_writers import ROW
from namesake.reconciling.table import texts

Cells = dict[str, str]
"""The cells of a row, by their columns."""


class Choice(msgspec.Struct, frozen=True):
    """A decision in a file. With `articleID` and `name`, it is also gold for the row as an article."""

    articleID: str  # noqa: N815 - as gold has it
    name: str
    gold: str | int | None
    cells: Cells | None = None


class Decisions(msgspec.Struct, frozen=True):
    """Decisions applied to a table."""

    rows: dict[int, str | None]
    """A QID, or None for NIL, by the place of the row."""
    without_row: list[str]
    """Decisions whose row is not in the table: file and line, and the name."""


def cells_of(table: pa.Table, columns: Iterable[str], places: Sequence[int]) -> Iterator[Cells]:
    """The cells of some rows, in the form in which rows are compared."""
    some = table.select(list(dict.fromkeys(columns))).take(pa.array(places, pa.int64()))
    for row in zip(*(texts(some, column) for column in some.column_names), strict=True):
        yield {column: _plain(cell) for column, cell in zip(some.column_names, row, strict=True)}


def row_id(cells: Cells) -> str:
    """The id of rows with these cells, in pages, articles and gold."""
    return ROW + sha256(msgspec.json.encode(sorted(cells.items()))).hexdigest()[:16]


def apply_choices(files: Sequence[Path], table: pa.Table) -> Decisions:
    """Apply the decisions of some files to a table. If several files decide about a row, the last one counts."""

    @cache
    def index(columns: tuple[str, ...]) -> Mapping[tuple[str, ...], list[int]]:
        """The places of rows by their cells in these columns."""
        found = defaultdict(list)
        for place, row in enumerate(cells_of(table, columns, range(table.num_rows))):
            found[tuple(row[column] for column in columns)].append(place)
        return found

    rows: dict[int, str | None] = {}
    without_row: list[str] = []
    for where, name, gold, cells in (one for file in files for one in _choices(file)):
        columns = tuple(sorted(cells))
        known = set(columns) <= set(table.column_names)
        places = index(columns).get(tuple(cells[column] for column in columns), []) if known else []
        rows.update((place, gold) for place in places)
        if not places:
            without_row.append(f"{name!r} ({where})")
    return Decisions(rows, without_row)


def _choices(file: Path) -> Iterator[tuple[str, str, str | None, Cells]]:
    """File and line, name, answer and cells of each decision. Two answers for the same cells are an error."""
    seen: dict[str, str | None] = {}
    for line, choice in json_lines(file, Choice, "a decision of a review"):
        where = f"{file} line {line}"
        if not choice.cells:
            raise NamesakeError(
                f"{where}: the decision about {choice.name!r} has no `cells`; it names its row by number, and another "
                "row may have that number now; make a new page with --review and decide again"
            )
        if isinstance(choice.gold, int) or not (choice.gold is None or re.fullmatch(r"Q[1-9]\d{0,17}", choice.gold)):
            raise NamesakeError(f"{where}: gold is {choice.gold!r}, not a QID such as Q76, or null for NIL")
        cells = {column: _plain(cell) for column, cell in choice.cells.items()}
        if seen.setdefault(row_id(cells), choice.gold) != choice.gold:
            raise NamesakeError(f"{where}: two different decisions for the same cells of {choice.name!r}")
        yield where, choice.name, choice.gold, cells


def _plain(cell: str) -> str:
    """A cell in the form in which cells are compared: programs save blanks and composed characters differently."""
    return " ".join(normalize("NFC", cell).split())
