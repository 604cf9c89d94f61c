"""Readers and writers of articles and links, one format a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.files import kind
from namesake.formats.jsonl import read_jsonl
from namesake.formats.parquet import read_parquet
from namesake.formats.plaintext import read_text

BATCH_ARTICLES = 2048


def read_articles(path: Path | str, rejects: Rejects, batch_articles: int = BATCH_ARTICLES) -> Iterator[pa.Table]:
    """Tables of `schema.ARTICLES` from a file, in bounded batches; `-` reads JSON lines from standard input."""
    path = Path(path)
    suffix = ".jsonl" if str(path) == "-" else kind(path)
    if suffix == ".parquet":
        yield from read_parquet(path, rejects, batch_articles)
    elif suffix in {".jsonl", ".ndjson", ".json"}:
        yield from read_jsonl(path, rejects, ArticleBuilder(batch_articles))
    elif suffix == ".txt":
        yield from read_text(path, ArticleBuilder(batch_articles))
    else:
        raise NamesakeError(f"{path}: articles come as .jsonl or .txt (also .gz, .bz2, .zst) or as .parquet")
