"""How well the KB knows an entity by the name that the text uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB


@scorer("Match")
def match(batch: Batch, kb: KB) -> Scores:
    """1 where the mention's name is the entity's label, less for aliases and variants, 0 where it is neither."""
    from namesake.arrays import text_buffers
    from namesake.names.candidates import candidates  # its kernels load when a name is first looked up

    known = candidates(kb.names, *text_buffers(batch.names), variants="missing")
    bearer = np.repeat(np.arange(len(batch.names)), np.diff(known.indptr)) * (len(kb) + 1) + known.rows
    asked = np.repeat(np.arange(len(batch.names)), np.diff(batch.offsets)) * (len(kb) + 1) + batch.rows
    order = np.argsort(bearer, kind="stable")
    if not len(order):
        return np.zeros(len(asked))
    at = np.minimum(np.searchsorted(bearer, asked, sorter=order), len(order) - 1)
    found = (bearer[order[at]] == asked) & (batch.rows >= 0)
    return np.where(found, known.quality[order[at]], 0.0)
