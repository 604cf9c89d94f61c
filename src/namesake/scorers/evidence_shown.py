"""What explanations read (an article, a mention, a candidate) and what scorers answer (matches and their sources)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from namesake.arrays import Int64, positions
from namesake.kb.records import no_label

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

T = TypeVar("T")

MOST_LISTED = 8
"""Spans and sources that a match lists; it counts the others."""
_SURFACE = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


@dataclass(frozen=True)
class Source:
    """What the KB has that matched."""

    source: str
    """`description`, `paragraph`, `statement`, `alias` (of a statement's value), `anchor`, or a word of your own."""
    property: str | None = None
    property_label: str | None = None
    value: str | None = None
    anchor: str | None = None
    """The QID of the anchor that shares the statement."""
    anchor_label: str | None = None


@dataclass(frozen=True)
class Match:
    """One piece of evidence: a word of the text with its sources in the KB, or a statement shared with anchors."""

    word: str | None = None
    spans: Sequence[tuple[int, int]] = ()
    """Where the word is in the article, in characters."""
    sources: Sequence[Source] = ()
    more_spans: int = 0
    """Number of spans that are not listed."""
    more_sources: int = 0
    """Number of sources that are not listed."""


class Page:
    """An article of a batch. Everything is computed once for all its mentions."""

    def __init__(self, batch: Batch, article: int) -> None:
        self.batch, self.article = batch, article
        self._made: dict[tuple[Any, ...], Any] = {}

    def once(self, make: Callable[..., T], *more: Any) -> T:
        """The result of `make` for the article and `more`, computed once for the explanations of all candidates."""
        if (make, *more) not in self._made:
            self._made[make, *more] = make(self, *more)
        return cast(T, self._made[make, *more])

    @cached_property
    def text(self) -> str:
        """The text."""
        return cast(str, self.batch.texts[self.article].as_py())

    @cached_property
    def sentences(self) -> list[int]:
        """The byte at which each sentence begins."""
        return row_of(self.batch.words.sentence_indptr, self.batch.words.sentence, self.article)

    @cached_property
    def characters(self) -> Int64:
        """How many characters begin before each byte of the text."""
        raw = np.frombuffer(self.text.encode(), np.uint8)
        return np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])

    @cached_property
    def anchors(self) -> list[int]:
        """The KB rows of the anchors, ascending."""
        first, last = self.batch.articles[self.article : self.article + 2]
        return sorted(set(self.batch.anchors[first:last].tolist()) - {-1})

    @cached_property
    def anchored(self) -> dict[int, list[int]]:
        """For each statement of an anchor, the KB rows of the anchors that have it, ascending."""
        anchored: dict[int, list[int]] = {}
        for anchor in self.anchors:
            for pair in self.batch.kb.statements[anchor].tolist():
                anchored.setdefault(pair, []).append(anchor)
        return anchored


class Reading:
    """A mention, by its number in the batch: its place in its article, and the words around it."""

    row = 0  # a mention is never missing from the KB

    def __init__(self, page: Page, mention: int) -> None:
        self.page, self.batch, self.article, self.mention = page, page.batch, page.article, mention
        self.text = page.text

    @cached_property
    def name(self) -> str:
        """The name of the mention."""
        return cast(str, self.batch.names[self.mention].as_py())

    @cached_property
    def spans(self) -> list[list[int]]:
        """Where the name is in the text, in characters."""
        return row_of(self.batch.placed.span_indptr, self.batch.placed.spans, self.mention)

    @cached_property
    def name_words(self) -> set[int]:
        """The words of the name itself, which never count as a match."""
        return set(row_of(self.batch.name_words.indptr, self.batch.name_words.word, self.mention))

    @cached_property
    def sentences(self) -> list[int]:
        """The sentences of the article that contain a span of the mention."""
        starts, kept = self.page.sentences, set[int]()
        for start, end in row_of(self.batch.placed.span_indptr, self.batch.placed.byte_spans, self.mention):
            first = max(bisect_right(starts, start) - 1, 0)
            kept.update(range(first, max(bisect_right(starts, end - 1), first)))
        return sorted(kept)

    @cached_property
    def anchors(self) -> list[int]:
        """The KB rows of the article's anchors without the anchor of this mention."""
        own = int(self.batch.anchors[self.mention])
        return [anchor for anchor in self.page.anchors if anchor != own]

    def word_spans(self, starts: Iterable[int], dotted: bool = False) -> list[tuple[int, int]]:
        """The words that begin at the bytes `starts` as spans of characters; `dotted` words end in a full stop."""
        spans = []
        for start in starts:
            character = int(self.page.characters[start])
            surface = _SURFACE.match(self.text, character)
            end = surface.end() if surface else character + 1
            spans.append((character, end + (dotted and self.text.startswith(".", end))))
        return spans


@dataclass(frozen=True)
class Candidate:
    """One candidate of one mention."""

    reading: Reading
    """The mention in its article: text, words, anchors."""
    number: int
    """Its place in the arrays of the batch."""

    @property
    def kb(self) -> KB:
        """The KB."""
        return self.reading.batch.kb

    @cached_property
    def row(self) -> int:
        """Its row in the KB, -1 if it is not in the KB."""
        return int(self.reading.batch.rows[self.number])


def statement_source(kb: KB, pair: int) -> Source:
    """A statement as the source of a match: property and value by their labels."""
    number, value = int(kb.pair_property[pair]), int(kb.pair_value[pair])
    [at] = positions(kb.property_ids, np.array([number]))
    called = kb.property_labels[at] if at >= 0 else None
    if value < 0:
        return Source("statement", f"P{number}", called, kb.strings[~value])
    label = kb.item_labels[value] or no_label(kb.ids.text(int(kb.item_qids[value])))
    return Source("statement", f"P{number}", called, label)


def row_of(indptr: Int64, values: Any, row: int) -> list[Any]:
    """One row of a ragged array as a list."""
    return values[indptr[row] : indptr[row + 1]].tolist()  # type: ignore[no-any-return]
