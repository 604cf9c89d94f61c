"""How well the KB knows an entity by the name that the text uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB


@scorer("Match")
def match(batch: Batch, kb: KB) -> Scores:
    """1 where the mention's name is the entity's label, less for aliases and variants, 0 where it is neither."""
    return batch.quality
