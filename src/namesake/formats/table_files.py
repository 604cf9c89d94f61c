"""Whole tables from CSV, TSV, JSON lines, a JSON array or Parquet (`formats.read_rows`), and their writers."""

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
from namesake.files.lines import too_long
from namesake.files.outputs import to_stdout
from namesake.formats.arrow_articles import open_parquet
from namesake.formats.csv_rows import SEPARATORS, UTF8, open_rows
from namesake.formats.field_names import Reading, shown
from namesake.formats.json_articles import array_records, line_records
from namesake.formats.json_layouts import BLANKS, BOM, INVALID

ROWS_AT_ONCE = 8192
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
QUOTE = '"'
_SPECIAL = re.compile(r"""[,\t"\r\n]|^\ufeff""")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""The beginning of a cell that a spreadsheet may run as a formula (OWASP's list), or of an escaped one."""


class Dialect(NamedTuple):
    """The form of a CSV file: its separator, and whether it begins with a byte order mark."""

    separator: str = ","
    marked: bool = False
    encoding: str = UTF8
    """The encoding of the input; the output is UTF-8."""


class Rows(NamedTuple):
    """A table, and the reasons why some of its rows could not be read, by position; those rows contain the rest."""

    table: pa.Table
    unread: dict[int, str]
    numbers: Sequence[int]
    """The row of a spreadsheet (the header is row 1), the line, or the place in a JSON array."""
    dialect: Dialect = Dialect()
    """The dialect of CSV and TSV."""


def parquet_rows(path: Path, rejects: Rejects, reading: Reading, most_line: int) -> Rows:
    """The rows of a Parquet file."""
    with open_parquet(path) as file:
        table = file.read()
    return Rows(table, {}, range(1, table.num_rows + 1))


def csv_rows(path: Path, rejects: Rejects, reading: Reading, most_line: int) -> Rows:
    """The rows of a CSV or TSV file."""
    with open_rows(path, rejects, reading, most_line) as rows:
        columns: list[list[str]] = [[] for _ in rows.header]
        unread: dict[int, str] = {}
        numbers: list[int] = []
        for _, row, why in rows.every():
            if why is not None:
                unread[len(numbers)] = why
            numbers.append(rows.number)
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)
        arrays = [pa.array(column, pa.string()) for column in columns]
        dialect = Dialect(rows.separator, rows.marked, rows.encoding)
        return Rows(pa.table(arrays, names=rows.header), unread, numbers, dialect)


def json_rows(path: Path, rejects: Rejects, reading: Reading, most_line: int) -> Rows:
    """The rows of a JSON array or of JSON lines: a column per field; fields of several types are JSON."""
    is_array = reading.format == "json" if str(path) == STDIN else kind(path) == ".json"
    records = array_records(path) if is_array else line_records(path, most_line)
    rows: list[dict[str, Any]] = []
    unread: dict[int, str] = {}
    numbers: list[int] = []
    for number, record in records:
        numbers.append(number)
        try:
            if record is None:
                raise ValueError(too_long(most_line))
            rows.append(msgspec.json.decode(record.removeprefix(BOM).strip(BLANKS), type=dict[str, Any]))
        except INVALID as problem:
            rejects.add(Reject(f"not a row: {problem}", shown(path), number))
            unread[len(rows)] = str(problem)
            rows.append({})
    names = dict.fromkeys(name for row in rows for name in row)
    return Rows(pa.table({name: _column([row.get(name) for row in rows]) for name in names}), unread, numbers)


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError):  # as texts, without lone surrogates
        texts = (None if value is None else _cell(value) for value in values)
        return pa.array([text if text is None else text.encode("utf-8", "replace").decode() for text in texts])


def write_rows(table: pa.Table, path: Path, dialect: Dialect | None = None, from_kb: Collection[str] = ()) -> None:
    """Write a table to a file that appears only when it is complete, or to standard output (`-`).

    CSV has the dialect's separator and mark, in UTF-8. In CSV and TSV, texts of the columns `from_kb` that look like
    formulas are escaped.
    """
    suffix, dialect = writer_suffix(path), dialect or Dialect()
    with _opened(path) as file:
        if suffix == ".parquet":
            import pyarrow.parquet as pq  # slow to import, and other formats do not need it

            with pq.ParquetWriter(pa.PythonFile(file, mode="w"), table.schema) as writer:
                writer.write_table(table)
            return
        if dialect.marked and suffix in (".csv", ".tsv"):
            file.write(codecs.BOM_UTF8)
        write = line_writer(file, suffix, dialect.separator, from_kb)
        for batch in table.to_batches(ROWS_AT_ONCE) or [table]:  # an empty table has a header, too
            write(table.column_names, batch.to_pylist())


def said_of_writing(dialect: Dialect, path: Path) -> str | None:
    """A message about the form of a CSV file whose input was not plain UTF-8 with commas; else None."""
    suffix = writer_suffix(path)
    if suffix not in (".csv", ".tsv") or dialect == Dialect(dialect.separator if suffix == ".tsv" else ","):
        return None
    between = "tabs" if suffix == ".tsv" else SEPARATORS[dialect.separator]
    mark = " with a byte order mark" if dialect.marked else ""
    return f"{shown(path, 'stdout')}: written as UTF-8{mark}, cells separated by {between}"


def writer_suffix(path: Path, format: str | None = None, what: str = "tables", to_stdout: str = ".csv") -> str:
    """The suffix of the format in which a table is written, by default `to_stdout` for standard output."""
    suffix = f".{format}" if format else to_stdout if str(path) == STDIN else kind(path)
    if suffix not in SUFFIXES:
        raise NamesakeError(f"{path}: {what} are written as .csv, .tsv, .jsonl (also .gz, .bz2, .zst) or .parquet")
    return suffix


Write = Callable[[list[str], list[dict[str, Any]]], None]


def line_writer(file: IO[bytes], suffix: str, separator: str = ",", from_kb: Collection[str] = ()) -> Write:
    """A function that writes rows, and in CSV first the names of the columns; `separator` is that of CSV.

    In CSV and TSV, texts of the columns `from_kb` that look like formulas are escaped.
    """
    if suffix in (".jsonl", ".ndjson"):
        return lambda names, rows: file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
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
    """A row of CSV. Python's writer leaves a carriage return unquoted, at which readers stop, ours included."""
    quoted = [
        f'"{cell.replace(QUOTE, QUOTE * 2)}"' if _SPECIAL.search(cell) or separator in cell else cell for cell in cells
    ]
    return (separator.join(quoted) if quoted != [""] else QUOTE * 2) + "\n"


def escaped(value: object) -> str:
    """A value as a cell that no spreadsheet runs as a formula: `'` precedes a text that begins like one.

    Anyone may edit Wikidata, and its texts must not run on the reader's machine. Removing one `'` from texts that begin
    with `'` and such a character restores them.
    """
    cell = _cell(value)
    return f"'{cell}" if isinstance(value, str) and _FORMULA.match(cell) else cell


def _cell(value: object) -> str:
    """A value as a cell: empty for None, JSON for lists and objects."""
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
