"""What it says against a candidate that a row's words are not his.

A text is about many things, the cells of a row are about one person: who has a long record and shares nothing with them
is hardly meant. Fitted on 4,766 names with their sentences, 716 of which describe the person (docs/tables.md).
"""

from __future__ import annotations

import numpy as np

from namesake.arrays import Float64, Int32, Int64
from namesake.batch import Batch
from namesake.scorers import named
from namesake.scorers.overlap import rarity

APART = "Apart"
WEIGHT = 0.45
ENOUGH = 0.3
"""The share of the words, by their rarity, that counts as shared enough."""
FEWEST = 1.0
"""Words that weigh less than this, all together, say so much less."""


def apart(batch: Batch) -> Float64:
    """-0.45 log(1 + |W_entity|) · max(0, 1 - S / 0.3 T), the row's words weighing T and those shared S.

    Words weigh by their rarity in the KB; those of the name do not count.
    """
    kb = batch.kb
    told = _weights(batch)
    rows = np.maximum(batch.rows, 0)
    size = np.where(batch.rows >= 0, np.diff(kb.words_ds.indptr)[rows] if len(kb) else 0, 0)
    total = np.repeat(told, np.diff(batch.offsets))
    shared = named("IScore_IDF")(batch)
    missing = np.clip(1 - shared / np.maximum(ENOUGH * total, 1e-9), 0.0, 1.0)
    return -WEIGHT * np.log1p(size) * missing * np.minimum(total / FEWEST, 1.0)


def _weights(batch: Batch) -> Float64:
    """What the distinct words of each mention's row weigh, those of its name left out."""
    words, names, vocabulary = batch.words, batch.name_words, max(len(batch.kb.words), 1)
    mention = np.full(len(words.indptr) - 1, -1, np.int64)
    mention[batch.article] = np.arange(len(batch.article))
    own = _keys(names.indptr, names.word, np.arange(len(batch.article)), vocabulary)
    keys = np.setdiff1d(_keys(words.indptr, words.word, mention, vocabulary), own)
    keys = keys[keys >= 0]
    return np.bincount(keys // vocabulary, rarity(batch.kb)[keys % vocabulary], len(batch.article)).astype(np.float64)


def _keys(indptr: Int64, words: Int32, rows: Int64, vocabulary: int) -> Int64:
    """A number for each row and word, negative where the row is."""
    keys: Int64 = np.repeat(rows, np.diff(indptr)) * vocabulary + words
    return np.where(np.repeat(rows, np.diff(indptr)) < 0, -1, keys)
