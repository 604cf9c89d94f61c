"""Readers of articles and writers of links, one format per file, found by suffix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pyarrow as pa

from namesake.articles.builder import MOST_ARTICLES
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.files import STDIN, kind, open_lines
from namesake.files.lines import MOST_LINE
from namesake.formats.csv import read_csv
from namesake.formats.fields import GUESSES, Reading
from namesake.formats.json_records import array_records, has_known_layout, is_array, line_records, read_records
from namesake.formats.jsonl import BLANKS, BOM, read_jsonl
from namesake.formats.office import save_as
from namesake.formats.parquet import read_parquet
from namesake.formats.plaintext import read_text

LINES, FIRST = 5, 16 << 20
"""How many lines of a file, and how much of each, are looked at for what its fields are called."""


class Reader(Protocol):
    """Reads a file of articles."""

    def __call__(
        self, path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading
    ) -> Iterator[pa.Table]:
        """Tables of `schema.ARTICLES` with at most so many rows; records that are no articles go to `rejects`.

        So do lines, and texts, of more than `most_line` bytes. `reading` is what the file does not tell.
        """
        ...


JSON = (".jsonl", ".ndjson", ".json")
SUFFIXES = ".jsonl, .json, .csv, .tsv or .txt (also .gz, .bz2, .zst) or as .parquet"


def read_articles(
    path: Path | str,
    rejects: Rejects,
    most_articles: int = MOST_ARTICLES,
    most_line: int = MOST_LINE,
    reading: Reading | None = None,
) -> Iterator[pa.Table]:
    """Tables of `schema.ARTICLES` from a file; `-` reads standard input, JSON lines if nothing else is said.

    Args:
        path: the file; its suffix tells its format.
        rejects: takes the records that are no articles.
        most_articles: the size of a table; those with long articles are smaller.
        most_line: how many bytes a line, or a text file, may have; longer ones are set aside.
        reading: what its fields are called, and what else its suffix does not tell.
    """
    path, reading = Path(path), Reading() if reading is None else reading
    suffix = f".{reading.format or 'jsonl'}" if str(path) == STDIN else kind(path)
    suffix = ".txt" if suffix == ".text" else suffix
    reader = READERS.get(suffix)
    if reader is None or (suffix == ".parquet" and str(path) == STDIN):
        raise NamesakeError(f"{path}: articles come as {SUFFIXES}{save_as(path)}")
    return reader(path, rejects, most_articles, most_line, reading)


def read_json(path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading) -> Iterator[pa.Table]:
    """JSON lines, or an array; the scanner reads lines of a layout that we know, where they come from a file."""
    size = (path, rejects, most_articles, most_line)
    if path.is_file():
        if not read_as_one(path, reading):
            return read_jsonl(*size)
        start = _first_lines(path)[0]
        if kind(path) == ".json" and is_array(start):
            return read_records(array_records(path), *size, reading)
        if not reading.named:
            _refuse_other_text(path, start)
    elif reading.format == "json":
        return read_records(array_records(path), *size, reading)
    return read_records(line_records(path, most_line), *size, reading)


def read_as_one(path: Path, reading: Reading) -> bool:
    """Whether a file has to be read from its beginning to its end: it is not made of lines that stand for themselves.

    Parquet and JSON lines of our layouts can be cut anywhere between rows; a CSV file has a header, JSON lines with
    other fields are read by what the first of them has.
    """
    if kind(path) not in JSON:
        return kind(path) != ".parquet"
    if not path.is_file():
        return False
    lines = _first_lines(path)
    return bool(reading.named) or _are_foreign(lines) or (kind(path) == ".json" and is_array(lines[0]))


def _first_lines(path: Path) -> list[bytes]:
    """The first lines that are not empty, or their beginnings; at least one, if an empty one."""
    lines: list[bytes] = []
    with open_lines(path) as stream:
        while len(lines) < LINES and (line := stream.readline(FIRST)):
            if line.removeprefix(BOM).strip(BLANKS):
                lines.append(line)
            if not line.endswith(b"\n"):
                break
    return lines or [b""]


def _are_foreign(lines: list[bytes]) -> bool:
    """Whether the first line is not of ours but has a text: without id, or by a name that no other line contradicts."""
    first, *others = map(_fields_of, lines)
    texts = {name.casefold() for name, value in first.items() if isinstance(value, str)} & set(GUESSES["text"])
    if has_known_layout(first) or not texts:
        return False
    return "text" in texts or not any(map(has_known_layout, others))


def _fields_of(line: bytes) -> dict[str, Any]:
    """The fields of a line; none where it is no object."""
    try:
        fields: dict[str, Any] = msgspec.json.decode(line.removeprefix(BOM), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return fields


def _refuse_other_text(path: Path, line: bytes) -> None:
    """Refuse JSON lines, a format of our own, whose text is called otherwise, with the options that may be meant."""
    names = {name.casefold(): name for name in _fields_of(line)}
    if "text" in names:
        return
    meant = {what: next((names[one] for one in called if one in names), None) for what, called in GUESSES.items()}
    options = " ".join(f"`{what}={name!r}`" for what, name in meant.items() if name)
    raise NamesakeError(f"{path}: its lines have no `text`; did you mean {options}?")


READERS: dict[str, Reader] = {
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".json": read_json,
    ".parquet": read_parquet,
    ".txt": read_text,
    ".csv": read_csv,
    ".tsv": read_csv,
}
"""The readers by the suffix of their files, compression apart. `jsonl.LAYOUTS` has what JSON lines may look like."""
