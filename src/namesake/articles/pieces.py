"""Tables of articles in pieces of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from namesake.arrays import indptr, list_parts, one_chunk, sizes
from namesake.articles.builder import CANDIDATE_BYTES, MOST_ARTICLES, MOST_BYTES


def pieces(articles: pa.Table) -> Iterator[pa.Table]:
    """The table in slices of bounded size, cut between articles; what counts is text, given candidates and extra."""
    if not articles.num_rows:
        return
    texts, titles, extra = (sizes(articles.column(name)) for name in ("text", "title", "extra"))
    size, given = texts + titles + extra, one_chunk(articles.column("mentions"))
    if given.null_count < len(given):
        per_article, mentions = list_parts(given)
        size += CANDIDATE_BYTES * np.diff(indptr(sizes(mentions.field("candidates")))[per_article])
    ends = np.cumsum(size)
    begin = 0
    while begin < len(ends):
        before = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, before + MOST_BYTES, side="right")), begin + 1)
        end = min(end, begin + MOST_ARTICLES)
        yield articles.slice(begin, end - begin)
        begin = end
