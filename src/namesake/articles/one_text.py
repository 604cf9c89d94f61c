"""One text, and the names in it that somebody asks about, as a table of articles."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from namesake.articles.article import Article, Mention, all_occurrences
from namesake.articles.builder import ArticleBuilder
from namesake.articles.days import HOW_TO_WRITE, UNDATED, day_number
from namesake.errors import NamesakeError, must_be

_SURROGATES = re.compile("[\ud800-\udfff]")


def text_table(
    text: str,
    mentions: Sequence[str | Mention] | None,
    date: str | datetime.date | None,
    title: str | None = None,
) -> pa.Table:
    """One text as a table of articles; a name alone is meant wherever it stands in the text.

    Lone surrogates, which no file can hold, become U+FFFD one for one, so that spans still fit.
    """
    must_be(text, (str,), "text", "a text")
    must_be(date, (str, datetime.date, None), "date", "a text such as 2016-12-26, or a datetime.date")
    must_be(title, (str, None), "title", "a text")
    if isinstance(date, datetime.date):
        date = date.isoformat()
    if date is not None and day_number(date) == UNDATED:
        raise NamesakeError(f"date {date!r} cannot be read: write it as {HOW_TO_WRITE}")
    if isinstance(mentions, str | bytes) or not isinstance(mentions, Iterable | None):
        raise TypeError(f"mentions must be a list of names or Mentions, not {type(mentions).__name__} {mentions!r:.60}")
    text = _SURROGATES.sub("\ufffd", text)
    given = None if mentions is None else _located(text, mentions)
    builder = ArticleBuilder()
    title = None if title is None else _SURROGATES.sub("\ufffd", title)
    builder.add(Article("text", text, title, date, given))
    return builder.table()


def _located(text: str, mentions: Iterable[str | Mention]) -> list[Mention]:
    """The mentions, each name alone with its places in the text."""
    given = list(mentions)
    for mention in given:
        must_be(mention, (str, Mention), "a mention", "a name or a Mention")
        if isinstance(mention, Mention):
            _check_mention(mention)
    names = [_SURROGATES.sub("\ufffd", one if isinstance(one, str) else one.name) for one in given]
    places = all_occurrences((name for name, one in zip(names, given, strict=True) if isinstance(one, str)), text)
    return [
        Mention(name, places[name]) if isinstance(one, str) else replace(one, name=name)
        for name, one in zip(names, given, strict=True)
    ]


def _check_mention(mention: Mention) -> None:
    """Refuse a mention whose parts are not what they must be."""
    must_be(mention.name, (str,), "the name of a mention", "a text")
    for span in mention.spans:
        if len(span) != 2 or not all(isinstance(end, int | np.integer) for end in span):
            raise TypeError(f"a span of {mention.name!r} must be two numbers, start and end, not {span!r:.60}")
        if max(map(abs, span)) >= 2**31:
            raise NamesakeError(f"span {span!r:.60} of {mention.name!r} does not fit any text")
    if isinstance(mention.candidates, str):
        raise TypeError(
            f"the candidates of {mention.name!r} must be a list of QIDs, not the text {mention.candidates!r:.60}"
        )
