"""Texts read with their titles: joined where names are looked for, and parted again where they are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int32, Int64, indptr
from namesake.articles.schema import SPANS

if TYPE_CHECKING:
    from namesake.names.detect import Found

BETWEEN = "\n\n"
"""What parts a title from its text: no name reaches across an empty line."""


@dataclass(frozen=True)
class Placed:
    """Where the names found stand: spans in characters and in bytes of their texts, and those in titles.

    Mention m has the spans `span_indptr[m]:span_indptr[m + 1]`; its spans in the title are null where there are none.
    """

    span_indptr: Int64
    spans: Int32
    byte_spans: Int32
    title_lists: pa.ListArray

    @classmethod
    def of(cls, found: Found) -> Placed:
        """The places of names in texts without titles."""
        return cls(found.span_indptr, found.spans, found.byte_spans, pa.nulls(len(found), SPANS))


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

    def place(self, found: Found) -> Placed:
        """The places of names that were found in these texts."""
        mention = np.repeat(np.arange(len(found)), np.diff(found.span_indptr))
        text = np.repeat(np.arange(len(found.indptr) - 1), np.diff(found.indptr))[mention]
        in_title = found.byte_spans[:, 0] < self.head_bytes[text]
        below = ~in_title
        in_text = indptr(np.bincount(mention[below], minlength=len(found)))
        head = text[below]
        return Placed(
            span_indptr=in_text,
            spans=found.spans[below] - self.head_characters[head, None].astype(np.int32),
            byte_spans=found.byte_spans[below] - self.head_bytes[head, None].astype(np.int32),
            title_lists=_title_lists(np.bincount(mention[in_title], minlength=len(found)), found.spans[in_title]),
        )


def span_lists(offsets: Int64, spans: Int32) -> pa.ListArray:
    """Spans as articles and links hold them."""
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(spans.ravel()), 2)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pairs, type=SPANS)


def _title_lists(counts: Int64, spans: Int32) -> pa.ListArray:
    """So many spans of each mention; null where there are none."""
    return pc.if_else(pa.array(counts > 0), span_lists(indptr(counts), spans), pa.scalar(None, SPANS))
