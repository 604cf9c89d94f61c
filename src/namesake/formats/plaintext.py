"""An article from a plain text file: the file is the text, its name the id; names are found in it."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.lines import too_long
from namesake.formats.csv import encoding_of, shown
from namesake.formats.fields import Reading, place


def read_text(
    path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading | None = None
) -> Iterator[pa.Table]:
    """The one article of a text file; one that is too long is set aside.

    It is UTF-8, or what its byte order mark or the user says; bytes that are none become U+FFFD, which is said.
    """
    reading = Reading() if reading is None else reading
    identifier = place(path, reading)
    builder = ArticleBuilder(most_articles)
    with open_lines(path) as stream:
        text = stream.read(most_line + 1)
    if len(text) > most_line:
        rejects.add(Reject(f"not an article: {too_long(most_line)}", str(path), article_id=identifier))
        return
    builder.add(Article(identifier, _decoded(text, path, reading)))
    yield builder.table()


def _decoded(raw: bytes, path: Path, reading: Reading) -> str:
    encoding = encoding_of(raw[:4], shown(path), reading)
    text = raw.removeprefix(codecs.BOM_UTF8) if reading.encoding is None else raw
    try:
        return text.decode(encoding)
    except UnicodeError:
        decoded = text.decode(encoding, "replace")
    lost = decoded.count("\ufffd")
    reading.say(
        f"{shown(path)}: not {encoding}; {lost:,} characters are lost (U+FFFD). Name its encoding, such as "
        "`encoding='cp1252'`"
    )
    return decoded
