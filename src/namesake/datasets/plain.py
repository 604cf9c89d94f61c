"""Our own JSON lines, with the truth in them: `{"id", "text", "title"?, "date"?, "mentions": [{"name", "spans",
"candidates"?, "gold"?}]}`: spans in characters, `gold` a QID, an index of the candidates, or null for nobody.

A mention without `gold` has no truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from namesake.articles.article import Article, Mention, Span
from namesake.articles.rejects import Rejects
from namesake.datasets.labelled import Labelled, Truth, check_gold, check_span, read_records
from namesake.errors import NamesakeError


class PlainMention(msgspec.Struct):
    """A name with its spans."""

    name: str
    spans: list[Span] = []
    candidates: list[str] | None = None
    gold: int | str | msgspec.UnsetType | None = msgspec.UNSET


class Record(msgspec.Struct):
    """An article."""

    id: str | int
    text: str
    title: str | None = None
    date: str | None = None
    mentions: list[PlainMention] | None = None


def read_plain(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """Articles with the mentions that they give; names that come again in an article are refused."""
    for number, record in read_records(path, Record, "an article"):
        where = f"{path} line {number}"
        mentions, truths = [], []
        seen: set[str] = set()
        for one in record.mentions or ():
            if one.name in seen:
                raise NamesakeError(f"{where}: two mentions {one.name!r}; give a name once, with all its spans")
            seen.add(one.name)
            for span in one.spans:
                check_span(span, record.text, where)
            mentions.append(Mention(one.name, one.spans, one.candidates))
            if one.gold is not msgspec.UNSET:
                check_gold(one.gold, one.candidates, one.name, where)
                truths.append(Truth(one.name, one.name, one.gold))
        yield Labelled(Article(str(record.id), record.text, record.title, record.date, mentions), truths)
