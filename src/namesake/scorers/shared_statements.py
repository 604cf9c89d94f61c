"""Statements of a candidate compared with those of the article's anchors.

Anchors are the entities of unambiguous mentions and, if the recipe makes a second pass, those that the first pass
linked with enough confidence. Neither the candidate itself nor the anchor of its own mention counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.evidence_shown import MOST_LISTED, Candidate, Match, Source, statement_source
from namesake.scorers.neural import TEXT_VECTORS
from namesake.scorers.registry import SCORERS, Scores, scorer
from namesake.scorers.word_overlap import lift, rarity_of

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

MOST_ANCHORS = 64  # that the explanation of CSSVE compares: its time grows with anchors × statements²


def statements_with_anchors(candidate: Candidate) -> Iterator[Match]:
    """Each statement that the candidate shares with other anchors, with the first few anchors that have it."""
    kb, reading, anchored = candidate.kb, candidate.reading, candidate.reading.page.anchored
    left_out = {int(reading.batch.anchors[reading.mention]), candidate.row}
    for pair in sorted(set(kb.statements[candidate.row].tolist()) & anchored.keys()):
        statement = statement_source(kb, pair)
        others = (anchor for anchor in anchored[pair] if anchor not in left_out)
        sources = [_of_anchor(kb, statement, anchor) for anchor in islice(others, MOST_LISTED)]
        if sources:
            count = sum(anchor not in left_out for anchor in anchored[pair])
            yield Match(sources=sources, more_sources=count - len(sources))


def _of_anchor(kb: KB, statement: Source, anchor: int) -> Source:
    return replace(statement, source="anchor", anchor=kb.id_of(anchor), anchor_label=kb.label(anchor))


@scorer("EEIScore", anchors=True, explain=statements_with_anchors)
def eeiscore(batch: Batch, kb: KB) -> Scores:
    """|S_e ∩ ∪ S_u| over the anchors u ≠ e: all of the article, or the first only, as the recipe says."""
    return statements_shared(batch, kb, np.empty(0))[0]


@scorer("SharedStatements", anchors=True, explain=statements_with_anchors, aliases=("Company",))
def shared_statements(batch: Batch, kb: KB) -> Scores:
    """log((s + 0.3) / (chance + 0.3)), s: EEIScore with statements weighted by rarity; chance: of a random entity."""
    return lift(*statements_shared(batch, kb, _pair_rarity(kb)))


@scorer("ListedStatements", anchors=True, explain=statements_with_anchors)
def listed_statements(batch: Batch, kb: KB) -> Scores:
    """SharedStatements for names that articles list, whose anchors are certain names; 0 for names found in the text."""
    listed = batch.mentions.context is None
    return lift(*statements_shared(batch, kb, _pair_rarity(kb))) if listed else np.zeros(len(batch.rows))


def statements_shared(batch: Batch, kb: KB, rarity: Scores) -> tuple[Scores, Scores]:
    """What each candidate, and a random entity, shares with anchors, weighted by rarity unless `rarity` is empty."""
    from namesake.kernels.link.anchor_statements import shared_statements as kernel

    mentions = batch.articles, batch.offsets, batch.rows, batch.anchors
    statements = kb.statements.indptr, kb.statements.values, kb.pair_count
    shared: tuple[Scores, Scores] = kernel(*mentions, *statements, rarity)
    return shared


def _declare_support(number: int, name: str, what: str) -> None:
    """Declare one of the numbers of `_support` as a scorer."""
    formula = f"log(1 + n), n: {what}, weighted by rarity and probability."
    scorer(name, anchors=True, formula=formula)(lambda batch: _support(batch)[number])


_declare_support(0, "NamesCandidates", "its statements that name candidates of other mentions")
_declare_support(1, "NamedByCandidates", "statements of other mentions' candidates that name it")
_declare_support(2, "SharedWithCandidates", "its statements that other mentions' candidates share")


@scorer("LinkedElsewhere", anchors=True)
def linked_elsewhere(batch: Batch) -> Scores:
    """log(1 + p), p: the probability that another mention of the article is the same entity; 0 for a PartialName."""
    linked = _support(batch)[3]
    return linked if batch.support is None else np.where(SCORERS["PartialName"](batch) < 0, 0.0, linked)


def _support(batch: Batch) -> list[Scores]:
    """What `mutual_support` gives, in logarithms, computed once for these scorers; 0 in the first round."""
    if batch.support is None:
        return [np.zeros(len(batch.rows))] * 4
    if batch.supported is None:
        from namesake.kernels.link.mutual import Facts, mutual_support

        kb = batch.kb
        statements = kb.statements.indptr, kb.statements.values, kb.pair_value, _pair_rarity(kb), kb.entity_item
        found = mutual_support(batch.articles, batch.offsets, batch.rows, batch.support, Facts(*statements))
        batch.supported = [np.log1p(one) for one in found]
    return batch.supported


@lru_cache(maxsize=4)
def _pair_rarity(kb: KB) -> Scores:
    """The rarity of every pair of property and value."""
    return rarity_of(kb.pair_count, kb)


def closest_values(candidate: Candidate) -> Iterator[Match]:
    """The values of the candidate that are closest to a value of one of the first anchors, of the same property."""
    kb, vectors = candidate.kb, candidate.kb.text_vectors
    own = [pair for pair in kb.statements[candidate.row].tolist() if vectors.pair_rows[pair] >= 0]
    found = []
    for anchor in [row for row in candidate.reading.anchors if row != candidate.row][:MOST_ANCHORS]:
        for pair in kb.statements[anchor].tolist():
            for mine in own:
                if kb.pair_property[pair] == kb.pair_property[mine] and vectors.pair_rows[pair] >= 0:
                    theirs = vectors.value(int(vectors.pair_rows[pair]))
                    found.append((float(theirs @ vectors.value(int(vectors.pair_rows[mine]))), mine, pair, anchor))
    best: dict[int, tuple[float, int, int, int]] = {}
    for one in sorted(found, key=lambda one: (-one[0], *one[1:])):
        best.setdefault(one[1], one)
    for cosine, mine, pair, anchor in islice(best.values(), MOST_LISTED):
        source = _of_anchor(kb, statement_source(kb, mine), anchor)
        like = "" if mine == pair else f" ≈ {statement_source(kb, pair).value}"
        yield Match(sources=[replace(source, value=f"{source.value}{like} ({cosine:.2f})")])


@scorer("CSSVE", needs=TEXT_VECTORS, anchors=True, explain=closest_values)
def cssve(batch: Batch, kb: KB) -> Scores:
    """Σ cos(ε(v_u), ε(v_e)) over statements of anchors u ≠ e and candidate e with equal property."""
    from namesake.kernels.vectors import compare_values

    vectors = kb.text_vectors
    scores: Scores = compare_values(
        *(batch.articles, batch.offsets, batch.rows, batch.anchors, kb.statements.indptr, kb.statements.values),
        *(kb.pair_property, vectors.pair_rows, vectors.values),
    )
    unknown = batch.rows < 0
    if unknown.any():  # an entity that is not in the KB gets the lowest score of its mention, at most 0
        least = np.zeros(len(batch.mentions))
        np.minimum.at(least, batch.mention, scores)
        scores[unknown] = least[batch.mention[unknown]]
    return scores
