"""Doubts from what the text says around a name that was found in it; names that articles come with raise none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from namesake.doubts.registry import doubt
from namesake.scorers.registry import Scores

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

FAMOUS, NEAR = 100.0, 100
"""Fame from which a name of one word is famous; bytes within which another is near."""


# the name seems longer than what the KB knows
@doubt("GoesOn")
def goes_on(batch: Batch) -> Scores:
    """Share of the full spans that a capital follows which ends people's names: Paul Simon | Smith."""
    return batch.mentions.evidence.goes_on.astype(np.float64)


@doubt("Comes")
def comes(batch: Batch) -> Scores:
    """Share of the full spans behind a capital that begins people's names: Mary | Ann Smith."""
    return batch.mentions.evidence.comes.astype(np.float64)


@doubt("Suffix")
def suffix(batch: Batch) -> Scores:
    """Share of the full spans that Jr., II … follow which the name has not."""
    return batch.mentions.evidence.suffix.astype(np.float64)


@doubt("Byline")
def byline(batch: Batch, kb: KB) -> Scores:
    """1 where the name says who made the text (By …, Photo by …, …/AP) and no candidate is described as a journalist.

    Those who write are seldom written about, so that somebody famous in a byline is a namesake.
    """
    stands, journalists = batch.mentions.evidence.byline.astype(np.float64), kb.language.journalists
    asked, texts = np.flatnonzero(stands), kb.descriptions
    if not len(asked):
        return stands
    from namesake.kernels.link.described import UNSURE, YES, described  # most texts have no bylines
    from namesake.text import pack

    found = described(asked, batch.offsets, batch.rows, texts.data, texts.offsets, *pack(sorted(journalists)))
    stands[asked] = found != YES
    for mention in asked[found == UNSURE].tolist():
        rows = batch.rows[batch.offsets[mention] : batch.offsets[mention + 1]]
        told = " ".join(texts[int(row)] for row in rows if row >= 0)
        stands[mention] = not journalists.intersection(told.lower().replace(",", " ").split())
    return stands


# the name is a thing's, or a mere word
@doubt("Thing")
def thing(batch: Batch) -> Scores:
    """log(1 + fame) of the most famous thing of that name; 0 without one."""
    return np.log1p(batch.mentions.evidence.thing.astype(np.float64))


@doubt("ThingShare")
def thing_share(batch: Batch) -> Scores:
    """log(1 + fame of the thing / that of the best bearer), for names of one word: Paris, Jordan, Houston."""
    evidence = batch.mentions.evidence
    best = np.maximum(evidence.best.astype(np.float64), 0.1)
    return np.where(_one_word(batch), np.log1p(evidence.thing / best), 0.0)


@doubt("Lower")
def lower(batch: Batch) -> Scores:
    """log(1 + how often a name of one word stands in lower case where people and things are described)."""
    return np.log1p(batch.mentions.evidence.lower.astype(np.float64))


@doubt("Place")
def place(batch: Batch) -> Scores:
    """1 where a name of one word stands behind "in" or in a dateline, 0.5 behind "to" and "from"."""
    return batch.mentions.evidence.place.astype(np.float64)


# who would bear such a name
@doubt("OneWord")
def one_word(batch: Batch) -> Scores:
    """1 for a name of one word, found without its full form in the text."""
    return _one_word(batch).astype(np.float64)


@doubt("Bearers")
def bearers(batch: Batch) -> Scores:
    """log(1 + how many entities bear a name of one word)."""
    return np.log1p(batch.mentions.evidence.bearers.astype(np.float64))


@doubt("FamousNearby")
def famous_nearby(batch: Batch) -> Scores:
    """1 for a famous name of one word within 100 bytes of another one (Roosevelt and Churchill), else 0.

    A name is famous if its best-known person has a fame of 100 or more, and no place, organisation or other entity with
    that name has half as much.
    """
    mentions, near = batch.mentions, np.zeros(len(batch.names))
    best, thing = mentions.evidence.best, mentions.evidence.thing
    famous = _one_word(batch) & (best >= FAMOUS) & (2 * thing < best)
    whose = np.repeat(np.arange(len(famous)), np.diff(mentions.span_indptr))
    starts, ends = mentions.byte_spans.T
    spans = np.flatnonzero(famous[whose])
    spans = spans[np.lexsort([starts[spans], batch.article[whose[spans]]])]
    one, other = spans[:-1], spans[1:]
    together = (whose[one] != whose[other]) & (batch.article[whose[one]] == batch.article[whose[other]])
    together &= starts[other] - ends[one] < NEAR
    near[whose[one[together]]] = near[whose[other[together]]] = 1.0
    return near


@doubt("FirstName")
def first_name(batch: Batch) -> Scores:
    """1 for a word that is the first name of its best bearer."""
    from namesake.kernels.names.constants import FIRST_NAME

    first: Scores = (_one_word(batch) & (batch.mentions.evidence.form == FIRST_NAME)).astype(np.float64)
    return first


@doubt("Role")
def role(batch: Batch) -> Scores:
    """1 where a role stands before a name of one word: striker Messi."""
    return batch.mentions.evidence.role.astype(np.float64)


@doubt("Title")
def title(batch: Batch) -> Scores:
    """1 for a title and a word: President Bush."""
    return _rule(batch, "titled")


@doubt("Wide")
def wide(batch: Batch) -> Scores:
    """1 for part of a longer name: Siméon Poisson."""
    return _rule(batch, "wide")


@doubt("Dropped")
def dropped(batch: Batch) -> Scores:
    """1 where the text has words more than the KB's name: Frank Anthony Wilczek."""
    return _rule(batch, "dropped")


@doubt("Spelled")
def spelled(batch: Batch) -> Scores:
    """1 for another spelling than the KB's."""
    return _rule(batch, "spelled")


def _rule(batch: Batch, rule: str) -> Scores:
    return batch.mentions.evidence.found_by(rule).astype(np.float64)


def _one_word(batch: Batch) -> np.ndarray:
    return _rule(batch, "one") > 0
