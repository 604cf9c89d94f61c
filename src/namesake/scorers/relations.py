"""Entity–entity similarity: statements shared with the unambiguous entities of the same article."""

from __future__ import annotations

from namesake.batch import Batch
from namesake.kb.store import KB
from namesake.kernels.overlap import shared_statements
from namesake.scorers import Scores, scorer


@scorer("EEIScore")
def eeiscore(batch: Batch, kb: KB) -> Scores:
    """|S_e ∩ ∪ S_u| over the anchors u: all unambiguous mentions of the article, or the first one only."""
    first_only = batch.options.anchors == "first"
    return shared_statements(
        batch.articles, batch.offsets, batch.rows, kb.statements.indptr, kb.statements.values, first_only
    )
