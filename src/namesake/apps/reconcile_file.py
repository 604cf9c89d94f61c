"""Reconciliation of a whole file: read the table, match its rows, write the result and a page for review."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from namesake.apps import review as reviews
from namesake.articles.rejects import NoRejects, Rejects
from namesake.errors import warn
from namesake.files import STDIN, check_place, keep_apart
from namesake.files.several import Paths, several
from namesake.formats import read_rows
from namesake.formats.field_names import Reading
from namesake.formats.table_files import Rows, said_of_writing, write_rows, writer_suffix
from namesake.linker import Linker
from namesake.printable import counted
from namesake.progress import Reporter
from namesake.reconciling.table import Answers, Layout, column_of_names, reconcile_table


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
    """Rows that could not be read."""


def reconcile(
    linker: Linker,
    table: str | Path,
    out: str | Path | None = None,
    *,
    name: str | None = None,
    context: str | Sequence[str] = (),
    date: str | None = None,
    type: Mapping[str, str | Sequence[str]] | None = None,
    review: str | Path | None = None,
    review_below: float = 0.8,
    choices: Paths = (),
    encoding: str | None = None,
    format: str | None = None,
    threads: int = 0,
    rejects: Rejects | None = None,
    reporter: Reporter | None = None,
    say: Callable[[str], None] = warn,
) -> Reconciled:
    """Match each row of a table in a file to an entity; `reconcile_frame` does the same for a frame.

    Args:
        linker: its KB and recipe.
        table: a CSV, TSV, JSONL, JSON or Parquet file; `-` is standard input.
        out: the output file, `.csv`, `.tsv`, `.jsonl` or `.parquet`; `-` is CSV on standard output.
        name: the column of names; by default it is guessed.
        context: one or several columns with words about the entity, such as a team or notes. A text may list columns,
            separated by commas.
        date: the column with the year or day for which the row is true.
        type: properties and the columns that contain their values, such as `{"occupation": "Job", "P108": "Firm"}`.
        review: an HTML page to write, on which people decide the uncertain rows.
        review_below: rows whose confidence is lower appear on that page.
        choices: files with decisions that such a page saved.
        encoding: the encoding of CSV and TSV; by default UTF-8, or what a byte order mark indicates.
        format: the format of standard input: csv, tsv, jsonl or json.
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
    read = read_rows(table, rejects, Reading(encoding=encoding, format=format, say=say))
    name = column_of_names(read.table.column_names, str(table), say) if name is None else name
    types = tuple((property, column) for property, some in (type or {}).items() for column in several(some))
    columns = read.table.column_names  # `Team,Notes` names two columns unless one column has that name
    listed = [[text] if text in columns else text.split(",") for text in several(context)]
    contexts = tuple(part.strip() for parts in listed for part in parts if part.strip())
    layout = Layout(name, contexts, date, types)
    layout.check(read.table, linker.kb)
    chosen, unused = reviews.apply_choices(decided, read.table)
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
            advance=lambda done: reporter.advance(done / total, done, "rows"),
        )
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


def _check_outputs(out: Path | None, page: Path | None, rejects: Path | None, inputs: Sequence[Path]) -> None:
    """Reject outputs that cannot be written or that would overwrite an input, before any work is done."""
    outputs = [] if page is None else [page, reviews.articles_path(page)]
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
    cells = reviews.cells_of(read.table, layout.columns, [one.row for one in answers.doubtful])
    numbers = (read.numbers[one.row] for one in answers.doubtful)
    rows = list(map(reviews.Row, answers.doubtful, numbers, cells))
    articles, on_page = reviews.write_review(rows, page, title), sum(map(len, reviews.shown(rows)))
    many = counted(len(rows), "row") if on_page == len(rows) else f"{on_page:,} of {counted(len(rows), 'row')}"
    say(f"{page}: {many} to review; its choices are gold for {articles}")
