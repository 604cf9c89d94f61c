"""Rows of CSV and TSV files, and articles from them (a header, then one row per article) and from plain text files.

A row that does not fit the header is rejected with its line. A fault that makes the rest unreadable (a quote that is
never closed, bytes that do not fit the encoding) is an error that names the line.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import in_tables
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import kind, open_lines
from namesake.files.lines import MOST_LINE, too_long
from namesake.formats.field_names import Reading, choose_fields, id_prefix, shown
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


class CsvRows:
    """A CSV file: its header, and each row with the line it begins on."""

    def __init__(
        self, stream: io.BufferedReader[Any], path: Path, rejects: Rejects, reading: Reading, most_line: int
    ) -> None:
        self.path, self.rejects = shown(path), rejects
        start = stream.peek(4)[:4]
        self.encoding = encoding_of(start, self.path, reading)
        self.marked = codecs.lookup(self.encoding).name in MARKS.values() and start.startswith(tuple(MARKS))
        if start.startswith(codecs.BOM_UTF8):  # whatever the encoding
            self.marked = bool(stream.read(len(codecs.BOM_UTF8)))
        lines = _lines(stream, self.path, self.encoding, most_line)
        first = next(lines, "")
        if not first.strip():
            raise NamesakeError(f"{self.path}: no header; its first line must name the columns")
        self.separator = "\t" if kind(path) == ".tsv" or reading.format == "tsv" else _separator(first, reading, path)
        self.reader = csv.reader(chain([first], lines), delimiter=self.separator, strict=True)
        self.number = 0
        """The last row that was read, as a spreadsheet counts: the header is row 1, a row may have several lines."""
        self.header: list[str] = []
        self.header = self._checked(next(self._rows())[1])

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return ((line, row) for line, row, why in self.every() if why is None)

    def every(self) -> Iterator[tuple[int, list[str], str | None]]:
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
        while True:
            line = self.reader.line_num + 1
            try:
                row = next(self.reader, None)
            except csv.Error as problem:
                unknown = f"cannot be read as a row ({problem})"
                what = next((plain for words, plain in PROBLEMS.items() if words in str(problem)), unknown)
                raise NamesakeError(f"{self.path} line {line}: {what}") from None
            if row is None:
                return
            self.number += 1
            if row or len(self.header) == 1:
                yield line, row or [""]

    def _checked(self, header: list[str]) -> list[str]:
        """The names of the columns; a column without a name gets its number."""
        if len(header) > MOST_COLUMNS:
            raise NamesakeError(
                f"{self.path} line 1: {len(header):,} columns, and at most {MOST_COLUMNS:,} are read; "
                f"is it separated by {SEPARATORS[self.separator]}?"
            )
        names = [name.strip() or f"column {at}" for at, name in enumerate(header, 1)]
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise NamesakeError(f"{self.path} line 1: two columns are called {twice!r}; rename one")
        return names


@contextmanager
def open_rows(path: Path, rejects: Rejects, reading: Reading, most_line: int = MOST_LINE) -> Iterator[CsvRows]:
    """A CSV or TSV file, decompressed, as rows."""
    before = csv.field_size_limit(most_line)  # a setting of the whole program: restored below
    try:
        with open_lines(path, keep_mark=True) as stream:
            yield CsvRows(stream, path, rejects, reading, most_line)
    finally:
        csv.field_size_limit(before)


def read_csv(path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading) -> Iterator[pa.Table]:
    """Tables of articles from a CSV or TSV file; columns that are not part of an article are copied to `extra`."""
    with open_rows(path, rejects, reading, most_line) as rows:
        yield from in_tables(_articles(rows, reading, id_prefix(path, reading)), most_articles)


def _articles(rows: CsvRows, reading: Reading, prefix: str) -> Iterator[Article]:
    """The article of each row; an empty cell is a missing value."""
    fields = choose_fields(rows.header, reading, rows.path)
    own = {fields.text, fields.id, fields.title, fields.date}
    for line, row in rows:
        cells = dict(zip(rows.header, row, strict=True))
        rest = {name: cell for name, cell in cells.items() if name not in own}
        yield Article(
            id=(cells[fields.id] if fields.id else "") or f"{prefix}:{line}",
            text=cells[fields.text],
            title=(cells[fields.title] or None) if fields.title else None,
            date=(cells[fields.date].strip() or None) if fields.date else None,
            extra=msgspec.json.encode(rest).decode() if rest else None,
        )


def encoding_of(start: bytes, where: str, reading: Reading) -> str:
    """The encoding that the user names, or that of the byte order mark of a file; else UTF-8."""
    if reading.encoding is not None:
        try:
            codecs.lookup(reading.encoding)
            "".encode(reading.encoding)
        except (LookupError, ValueError, TypeError):
            raise NamesakeError(
                f"`encoding={reading.encoding!r}`: no such encoding; common are utf-8, cp1252, latin-1, utf-16"
            ) from None
        return reading.encoding
    told = next((encoding for mark, encoding in MARKS.items() if start.startswith(mark)), None)
    if told not in (None, "utf-8-sig"):
        reading.say(f"{where}: read as {told}, as its byte order mark says")
    return told or UTF8


def _lines(stream: io.BufferedReader[Any], where: str, encoding: str, most: int) -> Iterator[str]:
    """The lines of a file as texts; a line longer than `most` is an error."""
    lines: Iterator[str | bytes]
    if encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):  # a newline has several bytes
        text = io.TextIOWrapper(stream, encoding, newline="")
        lines = iter(lambda: text.readline(most + 1), "")
    else:
        lines = iter(lambda: stream.readline(most + 1), b"")
    number = 1
    try:
        for raw in lines:
            line = raw.decode(encoding) if isinstance(raw, bytes) else raw
            if len(line) > most:
                raise NamesakeError(f"{where} line {number}: {too_long(most)}; `most_line=` allows more")
            yield line
            number += 1
    except UnicodeError as problem:
        byte = ""
        if isinstance(problem, UnicodeDecodeError) and problem.start < len(problem.object):
            byte = f" (byte 0x{problem.object[problem.start]:02x})"
        raise NamesakeError(
            f"{where} line {number}: not {encoding}{byte}; name its encoding, such as `encoding='cp1252'`"
        ) from None


def _separator(header: str, reading: Reading, path: Path) -> str:
    """A comma; if the header has none, the most frequent other separator, with a message."""
    counts = {separator: header.count(separator) for separator in SEPARATORS}
    best = max(counts, key=lambda separator: counts[separator])
    if counts[","] or not counts[best]:
        return ","
    reading.say(f"{shown(path)}: cells are separated by {SEPARATORS[best]}")
    return best


def read_text(path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading) -> Iterator[pa.Table]:
    """The one article of a text file; a file that is too long is rejected.

    It is read as UTF-8, or as its byte order mark or the user says. Invalid bytes become U+FFFD, with a message.
    """
    identifier = id_prefix(path, reading)
    with open_lines(path) as stream:
        raw = stream.read(most_line + 1)
    if len(raw) > most_line:
        rejects.add(Reject(f"not an article: {too_long(most_line)}", str(path), article_id=identifier))
        return
    encoding = encoding_of(raw[:4], shown(path), reading)
    raw = raw.removeprefix(codecs.BOM_UTF8) if reading.encoding is None else raw
    try:
        text = raw.decode(encoding)
    except UnicodeError:
        text = raw.decode(encoding, "replace")
        reading.say(
            f"{shown(path)}: not {encoding}; {text.count(chr(0xFFFD)):,} characters are lost (U+FFFD). Name its "
            "encoding, such as `encoding='cp1252'`"
        )
    yield from in_tables([Article(identifier, text)])
