"""Readers of articles and writers of links, one format per file, found by suffix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from namesake.articles.builder import MOST_ARTICLES
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.files import kind
from namesake.files.lines import MOST_LINE
from namesake.formats.jsonl import read_jsonl
from namesake.formats.parquet import read_parquet
from namesake.formats.plaintext import read_text


class Reader(Protocol):
    """Reads a file of articles."""

    def __call__(self, path: Path, rejects: Rejects, most_articles: int, most_line: int) -> Iterator[pa.Table]:
        """Tables of `schema.ARTICLES` with at most so many rows; records that are no articles go to `rejects`.

        So do lines, and texts, of more than `most_line` bytes.
        """
        ...


READERS: dict[str, Reader] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_jsonl,
    ".parquet": read_parquet,
    ".txt": read_text,
}
"""The readers by the suffix of their files, compression apart. `jsonl.LAYOUTS` has what JSON lines may look like."""


def read_articles(
    path: Path | str, rejects: Rejects, most_articles: int = MOST_ARTICLES, most_line: int = MOST_LINE
) -> Iterator[pa.Table]:
    """Tables of `schema.ARTICLES` from a file; `-` reads JSON lines from standard input.

    Args:
        path: the file; its suffix tells its format.
        rejects: takes the records that are no articles.
        most_articles: the size of a table; those with long articles are smaller.
        most_line: how many bytes a line of JSON, or a text file, may have; longer ones are set aside.
    """
    path = Path(path)
    reader = read_jsonl if str(path) == "-" else READERS.get(kind(path))
    if reader is None:
        raise NamesakeError(f"{path}: articles come as .jsonl or .txt (also .gz, .bz2, .zst) or as .parquet")
    return reader(path, rejects, most_articles, most_line)
