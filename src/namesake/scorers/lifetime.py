"""Whether the sentences that hold a surname of several people name years in which a candidate lived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from namesake.arrays import Int64, take_rows, text_buffers
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB


@scorer("Lifetime")
def lifetime(batch: Batch, kb: KB) -> Scores:
    """-1 for a surname that several people of the text have, if its sentences name years, none in this life; else 0.

    A life begins at 12 and ends two years after death, as for `Era`.
    """
    scores = np.zeros(len(batch.rows))
    shared = np.flatnonzero(batch.mentions.evidence.found_by("shared"))
    if not len(shared):
        return scores
    from namesake.kernels.link.lives import Lives, years_apart
    from namesake.kernels.text.years import years_of
    from namesake.scorers.dates import NOW, YEAR, YEARLY, year_words

    indptr, years = years_of(*text_buffers(_sentences(batch, shared)), year_words(kb.language))
    named = np.diff(indptr) > 0
    offsets, candidate = take_rows(batch.offsets, shared)
    lives = Lives(kb.birth, kb.birth_precision, kb.death, kb.death_precision, YEARLY, YEAR)
    undated = np.full(len(shared), np.nan)
    gap = years_apart(np.arange(len(shared)), offsets, batch.rows[candidate], named, indptr, years, undated, lives, NOW)
    scores[candidate] = -(gap > 0).astype(np.float64)
    return scores


def _sentences(batch: Batch, mentions: Int64) -> pa.Array:
    """The sentences that hold a span of each of these mentions, as one text each."""
    words, (data, offsets) = batch.words, text_buffers(batch.texts)
    texts = []
    for m in mentions.tolist():
        a = int(batch.article[m])
        starts = words.sentence[words.sentence_indptr[a] : words.sentence_indptr[a + 1]]
        ends = np.append(starts[1:], offsets[a + 1] - offsets[a])
        spans = batch.byte_spans[batch.span_indptr[m] : batch.span_indptr[m + 1], 0]
        held = np.unique(np.maximum(np.searchsorted(starts, spans, side="right") - 1, 0))
        parts = [data[offsets[a] + starts[k] : offsets[a] + ends[k]].tobytes() for k in held if k < len(starts)]
        texts.append(b"\n".join(parts).decode(errors="replace"))
    return pa.array(texts, pa.large_string())
