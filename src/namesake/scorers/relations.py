"""Entity–entity similarity: statements shared with the anchors of the same article.

Anchors are the entities of unambiguous mentions and, where the recipe makes a second pass, those that the first
pass linked with confidence. A candidate is never its own anchor, nor is a mention.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from namesake.scorers.matches import MOST_LISTED, Candidate, Match, statement_source
from namesake.scorers.overlap import lift
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB


def shared_statements(candidate: Candidate) -> Iterator[Match]:
    """Each statement that the candidate shares with other anchors, with the first few anchors that have it."""
    kb, reading, anchored = candidate.kb, candidate.reading, candidate.reading.page.anchored
    left_out = {int(reading.batch.anchors[reading.mention]), candidate.row}
    for pair in sorted(set(kb.statements[candidate.row].tolist()) & anchored.keys()):
        statement = statement_source(kb, pair)
        sources = [
            replace(statement, source="anchor", anchor=f"Q{kb.qids[anchor]}", anchor_label=kb.label(anchor))
            for anchor in islice((anchor for anchor in anchored[pair] if anchor not in left_out), MOST_LISTED)
        ]
        if sources:
            others = len(anchored[pair]) - sum(_holds(anchored[pair], anchor) for anchor in left_out)
            yield Match(sources=sources, more_sources=others - len(sources))


def _holds(ascending: list[int], number: int) -> bool:
    at = bisect_left(ascending, number)
    return at < len(ascending) and ascending[at] == number


@scorer("EEIScore", anchors=True, explain=shared_statements)
def eeiscore(batch: Batch, kb: KB) -> Scores:
    """|S_e ∩ ∪ S_u| over the anchors u ≠ e: all of the article, or the first only, as the recipe says."""
    return statements_shared(batch, kb, 0)[0]


@scorer("EEIScore_IDF", anchors=True, explain=shared_statements)
def eeiscore_idf(batch: Batch, kb: KB) -> Scores:
    """EEIScore with each statement weighed by its rarity: sharing an employer says more than sharing a sex."""
    return statements_shared(batch, kb, len(kb))[0]


@scorer("SharedStatements", anchors=True, explain=shared_statements)
def company(batch: Batch, kb: KB) -> Scores:
    """log((EEIScore_IDF + 0.3) / (chance + 0.3)): against what a random entity with as many statements would share."""
    return lift(*statements_shared(batch, kb, len(kb)))


def statements_shared(batch: Batch, kb: KB, entities: int) -> tuple[Scores, Scores]:
    """What each candidate shares with the anchors, and what it would share by chance."""
    from namesake.kernels.link import shared as kernels

    shared: tuple[Scores, Scores] = kernels.shared_statements(
        batch.articles,
        batch.offsets,
        batch.rows,
        batch.anchors,
        kb.statements.indptr,
        kb.statements.values,
        kb.pair_count,
        entities,
    )
    return shared
