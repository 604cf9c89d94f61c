"""Articles and a KB as the flat arrays that scorers work on.

Articles hold mentions, mentions hold candidates and spans, each a ragged array in CSR form. What costs time
(words, byte spans, look-ups) is computed when a scorer first asks for it, so a recipe pays only for its parts.
"""

from __future__ import annotations

import re
from copy import copy
from datetime import date
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int64, indptr, list_parts, one_chunk, text_buffers
from namesake.articles.schema import MENTION
from namesake.kb.store import KB
from namesake.kernels.link.cues import all_followed, word_hash
from namesake.kernels.link.overlap import narrow_contexts
from namesake.kernels.link.qids import parse_qids
from namesake.kernels.text.spans import BAD, characters_to_bytes
from namesake.language.english import BEFORE_NOT_A_PERSON, NOT_A_PERSON
from namesake.settings import Settings
from namesake.text import Analysed, Lexicon

Int32 = npt.NDArray[np.int32]

_EPOCH = date(1970, 1, 1)
_ISO_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?!\d)")


UNDATED = np.iinfo(np.int32).max
"""The day of an article without a date."""


def day_number(text: str | None) -> int:
    """Days from 1970-01-01 to an ISO date such as 2016-12-26, 2016-12 or 2016-12-26T08:15:00Z; else UNDATED.

    A month or a year stands for its last day: nobody born in the article's own year is ruled out.
    """
    found = _ISO_DATE.match(text or "")
    if found is None:
        return UNDATED
    year, month, day = (int(group or 0) for group in found.groups())
    try:
        if day or not year:
            return (date(year, month, day) - _EPOCH).days
        after = date(year + month // 12, month % 12 + 1, 1) if month else date(year + 1, 1, 1)
        return (after - _EPOCH).days - 1
    except ValueError:
        return UNDATED


class Batch:
    """Some articles, flat. Mentions and candidates are numbered through the batch, in the order of the input.

    `articles[a]:articles[a + 1]` are article a's mentions, `offsets[m]:offsets[m + 1]` mention m's candidates,
    `span_indptr[m]:span_indptr[m + 1]` its spans; `qids` and `rows` (-1: not in the KB) are by candidate.
    """

    def __init__(self, table: pa.Table, kb: KB, lexicon: Lexicon, settings: Settings) -> None:
        self.kb = kb
        self.lexicon = lexicon
        self.settings = settings
        self._confirmed: Int64 | None = None
        self.ids = one_chunk(table.column("id"))
        self.texts = one_chunk(table.column("text"))
        self.dates = one_chunk(table.column("date"))
        self.articles, mentions = list_parts(one_chunk(table.column("mentions")))
        fields = mentions.flatten() if len(mentions) else [pa.array([], field.type) for field in MENTION]
        self.names, spans, self._given = fields
        self.span_lists = spans
        self.span_indptr, pairs = list_parts(spans)
        self.spans = _span_pairs(pairs)

    @cached_property
    def article(self) -> Int64:
        """The article of each mention."""
        article: Int64 = np.repeat(np.arange(len(self.ids)), np.diff(self.articles))
        return article

    # candidates
    @cached_property
    def _candidates(self) -> tuple[Int64, Int64, Int64]:
        """Offsets, QIDs and KB rows: the candidates given, or those the KB's names have where none are given."""
        given_indptr, _ = list_parts(self._given)
        qids = self._given_qids
        if not self._given.null_count:
            return given_indptr, qids, self.kb.rows(qids)
        asked = self._given.is_null().to_numpy(zero_copy_only=False)
        from namesake.names.candidates import candidates  # its kernels load when a name is first looked up

        names = text_buffers(self.names.filter(pa.array(asked)))
        found_indptr, found, _ = candidates(self.kb.names, *names, variants=self.settings.variants)
        counts = np.diff(given_indptr)
        counts[asked] = np.diff(found_indptr)
        offsets = indptr(counts)
        from_names = np.repeat(asked, counts)
        rows = np.empty(offsets[-1], np.int64)
        rows[from_names] = found
        rows[~from_names] = self.kb.rows(qids)
        numbers = np.empty(offsets[-1], np.int64)
        numbers[from_names] = self.kb.qids[found]
        numbers[~from_names] = qids
        return offsets, numbers, rows

    @cached_property
    def _given_qids(self) -> Int64:
        """The candidates given, as numbers; -1 where one is no QID."""
        qids: Int64 = parse_qids(*text_buffers(list_parts(self._given)[1]))
        return qids

    @property
    def offsets(self) -> Int64:
        """Where each mention's candidates begin."""
        return self._candidates[0]

    @property
    def qids(self) -> Int64:
        """The QID number of each candidate."""
        return self._candidates[1]

    @property
    def rows(self) -> Int64:
        """The KB row of each candidate, -1 where the KB does not have it."""
        return self._candidates[2]

    @cached_property
    def anchors(self) -> Int64:
        """The entity row of each mention that serves as an anchor, else -1: mentions with exactly one candidate.

        With the option `first` only the article's first such mention, known to the KB or not; `anchored` adds
        the links of an earlier pass.
        """
        alone = np.diff(self.offsets) == 1
        if self.settings.anchors == "first":
            firsts = np.flatnonzero(alone)
            firsts = firsts[np.unique(self.article[firsts], return_index=True)[1]]
            alone = np.isin(np.arange(len(alone)), firsts)
        rows = np.full(len(alone), -1, np.int64)
        rows[alone] = self.rows[self.offsets[:-1][alone]]
        return rows if self._confirmed is None else np.where(rows >= 0, rows, self._confirmed)

    def anchored(self, confirmed: Int64) -> Batch:
        """The same batch with more anchors: the entity rows that an earlier pass is sure of, -1 elsewhere."""
        other = copy(self)
        other.__dict__.pop("anchors", None)
        other._confirmed = confirmed
        return other

    # dates
    @cached_property
    def days(self) -> Int32:
        """The date of each article in days since 1970-01-01, UNDATED where it has none or it cannot be read."""
        texts = self.dates.to_pylist()
        known = {text: day_number(text) for text in set(texts)}
        return np.array([known[text] for text in texts], np.int32)

    # words
    @cached_property
    def words(self) -> Analysed:
        """The words and sentences of each article."""
        return self.lexicon.analyse(*text_buffers(self.texts))

    @cached_property
    def name_words(self) -> Analysed:
        """The words of each mention's name: they never count as a match."""
        return self.lexicon.analyse(*text_buffers(self.names))

    @cached_property
    def byte_spans(self) -> Int32:
        """The spans in bytes of their text; BAD where a span does not fit its text."""
        spans: Int32 = characters_to_bytes(*text_buffers(self.texts), self.span_indptr[self.articles], self.spans)
        return spans

    @cached_property
    def narrow(self) -> tuple[Int64, Int32]:
        """For each mention, the words of the sentences that hold one of its spans (ragged)."""
        words = self.words
        contexts: tuple[Int64, Int32] = narrow_contexts(
            words.indptr,
            words.word,
            words.start,
            words.sentence_indptr,
            words.sentence,
            self.article,
            self.span_indptr,
            self.byte_spans,
        )
        return contexts

    @cached_property
    def no_person(self) -> npt.NDArray[np.bool_]:
        """Whether the text makes each mention a firm's or a place's name: "Inc." or "Stadium" follows it throughout."""
        followed: npt.NDArray[np.bool_] = all_followed(
            *text_buffers(self.texts), self.article, self.span_indptr, self.byte_spans, *_cues()
        )
        return followed

    # what is wrong with the input
    def faults(self) -> dict[int, str]:
        """What is wrong with articles that cannot be linked, by their number in the batch."""
        faults: dict[int, str] = {}
        if self.names.null_count:
            for m in np.flatnonzero(self.names.is_null().to_numpy(zero_copy_only=False)):
                faults[int(self.article[m])] = "a mention has no name"
        for k in np.flatnonzero(self.byte_spans[:, 0] == BAD):
            mention = int(np.searchsorted(self.span_indptr, k, side="right")) - 1
            start, end = self.spans[k]
            which = "a span" if start == end == BAD else f"span [{start}, {end}]"
            faults[int(self.article[mention])] = f"{which} of {self.names[mention].as_py()!r} does not fit the text"
        given_indptr, texts = list_parts(self._given)
        for k in np.flatnonzero(self._given_qids < 0):
            mention = int(np.searchsorted(given_indptr, k, side="right")) - 1
            faults[int(self.article[mention])] = (
                f"candidate {texts[int(k)].as_py()!r} of {self.names[mention].as_py()!r} is no QID"
            )
        return faults


def _span_pairs(pairs: pa.FixedSizeListArray) -> Int32:
    """Pairs of ends as an array; BAD where a pair or an end is null."""
    flat = pairs.flatten()
    if pairs.null_count or flat.null_count:
        whole = [pair if pair is not None and None not in pair else [BAD, BAD] for pair in pairs.to_pylist()]
        flat = pa.array(whole, pairs.type).flatten()
    ends: Int32 = flat.to_numpy(zero_copy_only=False).astype(np.int32, copy=False).reshape(-1, 2)
    return ends


@cache
def _cues() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Hashes, ascending, of the words that make a name a firm's or a place's, and of those that may stand before."""

    def hashes(words: frozenset[str]) -> npt.NDArray[np.uint64]:
        texts = [np.frombuffer(word.encode(), np.uint8) for word in words]
        return np.sort(np.array([word_hash(text, 0, len(text)) for text in texts], np.uint64))

    with np.errstate(over="ignore"):  # hashes wrap
        return hashes(NOT_A_PERSON), hashes(BEFORE_NOT_A_PERSON)


def without(table: pa.Table, articles: set[int]) -> pa.Table:
    """The table less some of its rows."""
    keep = np.ones(table.num_rows, np.bool_)
    keep[list(articles)] = False
    return table.filter(pa.array(keep)) if articles else table


def repeat(column: pa.Array, indices: Int64) -> pa.Array:
    """The column's values at `indices`."""
    return pc.take(column, pa.array(indices))
