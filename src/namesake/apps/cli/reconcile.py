"""`namesake reconcile`: tables of names."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from namesake.apps.cli import options
from namesake.apps.cli.link import NOTHING_LINKED
from namesake.apps.cli.output import default_kb, report_rejects, say, warn_of_sample
from namesake.errors import NamesakeError
from namesake.printable import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyarrow import Table

    from namesake.apps.review.page import Row
    from namesake.reconciling.table import Layout


def reconcile(
    table: Annotated[
        Path, typer.Argument(help="CSV, TSV, JSONL, JSON (also .gz .bz2 .zst) or Parquet; - is CSV on standard input")
    ],
    name: Annotated[str | None, typer.Option("--name", help="the column of names")] = None,
    context: Annotated[
        list[str] | None, typer.Option("--context", help="columns of words about the person, such as Team,Notes")
    ] = None,
    date: Annotated[
        str | None, typer.Option("--date", help="the column of when a row is true: a year or a day")
    ] = None,
    type: Annotated[
        list[str] | None,
        typer.Option(
            "--type", help="property=column, such as occupation=Job, birth=Born or P108=Firm; may be repeated"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help=".csv, .tsv, .jsonl or .parquet; - is CSV on standard output")
    ] = None,
    review: Annotated[
        Path | None, typer.Option("--review", help="also write an HTML page on which to settle the doubtful rows")
    ] = None,
    review_below: Annotated[
        float, typer.Option("--review-below", min=0, max=1, help="confidence below which answers are on that page")
    ] = 0.8,
    choices: Annotated[
        list[Path] | None,
        typer.Option("--choices", help="what was chosen and saved on such a page (gold.jsonl); may be repeated"),
    ] = None,
    kb: options.Kb = None,
    recipe: options.Recipe = "default",
    threshold: options.Threshold = None,
    encoding: options.Encoding = None,
    format: Annotated[str | None, typer.Option("--format", help="of standard input: csv, tsv, jsonl or json")] = None,
    threads: Annotated[int, typer.Option("--threads", min=0, help="0: one for each core")] = 0,
) -> None:
    """Say whom each row of a table of names means; its own columns stay.

    Example: namesake reconcile people.csv --name Name --context Team,Notes --type occupation=Job -o out.csv
    """
    if out is None and review is None:
        raise NamesakeError("where to? Name a file with -o, such as -o out.csv, or -o - for standard output")
    folder = default_kb(kb)
    from namesake import Linker
    from namesake.articles.rejects import Rejects
    from namesake.files import STDIN, check_place, keep_apart
    from namesake.formats import read_rows
    from namesake.formats.field_names import Reading
    from namesake.formats.table_files import said_of_writing, write_rows, writer_suffix
    from namesake.progress import reporter
    from namesake.reconciling.table import reconcile_table

    beside = None if out is None or str(out) == STDIN else out.with_name(out.name + ".rejects.jsonl")
    outputs = [] if out is None or beside is None else [out, beside]
    if out is not None:
        writer_suffix(out)
    if review is not None:
        from namesake.apps.review.page import articles_path

        outputs += [review, articles_path(review)]
    keep_apart(outputs, [table, folder, *(choices or ())])
    for file in outputs:
        check_place(file)
    linker = Linker(folder, recipe, options.threshold_of(threshold))
    warn_of_sample(folder, kb)
    began, progress = time.perf_counter(), reporter()
    with Rejects(beside) as rejects:
        read = read_rows(table, rejects, Reading(encoding=encoding, format=format, say=say))
        rows, unread, dialect = read.table, read.unread, read.dialect
        layout = _layout(rows.column_names, table, name, context or (), date, type or ())
        layout.check(rows, linker.kb)
        chosen = _choices(choices, rows)
        with progress.stage("reconciling"):
            answers = reconcile_table(
                linker,
                rows,
                layout,
                threads=threads,
                review_below=review_below if review is not None else None,
                unread=unread,
                choices=chosen,
                advance=lambda done: progress.advance(done / max(rows.num_rows, 1), done, "rows"),
            )
    if out is not None:
        write_rows(answers.table, out, dialect=dialect, from_kb=answers.added)
        if said := said_of_writing(dialect, out):
            say(said)
    pace = rows.num_rows / max(time.perf_counter() - began, 1e-9)
    say(f"{counted(rows.num_rows, 'row')}, {answers.matched:,} with an answer, {pace:,.0f} rows/s")
    if chosen:
        say(f"{len(chosen):,} of them chosen by people; {answers.as_chosen:,} would have the same answer without")
    for column, bad in answers.unread_dates.items():
        at, cell = next(iter(bad.items()))
        example = f"{cell[:60]!r} in row {read.numbers[at]:,}"
        say(f"{counted(len(bad), 'row')} without a date: {column} cannot be read as a date, such as {example}")
    if review is not None:
        from namesake.apps.review.choices import cells_of
        from namesake.apps.review.page import Row, write_review

        cells = cells_of(rows, layout.columns, [one.row for one in answers.doubtful])
        numbers = (read.numbers[one.row] for one in answers.doubtful)
        doubtful = list(map(Row, answers.doubtful, numbers, cells))
        articles = write_review(doubtful, review, table.name)
        say(f"{review}: {_shown(doubtful)} to look at; its choices are gold for {articles}")
    report_rejects(rejects)
    if unread and len(unread) == rows.num_rows:
        say("no row could be read")
        raise typer.Exit(NOTHING_LINKED)


def _choices(files: Sequence[Path] | None, rows: Table) -> dict[int, str | None]:
    """What people decided about rows of the table, by their places."""
    if not files:
        return {}
    from namesake.apps.review.choices import apply_choices

    decisions = apply_choices(files, rows)
    if gone := decisions.without_row:
        many = f"{counted(len(gone), 'decision')} of {', '.join(map(str, files))} not used"
        say(f"{many}: no row of the table has the same cells, such as {gone[0]}")
    return decisions.rows


def _shown(doubtful: Sequence[Row]) -> str:
    """How many rows are on the page of a review."""
    from namesake.apps.review.page import shown

    on_it, total = sum(map(len, shown(doubtful))), len(doubtful)
    return counted(total, "row") if on_it == total else f"{on_it:,} of {counted(total, 'row')}"


def _layout(
    columns: Sequence[str],
    table: Path,
    name: str | None,
    context: Sequence[str],
    date: str | None,
    types: Sequence[str],
) -> Layout:
    """What the columns are: as the user says; the column of names may be guessed, aloud."""
    from namesake.reconciling.table import Layout, column_of_names

    name = column_of_names(columns, str(table), say) if name is None else name
    split = [_column_list(one, columns) for one in context]
    return Layout(name, tuple(column for some in split for column in some), date, tuple(map(_typed, types)))


def _column_list(text: str, columns: Sequence[str]) -> list[str]:
    """The columns that `Team,Notes` names; a column may have a comma in its own name."""
    return [text] if text in columns else [part.strip() for part in text.split(",") if part.strip()]


def _typed(text: str) -> tuple[str, str]:
    property, equals, column = text.partition("=")
    if not equals or not property.strip() or not column.strip():
        raise NamesakeError(f"--type {text}: write it as property=column, such as occupation=Job")
    return property.strip(), column.strip()
