"""Evidence of articles for quotations: the links of their names, and the speakers that they name.

It is stored in flat arrays: a year of Quotebank has tens of millions of names.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from namesake.errors import NamesakeError
from namesake.formats.mojibake import mend_apart
from namesake.formats.quotebank_records import ArticleQuote, Quote
from namesake.kb.names.normalise import normalise


class Answer(NamedTuple):
    """The link of a speaker."""

    qid: str | None
    confidence: float | None
    reason: str | None
    best: str | None


class Evidence:
    """The links of the names of articles, found by the articles' URLs and the ids of their quotations."""

    def __init__(self) -> None:
        self.places, self.articles = array("Q"), array("Q")
        """The hash of an article's id, by the hash of a URL or of a quotation's id."""
        self.names, self.confidence = array("Q"), array("d")
        """The answer, by the hash of an article and a name in it."""
        self.qid, self.best, self.reason = array("q"), array("q"), array("b")
        self.reasons: list[str | None] = [None]

    def place(self, article: str, places: Iterable[str]) -> None:
        """Add keys by which an article is found."""
        for place in places:
            self.places.append(_key(place))
            self.articles.append(_key(article))

    def add(self, article: str, names: Iterable[str], answer: Answer) -> None:
        """Store the answer for a name of an article, under each of its spellings."""
        if answer.reason not in self.reasons:
            self.reasons.append(answer.reason)
        for name in names:
            self.names.append(_key(_key(article), name))
            self.confidence.append(np.nan if answer.confidence is None else answer.confidence)
            self.qid.append(_number(answer.qid))
            self.best.append(_number(answer.best))
            self.reason.append(self.reasons.index(answer.reason))

    def index(self) -> None:
        """Sort the keys; afterwards `find` works."""
        order = np.argsort(np.frombuffer(self.places, np.uint64), kind="stable")
        self.place_keys = np.frombuffer(self.places, np.uint64)[order]
        self.place_articles = np.frombuffer(self.articles, np.uint64)[order]
        self.order = np.argsort(np.frombuffer(self.names, np.uint64), kind="stable")
        self.name_keys = np.frombuffer(self.names, np.uint64)[self.order]
        self.places, self.articles, self.names = array("Q"), array("Q"), array("Q")

    def find(self, quote: Quote, speaker: str) -> tuple[Answer | None, int]:
        """The answer with the highest confidence for a quotation's speaker, and how many articles have one."""
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
    """The speakers that articles name for each quotation, and the choice of one of them.

    A speaker found over all articles precedes one found in a single article, and any speaker precedes none; then the
    most frequent and the first one win.
    """

    def __init__(self) -> None:
        self.quotes, self.speakers, self.ranks = array("Q"), array("Q"), array("b")

    def add(self, said: ArticleQuote) -> None:
        """Count the vote of one article."""
        self.quotes.append(_key(said.id))
        self.speakers.append(_speaker(said.speaker))
        self.ranks.append(0 if said.speaker is None else 2 if said.is_global else 1)

    def count(self) -> None:
        """Choose a speaker for each quotation."""
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

    def elects(self, said: ArticleQuote) -> bool:
        """Whether this is the first article that names the chosen speaker of a quotation; true once per quotation."""
        key = np.uint64(_key(said.id))
        at = int(np.searchsorted(self.quote_keys, key))
        if at == len(self.quote_keys) or self.quote_keys[at] != key:
            raise NamesakeError(f"the quotation {said.id} was not in its file before: has the file changed?")
        if self.asked[at] or int(self.elected[at]) != _speaker(said.speaker):
            return False
        self.asked[at] = True
        return True


def _changes(values: np.ndarray) -> np.ndarray:
    """Whether each value differs from the one before it."""
    return np.append(np.ones(min(len(values), 1), np.bool_), values[1:] != values[:-1])


def _speaker(name: str | None) -> int:
    return _key("" if name is None else normalise(mend_apart(name)))


def _number(qid: str | None) -> int:
    return -1 if qid is None else int(qid[1:])


def _key(*parts: str | int) -> int:
    return int.from_bytes(blake2b("\0".join(map(str, parts)).encode("utf-8", "replace"), digest_size=8).digest())
