"""ZELDA's JSON lines: `{"id", "text", "index": [[start, end]], "wikipedia_titles": [...], "wikipedia_ids": [...]}`.

Mention i covers the characters `index[i]` and links to the page `wikipedia_titles[i]`, whose number is
`wikipedia_ids[i]`. There are no candidates here: ZELDA keeps them in a pickle, which we do not open.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from namesake.articles.article import Article, Span
from namesake.articles.rejects import Rejects
from namesake.datasets.labelled import Labelled, Occurrence, label, page_title, read_records
from namesake.errors import NamesakeError


class Record(msgspec.Struct):
    """A document."""

    id: str | int
    text: str
    index: list[Span]
    wikipedia_titles: list[str | None]
    wikipedia_ids: list[int | str | None]


def read_zelda(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """Documents with their links as mentions; a link without a title is nobody."""
    for number, record in read_records(path, Record, "a ZELDA document"):
        where = f"{path} line {number}"
        yield label(Article(str(record.id), record.text), _occurrences(record, where), where)


def _occurrences(record: Record, where: str) -> list[Occurrence]:
    sizes = [len(record.index), len(record.wikipedia_titles), len(record.wikipedia_ids)]
    if len(set(sizes)) > 1:
        raise NamesakeError(f"{where}: {sizes[0]} spans, {sizes[1]} titles and {sizes[2]} page ids: they must match")
    return [
        Occurrence(
            [span], None, page_title(title) if title else None, None, {"page": None if page is None else f"{page}"}
        )
        for span, title, page in zip(record.index, record.wikipedia_titles, record.wikipedia_ids, strict=True)
    ]
