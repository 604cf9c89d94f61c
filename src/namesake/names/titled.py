"""Texts read with their titles: joined where names are looked for, and parted again where they are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int32, Int64, arrow_numbers, arrow_scalar, indptr, numpy_numbers, sizes
from namesake.articles.schema import SPANS

BETWEEN = "\n\n"  # parts a title from its text: no name reaches across an empty line


@dataclass(frozen=True)
class Placed:
    """Where mentions are in texts, in the order of the articles; the spans in titles are separate.

    Article a has the mentions `articles[a]:articles[a + 1]`. Mention m has the spans
    `span_indptr[m]:span_indptr[m + 1]`, in characters and in bytes of its text (BAD if one does not fit).
    """

    articles: Int64
    span_indptr: Int64
    spans: Int32
    byte_spans: Int32
    in_titles: pa.ListArray | None = None
    given: pa.ListArray | None = None
    """The spans as an article lists them, if it does."""

    def __len__(self) -> int:
        return len(self.span_indptr) - 1

    @property
    def span_lists(self) -> pa.ListArray:
        """The spans in characters, as articles and links hold them."""
        return _lists(self.span_indptr, self.spans) if self.given is None else self.given

    @property
    def title_lists(self) -> pa.ListArray:
        """The same for those in titles; null where there are none."""
        return pa.nulls(len(self), SPANS) if self.in_titles is None else self.in_titles


@dataclass(frozen=True)
class Titled:
    """Texts behind their titles, and how much of each is title, with what parts the two; 0 where there is none."""

    texts: pa.LargeStringArray
    head_bytes: Int64
    head_characters: Int64

    @classmethod
    def of(cls, texts: pa.LargeStringArray, titles: pa.StringArray) -> Titled | None:
        """The texts with their titles; None where no text has one."""
        if titles.null_count == len(titles):
            return None
        titles = titles.fill_null(arrow_scalar("", titles.type)).cast(pa.large_string())
        given = sizes(titles) > 0
        joined = pc.binary_join_element_wise(titles, texts, arrow_scalar(BETWEEN, pa.large_string()))
        lengths = (sizes(titles), numpy_numbers(pc.utf8_length(titles)))
        heads = (np.where(given, length.astype(np.int64) + len(BETWEEN), 0) for length in lengths)
        return cls(pc.if_else(arrow_numbers(given), joined, texts), *heads)

    def part(self, whole: Placed) -> Placed:
        """What stands in these texts, parted into what stands in the titles and what stands below them."""
        mention = np.repeat(np.arange(len(whole)), np.diff(whole.span_indptr))
        text = np.repeat(np.arange(len(whole.articles) - 1), np.diff(whole.articles))[mention]
        in_title = whole.byte_spans[:, 0] < self.head_bytes[text]
        below, head = ~in_title, text[~in_title]
        counts = np.bincount(mention[in_title], minlength=len(whole))
        return Placed(
            articles=whole.articles,
            span_indptr=indptr(np.bincount(mention[below], minlength=len(whole))),
            spans=whole.spans[below] - self.head_characters[head, None].astype(np.int32),
            byte_spans=whole.byte_spans[below] - self.head_bytes[head, None].astype(np.int32),
            in_titles=_lists(indptr(counts), whole.spans[in_title], arrow_numbers(counts == 0)),
        )


def _lists(offsets: Int64, spans: Int32, mask: pa.BooleanArray | None = None) -> pa.ListArray:
    """Spans as articles and links hold them; null where `mask` says so."""
    pairs = pa.FixedSizeListArray.from_arrays(arrow_numbers(spans.ravel()), 2)
    return pa.ListArray.from_arrays(arrow_numbers(offsets.astype(np.int32)), pairs, type=SPANS, mask=mask)
