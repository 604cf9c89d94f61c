"""An article from a plain text file: the file is the text, its name the id; names are found in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import STDIN, open_lines
from namesake.files.lines import too_long
from namesake.formats.fields import Reading


def read_text(
    path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading | None = None
) -> Iterator[pa.Table]:
    """The one article of a text file; one that is too long is set aside.

    It is UTF-8, bytes that are none as U+FFFD, or what the user says.
    """
    reading = Reading() if reading is None else reading
    identifier = "stdin" if str(path) == STDIN else path.name
    if reading.below is not None and path.absolute().is_relative_to(reading.below):
        identifier = path.absolute().relative_to(reading.below).as_posix()
    builder = ArticleBuilder(most_articles)
    with open_lines(path) as stream:
        text = stream.read(most_line + 1)
    if len(text) > most_line:
        rejects.add(Reject(f"not an article: {too_long(most_line)}", str(path), article_id=identifier))
        return
    builder.add(Article(identifier, _decoded(text, reading)))
    yield builder.table()


def _decoded(text: bytes, reading: Reading) -> str:
    if reading.encoding is None:
        return text.decode("utf-8-sig", "replace")
    try:
        return text.decode(reading.encoding, "replace")
    except (LookupError, TypeError):
        raise NamesakeError(f"--encoding {reading.encoding}: no such encoding") from None
