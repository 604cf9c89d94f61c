"""The review of a table: a page on which people decide the uncertain rows, and the decisions that the page saves.

A decision belongs to the content of a row, not to its number: it stores the cells that the row was matched by. It
applies to every row with these cells, wherever the row stands, and to no other row.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import normalize

import msgspec
import pyarrow as pa

from namesake.drawing.theme import part_name, render, style_sheet
from namesake.errors import NamesakeError
from namesake.files import published
from namesake.files.lines import json_lines
from namesake.formats.link_writers import ROW
from namesake.reconciling import Candidate, Query
from namesake.reconciling.matching import VALUES, plain_name
from namesake.reconciling.table import Doubtful, texts

Cells = dict[str, str]
"""The cells of a row, by their columns."""
MOST_ROWS = 2000
"""Rows on one page. Rows with the same content count as one."""


@dataclass(frozen=True)
class Row:
    """A row of the table for review."""

    doubtful: Doubtful
    number: int
    """Its number in the table, from 1."""
    cells: Cells
    """The cells by which it was matched. A decision applies to all rows with these cells."""

    @property
    def id(self) -> str:
        """The id of all rows with these cells."""
        return row_id(self.cells)


def write_review(rows: Sequence[Row], page: Path, title: str) -> Path:
    """Write the page, and beside it a file with the rows as articles; returns the path of that file.

    The page saves decisions as gold (`articleID`, `name`, `gold`), which `namesake eval run` and `tune` read. They also
    have the cells of the row (`cells`), which `namesake reconcile --choices` compares.
    """
    beside = articles_path(page)
    with published(page) as partial:
        partial.write_text(review_page(rows, title), encoding="utf-8")
    with published(beside) as partial:
        distinct = {row.id: row for same in shown(rows) for row in same}
        partial.write_bytes(b"".join(msgspec.json.encode(_article(row)) + b"\n" for row in distinct.values()))
    return beside


def shown(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows on the page. Rows with the same name and the same content are one group with one decision."""
    alike: dict[Query, list[Row]] = {}
    for row in rows:
        query = row.doubtful.query
        alike.setdefault(replace(query, name=plain_name(query.name)), []).append(row)
    return list(alike.values())[:MOST_ROWS]


def articles_path(page: Path) -> Path:
    """The path of the file with the rows of a page as articles."""
    return page.with_name(f"{page.stem}.articles.jsonl")


def review_page(rows: Sequence[Row], title: str) -> str:
    """The page as HTML. The contents of tables are in it as JSON only, never as markup."""
    data = {"title": title, "total": len(rows), "rows": [_row(same) for same in shown(rows)]}
    return render("apps/review/page.html", style=style_sheet("colours"), data=data)


def _row(same: Sequence[Row]) -> dict[str, Any]:
    """Rows with the same content, as data for the page."""
    row, query = same[0].doubtful, same[0].doubtful.query
    return {
        "numbers": [one.number for one in same],
        "decided": list({one.id: {"id": one.id, "cells": one.cells} for one in same}.values()),
        "name": plain_name(query.name),
        "context": query.context,
        "told": [*([("date", query.date)] if query.date else []), *query.values],
        "reason": row.reason,
        "candidates": [_candidate(one) for one in row.candidates],
        "total": row.total,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    strongest = sorted(candidate.parts.items(), key=lambda part: -abs(part[1]))
    shown = {name: getattr(candidate, name) for name in ("qid", "label", "description", "confidence", "matched")}
    names = {part: f"{part.removeprefix(VALUES)} of the row" for part in candidate.parts if part.startswith(VALUES)}
    return shown | {"parts": [[names.get(part, part_name(part)), round(added, 2)] for part, added in strongest]}


def _article(row: Row) -> dict[str, Any]:
    """The row as an article, with its name as the only mention."""
    query, candidates = row.doubtful.query, row.doubtful.candidates
    name = plain_name(query.name)
    told = ", ".join([query.context, *(value for _, value in query.values)]).strip(", ")
    mention = {"name": name, "spans": [[0, len(name)]], "candidates": [one.qid for one in candidates]}
    article = {"id": row.id, "text": f"{name}: {told}", "mentions": [mention]}
    return article | ({"date": query.date} if query.date else {})


# the decisions
class Choice(msgspec.Struct, frozen=True):
    """A decision in a file. With `articleID` and `name`, it is also gold for the row as an article."""

    articleID: str  # noqa: N815 - as gold has it
    name: str
    gold: str | int | None
    cells: Cells | None = None


def cells_of(table: pa.Table, columns: Iterable[str], places: Sequence[int]) -> Iterator[Cells]:
    """The cells of some rows, in the form in which rows are compared."""
    some = table.select(list(dict.fromkeys(columns))).take(pa.array(places, pa.int64()))
    for row in zip(*(texts(some, column) for column in some.column_names), strict=True):
        yield {column: _plain(cell) for column, cell in zip(some.column_names, row, strict=True)}


def row_id(cells: Cells) -> str:
    """The id of rows with these cells, in pages, articles and gold."""
    return ROW + sha256(msgspec.json.encode(sorted(cells.items()))).hexdigest()[:16]


def apply_choices(files: Sequence[Path], table: pa.Table) -> tuple[dict[int, str | None], list[str]]:
    """The decisions of some files by the place of the row, and those whose row is not in the table.

    A decision is a QID, or None for NIL. If several files decide about a row, the last one counts.
    """

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
    return rows, without_row


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
