"""Doubts from a name and its text: how many strangers may bear it, and how much there is to tell them by."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from namesake.doubts.registry import doubt
from namesake.scorers.matches import Match, Source
from namesake.scorers.overlap import beyond_chance
from namesake.scorers.reading import Reading
from namesake.scorers.registry import Need, Scores

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

POPULATION = 500_000.0
"""Expected bearers are counted among so many people, or those of the KB where it has fewer."""
FLOOR = np.exp(-5.0)
"""Expected bearers below which a rarer name makes no difference."""
MIDDLE = 1000.0
"""A middle token that one label in so many has does not make a name rarer."""

TOKENS = Need("counts of the tokens of names (`kb build` makes them)", lambda kb: len(kb.names.token_hashes) > 0)


def tokens_of_the_name(reading: Reading) -> Iterator[Match]:
    """How many people's labels begin with the name's first token, and how many end with its last."""
    first, _, last = reading.batch.once(_counts)
    if first[reading.mention] >= 0:
        for source, count in (("begins names", first), ("ends names", last)):
            yield Match(sources=[Source(source, value=str(int(count[reading.mention])))])


@doubt("Constant")
def constant(batch: Batch) -> Scores:
    """1: what any candidate has against it."""
    return np.ones(len(batch.names))


@doubt("ExpectedNamesakes", needs=TOKENS, explain=tokens_of_the_name)
def expected(batch: Batch, kb: KB) -> Scores:
    """log(E + e⁻⁵), E people of half a million who bear such a name by chance: (F + ½)(L + ½) / P; 0 for one word.

    F and L of the P labels of two tokens or more begin with the first, end with the last token; a middle token that is
    rarer than one in a thousand makes E smaller. If the text names several people with a surname in full, the full name
    with the commonest first name counts.
    """
    first, middle, last = batch.once(_counts)
    evidence = batch.mentions.evidence
    shared = evidence.found_by("shared")
    first, last = np.where(shared, evidence.first, first), np.where(shared, evidence.last, last)
    people = max(_labels(kb), 1)
    bearers = (first + 0.5) * (last + 0.5) / people * min(POPULATION / people, 1.0)
    rare = np.where(middle < 0, 1.0, np.minimum(1.0, (middle + 0.5) / people * MIDDLE))
    return np.where(first < 0, 0.0, np.log(np.where(first < 0, 1.0, bearers * rare) + FLOOR))


@doubt("ArticleLength")
def length(batch: Batch) -> Scores:
    """log(1 + distinct words of the article that the KB knows), the name's own left out."""
    counts: Scores = batch.once(beyond_chance).words
    return np.log1p(counts)


@doubt("NameFame")
def fame_of_the_name(batch: Batch, kb: KB) -> Scores:
    """log(1 + Σ NS) over the candidates: beside `NS` in the scores, the share of a name's fame decides.

    Who is not meant, as the text speaks of the other one of that name, has no share.
    """
    if not len(kb.sitelinks):
        return np.zeros(len(batch.names))
    from namesake.kernels.link.fame import pages_of_names

    pages: Scores = pages_of_names(batch.offsets, batch.rows, batch.taken, kb.sitelinks)
    return np.log1p(pages)


def _counts(batch: Batch, kb: KB) -> tuple[Scores, Scores, Scores]:
    """By mention: labels that the first token begins, that have the rarest middle token, that the last token ends."""
    from namesake.kernels.names.expected import Counts, count_labels

    names = kb.names
    counts: tuple[Scores, Scores, Scores] = count_labels(
        batch.spelled.data,
        batch.spelled.offsets,
        Counts(names.token_hashes, names.token_first, names.token_middle, names.token_last),
    )
    return counts


@lru_cache(maxsize=4)
def _labels(kb: KB) -> float:
    """How many people's labels have two tokens or more: each has a token that it begins with."""
    return float(kb.names.token_first.sum())
