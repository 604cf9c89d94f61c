"""An article from a plain text file: the file is the text, its name the id; names are found in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.lines import too_long


def read_text(path: Path, rejects: Rejects, most_articles: int, most_line: int) -> Iterator[pa.Table]:
    """The one article of a text file, in UTF-8, bytes that are none as U+FFFD; one that is too long is set aside."""
    builder = ArticleBuilder(most_articles)
    with open_lines(path) as stream:
        text = stream.read(most_line + 1)
    if len(text) > most_line:
        rejects.add(Reject(f"not an article: {too_long(most_line)}", str(path), article_id=path.name))
        return
    builder.add(Article(path.name, text.decode("utf-8-sig", "replace")))
    yield builder.table()
