"""What articles tell of quotations: who is meant by each name in them, and whom they name as a quotation's speaker.

Flat arrays: a year of Quotebank has tens of millions of names.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from namesake.errors import NamesakeError
from namesake.formats.mojibake import mend_apart
from namesake.formats.quotes import Quote, Said
from namesake.kb.names.normalise import normalise


class Answer(NamedTuple):
    """What became of a speaker."""

    qid: str | None
    confidence: float | None
    reason: str | None
    best: str | None


class Evidence:
    """Who is meant by the names of articles, which are found by their addresses and the ids of their quotations."""

    def __init__(self) -> None:
        self.places, self.articles = array("Q"), array("Q")
        """By the hash of an address or of a quotation's id: the article, as the hash of its id."""
        self.names, self.confidence = array("Q"), array("d")
        """By the hash of an article and a name in it: the answer."""
        self.qid, self.best, self.reason = array("q"), array("q"), array("b")
        self.reasons: list[str | None] = [None]

    def place(self, article: str, places: Iterable[str]) -> None:
        """Let an article be found by these."""
        for place in places:
            self.places.append(_key(place))
            self.articles.append(_key(article))

    def add(self, article: str, names: Iterable[str], answer: Answer) -> None:
        """Remember who is meant in an article by a name, in each of its spellings."""
        if answer.reason not in self.reasons:
            self.reasons.append(answer.reason)
        for name in names:
            self.names.append(_key(_key(article), name))
            self.confidence.append(np.nan if answer.confidence is None else answer.confidence)
            self.qid.append(_number(answer.qid))
            self.best.append(_number(answer.best))
            self.reason.append(self.reasons.index(answer.reason))

    def index(self) -> None:
        """Make what was added ready to be found."""
        order = np.argsort(np.frombuffer(self.places, np.uint64), kind="stable")
        self.place_keys = np.frombuffer(self.places, np.uint64)[order]
        self.place_articles = np.frombuffer(self.articles, np.uint64)[order]
        self.order = np.argsort(np.frombuffer(self.names, np.uint64), kind="stable")
        self.name_keys = np.frombuffer(self.names, np.uint64)[self.order]
        self.places, self.articles, self.names = array("Q"), array("Q"), array("Q")

    def find(self, quote: Quote, speaker: str) -> tuple[Answer | None, int]:
        """The surest answer for a quotation's speaker, and how many articles have one."""
        if not len(self.place_keys):
            return None, 0
        places = np.unique(np.array([_key(place) for place in (*quote.addresses, quote.id)], np.uint64))
        begins, ends = (np.searchsorted(self.place_keys, places, side) for side in ("left", "right"))
        articles = {int(a) for b, e in zip(begins, ends, strict=True) for a in self.place_articles[b:e]}
        names = {normalise(speaker), normalise(quote.speaker or "")}
        keys = np.array([_key(article, name) for article in sorted(articles) for name in sorted(names)], np.uint64)
        at = np.searchsorted(self.name_keys, keys)
        held = at < len(self.name_keys)
        held[held] = self.name_keys[at[held]] == keys[held]
        found = [self._answer(int(self.order[one])) for one in at[held]]
        surest = max(found, key=lambda answer: answer.confidence or 0.0, default=None)
        return surest, int(held.reshape(-1, len(names)).any(axis=1).sum())

    def _answer(self, at: int) -> Answer:
        confidence = self.confidence[at]
        return Answer(
            f"Q{self.qid[at]}" if self.qid[at] >= 0 else None,
            None if np.isnan(confidence) else confidence,
            self.reasons[self.reason[at]],
            f"Q{self.best[at]}" if self.best[at] >= 0 else None,
        )


class Votes:
    """Whom articles name as the speaker of each quotation, of whom one is elected.

    Whom Quotebank finds over all articles goes before whom it finds in one, anybody before nobody, then who is named
    most often, then who is named first.
    """

    def __init__(self) -> None:
        self.quotes, self.speakers, self.ranks = array("Q"), array("Q"), array("b")

    def add(self, said: Said) -> None:
        """Count what one article says."""
        self.quotes.append(_key(said.id))
        self.speakers.append(_speaker(said.speaker))
        self.ranks.append(0 if said.speaker is None else 2 if said.overall else 1)

    def count(self) -> None:
        """Elect a speaker for each quotation."""
        quotes, speakers = np.frombuffer(self.quotes, np.uint64), np.frombuffer(self.speakers, np.uint64)
        ranks = np.frombuffer(self.ranks, np.int8)
        order = np.lexsort((-ranks, speakers, quotes))
        new = np.flatnonzero(_changes(quotes[order]) | _changes(speakers[order]))  # where each speaker's votes begin
        votes = np.diff(np.append(new, len(order)))
        first = np.minimum.reduceat(order, new) if len(new) else order
        chosen = order[new]
        by_quote = np.lexsort((first, -votes, -ranks[chosen], quotes[chosen]))
        winners = chosen[by_quote][_changes(quotes[chosen][by_quote])]
        self.quote_keys, self.elected = quotes[winners], speakers[winners]
        self.asked = np.zeros(len(winners), np.bool_)
        self.quotes, self.speakers, self.ranks = array("Q"), array("Q"), array("b")

    def elects(self, said: Said) -> bool:
        """Whether this is the first article that names the elected speaker of a quotation: once for each."""
        key = np.uint64(_key(said.id))
        at = int(np.searchsorted(self.quote_keys, key))
        if at == len(self.quote_keys) or self.quote_keys[at] != key:
            raise NamesakeError(f"the quotation {said.id} was not there when its file was read first: has it changed?")
        if self.asked[at] or int(self.elected[at]) != _speaker(said.speaker):
            return False
        self.asked[at] = True
        return True


def _changes(values: np.ndarray) -> np.ndarray:
    """Where a value differs from the one before it."""
    return np.append(np.ones(min(len(values), 1), np.bool_), values[1:] != values[:-1])


def _speaker(name: str | None) -> int:
    return _key("" if name is None else normalise(mend_apart(name)))


def _number(qid: str | None) -> int:
    return -1 if qid is None else int(qid[1:])


def _key(*parts: str | int) -> int:
    return int.from_bytes(blake2b("\0".join(map(str, parts)).encode("utf-8", "replace"), digest_size=8).digest())
