"""The article of a plain text file: its content is the text, its name is the id."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import in_tables
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.lines import too_long
from namesake.formats.csv_rows import encoding_of
from namesake.formats.field_names import Reading, id_prefix, shown


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
