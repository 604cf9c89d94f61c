"""Texts read with their titles: joined where names are looked for, and parted again where they are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int32, Int64, indptr
from namesake.articles.schema import SPANS

BETWEEN = "\n\n"
"""What parts a title from its text: no name reaches across an empty line."""


@dataclass(frozen=True)
class Placed:
    """Where mentions stand, those of text t from `articles[t]` to `articles[t + 1]`.

    Mention m has the spans `span_indptr[m]:span_indptr[m + 1]`, in characters and in bytes; those in titles apart.
    """

    articles: Int64
    span_indptr: Int64
    spans: Int32
    byte_spans: Int32
    in_titles: pa.ListArray | None = None

    def __len__(self) -> int:
        return len(self.span_indptr) - 1

    @property
    def span_lists(self) -> pa.ListArray:
        """The spans in characters, as articles and links hold them."""
        return _lists(self.span_indptr, self.spans)

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
        given = pc.greater(pc.binary_length(titles).fill_null(0), 0)
        joined = pc.binary_join_element_wise(
            titles.cast(pa.large_string()), texts, pa.scalar(BETWEEN, pa.large_string())
        )
        sizes = (pc.binary_length(titles), pc.utf8_length(titles))
        heads = (pc.if_else(given, pc.add(size, len(BETWEEN)), 0).cast(pa.int64()).to_numpy() for size in sizes)
        return cls(pc.if_else(given, joined, texts), *heads)

    def part(self, whole: Placed) -> Placed:
        """What stands in these texts, parted into what stands in the titles and what stands below them."""
        mention = np.repeat(np.arange(len(whole)), np.diff(whole.span_indptr))
        text = np.repeat(np.arange(len(whole.articles) - 1), np.diff(whole.articles))[mention]
        in_title = whole.byte_spans[:, 0] < self.head_bytes[text]
        below, head = ~in_title, text[~in_title]
        return Placed(
            articles=whole.articles,
            span_indptr=indptr(np.bincount(mention[below], minlength=len(whole))),
            spans=whole.spans[below] - self.head_characters[head, None].astype(np.int32),
            byte_spans=whole.byte_spans[below] - self.head_bytes[head, None].astype(np.int32),
            in_titles=_title_lists(np.bincount(mention[in_title], minlength=len(whole)), whole.spans[in_title]),
        )


def _lists(offsets: Int64, spans: Int32) -> pa.ListArray:
    """Spans as articles and links hold them."""
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(spans.ravel()), 2)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pairs, type=SPANS)


def _title_lists(counts: Int64, spans: Int32) -> pa.ListArray:
    """So many spans of each mention; null where there are none."""
    return pc.if_else(pa.array(counts > 0), _lists(indptr(counts), spans), pa.scalar(None, SPANS))
