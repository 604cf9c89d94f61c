"""The mentions of some articles as flat arrays: those that a table gives, and those found where it gives none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import (
    Bool,
    Float64,
    Int32,
    Int64,
    indptr,
    list_parts,
    numpy_numbers,
    one_chunk,
    text_buffers,
)
from namesake.articles.schema import MENTION
from namesake.errors import NamesakeError
from namesake.kb.store import KB
from namesake.kernels.text.spans import BAD, characters_to_bytes, cut_out
from namesake.names.titled import Placed, Titled

if TYPE_CHECKING:
    from namesake.names.candidates import Variants
    from namesake.names.hypotheses import Found


@dataclass(frozen=True)
class Mentions:
    """Mentions in the order of their articles, with their spans and candidates.

    Article a has the mentions `articles[a]:articles[a + 1]`. Mention m has the candidates
    `offsets[m]:offsets[m + 1]`: their QIDs, their rows of the KB (-1: not there), and how well the KB knows them by the
    name (NaN where they were given, and nobody has asked).

    Names that were found in texts lose most mentions before their spelling and their places are read: see `part`.
    """

    articles: Int64
    offsets: Int64
    qids: Int64
    rows: Int64
    quality: Float64
    given: tuple[pa.StringArray, Placed] | None = None
    """The names and where they stand, unless they were found in the texts."""
    context: Found | None = None
    """The names that were found in the texts, and the tokens around them; None for given names."""
    titled: Titled | None = None
    """The texts with their titles, in which names were found."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def article(self) -> Int64:
        """The article of each mention."""
        return np.repeat(np.arange(len(self.articles) - 1), np.diff(self.articles))

    @cached_property
    def names(self) -> pa.StringArray:
        """The name of each mention; one that a line break parts is one name still."""
        if self.context is None:
            assert self.given is not None
            return self.given[0]
        offsets, texts, broken = cut_out(*self.context.spelled)
        names = pa.StringArray.from_buffers(len(self), pa.py_buffer(offsets), pa.py_buffer(texts))
        return pc.replace_substring_regex(names, r"\s*[\t-\r]\s*", " ") if broken else names

    @cached_property
    def placed(self) -> Placed:
        """Where the mentions stand in their texts, and in the titles."""
        found = self.context
        if found is None:
            assert self.given is not None
            return self.given[1]
        whole = Placed(found.indptr, found.span_indptr, found.spans, found.byte_spans)
        return whole if self.titled is None else self.titled.part(whole)

    def part(self, spans: Bool, candidates: Bool | None = None) -> tuple[Mentions, Int64, Int64]:
        """The mentions that have some of these spans, with some of their candidates; the numbers of both."""
        assert self.context is not None
        found, kept, candidate = self.context.take(spans, candidates)
        return _found(found, self.qids.take(candidate), self.titled), kept, candidate


class Source(Protocol):
    """Finds the mentions of articles that come with none."""

    def __call__(self, texts: pa.Array, kb: KB, titles: pa.Array, variants: Variants) -> Mentions:
        """The mentions of each text and its title, with everybody who may be meant."""
        ...


def found_mentions(texts: pa.Array, kb: KB, titles: pa.Array | None = None, variants: Variants = "never") -> Mentions:
    """The names in each text and its title, with the entities that they may mean.

    `variants` has no effect: the search includes other spellings.
    """
    from namesake.names.hypotheses import find  # its kernels load when names are first to be found

    titled = None if titles is None else Titled.of(texts, titles)
    data, offsets = text_buffers(texts if titled is None else titled.texts)
    found = find(kb, data, offsets, None if titled is None else titled.head_bytes)
    return _found(found, kb.qids[found.rows], titled)


def _found(found: Found, qids: Int64, titled: Titled | None) -> Mentions:
    candidates = found.offsets, qids, found.rows.astype(np.int64), found.quality
    return Mentions(found.indptr, *candidates, context=found, titled=titled)


def looked_up(names: pa.StringArray, placed: Placed, kb: KB, variants: Variants) -> Mentions:
    """Names that another detector found at some places, with the candidates that given names would have."""
    from namesake.names.candidates import candidates  # its kernels load when a name is first looked up

    found = candidates(kb.names, *text_buffers(names), variants=variants)
    rows = found.rows.astype(np.int64)
    return Mentions(placed.articles, found.indptr, kb.qids[rows], rows, found.quality, given=(names, placed))


def given_mentions(column: pa.ListArray, texts: pa.Array, kb: KB, variants: Variants) -> Mentions:
    """The mentions that articles come with; a mention without a list of candidates gets those the KB's names have."""
    articles, mentions = list_parts(column)
    fields = mentions.flatten() if len(mentions) else [pa.nulls(0, field.type) for field in MENTION]
    names, span_lists, given = fields
    span_indptr, pairs = list_parts(span_lists)
    spans = _span_pairs(pairs)
    offsets, texts_of_qids = list_parts(given)
    qids = kb.ids.parse(texts_of_qids)
    byte_spans = characters_to_bytes(*text_buffers(texts), span_indptr[articles], spans)
    placed = Placed(articles, span_indptr, spans, byte_spans, given=span_lists)
    known = Mentions(articles, offsets, qids, kb.rows(qids), np.full(len(qids), np.nan), given=(names, placed))
    return _look_up(known, given.is_null(), kb, variants) if given.null_count else known


def mentions_of(articles: pa.Table, kb: KB, variants: Variants, source: Source = found_mentions) -> Mentions:
    """The mentions of a table of articles: those given, else those that `source` finds in texts and titles."""
    column, texts, titles = (one_chunk(articles.column(name)) for name in ("mentions", "text", "title"))
    if not column.null_count:
        return given_mentions(column, texts, kb, variants)
    if column.null_count == len(column):
        return source(texts, kb, titles, variants)
    raise NamesakeError("articles with and without `mentions` cannot be linked in one batch")


def faults(mentions: Mentions, column: pa.ChunkedArray) -> dict[int, str]:
    """What is wrong with articles whose given mentions cannot be linked, by their place in the column."""
    wrong: dict[int, str] = {}
    article, names = mentions.article, mentions.names
    if names.null_count:
        for m in np.flatnonzero(numpy_numbers(names.is_null())).tolist():
            wrong[int(article[m])] = "a mention has no name"
    for k in np.flatnonzero(mentions.placed.byte_spans[:, 0] == BAD).tolist():
        m = _row_of(mentions.placed.span_indptr, k)
        start, end = mentions.placed.spans[k]
        which = "a span" if start == end == BAD else f"span [{start}, {end}]"
        wrong[int(article[m])] = f"{which} of {names[m].as_py()!r} does not fit the text"
    for k in np.flatnonzero(mentions.qids < 0).tolist():
        m = _row_of(mentions.offsets, k)
        given = column[int(article[m])].as_py()[m - int(mentions.articles[article[m]])]
        text = given["candidates"][int(k - mentions.offsets[m])]
        wrong[int(article[m])] = f"candidate {text!r} of {names[m].as_py()!r} is no QID"
    return wrong


def _row_of(offsets: Int64, value: int) -> int:
    """The row of a ragged array that holds a value."""
    return int(np.searchsorted(offsets, value, side="right")) - 1


def _look_up(mentions: Mentions, asked: pa.BooleanArray, kb: KB, variants: Variants) -> Mentions:
    """The same mentions with the candidates that the KB has for the names asked for."""
    from namesake.names.candidates import candidates  # its kernels load when a name is first looked up

    found = candidates(kb.names, *text_buffers(mentions.names.filter(asked)), variants=variants)
    is_asked = numpy_numbers(asked)
    counts = np.diff(mentions.offsets)
    counts[is_asked] = np.diff(found.indptr)
    offsets = indptr(counts)
    from_names = np.repeat(is_asked, counts)
    columns: dict[str, Any] = {"qids": kb.qids[found.rows], "rows": found.rows, "quality": found.quality}
    for name, looked_up in columns.items():
        given = getattr(mentions, name)
        columns[name] = np.empty(offsets[-1], given.dtype)
        columns[name][~from_names], columns[name][from_names] = given, looked_up
    return replace(mentions, offsets=offsets, **columns)


def _span_pairs(pairs: pa.FixedSizeListArray) -> Int32:
    """Pairs of ends as an array; BAD where a pair or an end is null."""
    flat = pairs.flatten()
    if pairs.null_count or flat.null_count:
        whole = [pair if pair is not None and None not in pair else [BAD, BAD] for pair in pairs.to_pylist()]
        flat = pa.array(whole, pairs.type).flatten()
    ends: Int32 = numpy_numbers(flat).astype(np.int32, copy=False).reshape(-1, 2)
    return ends
