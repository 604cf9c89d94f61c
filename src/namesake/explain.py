"""Why a candidate got its score: one row a candidate and part, with what matched and where it comes from.

Explanations are tables; terminals and pages draw them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from namesake import rank
from namesake.arrays import Int64
from namesake.articles.schema import SPANS
from namesake.decide import NOT_A_PERSON, REASONS, decide, probabilities
from namesake.kb.spelling import normalise
from namesake.kb.store import KB
from namesake.scoring import Scored

SOURCE = pa.struct(
    [
        pa.field("source", pa.string()),  # description, paragraph, statement, alias or anchor
        pa.field("property", pa.string()),
        pa.field("property_label", pa.string()),
        pa.field("value", pa.string()),
        pa.field("anchor", pa.string()),  # QID of the anchor that shares the statement
        pa.field("anchor_label", pa.string()),
    ]
)
MATCH = pa.struct(
    [
        pa.field("word", pa.string()),  # the normalised word, the phrase, or null for a shared statement
        pa.field("spans", SPANS),  # where it stands in the article, in characters
        pa.field("sources", pa.list_(SOURCE)),
    ]
)
EXPLANATION = pa.schema(
    [
        pa.field("article_id", pa.string()),
        pa.field("name", pa.string()),
        pa.field("spans", SPANS),  # of the name, in characters
        pa.field("qid", pa.string()),
        pa.field("label", pa.string()),
        pa.field("description", pa.string()),
        pa.field("rank", pa.int32()),
        pa.field("score", pa.float64()),
        pa.field("confidence", pa.float64()),  # P(this candidate is right); null where the recipe cannot tell
        pa.field("margin", pa.float64()),  # of the mention: best minus second-best score
        pa.field("tie_break", pa.string()),  # of the mention: the key that decided, null if the score did
        pa.field("reason", pa.string()),  # of the mention: why nobody is the answer, null if somebody is
        pa.field("part", pa.string()),
        pa.field("role", pa.string()),  # part of the score, or tie-break
        pa.field("value", pa.float64()),
        pa.field("weight", pa.float64()),
        pa.field("contribution", pa.float64()),  # contributions of a candidate add up to its score
        pa.field("matches", pa.list_(MATCH)),
    ]
)

_SURFACE = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def explain(scored: Scored, name: str | None = None) -> pa.Table:
    """The explanation of every mention of a scored batch, or of those called `name` (case, accents, spaces aside)."""
    names = scored.batch.names.to_pylist()
    wanted = [m for m, one in enumerate(names) if name is None or normalise(one) == normalise(name)]
    return pa.Table.from_pylist([row for m in wanted for row in _Mention(scored, m).rows()], EXPLANATION)


class _Mention:
    """One mention being explained."""

    def __init__(self, scored: Scored, mention: int) -> None:
        self.scored, self.batch, self.kb = scored, scored.batch, scored.batch.kb
        self.mention, self.article = mention, int(scored.batch.article[mention])
        self.name_words = set(_row(self.batch.name_words.indptr, self.batch.name_words.word, mention))
        self.text = self.batch.texts[self.article].as_py()

    def rows(self) -> Iterator[dict[str, Any]]:
        begin, end = self.batch.offsets[self.mention : self.mention + 2]
        keys = [key[begin:end] for key in self.scored.combined.keys]
        offsets = np.array([0, end - begin], np.int64)
        margin = float(rank.margin(offsets, keys[0])[0])
        decided = int(rank.tie_break(offsets, *keys)[0])
        names = [*self.scored.combined.names, "position"]
        reason = self._reason(offsets, keys)
        shared = {
            "article_id": self.batch.ids[self.article].as_py(),
            "name": self.batch.names[self.mention].as_py(),
            "spans": _row(self.batch.span_indptr, self.batch.spans, self.mention),
            "margin": None if np.isnan(margin) else margin,
            "tie_break": names[decided] if decided > 0 else None,
            "reason": reason,
        }
        rule = self.scored.recipe.decide
        confidence = [None] * len(keys[0]) if rule is None else probabilities(keys[0], offsets, rule)[0].tolist()
        if reason == REASONS[NOT_A_PERSON]:
            confidence = [0.0] * len(keys[0])
        for place, local in enumerate(rank.order(offsets, *keys), 1):
            yield from self._candidate(int(begin + local), shared | {"rank": place, "confidence": confidence[local]})

    def _reason(self, offsets: Int64, keys: list[rank.FloatArray]) -> str | None:
        """Why the mention has no answer; None where it has one."""
        no_person = self.batch.no_person[self.mention : self.mention + 1]
        decision = decide(keys[0], offsets, rank.winner(offsets, *keys), self.scored.recipe.decide, no_person)
        return REASONS[decision.reason[0]] if decision.reason[0] >= 0 else None

    def _candidate(self, candidate: int, shared: dict[str, Any]) -> Iterator[dict[str, Any]]:
        row = int(self.batch.rows[candidate])
        combined = self.scored.combined
        about = shared | {
            "qid": f"Q{self.batch.qids[candidate]}",
            "label": self.kb.label(row) if row >= 0 else None,
            "description": self.kb.descriptions[row] if row >= 0 else None,
            "score": float(combined.total[candidate]),
        }
        for part in self.scored.recipe.parts:
            if part.scorer not in self.scored.scores:
                continue  # the KB lacks what it takes, or another part does its work
            yield about | {
                "part": part.scorer,
                "role": "part",
                "value": float(self.scored.scores[part.scorer][candidate]),
                "weight": part.weight,
                "contribution": float(combined.contributions[part.scorer][candidate]),
                "matches": self._matches(part.scorer, row),
            }
        for name, key in combined.ties.items():
            yield about | {"part": name, "role": "tie-break", "value": float(key[candidate])}

    def _matches(self, part: str, row: int) -> list[dict[str, Any]]:
        if row < 0:
            return []
        kind = part.removesuffix("_IDF")
        if kind == "EEIScore":
            return self._shared_statements(row)
        if kind in {"IScore", "NIScore"}:
            return self._shared_words(row, kind == "NIScore" or self.scored.recipe.context == "narrow")
        if kind == "Phrases":
            return self._shared_phrases(row)
        return []

    # words
    @cached_property
    def _words(self) -> list[int]:
        """The article's words in text order."""
        return _row(self.batch.words.indptr, self.batch.words.word, self.article)

    @cached_property
    def _starts(self) -> list[int]:
        """The byte at which each of the words begins."""
        return _row(self.batch.words.indptr, self.batch.words.start, self.article)

    @cached_property
    def _characters(self) -> Int64:
        """How many characters begin before each byte of the text."""
        raw = np.frombuffer(self.text.encode(), np.uint8)
        return np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])

    @cached_property
    def _wide(self) -> dict[int, list[int]]:
        """Where each word of the article stands; those of the name itself left out."""
        return self._places(range(len(self._words)))

    @cached_property
    def _narrow(self) -> dict[int, list[int]]:
        """The same for the sentences that hold a span of the mention."""
        words = self.batch.words
        sentences = _row(words.sentence_indptr, words.sentence, self.article)
        near: set[int] = set()
        for start, end in _row(self.batch.span_indptr, self.batch.byte_spans, self.mention):
            first = max(bisect_right(sentences, start) - 1, 0)
            near.update(range(first, max(bisect_right(sentences, end - 1), first)))
        return self._places(at for at, start in enumerate(self._starts) if bisect_right(sentences, start) - 1 in near)

    def _places(self, positions: Iterable[int]) -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for at in positions:
            if self._words[at] not in self.name_words:
                places.setdefault(self._words[at], []).append(self._starts[at])
        return places

    def _shared_words(self, row: int, narrow: bool) -> list[dict[str, Any]]:
        places = self._narrow if narrow else self._wide
        sources = word_sources(self.kb, row, self.scored.recipe.words)
        return [
            {
                "word": (text := self.kb.words[word]),
                "spans": self._spans(places[word], text.endswith(".")),
                "sources": sources[word],
            }
            for word in sorted(places.keys() & sources.keys(), key=lambda word: places[word][0])
        ]

    def _shared_phrases(self, row: int) -> list[dict[str, Any]]:
        """Labels of several words that stand in the article side by side, where they first do."""
        matches = []
        for value, pair in {int(self.kb.pair_value[p]): p for p in reversed(self.kb.statements[row].tolist())}.items():
            label = set(self.kb.words_item[value].tolist()) if value >= 0 else set()
            if len(label) > 1 and label <= self._wide.keys():
                windows = (range(at, at + len(label)) for at in range(len(self._words) - len(label) + 1))
                found = next((w for w in windows if {self._words[at] for at in w} == label), None)
                if found is not None:
                    spans = self._spans([self._starts[at] for at in found])
                    source = statement_source(self.kb, pair)
                    matches.append({"word": source["value"], "spans": spans, "sources": [source]})
        return sorted(matches, key=lambda match: match["spans"])

    def _spans(self, starts: list[int], dotted: bool = False) -> list[tuple[int, int]]:
        """Words by their first bytes as spans of characters; `dotted` words end in a full stop."""
        spans = []
        for start in starts:
            character = int(self._characters[start])
            surface = _SURFACE.match(self.text, character)
            end = surface.end() if surface else character + 1
            spans.append((character, end + (dotted and self.text.startswith(".", end))))
        return spans

    # statements
    def _shared_statements(self, row: int) -> list[dict[str, Any]]:
        own = set(self.kb.statements[row].tolist())
        matches: dict[int, list[dict[str, Any]]] = {}
        for anchor in self._anchors():
            for pair in own & set(self.kb.statements[anchor].tolist()):
                source = statement_source(self.kb, pair) | {
                    "source": "anchor",
                    "anchor": f"Q{self.kb.qids[anchor]}",
                    "anchor_label": self.kb.label(anchor),
                }
                matches.setdefault(pair, []).append(source)
        return [{"word": None, "spans": [], "sources": matches[pair]} for pair in sorted(matches)]

    def _anchors(self) -> list[int]:
        """Rows of the article's anchors, this mention's own apart."""
        first, last = self.batch.articles[self.article : self.article + 2]
        others = set(self.batch.anchors[first:last].tolist())
        return sorted(others - {-1, int(self.batch.anchors[self.mention])})


def word_sources(kb: KB, row: int, features: str) -> dict[int, list[dict[str, Any]]]:
    """Every word of an entity under the given features, with where it comes from."""
    chosen = set(features.split("+"))
    sources: dict[int, list[dict[str, Any]]] = {}

    def add(words: Any, source: dict[str, Any]) -> None:
        for word in words.tolist():
            sources.setdefault(word, []).append(source)

    if "D" in chosen:
        add(kb.words_d[row], {"source": "description", "value": kb.descriptions[row]})
    if "P" in chosen:
        add(kb.words_p[row], {"source": "paragraph"})
    if chosen & {"S", "S_A"}:
        for pair in kb.statements[row].tolist():
            value = int(kb.pair_value[pair])
            source = statement_source(kb, pair)
            add(kb.words_item[value] if value >= 0 else kb.words_string[~value], source)
            if "S_A" in chosen and value >= 0:
                add(kb.words_item_aliases[value], source | {"source": "alias"})
    return sources


def statement_source(kb: KB, pair: int) -> dict[str, Any]:
    """A statement as the source of a match: property and value by their labels."""
    number, value = int(kb.pair_property[pair]), int(kb.pair_value[pair])
    label = (kb.item_labels[value] or f"Q{kb.item_qids[value]}") if value >= 0 else kb.strings[~value]
    return {
        "source": "statement",
        "property": f"P{number}",
        "property_label": property_label(kb, number),
        "value": label,
    }


def property_label(kb: KB, number: int) -> str | None:
    """The label of a property, None where the dump did not have it."""
    at = int(np.searchsorted(kb.property_ids, number))
    found = at < len(kb.property_ids) and kb.property_ids[at] == number
    return kb.property_labels[at] if found else None


def _row(indptr: Int64, values: Any, row: int) -> list[Any]:
    return values[indptr[row] : indptr[row + 1]].tolist()  # type: ignore[no-any-return]
