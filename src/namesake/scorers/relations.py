"""Entity–entity similarity: statements shared with the anchors of the same article.

Anchors are the entities of unambiguous mentions and, where the recipe makes a second pass, those that the first
pass linked with confidence.
"""

from __future__ import annotations

from namesake.batch import Batch
from namesake.kb.store import KB
from namesake.kernels.link.shared import shared_statements
from namesake.scorers import Scores, scorer


@scorer("EEIScore")
def eeiscore(batch: Batch, kb: KB) -> Scores:
    """|S_e ∩ ∪ S_u| over the anchors u: all of the article, or the first only, as the recipe says."""
    return _shared(batch, kb, 0)


@scorer("EEIScore_IDF")
def eeiscore_idf(batch: Batch, kb: KB) -> Scores:
    """EEIScore with each statement weighed by its rarity: sharing an employer says more than sharing a sex."""
    return _shared(batch, kb, len(kb))


def _shared(batch: Batch, kb: KB, entities: int) -> Scores:
    shared: Scores = shared_statements(
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
