"""Rows of CSV and TSV files, and articles from them: a header, then one row for each article.

A row that does not fit the header is set aside with its line; what makes all that follows unreadable (a quote that is
never closed, bytes that are not of the encoding) is one error that names the line.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import STDIN, kind, open_lines
from namesake.files.lines import MOST_LINE, too_long
from namesake.formats.fields import Fields, Reading, choose_fields, place
from namesake.printable import counted

MOST_COLUMNS = 10_000
UTF8 = "utf-8"
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""Encodings by the byte order mark that a file begins with; the longer marks come first."""
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


class Rows:
    """A CSV file being read: its header, then each row with the number of the line it begins on."""

    def __init__(
        self, stream: io.BufferedReader[Any], path: Path, rejects: Rejects, reading: Reading, most_line: int
    ) -> None:
        self.path, self.rejects = shown(path), rejects
        start = stream.peek(4)[:4]
        self.encoding = encoding_of(start, self.path, reading)
        self.marked = codecs.lookup(self.encoding).name in MARKS.values() and start.startswith(tuple(MARKS))
        if start.startswith(codecs.BOM_UTF8):  # whatever the encoding is said to be
            self.marked = bool(stream.read(len(codecs.BOM_UTF8)))
        self.lines = _lines(stream, self.path, self.encoding, most_line)
        first = next(self.lines, "")
        if not first.strip():
            raise NamesakeError(f"{self.path}: no header; its first line must name the columns")
        self.separator = "\t" if kind(path) == ".tsv" or reading.format == "tsv" else _separator(first, reading, path)
        self.reader = csv.reader(self._with(first), delimiter=self.separator, strict=True)
        self.number = 0
        """Of the row that was read last, as a spreadsheet counts: the header is row 1, a row may have many lines."""
        self.header: list[str] = []
        self.header = self._checked(next(self._rows())[1])

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return ((line, row) for line, row, why in self.every() if why is None)

    def every(self) -> Iterator[tuple[int, list[str], str | None]]:
        """Every row, with why it was set aside: such a one is cut or filled up to the columns of the header."""
        columns = len(self.header)
        for line, row in self._rows():
            why = None
            if len(row) != columns:
                why = f"{counted(len(row), 'cell')}, and the header has {columns:,}"
            elif any("\0" in cell for cell in row):
                why = "holds NUL bytes, which no text has"
            if why is not None:
                self._set_aside(line, why)
                row = [cell.replace("\0", "\ufffd") for cell in row[:columns]] + [""] * (columns - len(row))
            yield line, row, why

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Every row; an empty line is one where there is a single column."""
        while True:
            line = self.reader.line_num + 1
            try:
                row = next(self.reader, None)
            except csv.Error as problem:
                raise NamesakeError(f"{self.path} line {line}: {_plain(problem)}") from None
            if row is None:
                return
            self.number += 1
            if row or len(self.header) == 1:
                yield line, row or [""]

    def _with(self, first: str) -> Iterator[str]:
        yield first
        yield from self.lines

    def _checked(self, header: list[str]) -> list[str]:
        """The names of the columns; an empty one gets its number."""
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

    def _set_aside(self, line: int, why: str) -> None:
        self.rejects.add(Reject(f"not a row: {why}", self.path, line, row=self.number))


def shown(path: Path, dash: str = "stdin") -> str:
    """What messages call a file, and `-`."""
    return dash if str(path) == STDIN else str(path)


@contextmanager
def open_rows(path: Path, rejects: Rejects, reading: Reading, most_line: int = MOST_LINE) -> Iterator[Rows]:
    """A CSV or TSV file, unpacked, as rows."""
    before = csv.field_size_limit(most_line)  # one for the whole program: it is put back
    try:
        with open_lines(path, keep_mark=True) as stream:
            yield Rows(stream, path, rejects, reading, most_line)
    finally:
        csv.field_size_limit(before)


def read_csv(
    path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading | None = None
) -> Iterator[pa.Table]:
    """Tables of articles from a CSV or TSV file; columns that are no part of an article are carried along."""
    reading = Reading() if reading is None else reading
    builder = ArticleBuilder(most_articles)
    with open_rows(path, rejects, reading, most_line) as rows:
        fields = choose_fields(rows.header, reading, rows.path)
        own, begin = {fields.text, fields.id, fields.title, fields.date}, place(path, reading)
        for line, row in rows:
            cells = dict(zip(rows.header, row, strict=True))
            builder.add(_article(cells, fields, own, f"{begin}:{line}"))
            if builder.full:
                yield builder.table()
    if builder.articles:
        yield builder.table()


def _article(cells: dict[str, str], fields: Fields, own: set[str | None], place: str) -> Article:
    """The article of a row; an empty cell says nothing."""
    rest = {name: cell for name, cell in cells.items() if name not in own}
    return Article(
        id=(cells[fields.id] if fields.id else "") or place,
        text=cells[fields.text],
        title=(cells[fields.title] or None) if fields.title else None,
        date=(cells[fields.date].strip() or None) if fields.date else None,
        extra=msgspec.json.encode(rest).decode() if rest else None,
    )


def encoding_of(start: bytes, where: str, reading: Reading) -> str:
    """The encoding that the user names, or that the byte order mark of a file's start tells; else UTF-8."""
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
    """The lines of a file as texts, none longer than `most`."""
    number = 0
    if encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):  # a newline there is more than a byte
        text = io.TextIOWrapper(stream, encoding, newline="")
        try:
            while line := text.readline(most + 1):
                number += 1
                yield _bounded(line, where, number, most)
        except UnicodeError as problem:
            raise NamesakeError(_undecodable(where, number + 1, encoding, problem)) from None
        return
    while raw := stream.readline(most + 1):
        number += 1
        try:
            yield _bounded(raw.decode(encoding), where, number, most)
        except UnicodeError as problem:
            raise NamesakeError(_undecodable(where, number, encoding, problem)) from None


def _bounded(line: str, where: str, number: int, most: int) -> str:
    if len(line) > most:
        raise NamesakeError(f"{where} line {number}: {too_long(most)}; `most_line=` allows more")
    return line


def _undecodable(where: str, number: int, encoding: str, problem: UnicodeError) -> str:
    byte = ""
    if isinstance(problem, UnicodeDecodeError) and problem.start < len(problem.object):
        byte = f" (byte 0x{problem.object[problem.start]:02x})"
    return f"{where} line {number}: not {encoding}{byte}; name its encoding, such as `encoding='cp1252'`"


def _separator(header: str, reading: Reading, path: Path) -> str:
    """A comma; where the header has none, what it has instead, said aloud."""
    counts = {separator: header.count(separator) for separator in SEPARATORS}
    best = max(counts, key=lambda separator: counts[separator])
    if counts[","] or not counts[best]:
        return ","
    reading.say(f"{shown(path)}: cells are separated by {SEPARATORS[best]}")
    return best


def _plain(problem: csv.Error) -> str:
    """What is wrong with a row, in words that say what to do."""
    text = str(problem)
    if "unexpected end of data" in text:
        return "a quote is opened here and never closed"
    if "field larger than" in text:
        return "a cell has no end: is a quote never closed?"
    if "expected after" in text:
        return "a quote within a cell is not doubled"
    return f"cannot be read as a row ({text})"
