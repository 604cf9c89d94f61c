"""Rows and whole tables of CSV, TSV, JSON and Parquet files, their writers, and articles from CSV, TSV and text files.

A row that does not fit the header is rejected with its line. A fault that makes the rest unreadable (a quote that is
never closed, bytes that do not fit the encoding) is an error that names the line.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import in_tables
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import STDIN, kind, open_lines
from namesake.files.lines import too_long
from namesake.files.outputs import written
from namesake.formats.arrow_articles import open_parquet
from namesake.formats.field_names import Reading, choose_fields, id_prefix, shown
from namesake.formats.json_articles import BLANKS, BOM, INVALID, article_with, json_records
from namesake.printable import counted

MOST_COLUMNS = 10_000
UTF8 = "utf-8"
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Encodings by the byte order mark at the beginning of a file; the longer marks come first."""
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
PROBLEMS = {
    "unexpected end of data": "a quote is opened here and never closed",
    "field larger than": "a cell has no end: is a quote never closed?",
    "expected after": "a quote within a cell is not doubled",
}
"""Messages for the errors of Python's CSV reader."""


class Dialect(NamedTuple):
    """The form of a CSV file: its separator, whether it begins with a byte order mark, and its encoding."""

    separator: str = ","
    marked: bool = False
    encoding: str = UTF8


class CsvRows:
    """A CSV file: its header, and each row with the line it begins on."""

    def __init__(self, stream: Any, path: Path, rejects: Rejects, reading: Reading) -> None:
        self.path, self.rejects = shown(path), rejects
        start = stream.peek(4)[:4]
        encoding = encoding_of(start, self.path, reading)
        marked = codecs.lookup(encoding).name in MARKS.values() and start.startswith(tuple(MARKS))
        if start.startswith(codecs.BOM_UTF8):  # whatever the encoding
            marked = bool(stream.read(len(codecs.BOM_UTF8)))
        lines = _lines(stream, self.path, encoding, reading.most_line)
        first = next(lines, "")
        if not first.strip():
            raise NamesakeError(f"{self.path}: no header; its first line must name the columns")
        separator = "\t" if kind(path) == ".tsv" or reading.format == "tsv" else _separator(first, reading, path)
        self.dialect = Dialect(separator, marked, encoding)
        self.reader = csv.reader(chain([first], lines), delimiter=separator, strict=True)
        self.number = 0
        """The last row that was read, as a spreadsheet counts: the header is row 1, a row may have several lines."""
        self.header: list[str] = []
        header = next(self._rows())[1]
        if len(header) > MOST_COLUMNS:
            many = f"{len(header):,} columns, and at most {MOST_COLUMNS:,} are read"
            raise NamesakeError(f"{self.path} line 1: {many}; is it separated by {SEPARATORS[separator]}?")
        self.header = column_names(header, f"{self.path} line 1")

    def __iter__(self) -> Iterator[tuple[int, list[str], str | None]]:
        """Every row, and why it was rejected, if it was; such a row is cut or filled to the columns of the header."""
        columns = len(self.header)
        for line, row in self._rows():
            why = None
            if len(row) != columns:
                why = f"{counted(len(row), 'cell')}, and the header has {columns:,}"
            elif any("\0" in cell for cell in row):
                why = "contains NUL bytes, which a text must not have"
            if why is not None:
                self.rejects.add(Reject(f"not a row: {why}", self.path, line, row=self.number))
                row = [cell.replace("\0", "\ufffd") for cell in row[:columns]] + [""] * (columns - len(row))
            yield line, row, why

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Every row; in a file with a single column, an empty line is one."""
        line = self.reader.line_num + 1
        try:
            for row in self.reader:
                self.number += 1
                if row or len(self.header) == 1:
                    yield line, row or [""]
                line = self.reader.line_num + 1
        except csv.Error as problem:
            unknown = f"cannot be read as a row ({problem})"
            what = next((plain for words, plain in PROBLEMS.items() if words in str(problem)), unknown)
            raise NamesakeError(f"{self.path} line {line}: {what}") from None


def column_names(header: Sequence[str], where: str) -> list[str]:
    """The names of columns; a column without a name gets its number, and two with one name are an error."""
    names = [name.strip() or f"column {at}" for at, name in enumerate(header, 1)]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise NamesakeError(f"{where}: two columns are called {twice!r}; rename one")
    return names


@contextmanager
def open_rows(path: Path, rejects: Rejects, reading: Reading) -> Iterator[CsvRows]:
    """A CSV or TSV file, decompressed, as rows."""
    before = csv.field_size_limit(reading.most_line)  # a setting of the whole program: restored below
    try:
        with open_lines(path, keep_mark=True) as stream:
            yield CsvRows(stream, path, rejects, reading)
    finally:
        csv.field_size_limit(before)


def read_csv(path: Path, rejects: Rejects, reading: Reading) -> Iterator[pa.Table]:
    """Tables of articles from a CSV or TSV file; columns that are not part of an article are copied to `extra`."""
    with open_rows(path, rejects, reading) as rows:
        yield from in_tables(_articles(rows, reading, id_prefix(path, reading)))


def _articles(rows: CsvRows, reading: Reading, prefix: str) -> Iterator[Article]:
    """The article of each row; an empty cell is a missing value."""
    fields = choose_fields(rows.header, reading, rows.path)
    for line, row, why in rows:
        if why is not None:
            continue
        cells = dict(zip(rows.header, row, strict=True))
        if "date" in fields:
            cells[fields["date"]] = cells[fields["date"]].strip()
        yield article_with(cells, fields, f"{prefix}:{line}")


def encoding_of(start: bytes, where: str, reading: Reading) -> str:
    """The encoding that the user names, or that of the byte order mark of a file; else UTF-8."""
    if reading.encoding is not None:
        try:
            codecs.lookup(reading.encoding)
            "".encode(reading.encoding)
        except (LookupError, ValueError, TypeError):
            wrong = f"`encoding={reading.encoding!r}`: no such encoding"
            raise NamesakeError(f"{wrong}; common are utf-8, cp1252, latin-1, utf-16") from None
        return reading.encoding
    marked = next((encoding for mark, encoding in MARKS.items() if start.startswith(mark)), None)
    if marked not in (None, "utf-8-sig"):
        reading.say(f"{where}: read as {marked}, because of its byte order mark")
    return marked or UTF8


def _lines(stream: Any, where: str, encoding: str, most: int) -> Iterator[str]:
    """The lines of a file as texts; a line longer than `most` is an error."""
    if encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):  # a newline has several bytes
        stream = io.TextIOWrapper(stream, encoding, newline="")
    number = 1
    try:
        while raw := stream.readline(most + 1):
            line = raw.decode(encoding) if isinstance(raw, bytes) else raw
            if len(line) > most:
                raise NamesakeError(f"{where} line {number}: {too_long(most)}; `most_line=` allows more")
            yield line
            number += 1
    except UnicodeError as problem:
        byte = ""
        if isinstance(problem, UnicodeDecodeError) and problem.start < len(problem.object):
            byte = f" (byte 0x{problem.object[problem.start]:02x})"
        wrong = f"{where} line {number}: not {encoding}{byte}"
        raise NamesakeError(f"{wrong}; name its encoding, such as `encoding='cp1252'`") from None


def _separator(header: str, reading: Reading, path: Path) -> str:
    """A comma; if the header has none, the most frequent other separator, with a message."""
    counts = {separator: header.count(separator) for separator in SEPARATORS}
    best = max(counts, key=lambda separator: counts[separator])
    if counts[","] or not counts[best]:
        return ","
    reading.say(f"{shown(path)}: cells are separated by {SEPARATORS[best]}")
    return best


def read_text(path: Path, rejects: Rejects, reading: Reading) -> Iterator[pa.Table]:
    """The one article of a text file; a message reports invalid bytes, which become U+FFFD."""
    identifier = id_prefix(path, reading)
    with open_lines(path) as stream:
        raw = stream.read(reading.most_line + 1)
    if len(raw) > reading.most_line:
        rejects.add(Reject(f"not an article: {too_long(reading.most_line)}", str(path), article_id=identifier))
        return
    encoding = encoding_of(raw[:4], shown(path), reading)
    raw = raw.removeprefix(codecs.BOM_UTF8) if reading.encoding is None else raw
    try:
        text = raw.decode(encoding)
    except UnicodeError:
        text = raw.decode(encoding, "replace")
        lost = f"{text.count(chr(0xFFFD)):,} characters are lost (U+FFFD)"
        reading.say(f"{shown(path)}: not {encoding}; {lost}. Name its encoding, such as `encoding='cp1252'`")
    yield from in_tables([Article(identifier, text)])


ROWS_AT_ONCE = 8192
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx")
LINK_SUFFIXES = (*SUFFIXES, ".db", ".sqlite")
BINARY = (".parquet", ".xlsx", ".db", ".sqlite")
"""Formats that are never compressed by us, nor written to standard output."""
QUOTE = '"'
_SPECIAL = re.compile(r"""[,\t"\r\n]|^\ufeff""")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that a spreadsheet may run (OWASP's list), as anyone may edit Wikidata; or an escaped one."""


class Rows(NamedTuple):
    """A table, and the reasons why some of its rows could not be read, by position; those rows contain the rest."""

    table: pa.Table
    unread: dict[int, str]
    numbers: Sequence[int]
    """The row of a spreadsheet (the header is row 1), the line, or the place in a JSON array."""
    dialect: Dialect = Dialect()


def parquet_rows(path: Path, rejects: Rejects, reading: Reading) -> Rows:
    """The rows of a Parquet file."""
    with open_parquet(path) as file:
        table = file.read()
    return Rows(table, {}, range(1, table.num_rows + 1))


def csv_rows(path: Path, rejects: Rejects, reading: Reading) -> Rows:
    """The rows of a CSV or TSV file."""
    with open_rows(path, rejects, reading) as rows:
        read = [(rows.number, row, why) for _, row, why in rows]
        columns = [pa.array([row[at] for _, row, _ in read], pa.string()) for at in range(len(rows.header))]
        unread = {at: why for at, (_, _, why) in enumerate(read) if why is not None}
        return Rows(pa.table(columns, names=rows.header), unread, [number for number, _, _ in read], rows.dialect)


def json_rows(path: Path, rejects: Rejects, reading: Reading) -> Rows:
    """The rows of a JSON array or of JSON lines: a column per field; fields of several types are JSON."""
    is_array = reading.format == "json" if str(path) == STDIN else kind(path) == ".json"
    rows, numbers, unread = list[dict[str, Any]](), list[int](), dict[int, str]()
    for number, record in json_records(path, is_array, reading.most_line):
        numbers.append(number)
        try:
            if record is None:
                raise ValueError(too_long(reading.most_line))
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
        texts = (None if value is None else cell_text(value) for value in values)
        return pa.array([text if text is None else text.encode("utf-8", "replace").decode() for text in texts])


def write_rows(table: pa.Table, path: Path, dialect: Dialect | None = None, from_kb: Collection[str] = ()) -> None:
    """Write a table to a file that appears only when it is complete, or to standard output (`-`)."""
    suffix, dialect = writer_suffix(path), dialect or Dialect()
    with written(path) as file:
        if suffix == ".parquet":
            import pyarrow.parquet as pq  # slow to import, and other formats do not need it

            pq.write_table(table, pa.PythonFile(file, mode="w"))
            return
        if dialect.marked and suffix in (".csv", ".tsv"):
            file.write(codecs.BOM_UTF8)
        with row_writer(file, path, suffix, dialect.separator, from_kb) as write:
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
    suffixes = LINK_SUFFIXES if what == "links" else SUFFIXES
    if suffix not in suffixes:
        binary = ", ".join(one for one in BINARY if one in suffixes)
        raise NamesakeError(f"{path}: {what} are written as .csv, .tsv, .jsonl (also .gz, .bz2, .zst), {binary}")
    if suffix in BINARY and str(path) == STDIN:
        raise NamesakeError(f"{suffix} needs a file: name one with -o, or print .jsonl, .csv or .tsv")
    if suffix in BINARY[1:] and not format and kind(path) != path.suffix:
        raise NamesakeError(f"{path}: {suffix} is not compressed; name it {path.stem}")
    return suffix


Write = Callable[[list[str], list[dict[str, Any]]], None]


@contextmanager
def row_writer(
    file: IO[bytes], path: Path, suffix: str, separator: str = ",", from_kb: Collection[str] = ()
) -> Iterator[Write]:
    """A function that writes rows and first, if need be, the names of columns; formulas in `from_kb` are escaped."""
    if suffix == ".xlsx":
        from namesake.formats.excel_files import excel_writer

        with excel_writer(file, path) as write_sheet:
            yield write_sheet
        return
    if suffix in (".jsonl", ".ndjson"):
        yield lambda names, rows: file.writelines(msgspec.json.encode(row) + b"\n" for row in rows)
        return
    headed, separator = False, "\t" if suffix == ".tsv" else separator

    def write_cells(names: list[str], rows: list[dict[str, Any]]) -> None:
        nonlocal headed
        lines = [] if headed else [_line(names, separator)]
        headed = True
        lines += [
            _line([escaped(value) if name in from_kb else cell_text(value) for name, value in row.items()], separator)
            for row in rows
        ]
        file.write("".join(lines).encode("utf-8", "replace"))

    yield write_cells


def _line(cells: list[str], separator: str) -> str:
    """A row of CSV. Python's writer leaves a carriage return unquoted, at which readers stop, ours included."""
    special = [_SPECIAL.search(cell) or separator in cell for cell in cells]
    quoted = [f'"{cell.replace(QUOTE, QUOTE * 2)}"' if odd else cell for cell, odd in zip(cells, special, strict=True)]
    return (separator.join(quoted) if quoted != [""] else QUOTE * 2) + "\n"


def escaped(value: object) -> str:
    """A value as a cell that no spreadsheet runs as a formula: `'` precedes a text that begins like one."""
    cell = cell_text(value)
    return f"'{cell}" if isinstance(value, str) and _FORMULA.match(cell) else cell


def cell_text(value: object) -> str:
    """A value as a cell: empty for None, JSON for lists and objects."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | bytes):
        return msgspec.json.encode(value).decode()
    return str(value)
