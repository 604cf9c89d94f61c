"""Find every name of the KB in raw text, with its candidates and the tokens around it.

Nothing here decides whether a name means an entity of the KB, or which: evidence (`doubts.py`) and scorers describe the
mentions, and a recipe weighs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt8, indptr
from namesake.kernels.names import gather, lattice
from namesake.kernels.names import tokens as t
from namesake.kernels.text.spans import bytes_to_characters
from namesake.names.tables import tables

if TYPE_CHECKING:
    from namesake.kb.store import KB

FORM_PRIORS = np.array([2.0, 1.2, 1.0, 0.8, *([0.0] * 17)], np.float32)
"""By form: what is added to the logarithm of the fame when the best candidates of a name are kept."""
FORM_QUALITY = np.array([1.0, 0.95, 0.9, 0.85, *([0.7] * 17)])


@dataclass(frozen=True)
class Found:
    """The mentions of some texts. Text i has the mentions `indptr[i]` to `indptr[i + 1]`, by their first span.

    Mention m has the spans `span_indptr[m]` to `span_indptr[m + 1]`, which may overlap those of other mentions, and the
    candidates `offsets[m]` to `offsets[m + 1]`.
    """

    texts: lattice.Texts
    indptr: Int64
    span_indptr: Int64
    first: Int64
    """The first token of each span."""
    end: Int64
    """The token after each span."""
    spans: Int32
    """Each span in characters of its text; `byte_spans` in bytes."""
    byte_spans: Int32
    offsets: Int64
    rows: Int32
    forms: Int8
    """What the name is to each candidate: a number of `kernels.names.constants`, short forms from `gather.EXACT` on."""
    in_text: Bool
    """Whether the text contains a longer name of the candidate."""

    def __len__(self) -> int:
        return len(self.span_indptr) - 1

    @cached_property
    def span_text(self) -> Int64:
        """The text of each span."""
        found: Int64 = np.searchsorted(self.texts.indptr, self.first, side="right") - 1
        return found

    def where(self, offsets: Int64) -> Int64:
        """The first span of each mention in bytes of all texts."""
        lead = self.span_indptr[:-1]
        return (self.byte_spans[lead] + offsets[self.span_text[lead]][:, None]).astype(np.int64)

    @property
    def quality(self) -> Float64:
        """The quality of the match of each candidate's name."""
        return FORM_QUALITY[self.forms]

    def mean(self, of_spans: np.ndarray) -> Float64:
        """The mean over the spans of each mention."""
        sums: Float64 = (
            np.add.reduceat(of_spans.astype(np.float64), self.span_indptr[:-1]) if len(self) else np.zeros(0)
        )
        return sums / np.diff(self.span_indptr)

    def token(self, column: np.ndarray, at: Int64) -> np.ndarray:
        """The values of a column of tokens at some places, 0 outside the text of each span."""
        texts = self.texts
        inside = (at >= texts.indptr[self.span_text]) & (at < texts.indptr[self.span_text + 1])
        return np.where(inside, column[np.where(inside, at, 0)], column.dtype.type(0))

    def has_capital(self, at: Int64) -> Bool:
        """Whether the tokens at some places have a capital."""
        return self.has_mark(at, t.HAS_CAPITAL)

    def has_mark(self, at: Int64, marks: int) -> Bool:
        """Whether the tokens at some places have one of these marks: what stands before them."""
        found: Bool = self.token(self.texts.marks, at) & np.uint8(marks) != 0
        return found

    def has_bit(self, at: Int64, bits: int) -> Bool:
        """Whether the tokens at some places have one of these bits: how they are written."""
        found: Bool = self.token(self.texts.bits, at) & np.uint8(bits) != 0
        return found

    def is_listed(self, at: Int64, classes: int) -> Bool:
        """Whether the tokens at some places are in one of these lists of words."""
        found: Bool = self.token(self.texts.classes, at) & np.uint32(classes) != 0
        return found

    def continues(self, at: Int64) -> Bool:
        """Whether nothing but a space or a hyphen parts the tokens at some places from those before."""
        inside = at < self.texts.indptr[self.span_text + 1]
        found: Bool = inside & (self.token(self.texts.gaps, at) == t.SOFT)
        return found

    def is_behind_comma(self, at: Int64) -> Bool:
        """Whether a comma stands before the tokens at some places."""
        found: Bool = self.token(self.texts.gaps, at) == t.COMMA
        return found

    def is_before(self, classes: int) -> Bool:
        """Whether a word of one of these lists stands directly before each span."""
        return self.is_listed(self.first - 1, classes) & self.continues(self.first)

    def is_after(self, classes: int) -> Bool:
        """Whether a word of one of these lists stands directly after each span."""
        return self.is_listed(self.end, classes) & self.continues(self.end)

    def all_tokens(self, bits: int) -> Bool:
        """Whether all tokens of each span have one of these bits."""
        lacking = np.append(0, np.cumsum(self.texts.bits & bits == 0))
        found: Bool = lacking[self.end] == lacking[self.first]
        return found

    @property
    def sizes(self) -> Int64:
        """The number of tokens of each span."""
        return self.end - self.first

    @property
    def lengths(self) -> Int32:
        """The number of characters of each span."""
        return self.spans[:, 1] - self.spans[:, 0]

    @property
    def styles(self) -> UInt8:
        """How the text of each span is written: `tokens.LOWER`, CASED or ALL_CAPITALS."""
        found: UInt8 = self.texts.styles[self.span_text]
        return found


def find(kb: KB, data: UInt8, offsets: Int64, heads: Int64 | None = None) -> Found:
    """The names of a KB in texts in Arrow's layout; the first `heads[i]` bytes of text i are its title."""
    heads = np.zeros(len(offsets) - 1, np.int64) if heads is None else heads
    names = kb.names
    texts = lattice.cut_texts(data, offsets, heads, tables(names.language))
    found = lattice.list_hypotheses(texts, names.phrases, names.prefixes)
    mention, of_text = gather.number_mentions(found.indptr, found.key)
    order = np.argsort(mention, kind="stable")
    spans = indptr(np.bincount(mention, minlength=int(of_text[-1])))
    first, end = found.first[order], found.end[order]
    lead = order[spans[:-1]]  # the first hypothesis of each mention
    index = gather.Index(
        *(names.entities.indptr, names.entities.values, names.kinds),
        *(names.short_entities.indptr, names.short_entities.values, names.short_forms, kb.fame, FORM_PRIORS),
    )
    candidates = gather.gather_candidates(
        *(of_text, found.known[lead], found.end[lead] - found.first[lead]),
        *(texts.hashes[found.first[lead]], texts.hashes[found.end[lead] - 1], index),
    )
    text = np.searchsorted(texts.indptr, first, side="right") - 1
    byte_spans = np.column_stack([texts.starts[first], texts.ends[end - 1]]) - offsets[text][:, None]
    return Found(
        texts=texts,
        indptr=of_text,
        span_indptr=spans,
        first=first,
        end=end,
        spans=bytes_to_characters(data, offsets, text, byte_spans),
        byte_spans=byte_spans.astype(np.int32),
        offsets=candidates.indptr,
        rows=candidates.rows,
        forms=candidates.forms,
        in_text=candidates.in_text,
    )
