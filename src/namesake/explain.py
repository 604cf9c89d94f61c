"""Why a candidate got its score: one row a candidate and part, with what matched and where it comes from.

Explanations are tables; terminals and pages draw them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from namesake import rank
from namesake.arrays import Int64
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
        pa.field("word", pa.string()),  # the normalised word, or null for a shared statement
        pa.field("spans", pa.list_(pa.list_(pa.int32(), 2))),  # where it stands in the article, in characters
        pa.field("sources", pa.list_(SOURCE)),
    ]
)
EXPLANATION = pa.schema(
    [
        pa.field("article_id", pa.string()),
        pa.field("name", pa.string()),
        pa.field("qid", pa.string()),
        pa.field("label", pa.string()),
        pa.field("description", pa.string()),
        pa.field("rank", pa.int32()),
        pa.field("score", pa.float64()),
        pa.field("margin", pa.float64()),  # of the mention: best minus second-best score
        pa.field("tie_break", pa.string()),  # of the mention: the key that decided, null if the score did
        pa.field("part", pa.string()),
        pa.field("role", pa.string()),  # part of the score, or tie-break
        pa.field("value", pa.float64()),
        pa.field("weight", pa.float64()),
        pa.field("contribution", pa.float64()),  # contributions of a candidate add up to its score
        pa.field("matches", pa.list_(MATCH)),
    ]
)

_SURFACE = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*")


def explain(scored: Scored, name: str | None = None) -> pa.Table:
    """The explanation of every mention of a scored batch, or of those called `name` (case aside)."""
    names = scored.batch.names.to_pylist()
    wanted = [m for m, one in enumerate(names) if name is None or one.casefold() == name.casefold()]
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
        shared = {
            "article_id": self.batch.ids[self.article].as_py(),
            "name": self.batch.names[self.mention].as_py(),
            "margin": None if np.isnan(margin) else margin,
            "tie_break": names[decided] if decided > 0 else None,
        }
        for place, local in enumerate(rank.order(offsets, *keys), 1):
            candidate = int(begin + local)
            yield from self._candidate(candidate, shared | {"rank": place})

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
            narrow = kind == "NIScore" or self.scored.recipe.context == "narrow"
            return self._shared_words(row, narrow)
        return []

    # words
    def _shared_words(self, row: int, narrow: bool) -> list[dict[str, Any]]:
        words = self.batch.words
        places: dict[int, list[int]] = {}
        context = set(_row(*self.batch.narrow, self.mention)) if narrow else None
        for word, start in zip(
            _row(words.indptr, words.word, self.article), _row(words.indptr, words.start, self.article), strict=True
        ):
            if word not in self.name_words and (context is None or word in context):
                places.setdefault(word, []).append(start)
        sources = word_sources(self.kb, row, self.scored.recipe.words)
        return [
            {"word": self.kb.words[word], "spans": self._spans(places[word]), "sources": sources[word]}
            for word in sorted(places.keys() & sources.keys(), key=lambda word: places[word][0])
        ]

    def _spans(self, starts: list[int]) -> list[tuple[int, int]]:
        raw = self.text.encode()
        spans = []
        for start in starts:
            character = len(raw[:start].decode("utf-8", "replace"))
            surface = _SURFACE.match(self.text, character)
            spans.append((character, surface.end() if surface else character + 1))
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


def _row(indptr: Int64, values: Any, row: int) -> list[int]:
    return values[indptr[row] : indptr[row + 1]].tolist()  # type: ignore[no-any-return]
