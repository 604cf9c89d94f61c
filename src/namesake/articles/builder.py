"""Tables of `schema.ARTICLES`: built from articles or from one text, checked, and cut into batches of bounded size."""

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pyarrow as pa

from namesake.arrays import arrow_numbers, arrow_texts, decoded, indptr, list_parts, numpy_numbers, sizes, text_buffers
from namesake.articles.article import Article, Mention, located
from namesake.articles.days import check_date
from namesake.articles.schema import ARTICLES, MENTION, SPANS, check
from namesake.errors import NamesakeError, must_be
from namesake.kernels.text.spans import tokens_to_characters

MOST_ARTICLES = 2048
MOST_BYTES = 16 << 20
CANDIDATE_BYTES = 100
"""The weight of a candidate in the size of a batch, in bytes of text: its columns need about as much memory."""
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass
class ArticleBuilder:
    """Collects articles up to a number or a size, and returns them as a table of `ARTICLES`."""

    articles: list[Article] = field(default_factory=list)
    size: int = 0  # in bytes of text

    def add(self, article: Article) -> None:
        """Add one article."""
        self.articles.append(article)
        self.size += len(article.text) + len(article.title or "") + len(article.extra or "")
        self.size += CANDIDATE_BYTES * sum(len(mention.candidates or ()) for mention in article.mentions or ())

    @property
    def full(self) -> bool:
        """Whether the articles fill a table."""
        return len(self.articles) >= MOST_ARTICLES or self.size >= MOST_BYTES

    def table(self) -> pa.Table:
        """All articles as a table; the builder is empty afterwards."""
        articles, self.articles, self.size = self.articles, [], 0
        return _table(articles)


def _table(articles: list[Article]) -> pa.Table:
    columns = {
        name: arrow_texts([getattr(article, name) for article in articles], ARTICLES.field(name).type)
        for name in ("id", "text", "title", "date", "extra")
    }
    columns["mentions"] = _mention_column(articles, columns["text"])
    return pa.table([columns[name] for name in ARTICLES.names], schema=ARTICLES)


def in_tables(articles: Iterable[Article]) -> Iterator[pa.Table]:
    """The articles in tables of bounded size."""
    builder = ArticleBuilder()
    for article in articles:
        builder.add(article)
        if builder.full:
            yield builder.table()
    if builder.articles:
        yield builder.table()


def text_table(
    text: str, mentions: Sequence[str | Mention] | None, date: str | datetime.date | None, title: str | None = None
) -> pa.Table:
    """One text as a table of articles; a mention that is a name alone stands for all its occurrences in the text."""
    must_be(text, (str,), "text", "a text")
    must_be(date, (str, datetime.date, None), "date", "a text such as 2016-12-26, or a datetime.date")
    must_be(title, (str, None), "title", "a text")
    date = date.isoformat() if isinstance(date, datetime.date) else date
    check_date(date)
    if isinstance(mentions, str | bytes) or not isinstance(mentions, Iterable | None):
        raise TypeError(f"mentions must be a list of names or Mentions, not {type(mentions).__name__} {mentions!r:.60}")
    text = _SURROGATES.sub("\ufffd", text)  # no file can contain them; one for one, so that spans still fit
    title = None if title is None else _SURROGATES.sub("\ufffd", title)
    given = None if mentions is None else located(text, [_checked_mention(one) for one in mentions])
    return _table([Article("text", text, title, date, given)])


def _checked_mention(mention: str | Mention) -> str | Mention:
    """The mention without surrogates in its name; refuses a mention whose fields have wrong types."""
    must_be(mention, (str, Mention), "a mention", "a name or a Mention")
    if isinstance(mention, str):
        return _SURROGATES.sub("\ufffd", mention)
    must_be(mention.name, (str,), "the name of a mention", "a text")
    for span in mention.spans:
        if len(span) != 2 or not all(isinstance(end, int | np.integer) for end in span):
            raise TypeError(f"a span of {mention.name!r} must be two numbers, start and end, not {span!r:.60}")
        if max(map(abs, span)) >= 2**31:
            raise NamesakeError(f"span {span!r:.60} of {mention.name!r} does not fit any text")
    if isinstance(mention.candidates, str):
        raise TypeError(f"candidates of {mention.name!r} must be a list of QIDs, not {mention.candidates!r:.60}")
    return replace(mention, name=_SURROGATES.sub("\ufffd", mention.name))


def check_articles(table: pa.Table, what: str = "articles") -> pa.Table:
    """`table`, called `what`, with the columns of `ARTICLES`; `mentions` may be lists of names, for all occurrences."""
    if not isinstance(table, pa.Table) or table.column_names.count("mentions") != 1:
        return check(table, ARTICLES, what)
    given = decoded(table.column("mentions"))
    if getattr(given.type, "value_type", None) not in (pa.string(), pa.large_string()):  # not lists of texts
        return check(table, ARTICLES, what)
    articles = check(table.drop_columns(["mentions"]), ARTICLES, what)
    rows = zip(articles.column("text").to_pylist(), given.to_pylist(), strict=True)
    named = [Article("", text, mentions=None if names is None else located(text, names)) for text, names in rows]
    place = ARTICLES.get_field_index("mentions")
    return articles.set_column(place, ARTICLES.field(place), _mention_column(named))


def pieces(articles: pa.Table) -> Iterator[pa.Table]:
    """The table in slices of bounded size; all articles of a slice list mentions, or none does."""
    if not articles.num_rows:
        return
    texts, titles, extra = (sizes(articles.column(name)) for name in ("text", "title", "extra"))
    size, given = texts + titles + extra, articles.column("mentions")
    if given.null_count < len(given):
        per_article, mentions = list_parts(given)
        size += CANDIDATE_BYTES * np.diff(indptr(sizes(mentions.field("candidates")))[per_article])
    ends = indptr(size)
    changes = np.append(1 + np.flatnonzero(np.diff(numpy_numbers(given.is_null()))), len(size))
    begin = 0
    while begin < len(size):
        end = max(int(np.searchsorted(ends, ends[begin] + MOST_BYTES, side="right")) - 1, begin + 1)
        end = min(end, begin + MOST_ARTICLES, int(changes[np.searchsorted(changes, begin, side="right")]))
        yield articles.slice(begin, end - begin)
        begin = end


def _mention_column(articles: list[Article], texts: pa.LargeStringArray | None = None) -> pa.ListArray:
    """The nested column `mentions`; `texts` are needed if spans count tokens."""
    mentions = list(chain.from_iterable(a.mentions or () for a in articles))
    qids = arrow_texts(list(chain.from_iterable(m.candidates or () for m in mentions)))
    spans = pa.FixedSizeListArray.from_arrays(arrow_numbers(_spans(articles, mentions, texts).reshape(-1)), 2)
    columns = [
        arrow_texts([m.name for m in mentions]),
        _lists([m.spans for m in mentions], spans, SPANS),
        _lists([m.candidates for m in mentions], qids, pa.list_(pa.string())),
    ]
    structs = pa.StructArray.from_arrays(columns, fields=list(MENTION))
    return _lists([a.mentions for a in articles], structs, ARTICLES.field("mentions").type)


def _spans(articles: list[Article], mentions: list[Mention], texts: pa.LargeStringArray | None) -> np.ndarray:
    """All spans as an int32 array of pairs, in characters."""
    counts = [sum(len(m.spans) for m in a.mentions or ()) for a in articles]
    flat = chain.from_iterable(chain.from_iterable(m.spans for m in mentions))
    # Ends beyond any text fit no text: clip them rather than overflow.
    spans = np.clip(np.fromiter(flat, np.int64), -1, 2**31 - 1).astype(np.int32).reshape(-1, 2)
    by_token = np.repeat([a.token_spans for a in articles], counts)
    if texts is not None and by_token.any():
        characters = tokens_to_characters(*text_buffers(texts), indptr(counts), spans)
        spans[by_token] = characters[by_token]
    return spans


def _lists(lists: Sequence[Sequence[object] | None], values: pa.Array, kind: pa.DataType) -> pa.ListArray:
    """A column of lists as long as `lists`, null where one is None, with these values."""
    offsets = indptr([0 if one is None else len(one) for one in lists]).astype(np.int32)
    missing = np.array([one is None for one in lists], np.bool_)
    return pa.ListArray.from_arrays(arrow_numbers(offsets), values, type=kind, mask=arrow_numbers(missing))
