"""Entity–entity similarity by vectors: statement values of anchors and candidate, property by property."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.cosine import TEXT_VECTORS
from namesake.scorers.matches import Candidate, Match, statement_source
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

MOST, MOST_ANCHORS = 8, 64
"""Values that an explanation shows, and anchors that it looks at: the first in the order of their QIDs."""


def closest_values(candidate: Candidate) -> Iterator[Match]:
    """The values of the candidate that come closest to an anchor's under the same property, with that anchor."""
    kb = candidate.kb
    vectors = kb.text_vectors
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
    for cosine, mine, pair, anchor in list(best.values())[:MOST]:
        source = statement_source(kb, mine)
        like = "" if mine == pair else f" ≈ {statement_source(kb, pair).value}"
        who = {"source": "anchor", "anchor": f"Q{kb.qids[anchor]}", "anchor_label": kb.label(anchor)}
        yield Match(sources=[replace(source, value=f"{source.value}{like} ({cosine:.2f})", **who)])


@scorer("CSSVE", needs=TEXT_VECTORS, anchors=True, explain=closest_values)
def cssve(batch: Batch, kb: KB) -> Scores:
    """Σ cos(ε(v_u), ε(v_e)) over statements of anchors u ≠ e and candidate e with equal property.

    An entity that the KB does not have gets the least of its mention's scores, 0 at most.
    """
    from namesake.kernels.vectors.values import compare_values

    vectors = kb.text_vectors
    scores: Scores = compare_values(
        *(batch.articles, batch.offsets, batch.rows, batch.anchors, kb.statements.indptr, kb.statements.values),
        *(kb.pair_property, vectors.pair_rows, vectors.values),
    )
    unknown = batch.rows < 0
    if unknown.any():
        mention = np.repeat(np.arange(len(batch.offsets) - 1), np.diff(batch.offsets))
        least = np.zeros(len(batch.offsets) - 1)
        np.minimum.at(least, mention, scores)
        scores[unknown] = least[mention[unknown]]
    return scores
