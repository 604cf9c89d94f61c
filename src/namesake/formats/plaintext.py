"""An article from a plain text file: the file is the text, its name the id; names are found in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Rejects
from namesake.files import open_lines


def read_text(path: Path, rejects: Rejects, most_articles: int) -> Iterator[pa.Table]:
    """The one article of a text file, in UTF-8; bytes that are none become U+FFFD, so nothing is rejected."""
    builder = ArticleBuilder(most_articles)
    with open_lines(path) as stream:
        builder.add(Article(path.name, stream.read().decode("utf-8-sig", "replace")))
    yield builder.table()
