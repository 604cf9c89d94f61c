"""Reconciliation of a whole file, with a page for review; one row explained; decisions about rows by their numbers."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from namesake.apps.review import decided_row, row_case, write_page
from namesake.articles.rejects import NoRejects, Rejects
from namesake.decisions.lookup import cells_of, rows_from, texts
from namesake.decisions.records import Decision, append, contradict, now, origin, read_decisions
from namesake.errors import NamesakeError, warn
from namesake.explain import explain as explain_links
from namesake.files import STDIN, Paths, check_place, keep_apart, several
from namesake.formats import read_rows
from namesake.formats.excel_files import check_rows
from namesake.formats.field_names import Reading, silent
from namesake.formats.table_files import said_of_writing, write_rows, writer_suffix
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.printable import counted
from namesake.progress import Reporter
from namesake.reconciling import Query, articles_of, judge, kinds_of_column, plain_query
from namesake.reconciling.table import Answers, Layout, checked, column_of_names, queries_of, reconcile_table


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
    blind: bool = False,
    decisions: Paths = (),
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
) -> Answers:
    """Match each row of a table in a file to an entity, as `reconcile_frame` does for a frame.

    `name`, `kind`, `context`, `date`, `type`, `decisions` and `threads` are as for `reconcile_frame`. `context` may be
    one text that lists columns, separated by commas.

    Args:
        linker: its KB and recipe.
        table: a CSV, TSV, JSONL, JSON, Parquet or .xlsx file; `-` is standard input.
        out: the output file, `.csv`, `.tsv`, `.xlsx`, `.jsonl` or `.parquet`; `-` is CSV on standard output.
        review: an HTML page to write, on which people decide the uncertain rows.
        review_below: rows whose confidence is lower appear on that page.
        blind: hide the computed answers and their confidence on that page.
        choices: the former name of `decisions`.
        encoding: the encoding of CSV and TSV; by default UTF-8, or what a byte order mark indicates.
        format: the format of standard input: csv, tsv, jsonl or json.
        sheet: the name or number of the sheet of an .xlsx file; by default the first visible one with cells.
        check: a column with QIDs, which are compared with the answers; the result is the column `check`.
        explain: also add the column `why`, with one sentence for each row.
        rejects: receives the rows that cannot be read; without it, the first of them is an error.
        reporter: receives the progress.
        say: receives messages, such as which column was guessed; by default they are warnings (`UserWarning`).
    """
    table, reporter = Path(table), reporter or Reporter()
    rejects = NoRejects() if rejects is None else rejects
    target, page = None if out is None else Path(out), None if review is None else Path(review)
    decided = [Path(file) for file in (*several(choices), *several(decisions))]
    outputs = [] if page is None else [page]
    if target is not None:
        writer_suffix(target)
        outputs += [file for file in (target, rejects.path) if file is not None and str(file) != STDIN]
    keep_apart(outputs, [table, linker.kb.path, *decided])  # all this before any work is done
    for file in outputs:
        check_place(file)
    read = read_rows(table, rejects, Reading(encoding=encoding, format=format, sheet=sheet, say=say))
    check_rows(target or Path(), read.table.num_rows)
    columns = {"name": name, "context": context, "date": date, "type": type, "kind": kind}
    layout = _layout(linker.kb, read.table, table, columns, say)
    if check is not None:
        replace(layout, name=check).check(read.table, linker.kb)
    linker = linker.with_decisions(decided, say) if decided else linker
    total = max(read.table.num_rows, 1)
    with reporter.stage("reconciling"):
        answers = reconcile_table(
            linker,
            read.table,
            layout,
            threads=threads,
            review_below=None if page is None else review_below,
            unread=read.unread,
            explain=explain,
            advance=lambda done: reporter.advance(done / total, done, "rows"),
            say=say,
        )
    if check is not None:  # whether the QIDs of the table are the same
        qids = answers.table.column(answers.added[0]).to_pylist()
        compared = pa.array(checked(linker.kb, texts(answers.table, check), qids, say))
        answers = replace(answers, table=answers.table.append_column("check", compared))
    if target is not None:
        write_rows(answers.table, target, dialect=read.dialect, from_kb=answers.added)
        if said := said_of_writing(read.dialect, target):
            say(said)
    for column, bad in answers.unread_dates.items():
        at, cell = next(iter(bad.items()))
        example = f"{cell[:60]!r} in row {read.numbers[at]:,}"
        say(f"{counted(len(bad), 'row')} without a date: {column} cannot be read as a date, such as {example}")
    if linker.decisions is not None and (unused := linker.decisions.unused()):
        say(unused)
    if page is not None:
        cells = cells_of(read.table, layout.columns, [one.row for one in answers.doubtful])
        alike: dict[Query, list[Any]] = {}  # rows with the same name and the same content are one case
        for one, own in zip(answers.doubtful, cells, strict=True):
            alike.setdefault(one.query, []).append((one, read.numbers[one.row], own))
        cases = [row_case(same, linker.kb) for same in alike.values()]
        shown = write_page(cases, page, table.name, linker, blind)
        said = "" if shown == len(cases) else f", {shown:,} of {len(cases):,} different ones on the page"
        say(f"{page}: {counted(len(answers.doubtful), 'row')} to review{said}")
    return answers


def _layout(kb: KB, table: pa.Table, file: Path, columns: Mapping[str, Any], say: Callable[[str], None]) -> Layout:
    """The roles of columns; `Team,Notes` names two columns of words unless one column has that name."""
    name = columns["name"] if columns["name"] is not None else column_of_names(table.column_names, str(file), say)
    types = tuple((property, one) for property, some in (columns.get("type") or {}).items() for one in several(some))
    listed = [[text] if text in table.column_names else text.split(",") for text in several(columns["context"])]
    contexts = tuple(part.strip() for parts in listed for part in parts if part.strip())
    layout = Layout(name, contexts, columns["date"], types, columns.get("kind"))
    layout.check(table, kb)
    return layout


def explained_row(linker: Linker, path: Path, number: int, given: Mapping[str, Any]) -> tuple[pa.Table, pa.Table]:
    """The row with this number in the spreadsheet program as an article, and the rows of its explanation."""
    read = read_rows(path, Rejects(), Reading(encoding=given["encoding"], sheet=given["sheet"]))
    if number not in read.numbers:
        raise NamesakeError(f"{path}: no row {number:,} with cells; the last row is {max(read.numbers, default=0):,}")
    layout, place = _layout(linker.kb, read.table, path, given, silent), read.numbers.index(number)
    queries = queries_of(read.table, layout)
    kinds = kinds_of_column(linker, None, [query.name for query in queries], layout.name, silent)
    query = plain_query(linker.kb, queries[place], kinds)
    of_rows = None if linker.decisions is None else linker.decisions.of_rows(read.table)
    rows = explain_links(judge(linker, [query], kinds, rows_from(of_rows, place, 1)).scored)
    if not rows.num_rows:
        raise NamesakeError(f"{path} row {number:,}: no candidates for {query.name!r}")
    article, where = articles_of([query]), f"{path.name} row {number:,}"
    named = [pa.array([where] * table.num_rows) for table in (article, rows)]
    return article.set_column(0, article.schema.field(0), named[0]), rows.set_column(0, "article_id", named[1])


# decisions
def decide_rows(
    linker: Linker,
    source: Path,
    target: Path,
    answers: Iterable[str],
    columns: Mapping[str, Any],
    by: str,
    encoding: str | None,
    rejects: Rejects,
    say: Callable[[str], None],
) -> int:
    """Append decisions about rows, such as `ROW=QID`, `ROW=nil` and `ROW=not:QID`, to a file; returns their number."""
    keep_apart([target], [source, linker.kb.path])
    check_place(target)
    read = read_rows(source, rejects, Reading(encoding=encoding, say=say))
    layout = _layout(linker.kb, read.table, source, columns, say)
    queries, place = queries_of(read.table, layout), {number: at for at, number in enumerate(read.numbers)}
    shared: dict[str, Any] = {"by": by, "at": now()} | origin(linker.kb, linker.recipe.name)
    made = []
    for answer in answers:
        found = re.fullmatch(r"(\d+)=(nil|(?P<never>not:)?(?P<entity>\S+))", answer, re.I)
        if found is None:
            raise NamesakeError(f"`decide={answer!r}`: write ROW=QID or ROW=nil")
        if int(found[1]) not in place:
            rows = f"rows {min(place, default=0)} to {max(place, default=0)}"
            raise NamesakeError(f"`decide={answer!r}`: {source} has {rows}")
        row, entity = place[int(found[1])], found["entity"]
        [cells] = cells_of(read.table, layout.columns, [row])
        what: Any = "nil" if entity is None else "never" if found["never"] else "entity"
        about: dict[str, Any] = shared | decided_row(queries[row], cells)
        try:
            made.append(Decision(decision=what, entity=entity, **about))
        except ValueError as problem:
            raise NamesakeError(f"`decide={answer!r}`: {problem}") from None
    known = [(one.decision, str(one)) for one in read_decisions(target)] if target.exists() else []
    for new in made:
        said = f"{new.name!r} = {new.entity or 'NIL'}"
        for other, shown in known:
            if new.key == other.key and contradict(new, other):
                raise NamesakeError(f"{said} contradicts {shown}: remove one of them")
        known.append((new, said))
    append(target, made)
    return len(made)
