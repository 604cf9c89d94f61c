"""Articles and a KB as the flat arrays that scorers read.

Articles contain mentions, and mentions contain candidates and spans, each a ragged array in CSR form. Words and other
costly data are computed when a scorer first reads them, so a recipe pays only for its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, numpy_numbers, one_chunk, take_rows, text_buffers
from namesake.articles.days import day_number
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise_many
from namesake.kb.store import KB
from namesake.kernels.link.contexts import Runs, narrow_contexts
from namesake.names.mentions import Mentions, Source, found_mentions, mentions_of
from namesake.names.titled import Placed
from namesake.settings import Settings
from namesake.text import Analysed, Lexicon

if TYPE_CHECKING:
    from namesake.decisions.lookup import Decided, Decisions, OfRows

T = TypeVar("T")
_TIME_OF_DAY = r"^(\d{4}-\d\d-\d\d)(?s:\D.*)$"


@dataclass(frozen=True)
class Query:
    """One row of a table: a name, and what else the row contains about the person."""

    name: str
    context: str = ""
    """Words about the person: a description, a team, notes."""
    date: str | None = None
    """The date of the row, as 2016-12-26, 2016-12 or 2016."""
    values: tuple[tuple[str, str], ...] = ()
    """Property and value, such as ("occupation", "basketball player") or ("P569", "1963-02-17")."""
    types: tuple[str, ...] = ()
    """QIDs of types or occupations, such as Q82955 (politician): the entity should have one of them."""


class Batch:
    """Some articles as flat arrays. Mentions and candidates are numbered through the batch, in the order of the input.

    `articles[a]:articles[a + 1]` are article a's mentions, `offsets[m]:offsets[m + 1]` mention m's candidates; `qids`
    and `rows` (-1: not in the KB) are by candidate.
    """

    def __init__(
        self,
        table: pa.Table,
        kb: KB,
        lexicon: Lexicon,
        settings: Settings,
        source: Source = found_mentions,
        table_rows: Sequence[Query] | None = None,
        decisions: Decisions | None = None,
        of_rows: OfRows | None = None,
    ) -> None:
        self.table, self.kb, self.lexicon, self.settings = table, kb, lexicon, settings
        self.table_rows = table_rows
        """The row of each article, if the articles are rows of a table."""
        self._made: dict[Callable[[Batch, KB], Any], Any] = {}
        columns = (one_chunk(table.column(name)) for name in ("id", "text", "title", "date"))
        self.ids, self.texts, self.titles, self.dates = columns
        self._set(mentions_of(table, kb, settings.variants, source))
        self.decided: Decided | None = None
        """What decisions of people add to scores."""
        if decisions is not None:
            mentions, self.decided = decisions.apply(self.mentions, self.spelled, self.texts, kb, of_rows)
            self._set(mentions)
        self.support: Float64 | None = None
        """The probability of each candidate after the first round of scoring; None in the first round."""
        self.supported: list[Float64] | None = None
        """What scorers compute from `support`, once."""
        self.taken = np.full(len(self.mentions), -1, np.int64)
        """The entity row that each mention cannot mean, as an earlier mention with its name does; else -1."""

    def _set(self, mentions: Mentions) -> None:
        self.mentions = mentions
        self.articles, self.article, self.offsets = mentions.articles, mentions.article, mentions.offsets
        self.qids, self.rows = mentions.qids, mentions.rows

    @property
    def names(self) -> pa.StringArray:
        """The name of each mention."""
        return self.mentions.names

    @property
    def placed(self) -> Placed:
        """The spans of each mention in the text and in the title of its article."""
        return self.mentions.placed

    def some(self, spans: Bool, candidates: Bool | None = None) -> tuple[Batch, Int64, Int64]:
        """The batch with some spans of its mentions and some of its candidates, and the numbers of what remains."""
        mentions, kept, candidate = self.mentions.part(spans, candidates)
        other = copy(self)
        for name in [name for name, value in vars(type(self)).items() if isinstance(value, cached_property)]:
            if name not in ("words", "days"):  # those of the articles
                other.__dict__.pop(name, None)
        other._made = {}
        other._set(mentions)
        if "name_words" in vars(self):
            words, (indptr, word) = self.name_words, take_rows(self.name_words.indptr, kept)
            other.name_words = replace(words, indptr=indptr, word=words.word[word])
        other.taken = self.taken[kept]
        if self.decided is not None:
            other.decided = self.decided.take(kept, candidate)
        return other, kept, candidate

    def once(self, make: Callable[[Batch, KB], T]) -> T:
        """The result of `make`, computed once; it must not depend on what later passes change (see `revised`)."""
        if make not in self._made:
            self._made[make] = make(self, self.kb)
        return cast(T, self._made[make])

    # candidates
    @cached_property
    def kinds(self) -> Int8:
        """The kind of each candidate, by its number in `kernels.kinds.KINDS`; -1 for one that is not in the KB."""
        if self.mentions.context is not None:
            found: Int8 = self.kb.kind.take(self.rows)
            return found
        kinds, known = np.full(len(self.rows), -1, np.int8), self.rows >= 0
        kinds[known] = self.kb.kind[self.rows[known]]
        return kinds

    @cached_property
    def mention(self) -> Int64:
        """The mention of each candidate."""
        return np.repeat(np.arange(len(self.mentions)), np.diff(self.offsets))

    @cached_property
    def quality(self) -> Float64:
        """How well the mention's name matches each candidate's: 1 for its label, 0 for none of its names."""
        quality = self.mentions.quality
        unknown = np.isnan(quality)
        if not unknown.any():
            return quality
        from namesake.names.candidates import quality_of  # its kernels load when a name is first looked up

        known = quality_of(self.kb.names, *text_buffers(self.names), self.offsets, self.rows)
        return np.where(unknown, known, quality)

    @cached_property
    def anchors(self) -> Int64:
        """The entity row of each mention with exactly one candidate, or of the first such mention; -1 for others."""
        alone = np.diff(self.offsets) == 1
        if self.settings.anchors == "first":
            firsts = np.flatnonzero(alone)
            firsts = firsts[np.unique(self.article[firsts], return_index=True)[1]]
            alone = np.isin(np.arange(len(alone)), firsts)
        rows = np.full(len(alone), -1, np.int64)
        rows[alone] = self.rows[self.offsets[:-1][alone]]
        return rows

    def revised(
        self, confirmed: Int64 | None = None, taken: Int64 | None = None, support: Float64 | None = None
    ) -> Batch:
        """The same batch with further anchors (`confirmed`), excluded entity rows (`taken`; -1: none) or `support`."""
        other = copy(self)
        if support is not None:
            other.support, other.supported = support, None
        if confirmed is not None:
            listed = self.mentions.context is None  # a name found in the text may be none, and has few candidates left
            other.anchors = np.where(self.anchors >= 0, self.anchors, confirmed) if listed else confirmed
        if taken is not None:
            other.taken = taken
        return other

    @cached_property
    def full_names(self) -> Int64:
        """How many candidates of each mention the text also names by a longer name."""
        found = self.mentions.context
        if found is None or not len(found):
            return np.zeros(len(self.mentions), np.int64)
        mention = np.searchsorted(self.offsets, np.flatnonzero(found.in_text), side="right") - 1
        return np.bincount(mention, minlength=len(self.mentions))

    # names
    @cached_property
    def mention_of_row(self) -> Int64:
        """The mention of each row of a table, -1 for a row without a name."""
        mention = np.full(len(self.ids), -1, np.int64)
        mention[self.article] = np.arange(len(self.article))
        return mention

    @cached_property
    def spelled(self) -> Strings:
        """The name of each mention, normalised."""
        data, offsets = text_buffers(self.names)
        return normalise_many(Strings(offsets, data))

    @cached_property
    def tokens(self) -> Int64:
        """How many tokens the normalised name of each mention has."""
        if self.mentions.context is not None:
            return self.mentions.context.sizes[self.mentions.context.leads]
        spaces = np.searchsorted(np.flatnonzero(self.spelled.data == ord(" ")), self.spelled.offsets)
        tokens: Int64 = np.diff(spaces) + (np.diff(self.spelled.offsets) > 0)
        return tokens

    # dates
    @cached_property
    def days(self) -> Int32:
        """The date of each article in days since 1970-01-01, UNDATED if it is missing or cannot be read."""
        return days_of(self.dates)

    # words
    @cached_property
    def words(self) -> Analysed:
        """The words and sentences of each article."""
        return self.lexicon.analyse(*text_buffers(self.texts))

    @cached_property
    def name_words(self) -> Analysed:
        """The words of each mention's name, which never count as a match."""
        return self.lexicon.analyse(*text_buffers(self.names))

    @cached_property
    def wide(self) -> tuple[Int64, Runs]:
        """The number of each mention's context, and all contexts: the whole articles."""
        indptr = self.words.indptr
        return self.article, Runs(np.arange(len(indptr)), np.column_stack([indptr[:-1], indptr[1:]]))

    @cached_property
    def narrow(self) -> tuple[Int64, Runs]:
        """The number of each mention's context, and all contexts: the sentences that contain one of its spans."""
        words = self.words
        texts = words.indptr, words.start, words.sentence_indptr, words.sentence
        context, indptr, runs = narrow_contexts(*texts, self.article, self.placed.span_indptr, self.placed.byte_spans)
        return context, Runs(indptr, runs)

    @cached_property
    def no_person(self) -> Bool:
        """Whether "Inc." or "Stadium" follows a name that an article lists wherever it is, so that it is no person."""
        if self.mentions.context is not None:
            return np.zeros(len(self.mentions), np.bool_)
        from namesake.kernels.names.firms import all_firms
        from namesake.names.tables import tables

        spoken = tables(self.kb.language)
        firms: Bool = all_firms(
            *text_buffers(self.texts), self.article, self.placed.span_indptr, self.placed.byte_spans, spoken
        )
        return firms


def days_of(dates: pa.Array) -> Int32:
    """Dates in days since 1970-01-01; each distinct day is parsed once."""
    distinct = pc.replace_substring_regex(dates, _TIME_OF_DAY, r"\1").dictionary_encode(null_encoding="encode")
    days: Int32 = np.array([*map(day_number, distinct.dictionary.to_pylist())], np.int32)
    return np.take(days, numpy_numbers(distinct.indices))
