"""Whole tables of anything: CSV, TSV, JSON lines, a JSON array or Parquet, in and out, by suffix."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import pyarrow as pa

from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import STDIN, create, kind, published
from namesake.files.lines import MOST_LINE, too_long
from namesake.files.outputs import to_stdout
from namesake.formats.csv import SEPARATORS, UTF8, open_rows, shown
from namesake.formats.fields import Reading
from namesake.formats.json_records import Record, array_records, line_records
from namesake.formats.jsonl import BLANKS, BOM
from namesake.formats.office import save_as
from namesake.formats.parquet import open_parquet

SUFFIXES = ".csv, .tsv, .jsonl, .json (also .gz, .bz2, .zst) or .parquet"
ROWS_AT_ONCE = 8192
QUOTE = '"'
_SPECIAL = re.compile(r"""[,\t"\r\n]|^\ufeff""")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that a spreadsheet may run as a formula (OWASP's list), or one that was escaped before."""


class Dialect(NamedTuple):
    """How a CSV file is written: what stands between its cells, and whether it begins with a byte order mark."""

    separator: str = ","
    marked: bool = False
    encoding: str = UTF8
    """That it was read with; what we write is UTF-8."""


class Rows(NamedTuple):
    """A table, and why some of its rows could not be read, by their place: those hold what was left of them."""

    table: pa.Table
    unread: dict[int, str]
    numbers: Sequence[int]
    """Where each row stands: its row as a spreadsheet counts, the header being row 1, or its line or place in JSON."""
    dialect: Dialect = Dialect()
    """Of CSV and TSV."""


def read_rows(path: Path, rejects: Rejects, reading: Reading | None = None, most_line: int = MOST_LINE) -> Rows:
    """All rows of a file as a table; the cells of CSV are texts. Rows that cannot be read are told to `rejects`."""
    reading = Reading() if reading is None else reading
    suffix = f".{reading.format or 'csv'}" if str(path) == STDIN else kind(path)
    if suffix == ".parquet":
        with open_parquet(path) as file:
            table = file.read()
            return Rows(table, {}, range(1, table.num_rows + 1))
    if suffix in (".csv", ".tsv"):
        with open_rows(path, rejects, reading, most_line) as rows:
            columns: list[list[str]] = [[] for _ in rows.header]
            unread: dict[int, str] = {}
            numbers: list[int] = []
            for _, row, why in rows.every():
                if why is not None:
                    unread[len(columns[0])] = why
                numbers.append(rows.number)
                for column, cell in zip(columns, row, strict=True):
                    column.append(cell)
            arrays = [pa.array(column, pa.string()) for column in columns]
            dialect = Dialect(rows.separator, rows.marked, rows.encoding)
            return Rows(pa.table(arrays, names=rows.header), unread, numbers, dialect)
    if suffix == ".json":
        return _from_records(array_records(path), path, rejects, most_line)
    if suffix in (".jsonl", ".ndjson"):
        return _from_records(line_records(path, most_line), path, rejects, most_line)
    missing = "" if path.exists() else "no such file; "
    raise NamesakeError(f"{path}: {missing}tables come as {SUFFIXES}{save_as(path)}")


def _from_records(records: Iterator[Record], path: Path, rejects: Rejects, most_line: int) -> Rows:
    """A table with a column for each field that some record has; fields of several types are JSON."""
    rows: list[dict[str, Any]] = []
    unread: dict[int, str] = {}
    numbers: list[int] = []
    for number, record in records:
        numbers.append(number)
        try:
            if record is None:
                raise ValueError(too_long(most_line))
            rows.append(msgspec.json.decode(record.removeprefix(BOM).strip(BLANKS), type=dict[str, Any]))
        except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
            rejects.add(Reject(f"not a row: {problem}", shown(path), number))
            unread[len(rows)] = str(problem)
            rows.append({})
    names = dict.fromkeys(name for row in rows for name in row)
    table = pa.table({name: _column([row.get(name) for row in rows]) for name in names})
    return Rows(table, unread, numbers)


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError):
        texts = (None if value is None else _cell(value) for value in values)
        return pa.array([None if text is None else _whole(text) for text in texts], pa.string())


def _whole(text: str) -> str:
    """The text without halves of characters, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def write_rows(
    table: pa.Table,
    path: Path,
    format: str | None = None,
    dialect: Dialect | None = None,
    from_kb: Collection[str] = (),
) -> None:
    """Write a table to a file that appears whole, or to standard output (`-`); CSV as the dialect has it, in UTF-8.

    In CSV and TSV, texts of the columns `from_kb` that look like formulas are escaped.
    """
    suffix = writer_suffix(path, format)
    with _opened(path) as file:
        if suffix == ".parquet":
            import pyarrow.parquet as pq  # takes a while to load, and other formats do without

            with pq.ParquetWriter(pa.PythonFile(file, mode="w"), table.schema) as writer:
                writer.write_table(table)
        else:
            dialect = Dialect() if dialect is None else dialect
            if dialect.marked and suffix in (".csv", ".tsv"):
                file.write(codecs.BOM_UTF8)
            write = line_writer(file, suffix, dialect.separator, from_kb)
            for batch in table.to_batches(ROWS_AT_ONCE) or [table]:  # the header stands without any rows, too
                write(table.column_names, batch.to_pylist())


def said_of_writing(dialect: Dialect, path: Path) -> str | None:
    """How a CSV file is written whose input was not plain UTF-8 with commas; None where that goes without saying."""
    suffix = writer_suffix(path)
    if suffix not in (".csv", ".tsv") or dialect == Dialect(dialect.separator if suffix == ".tsv" else ","):
        return None
    between = "tabs" if suffix == ".tsv" else SEPARATORS[dialect.separator]
    mark = " with a byte order mark" if dialect.marked else ""
    return f"{shown(path, 'stdout')}: written as UTF-8{mark}, cells separated by {between}"


def writer_suffix(path: Path, format: str | None = None) -> str:
    """The suffix that tells how a table is to be written."""
    suffix = f".{format}" if format else ".csv" if str(path) == STDIN else kind(path)
    if suffix not in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"):
        raise NamesakeError(f"{path}: tables are written as .csv, .tsv, .jsonl (also .gz, .bz2, .zst) or .parquet")
    return suffix


Write = Callable[[list[str], list[dict[str, Any]]], None]


def line_writer(file: IO[bytes], suffix: str, separator: str = ",", from_kb: Collection[str] = ()) -> Write:
    """What writes the names of columns, once where it is CSV, and rows to a file; `separator` is that of CSV.

    In CSV and TSV, texts of the columns `from_kb` that look like formulas are escaped.
    """
    if suffix in (".jsonl", ".ndjson"):

        def write_lines(names: list[str], rows: list[dict[str, Any]]) -> None:
            file.write(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

        return write_lines
    headed, separator = False, "\t" if suffix == ".tsv" else separator

    def write_cells(names: list[str], rows: list[dict[str, Any]]) -> None:
        nonlocal headed
        lines = [] if headed else [_line(names, separator)]
        headed = True
        lines += [
            _line([escaped(value) if name in from_kb else _cell(value) for name, value in row.items()], separator)
            for row in rows
        ]
        file.write("".join(lines).encode("utf-8", "replace"))

    return write_cells


def _line(cells: list[str], separator: str) -> str:
    """A row of CSV. Python's writer leaves a carriage return unquoted, at which readers stop, ours among them."""
    quoted = [
        f'"{cell.replace(QUOTE, QUOTE * 2)}"' if _SPECIAL.search(cell) or separator in cell else cell for cell in cells
    ]
    return (separator.join(quoted) if quoted != [""] else QUOTE * 2) + "\n"


def escaped(value: object) -> str:
    """A value as a cell that no spreadsheet takes for a formula: `'` stands before a text that begins like one.

    Anybody may edit Wikidata, and what is read from it must not run on the reader's machine. Removing one `'` from
    texts that begin with `'` and such a character gives them back.
    """
    cell = _cell(value)
    return f"'{cell}" if isinstance(value, str) and _FORMULA.match(cell) else cell


def _cell(value: object) -> str:
    """A value as a cell: nothing for None, JSON for lists and objects."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | bytes):
        return msgspec.json.encode(value).decode()
    return str(value)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if str(path) == STDIN:
        with to_stdout() as file:
            yield file
    else:
        with published(path) as partial, create(partial, path.suffix) as file:
            yield file
