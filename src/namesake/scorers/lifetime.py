"""Whether the sentences that hold a surname of several people name years in which a candidate lived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from namesake.arrays import take_rows, text_buffers
from namesake.scorers.cosine import narrow_texts
from namesake.scorers.dates import NOW, YEAR, YEARLY, year_words
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB


@scorer("OutsideLifetime")
def lifetime(batch: Batch, kb: KB) -> Scores:
    """-1 for a surname that several people of the text have, if its sentences name years, none in this life; else 0.

    A life begins at 12 and ends two years after death, as for `YearsFromLifetime`.
    """
    scores = np.zeros(len(batch.rows))
    shared = np.flatnonzero(batch.mentions.evidence.found_by("shared"))
    if not len(shared):
        return scores
    from namesake.kernels.link.lives import Lives, years_apart
    from namesake.kernels.text.years import years_of

    sentences = pa.array(narrow_texts(batch, shared.tolist()), pa.large_string())
    indptr, years = years_of(*text_buffers(sentences), year_words(kb.language))
    named = np.diff(indptr) > 0
    offsets, candidate = take_rows(batch.offsets, shared)
    lives = Lives(kb.birth, kb.birth_precision, kb.death, kb.death_precision, YEARLY, YEAR)
    undated = np.full(len(shared), np.nan)
    gap = years_apart(np.arange(len(shared)), offsets, batch.rows[candidate], named, indptr, years, undated, lives, NOW)
    scores[candidate] = -(gap > 0).astype(np.float64)
    return scores
