"""Scorers for rows of a table: the words, values and types of a row compared with a candidate.

They read `batch.table_rows` and return 0 for articles that are not rows of a table. The recipe `reconcile` weighs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.evidence_shown import Candidate, Match, Source
from namesake.scorers.registry import Scores, scorer
from namesake.scorers.word_overlap import iscore_idf, rarity

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

WORDS_NOT_SHARED, PROPERTY_VALUES, ENTITY_TYPE = "WordsNotShared", "PropertyValues", "EntityType"
ENOUGH = 0.3  # the share of a row's words, weighted by rarity, from which no word counts as missing
FULL_WEIGHT = 1.0  # rows whose words weigh less than this in all count proportionally less


@scorer(WORDS_NOT_SHARED)
def words_not_shared(batch: Batch, kb: KB) -> Scores:
    """-log(1 + |W_e|) · max(0, 1 - S / 0.3 T) · min(T, 1) for a row with words of weight T, of which e shares S.

    Words weigh by their rarity in the KB, without those of the name. All cells of a row describe one entity.
    """
    if batch.table_rows is None:
        return np.zeros(len(batch.rows))
    size = np.where(batch.rows >= 0, np.diff(kb.words_ds.indptr)[batch.rows] if len(kb) else 0, 0)
    total = np.repeat(_row_weights(batch, kb), np.diff(batch.offsets))
    missing = np.clip(1 - iscore_idf(batch) / np.maximum(ENOUGH * total, 1e-9), 0.0, 1.0)
    return -np.log1p(size) * missing * np.minimum(total / FULL_WEIGHT, 1.0)


def _row_weights(batch: Batch, kb: KB) -> Scores:
    """The summed weight of the distinct words of each mention's row, without those of its name."""
    words, names, vocabulary = batch.words, batch.name_words, max(len(kb.words), 1)
    of_word = np.repeat(batch.mention_of_row, np.diff(words.indptr))
    of_name = np.repeat(np.arange(len(batch.article)), np.diff(names.indptr))
    keys = np.setdiff1d((of_word * vocabulary + words.word)[of_word >= 0], of_name * vocabulary + names.word)
    return np.bincount(keys // vocabulary, rarity(kb)[keys % vocabulary], len(batch.article)).astype(np.float64)


@scorer(ENTITY_TYPE)
def entity_type(batch: Batch, kb: KB) -> Scores:
    """Log-odds that the entity has one of the row's types: its classes (P31) and occupations (P106); 0 if unknown."""
    if not any(row.types for row in batch.table_rows or ()):
        return np.zeros(len(batch.rows))
    from namesake.scorers.value_odds import type_odds

    return type_odds(batch, kb)


def compared_values(candidate: Candidate) -> Iterator[Match]:
    """The properties of the row, each with what its values add."""
    for called, odds in values_by_property(candidate.reading.batch).items():
        if added := float(odds[candidate.number]):
            said = f"{'agrees' if added > 0 else 'differs'} ({added:+.2f})"
            yield Match(sources=[Source("row", property_label=called, value=said)])


@scorer(PROPERTY_VALUES, explain=compared_values)
def property_values(batch: Batch) -> Scores:
    """Σ over the row's properties of the log-odds that the entity's statements agree with the row's values."""
    return sum(values_by_property(batch).values(), np.zeros(len(batch.rows)))


def values_by_property(batch: Batch) -> dict[str, Scores]:
    """The summands of PropertyValues by the name of the property, in the order of the rows."""
    if not any(row.values for row in batch.table_rows or ()):
        return {}
    from namesake.scorers.value_odds import odds_by_property

    return batch.once(odds_by_property)
