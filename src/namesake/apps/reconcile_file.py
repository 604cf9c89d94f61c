"""Reconciliation of a whole file: read the table, match its rows, write the result and a page for review.

On the page, people decide the uncertain rows. A decision belongs to the content of a row, not to its number: it stores
the cells that the row was matched by. It applies to every row with these cells, and to no other row.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import normalize

import msgspec
import pyarrow as pa

from namesake.articles.rejects import NoRejects, Rejects
from namesake.drawing.theme import part_name, render, style_sheet
from namesake.errors import NamesakeError, warn
from namesake.files import STDIN, Paths, check_place, keep_apart, published, several
from namesake.files.lines import json_lines
from namesake.formats import read_rows
from namesake.formats.excel_files import check_rows
from namesake.formats.field_names import Reading
from namesake.formats.link_writers import ROW
from namesake.formats.table_files import Rows, said_of_writing, write_rows, writer_suffix
from namesake.kb.ids import QID
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.printable import counted
from namesake.progress import Reporter
from namesake.reconciling import Candidate, Query
from namesake.reconciling.explained import checked
from namesake.reconciling.matching import VALUES
from namesake.reconciling.table import Answers, Doubtful, Layout, column_of_names, reconcile_table, texts


@dataclass(frozen=True)
class Reconciled:
    """The result of `reconcile`."""

    table: pa.Table
    """The rows with the added columns."""
    matched: int
    """Rows with an entity."""
    chosen: int
    """Rows that people decided in a review."""
    as_chosen: int
    """Of these, the rows that would have the same answer without the decision."""
    unread: int


def reconcile(
    linker: Linker,
    table: str | Path,
    out: str | Path | None = None,
    *,
    name: str | None = None,
    kind: str | Iterable[str] | None = None,
    context: str | Sequence[str] = (),
    date: str | None = None,
    type: Mapping[str, str | Sequence[str]] | None = None,
    review: str | Path | None = None,
    review_below: float = 0.8,
    choices: Paths = (),
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    check: str | None = None,
    explain: bool = False,
    threads: int = 0,
    rejects: Rejects | None = None,
    reporter: Reporter | None = None,
    say: Callable[[str], None] = warn,
) -> Reconciled:
    """Match each row of a table in a file to an entity; `reconcile_frame` does the same for a frame.

    Args:
        linker: its KB and recipe.
        table: a CSV, TSV, JSONL, JSON, Parquet or .xlsx file; `-` is standard input.
        out: the output file, `.csv`, `.tsv`, `.xlsx`, `.jsonl` or `.parquet`; `-` is CSV on standard output.
        name: the column of names; by default it is guessed.
        kind: the kinds of the entities, such as "organisation" or "people,places"; by default the kind of most names.
        context: one or several columns with words about the entity, such as a team or notes. A text may list columns,
            separated by commas.
        date: the column with the year or day for which the row is true.
        type: properties and the columns that contain their values, such as `{"occupation": "Job", "P108": "Firm"}`.
        review: an HTML page to write, on which people decide the uncertain rows.
        review_below: rows whose confidence is lower appear on that page.
        choices: files with decisions that such a page saved.
        encoding: the encoding of CSV and TSV; by default UTF-8, or what a byte order mark indicates.
        format: the format of standard input: csv, tsv, jsonl or json.
        sheet: the name or number of the sheet of an .xlsx file; by default the first visible one with cells.
        check: a column with QIDs, which are compared with the answers; the result is the column `check`.
        explain: also add the column `why`, with one sentence for each row.
        threads: the number of threads; 0 means one per core. The result does not depend on it.
        rejects: receives the rows that cannot be read; without it, the first of them is an error.
        reporter: receives the progress.
        say: receives messages, such as which column was guessed; by default they are warnings (`UserWarning`).
    """
    table, reporter = Path(table), reporter or Reporter()
    rejects = NoRejects() if rejects is None else rejects
    target, page = None if out is None else Path(out), None if review is None else Path(review)
    decided = [Path(file) for file in several(choices)]
    _check_outputs(target, page, rejects.path, [table, linker.kb.path, *decided])
    read = read_rows(table, rejects, Reading(encoding=encoding, format=format, sheet=sheet, say=say))
    check_rows(target or Path(), read.table.num_rows)
    name = column_of_names(read.table.column_names, str(table), say) if name is None else name
    types = tuple((property, column) for property, some in (type or {}).items() for column in several(some))
    columns = read.table.column_names  # `Team,Notes` names two columns unless one column has that name
    listed = [[text] if text in columns else text.split(",") for text in several(context)]
    contexts = tuple(part.strip() for parts in listed for part in parts if part.strip())
    layout = Layout(name, contexts, date, types, kind)
    layout.check(read.table, linker.kb)
    if check is not None:
        replace(layout, name=check).check(read.table, linker.kb)
    chosen, unused = apply_choices(decided, read.table)
    if unused:
        many = f"{counted(len(unused), 'decision')} of {', '.join(map(str, decided))} not used"
        say(f"{many}: no row of the table has the same cells, such as {unused[0]}")
    total = max(read.table.num_rows, 1)
    with reporter.stage("reconciling"):
        answers = reconcile_table(
            linker,
            read.table,
            layout,
            threads=threads,
            review_below=None if page is None else review_below,
            unread=read.unread,
            choices=chosen,
            explain=explain,
            advance=lambda done: reporter.advance(done / total, done, "rows"),
            say=say,
        )
    if check is not None:
        answers = _with_check(answers, check, linker.kb, say)
    if target is not None:
        write_rows(answers.table, target, dialect=read.dialect, from_kb=answers.added)
        if said := said_of_writing(read.dialect, target):
            say(said)
    for column, bad in answers.unread_dates.items():
        at, cell = next(iter(bad.items()))
        example = f"{cell[:60]!r} in row {read.numbers[at]:,}"
        say(f"{counted(len(bad), 'row')} without a date: {column} cannot be read as a date, such as {example}")
    if page is not None:
        _write_review(answers, read, layout, page, table.name, say)
    return Reconciled(answers.table, answers.matched, len(chosen), answers.as_chosen, len(read.unread))


def _with_check(answers: Answers, column: str, kb: KB, say: Callable[[str], None]) -> Answers:
    """The answers with the column `check`: whether the QIDs of the table are the same."""
    qids = answers.table.column(answers.added[0]).to_pylist()
    found = pa.array(checked(kb, texts(answers.table, column), qids, say))
    return replace(answers, table=answers.table.append_column("check", found))


def _check_outputs(out: Path | None, page: Path | None, rejects: Path | None, inputs: Sequence[Path]) -> None:
    """Reject outputs that cannot be written or that would overwrite an input, before any work is done."""
    outputs = [] if page is None else [page, articles_path(page)]
    if out is not None:
        writer_suffix(out)
        outputs += [file for file in (out, rejects) if file is not None and str(file) != STDIN]
    keep_apart(outputs, inputs)
    for file in outputs:
        check_place(file)


def _write_review(
    answers: Answers, read: Rows, layout: Layout, page: Path, title: str, say: Callable[[str], None]
) -> None:
    """Write the page on which people decide the uncertain rows."""
    cells = cells_of(read.table, layout.columns, [one.row for one in answers.doubtful])
    numbers = (read.numbers[one.row] for one in answers.doubtful)
    rows = list(map(ReviewRow, answers.doubtful, numbers, cells))
    articles, on_page = write_review(rows, page, title), sum(map(len, shown(rows)))
    many = counted(len(rows), "row") if on_page == len(rows) else f"{on_page:,} of {counted(len(rows), 'row')}"
    say(f"{page}: {many} to review; its choices are gold for {articles}")


# the review
Cells = dict[str, str]
MOST_ROWS = 2000
"""Rows on one page. Rows with the same content count as one."""


@dataclass(frozen=True)
class ReviewRow:
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


def write_review(rows: Sequence[ReviewRow], page: Path, title: str) -> Path:
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


def shown(rows: Sequence[ReviewRow]) -> list[list[ReviewRow]]:
    """The rows on the page. Rows with the same name and the same content are one group with one decision."""
    alike: dict[Query, list[ReviewRow]] = {}
    for row in rows:
        alike.setdefault(row.doubtful.query, []).append(row)
    return list(alike.values())[:MOST_ROWS]


def articles_path(page: Path) -> Path:
    """The path of the file with the rows of a page as articles."""
    return page.with_name(f"{page.stem}.articles.jsonl")


def review_page(rows: Sequence[ReviewRow], title: str) -> str:
    """The page as HTML. The contents of tables are in it as JSON only, never as markup."""
    data = {"title": title, "total": len(rows), "rows": [_row(same) for same in shown(rows)]}
    return render("apps/review.html", style=style_sheet("colours"), data=data)


def _row(same: Sequence[ReviewRow]) -> dict[str, Any]:
    """Rows with the same content, as data for the page."""
    row, query = same[0].doubtful, same[0].doubtful.query
    return {
        "numbers": [one.number for one in same],
        "decided": list({one.id: {"id": one.id, "cells": one.cells} for one in same}.values()),
        "name": query.name,
        "context": query.context,
        "facts": [*([("date", query.date)] if query.date else []), *query.values],
        "reason": row.reason,
        "candidates": [_candidate(one) for one in row.candidates],
        "total": row.total,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    strongest = sorted(candidate.parts.items(), key=lambda part: -abs(part[1]))
    shown = {name: getattr(candidate, name) for name in ("qid", "label", "description", "confidence", "matched")}
    names = {part: f"{part.removeprefix(VALUES)} of the row" for part in candidate.parts if part.startswith(VALUES)}
    return shown | {"parts": [[names.get(part, part_name(part)), round(added, 2)] for part, added in strongest]}


def _article(row: ReviewRow) -> dict[str, Any]:
    """The row as an article, with its name as the only mention."""
    query, candidates = row.doubtful.query, row.doubtful.candidates
    name = query.name
    facts = ", ".join([query.context, *(value for _, value in query.values)]).strip(", ")
    mention = {"name": name, "spans": [[0, len(name)]], "candidates": [one.qid for one in candidates]}
    article = {"id": row.id, "text": f"{name}: {facts}", "mentions": [mention]}
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
        if isinstance(choice.gold, int) or not (
            choice.gold is None or QID.fullmatch(choice.gold) or ":" in choice.gold
        ):
            raise NamesakeError(f"{where}: gold is {choice.gold!r}, not a QID such as Q76, or null for NIL")
        cells = {column: _plain(cell) for column, cell in choice.cells.items()}
        if seen.setdefault(row_id(cells), choice.gold) != choice.gold:
            raise NamesakeError(f"{where}: two different decisions for the same cells of {choice.name!r}")
        yield where, choice.name, choice.gold, cells


def _plain(cell: str) -> str:
    """A cell in the form in which cells are compared: programs save blanks and composed characters differently."""
    return " ".join(normalize("NFC", cell).split())
