"""How well the KB knows an entity by the name that the text uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.matches import Candidate, Match, Source
from namesake.scorers.reading import Page
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.arrays import Bool, Int64
    from namesake.batch import Batch
    from namesake.kb.store import KB

LABEL, VARIANT, WORST = 0.99, 0.8, 0.05
"""From which quality of the match on a name is the label; from which it is a name at all; the worst that counts."""
PART, BEGINNING = 0.85, 0.75
"""Below these qualities of the match a name of several words is only part of the entity's name; only its beginning."""


@scorer("Match")
def match(batch: Batch, kb: KB) -> Scores:
    """1 where the mention's name is the entity's label, less for aliases and variants, 0 where it is neither."""
    return batch.quality


@scorer("AliasName")
def alias(batch: Batch) -> Scores:
    """-1 where the mention's name is an alias of the entity or a bare form of its label (0.8 ≤ Match < 1), else 0."""
    return -((batch.quality >= VARIANT) & (batch.quality < LABEL)).astype(np.float64)


@scorer("VariantName")
def variant(batch: Batch) -> Scores:
    """-1 where the mention's name is a variant of the entity's, part of it, or no name of it (Match < 0.8), else 0."""
    return -(batch.quality < VARIANT).astype(np.float64)


@scorer("NameMatchQuality")
def quality(batch: Batch) -> Scores:
    """log(Match), at least log(0.05): the odds that somebody is called so."""
    return np.log(np.maximum(batch.quality, WORST))


@scorer("PartialName")
def partial_name(batch: Batch) -> Scores:
    """-1 where a name of several words is part or a variant of the entity's name and the label of another candidate.

    "Martin Luther" is Martin Luther rather than Martin Luther King. An alias is a name in its own right.
    """
    return -_anothers_label(batch, PART).astype(np.float64)


def full_names(candidate: Candidate) -> Iterator[Match]:
    """The longer names by which the article names the candidate elsewhere."""
    reading, batch = candidate.reading, candidate.reading.batch
    is_shorter = batch.tokens[reading.mention] == 1 or batch.once(_beginnings)[candidate.number]
    if is_shorter and candidate.row != batch.anchors[reading.mention]:
        for mention in reading.page.once(_full_mentions).get(candidate.row, ()):
            yield Match(sources=[Source("named in full", value=batch.names[mention].as_py())])


def _full_mentions(page: Page) -> dict[int, list[int]]:
    """The mentions of an article that name an entity in full, by its row."""
    first, last = page.batch.articles[page.article : page.article + 2].tolist()
    found: dict[int, list[int]] = {}
    for mention, row in enumerate(_named_fully(page.batch)[first:last].tolist(), first):
        found.setdefault(row, []).append(mention)
    return found


@scorer("NamedInFull", anchors=True, explain=full_names)
def named_in_full(batch: Batch) -> Scores:
    """1 for one word of an entity that the article names in full elsewhere, -1 for the beginning of its name, else 0.

    In full: by an unambiguous name of several words. Later names of a person are shorter, "Jobs" behind "Steve Jobs";
    but beside "Martin Luther King", "Martin Luther", which is the label of another candidate, is that one.
    """
    size, full = np.diff(batch.offsets), _named_fully(batch)
    begins = batch.once(_beginnings)
    asked = np.flatnonzero((np.repeat(batch.tokens == 1, size) | begins) & (batch.rows >= 0))
    mention = np.repeat(np.arange(len(size)), size)[asked]
    elsewhere = np.isin(batch.article[mention] << 32 | batch.rows[asked], (batch.article << 32 | full)[full >= 0]) & (
        batch.rows[asked] != batch.anchors[mention]
    )
    scores = np.zeros(len(batch.rows))
    scores[asked] = np.where(elsewhere, np.where(begins[asked], -1.0, 1.0), 0.0)
    return scores


def _named_fully(batch: Batch) -> Int64:
    """The entity row of each mention that is an anchor and has a name of several words, else -1."""
    return np.where(batch.tokens > 1, batch.anchors, -1)


def _beginnings(batch: Batch, kb: KB) -> Bool:
    """Whether a name is only the beginning of a candidate's name, and the label of another candidate."""
    return _anothers_label(batch, BEGINNING)


def _anothers_label(batch: Batch, below: float) -> Bool:
    """Whether a name of several words matches a candidate less well than `below`, and is the label of another one."""
    from namesake.kernels.names.bearers import FAR_ALIAS

    size, quality = np.diff(batch.offsets), batch.quality
    has_label = np.zeros(len(size), np.bool_)
    has_label[np.repeat(np.arange(len(size)), size)[quality >= LABEL]] = True
    others: Bool = np.repeat(has_label & (batch.tokens > 1), size) & (quality < below) & (quality != FAR_ALIAS)
    return others


def the_other_one(candidate: Candidate) -> Iterator[Match]:
    """Where the text says that another person of the name is meant than this one."""
    reading = candidate.reading
    if reading.batch.taken[reading.mention] == candidate.row:
        yield Match(sources=[Source("another of the name", value=reading.name)])


@scorer("AlreadyLinked", explain=the_other_one)
def taken(batch: Batch) -> Scores:
    """-1 for whom the article's first of that name fits best, where the text speaks of the other one; else 0."""
    meant = np.repeat(batch.taken, np.diff(batch.offsets))
    excluded: Scores = -((batch.rows == meant) & (batch.rows >= 0)).astype(np.float64)
    return excluded
