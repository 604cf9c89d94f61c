"""Articles gathered one by one into Arrow tables: flat lists first, nested arrays once per table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pyarrow as pa

from namesake.arrays import arrow_numbers, arrow_texts, indptr
from namesake.articles.article import Article, Mention
from namesake.articles.schema import ARTICLES, MENTION, SPANS
from namesake.kernels.text.spans import tokens_to_characters

MOST_ARTICLES = 2048
MOST_BYTES = 16 << 20

CANDIDATE_BYTES = 100
"""What a candidate weighs in the size of a batch: its columns take about as much room as a line of text."""


@dataclass
class ArticleBuilder:
    """Collects articles up to a number or a size, then gives them as a table of `ARTICLES`."""

    most_articles: int = MOST_ARTICLES
    most_bytes: int = MOST_BYTES
    articles: list[Article] = field(default_factory=list)
    size: int = 0

    def add(self, article: Article) -> None:
        """Take one more article."""
        self.articles.append(article)
        self.size += len(article.text) + len(article.title or "") + len(article.extra or "")
        for mention in article.mentions or ():
            self.size += CANDIDATE_BYTES * len(mention.candidates or ())

    @property
    def full(self) -> bool:
        """Whether it is time for a table."""
        return len(self.articles) >= self.most_articles or self.size >= self.most_bytes

    def table(self) -> pa.Table:
        """The articles so far, as a table; the builder starts anew."""
        articles, self.articles, self.size = self.articles, [], 0
        texts = arrow_texts([a.text for a in articles], pa.large_string())
        return pa.table(
            [
                arrow_texts([a.id for a in articles]),
                texts,
                arrow_texts([a.title for a in articles]),
                arrow_texts([a.date for a in articles]),
                mention_column(articles, texts),
                arrow_texts([a.extra for a in articles]),
            ],
            schema=ARTICLES,
        )


def mention_column(articles: list[Article], texts: pa.LargeStringArray | None = None) -> pa.ListArray:
    """The nested column `mentions`; `texts` are needed where spans count tokens."""
    lists = [a.mentions or () for a in articles]
    mentions = list(chain.from_iterable(lists))
    spans = _spans(articles, mentions, texts)
    names = arrow_texts([m.name for m in mentions])
    given = [m.candidates or () for m in mentions]
    candidates = pa.ListArray.from_arrays(
        _offsets(given),
        arrow_texts(list(chain.from_iterable(given))),
        mask=arrow_numbers(np.array([m.candidates is None for m in mentions], np.bool_)),
    )
    span_offsets = _offsets([m.spans for m in mentions])
    flat = pa.FixedSizeListArray.from_arrays(arrow_numbers(spans.reshape(-1)), 2)
    structs = pa.StructArray.from_arrays(
        [names, pa.ListArray.from_arrays(span_offsets, flat, type=SPANS), candidates], fields=list(MENTION)
    )
    missing = arrow_numbers(np.array([a.mentions is None for a in articles], np.bool_))
    return pa.ListArray.from_arrays(_offsets(lists), structs, type=pa.list_(MENTION), mask=missing)


def _spans(articles: list[Article], mentions: list[Mention], texts: pa.LargeStringArray | None) -> np.ndarray:
    """All spans as an int32 array of pairs, in characters."""
    counts = [sum(len(m.spans) for m in a.mentions or ()) for a in articles]
    flat = chain.from_iterable(chain.from_iterable(m.spans for m in mentions))
    # Ends beyond any text fit no text: clip them rather than overflow.
    spans = np.clip(np.fromiter(flat, np.int64), -1, 2**31 - 1).astype(np.int32).reshape(-1, 2)
    by_token = np.repeat([a.token_spans for a in articles], counts)
    if texts is not None and by_token.any():
        _, offsets, data = texts.buffers()
        text = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
        where = np.frombuffer(offsets, np.int64)[: len(texts) + 1]
        characters = tokens_to_characters(text, where, indptr(counts), spans)
        spans[by_token] = characters[by_token]
    return spans


def _offsets(lists: Sequence[Sequence[object]]) -> pa.Int32Array:
    return arrow_numbers(indptr([len(one) for one in lists]).astype(np.int32))
