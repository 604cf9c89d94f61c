"""An article and one mention in it, as explanations read them: plain Python over the arrays that kernels work on."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from namesake.arrays import Int64
    from namesake.batch import Batch

T = TypeVar("T")

_SURFACE = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


class Page:
    """An article of a batch, read once for all its mentions: its words, and where they stand."""

    def __init__(self, batch: Batch, article: int) -> None:
        self.batch, self.article = batch, article
        self._made: dict[Callable[[Page], Any], Any] = {}

    def once(self, make: Callable[[Page], T]) -> T:
        """What `make` makes of the page, made once: for what the explanations of all its candidates need."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])

    @cached_property
    def text(self) -> str:
        """The text."""
        text: str = self.batch.texts[self.article].as_py()
        return text

    @cached_property
    def sentences(self) -> list[int]:
        """The byte at which each sentence begins."""
        return row_of(self.batch.words.sentence_indptr, self.batch.words.sentence, self.article)

    @cached_property
    def words(self) -> list[int]:
        """The words, by their numbers in the KB, in text order."""
        return row_of(self.batch.words.indptr, self.batch.words.word, self.article)

    @cached_property
    def starts(self) -> list[int]:
        """The byte at which each of the words begins."""
        return row_of(self.batch.words.indptr, self.batch.words.start, self.article)

    def places(self, positions: Iterable[int]) -> dict[int, list[int]]:
        """The bytes at which each of some words stands."""
        places: dict[int, list[int]] = {}
        for at in positions:
            places.setdefault(self.words[at], []).append(self.starts[at])
        return places

    @cached_property
    def everywhere(self) -> dict[int, list[int]]:
        """The places of all words."""
        return self.places(range(len(self.words)))

    def within(self, start: int, end: int) -> range:
        """The words of the sentences that hold some of the bytes from start to end."""
        first = max(bisect_right(self.sentences, start) - 1, 0)
        last = max(bisect_right(self.sentences, end - 1), first)
        begin, stop = (self.sentences[at] if at < len(self.sentences) else inf for at in (first, last))
        return range(bisect_left(self.starts, begin), bisect_left(self.starts, stop))

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
        """The KB rows of the anchors that have each statement, in order."""
        anchored: dict[int, list[int]] = {}
        for anchor in self.anchors:
            for pair in self.batch.kb.statements[anchor].tolist():
                anchored.setdefault(pair, []).append(anchor)
        return anchored


class Reading:
    """A mention, by its number in the batch: its place in its article, and the words around it."""

    def __init__(self, page: Page, mention: int) -> None:
        self.page, self.batch, self.article, self.mention = page, page.batch, page.article, mention

    @property
    def text(self) -> str:
        """The text of the article."""
        return self.page.text

    @cached_property
    def name(self) -> str:
        """The name of the mention."""
        name: str = self.batch.names[self.mention].as_py()
        return name

    @cached_property
    def spans(self) -> list[list[int]]:
        """Where the name stands in the text, in characters."""
        return row_of(self.batch.span_indptr, self.batch.spans, self.mention)

    @cached_property
    def name_words(self) -> set[int]:
        """The words of the name itself: they never count as a match."""
        return set(row_of(self.batch.name_words.indptr, self.batch.name_words.word, self.mention))

    @cached_property
    def nearby(self) -> dict[int, list[int]]:
        """The bytes at which each word stands in the sentences that hold a span of the mention."""
        spans = row_of(self.batch.span_indptr, self.batch.byte_spans, self.mention)
        return self.page.places(sorted({at for span in spans for at in self.page.within(*span)}))

    @cached_property
    def anchors(self) -> list[int]:
        """The KB rows of the article's anchors, this mention's own apart."""
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


def row_of(indptr: Int64, values: Any, row: int) -> list[Any]:
    """One row of a ragged array as a list."""
    return values[indptr[row] : indptr[row + 1]].tolist()  # type: ignore[no-any-return]
