"""Where the mentions of articles come from that have none: our detector, another one's spans of people, or nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from namesake.arrays import Int64, indptr, text_buffers
from namesake.articles.schema import MENTION
from namesake.errors import NamesakeError
from namesake.kb.store import KB
from namesake.kernels.text.spans import characters_to_bytes
from namesake.names.mentions import Mentions, Source, found_mentions, given_mentions, looked_up
from namesake.names.titled import Placed, Titled

if TYPE_CHECKING:
    from namesake.names.candidates import Variants

Spans = Sequence[tuple[int, int]]
Detector = Callable[[Sequence[str]], Iterable[Spans]]
"""Finds people: from texts to the spans of each text's names, `[start, end)` in characters."""

SPACY = "spacy:"
KINDS = "names, given, or spacy:MODEL"


def source_of(mentions: str | Detector) -> Source:
    """The source that `--mentions` and `Linker(mentions=…)` name, or the one that a detector makes."""
    if callable(mentions):
        return OtherNames(mentions)
    if mentions.startswith(SPACY) and mentions != SPACY:
        from namesake.names.with_spacy import SpacyPeople

        return OtherNames(SpacyPeople(mentions.removeprefix(SPACY)))
    known: dict[str, Source] = {"names": found_mentions, "given": no_mentions}
    if mentions not in known:
        raise NamesakeError(f"mentions can be {KINDS}, not {mentions!r}")
    return known[mentions]


def no_mentions(texts: pa.Array, kb: KB, titles: pa.Array, variants: Variants) -> Mentions:
    """Nothing: articles without mentions have none."""
    nothing = pa.ListArray.from_arrays(pa.array(np.zeros(len(texts) + 1, np.int32)), pa.array([], MENTION))
    return given_mentions(nothing, texts, kb, variants)


@dataclass(frozen=True)
class OtherNames:
    """The names that another detector finds in texts and titles; who may be meant is looked up as for given names."""

    detector: Detector

    def __call__(self, texts: pa.Array, kb: KB, titles: pa.Array, variants: Variants) -> Mentions:
        """The mentions of each text and its title."""
        titled = Titled.of(texts, titles)
        whole = texts if titled is None else titled.texts
        named = self._named(
            whole.to_pylist(), np.zeros(len(texts), np.int64) if titled is None else titled.head_characters
        )
        counts = indptr([len(names) for names in named])
        spans = [where for names in named for _, where in names]
        span_indptr = indptr([len(where) for where in spans])
        ends = np.array([end for where in spans for span in where for end in span], np.int32).reshape(-1, 2)
        in_bytes = characters_to_bytes(*text_buffers(whole), span_indptr[counts], ends)
        placed = Placed(counts, span_indptr, ends, in_bytes)
        names = pa.array([name for names in named for name, _ in names], pa.string())
        return looked_up(names, placed if titled is None else titled.part(placed), kb, variants)

    def _named(self, texts: list[str], heads: Int64) -> list[list[tuple[str, list[tuple[int, int]]]]]:
        """The names of each text with their spans; a span that reaches from a title into the text is none."""
        from namesake.names.hypotheses import group_spans

        named = []
        for text, head, spans in zip(texts, heads.tolist(), self.detector(texts), strict=True):
            fitting = [(start, end) for start, end in spans if 0 <= start < end <= len(text)]
            named.append(group_spans(text, [(start, end) for start, end in fitting if end <= head or start >= head]))
        return named
