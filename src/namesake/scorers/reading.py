"""One mention in its article, as explanations read it: plain Python over the arrays that kernels work on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from namesake.arrays import Int64
    from namesake.batch import Batch

_SURFACE = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


class Reading:
    """A mention, by its number in the batch: its article's text, the words there, and where they stand."""

    def __init__(self, batch: Batch, mention: int) -> None:
        self.batch, self.mention, self.article = batch, mention, int(batch.article[mention])

    @cached_property
    def text(self) -> str:
        """The text of the article."""
        text: str = self.batch.texts[self.article].as_py()
        return text

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
    def words(self) -> list[int]:
        """The article's words, by their numbers in the KB, in text order."""
        return row_of(self.batch.words.indptr, self.batch.words.word, self.article)

    @cached_property
    def starts(self) -> list[int]:
        """The byte at which each of the words begins."""
        return row_of(self.batch.words.indptr, self.batch.words.start, self.article)

    @cached_property
    def everywhere(self) -> dict[int, list[int]]:
        """The bytes at which each word of the article stands; the words of the name itself are left out."""
        return self._places(range(len(self.words)))

    @cached_property
    def nearby(self) -> dict[int, list[int]]:
        """The same for the sentences that hold a span of the mention."""
        words = self.batch.words
        sentences = row_of(words.sentence_indptr, words.sentence, self.article)
        near: set[int] = set()
        for start, end in row_of(self.batch.span_indptr, self.batch.byte_spans, self.mention):
            first = max(bisect_right(sentences, start) - 1, 0)
            near.update(range(first, max(bisect_right(sentences, end - 1), first)))
        return self._places(at for at, start in enumerate(self.starts) if bisect_right(sentences, start) - 1 in near)

    @cached_property
    def anchors(self) -> list[int]:
        """The KB rows of the article's anchors, this mention's own apart."""
        first, last = self.batch.articles[self.article : self.article + 2]
        others = set(self.batch.anchors[first:last].tolist())
        return sorted(others - {-1, int(self.batch.anchors[self.mention])})

    def word_spans(self, starts: Iterable[int], dotted: bool = False) -> list[tuple[int, int]]:
        """The words that begin at the bytes `starts` as spans of characters; `dotted` words end in a full stop."""
        spans = []
        for start in starts:
            character = int(self._characters[start])
            surface = _SURFACE.match(self.text, character)
            end = surface.end() if surface else character + 1
            spans.append((character, end + (dotted and self.text.startswith(".", end))))
        return spans

    @cached_property
    def _characters(self) -> Int64:
        """How many characters begin before each byte of the text."""
        raw = np.frombuffer(self.text.encode(), np.uint8)
        return np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])

    @cached_property
    def _name_words(self) -> set[int]:
        return set(row_of(self.batch.name_words.indptr, self.batch.name_words.word, self.mention))

    def _places(self, positions: Iterable[int]) -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for at in positions:
            if self.words[at] not in self._name_words:
                places.setdefault(self.words[at], []).append(self.starts[at])
        return places


def row_of(indptr: Int64, values: Any, row: int) -> list[Any]:
    """One row of a ragged array as a list."""
    return values[indptr[row] : indptr[row + 1]].tolist()  # type: ignore[no-any-return]
