"""Why a candidate got its score: one row for each candidate and part, with what matched and where it comes from.

Where a recipe may say "nobody", that answer is a candidate like any other: its rows have no QID, and its parts are the
doubts that the recipe weighs, or the constant that it has in their place. Explanations are tables; terminals and pages
draw them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import to_builtins

from namesake import rank
from namesake.articles.schema import SPANS
from namesake.batch import Batch
from namesake.decide import NOT_A_PERSON, REASONS, decide, probabilities
from namesake.doubts import named_doubt
from namesake.errors import did_you_mean
from namesake.kb.names.normalise import normalise
from namesake.kb.records import about as about_entity
from namesake.rank import FloatArray, IntArray
from namesake.scorers import Candidate, named
from namesake.scorers.reading import Page, Reading
from namesake.scoring import Scored

SOURCE = pa.struct(
    [
        pa.field("source", pa.string()),  # description, paragraph, statement, alias, anchor, or a scorer's own word
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
        pa.field("spans", SPANS),  # where it stands in the article, in characters
        pa.field("sources", pa.list_(SOURCE)),
        pa.field("more_spans", pa.int32()),  # how many places are not listed: `spans` has the first few
        pa.field("more_sources", pa.int32()),  # the same for sources
    ]
)
EXPLANATION = pa.schema(
    [
        pa.field("article_id", pa.string()),
        pa.field("name", pa.string()),
        pa.field("spans", SPANS),  # of the name, in characters
        pa.field("title_spans", SPANS),  # of the name in the title; null where it does not stand there
        pa.field("qid", pa.string()),  # null: none of them
        pa.field("label", pa.string()),
        pa.field("description", pa.string()),  # or occupations and countries, where there is none
        pa.field("rank", pa.int32()),  # among the candidates, none of them included
        pa.field("score", pa.float64()),
        pa.field("confidence", pa.float64()),  # P(this candidate is right); null where the recipe cannot tell
        pa.field("margin", pa.float64()),  # of the mention: best minus second-best score
        pa.field("tie_break", pa.string()),  # of the mention: the key that decided, null if the score did
        pa.field("reason", pa.string()),  # of the mention: why nobody is the answer, null if somebody is
        pa.field("part", pa.string()),  # a scorer; of none of them a doubt, `nil`, or `alone` beside one candidate
        pa.field("role", pa.string()),  # part of the score, or tie-break
        pa.field("value", pa.float64()),
        pa.field("weight", pa.float64()),
        pa.field("contribution", pa.float64()),  # contributions of a candidate add up to its score
        pa.field("matches", pa.list_(MATCH)),
    ]
)

Row = dict[str, Any]

MOST_NAMES = 10
"""Names of a text that a message lists."""


def explain(scored: Scored, name: str | None = None, most: int | None = None) -> pa.Table:
    """The explanation of every mention of a scored batch, or of those called `name` in some place.

    With `most`, only so many candidates of each mention, the best, and "none of them".
    """
    return pa.Table.from_pylist(list(explanation_rows(scored, name, most)), EXPLANATION)


def explanation_rows(scored: Scored, name: str | None = None, most: int | None = None) -> Iterator[Row]:
    """The rows of `explain`, one after the other: fields that a row lacks are null in the table."""
    page = cache(lambda article: Page(scored.batch, article))
    for mention in mentions_called(scored, name):
        yield from _Mention(scored, Reading(page(int(scored.batch.article[mention])), mention)).rows(most)


def mentions_called(scored: Scored, name: str | None) -> list[int]:
    """The mentions of a scored batch, or those called `name` (case, accents, spaces aside), if only in some place.

    A mention of Michael Jordan is also called Jordan where the text goes on with "Jordan".
    """
    batch = scored.batch
    if name is None:
        return list(range(len(batch.names)))
    called = normalise(name)
    text_of = cache(lambda article: tuple(one[article].as_py() or "" for one in (batch.texts, batch.titles)))
    return [
        m
        for m in range(len(batch.names))
        if any(normalise(one) == called for one in _written(batch, m, *text_of(int(batch.article[m]))))
    ]


def no_such_name(name: str, names: Iterable[str]) -> str:
    """What to say where nobody in a text is called `name`; `names` are those that it has."""
    known = sorted(set(names))
    return f"no name {name!r}{did_you_mean(name, known)}; {names_of_text(known, name)}"


def names_of_text(names: Iterable[str], near: str | None = None) -> str:
    """The names of a text, for a message: all if they are few, else a count and some: those most like `near`."""
    known = sorted(set(names))
    if len(known) <= MOST_NAMES:
        return f"its names are: {', '.join(known) or 'none'}"
    close = get_close_matches(near or "", known, MOST_NAMES, cutoff=0.5)
    listed = close or known[:MOST_NAMES]
    return f"it has {len(known):,} names, {'among them' if close else 'the first are'}: {', '.join(listed)}, …"


def _written(batch: Batch, mention: int, text: str, title: str) -> Iterator[str]:
    """The name of a mention, and how its places in text and title have it."""
    yield batch.names[mention].as_py()
    for written, lists in ((text, batch.span_lists), (title, batch.title_lists)):
        if spans := lists[mention].as_py():
            yield from {written[start:end] for start, end in spans}


class _Mention:
    """One mention being explained: the scores of its candidates, cut out of the batch."""

    def __init__(self, scored: Scored, reading: Reading) -> None:
        self.scored, self.reading, self.rule = scored, reading, scored.recipe.decide
        mention = reading.mention
        self.begin, end = (int(at) for at in scored.batch.offsets[mention : mention + 2])
        self.offsets: IntArray = np.array([0, end - self.begin], np.int64)
        self.keys: list[FloatArray] = [key[self.begin : end] for key in scored.combined.keys]
        none = scored.combined.none
        self.none: FloatArray | None = None if none is None else none[mention : mention + 1]

    def rows(self, most: int | None = None) -> Iterator[Row]:
        """The rows of all candidates, or the `most` best, in order; "none of them" behind those that score the same."""
        ranked: list[int | None] = rank.order(self.offsets, *self.keys).tolist()
        if self.none is not None and ranked:
            ranked.insert(0 if self._no_person else int((self.keys[0] >= self.none).sum()), None)
        left_out = set() if most is None else set([local for local in ranked if local is not None][most:])
        for place, local in enumerate(ranked, 1):
            if local in left_out:
                continue
            about = self._shared | {"rank": place}
            yield from self._nobody(about) if local is None else self._candidate(local, about)

    @cached_property
    def _shared(self) -> Row:
        """What the rows of all candidates have in common."""
        batch, reading = self.scored.batch, self.reading
        margin = float(rank.margin(self.offsets, self.keys[0])[0])
        decided = int(rank.tie_break(self.offsets, *self.keys)[0])
        names = [*self.scored.combined.names, "position"]
        return {
            "article_id": batch.ids[reading.article].as_py(),
            "name": reading.name,
            "spans": reading.spans,
            "title_spans": batch.title_lists[reading.mention].as_py(),
            "margin": None if np.isnan(margin) else margin,
            "tie_break": names[decided] if decided > 0 else None,
            "reason": self._reason,
        }

    @cached_property
    def _reason(self) -> str | None:
        """Why the mention has no answer; None where it has one."""
        mention = self.reading.mention
        no_person = self.scored.batch.no_person[mention : mention + 1]
        first = rank.winner(self.offsets, *self.keys)
        decision = decide(self.keys[0], self.none, self.offsets, first, self.rule, no_person)
        return REASONS[decision.reason[0]] if decision.reason[0] >= 0 else None

    @property
    def _no_person(self) -> bool:
        return self._reason == REASONS[NOT_A_PERSON]

    @cached_property
    def _confidence(self) -> tuple[list[float | None], float]:
        """The probability of each candidate, and of none of them."""
        if self.none is None:
            return [None] * len(self.keys[0]), 0.0
        if self._no_person:
            return [0.0] * len(self.keys[0]), 1.0
        each, none = probabilities(self.keys[0], self.offsets, self.none)
        return each.tolist(), float(none[0])

    def _nobody(self, shared: Row) -> Iterator[Row]:
        """The rows of "none of them": its doubts, or the constant that the recipe has for want of any."""
        assert self.rule is not None
        assert self.none is not None
        mention = self.reading.mention
        about = shared | {"score": float(self.none[0]), "confidence": self._confidence[1]}
        weights = {part.doubt: part.weight for part in self.rule.parts}
        for name, numbers in self.scored.combined.nobody.items():
            contribution = float(numbers[mention])
            known = name in self.scored.doubts
            if not known and name != ("alone" if self._is_alone else "nil"):
                continue
            yield about | {
                "part": name,
                "role": "part",
                "value": float(self.scored.doubts[name][mention]) if known else contribution,
                "weight": weights[name] if known else 1.0,
                "contribution": contribution,
                "matches": to_builtins(list(named_doubt(name).matches(self.reading))) if known else [],
            }

    @property
    def _is_alone(self) -> bool:
        """Whether "none of them" has the score `alone`: the recipe has one, and there is a single candidate."""
        assert self.rule is not None
        return len(self.keys[0]) == 1 and self.rule.alone is not None

    def _candidate(self, local: int, shared: Row) -> Iterator[Row]:
        combined, kb = self.scored.combined, self.scored.batch.kb
        candidate = Candidate(self.reading, self.begin + local)
        at, row = candidate.number, candidate.row
        about = shared | {
            "qid": f"Q{self.scored.batch.qids[at]}",
            "label": kb.label(row) if row >= 0 else None,
            "description": about_entity(kb, row) if row >= 0 else None,
            "score": float(combined.total[at]),
            "confidence": self._confidence[0][local],
        }
        for part in self.scored.recipe.parts:
            if part.scorer not in self.scored.scores:
                continue  # the KB lacks what it takes, or another part does its work
            yield about | {
                "part": part.scorer,
                "role": "part",
                "value": float(self.scored.scores[part.scorer][at]),
                "weight": part.weight,
                "contribution": float(combined.contributions[part.scorer][at]),
                "matches": to_builtins(list(named(part.scorer).matches(candidate))),
            }
        for name, key in combined.ties.items():
            yield about | {"part": name, "role": "tie-break", "value": float(key[at])}
