"""Entity–content similarity by words: IScore over the article, NIScore over the sentences with the name."""

from __future__ import annotations

import numpy as np

from namesake.arrays import Int64
from namesake.batch import Batch, Int32
from namesake.kb.store import KB
from namesake.kernels.overlap import gather_words, overlap
from namesake.scorers import Scores, scorer

_NO_WORDS = (np.zeros(1, np.int64), np.zeros(0, np.int32))


@scorer("IScore")
def iscore(batch: Batch, kb: KB) -> Scores:
    """|(W_A ∩ W_e) \\ stop words|; with the recipe's context `narrow` it is NIScore, with `both` their sum."""
    if batch.options.context == "article":
        return _article(batch, kb)
    if batch.options.context == "narrow":
        return niscore(batch, kb)
    return _article(batch, kb) + niscore(batch, kb)


@scorer("NIScore")
def niscore(batch: Batch, kb: KB) -> Scores:
    """IScore over the sentences that hold a span of the mention."""
    return _overlap(batch, kb, *batch.narrow, np.arange(len(batch.names)))


def _article(batch: Batch, kb: KB) -> Scores:
    return _overlap(batch, kb, batch.words.indptr, batch.words.word, batch.article)


def _overlap(batch: Batch, kb: KB, indptr: Int64, words: Int32, context: Int64) -> Scores:
    rows, entity_indptr, entity_words = entity_words_of(batch, kb)
    names = batch.name_words
    return overlap(
        len(kb.words),
        indptr,
        words,
        context,
        names.indptr,
        names.word,
        batch.offsets,
        rows,
        entity_indptr,
        entity_words,
    )


def entity_words_of(batch: Batch, kb: KB) -> tuple[Int64, Int64, Int32]:
    """Candidate rows and the ragged words they point into, for the features the recipe sums (D, P, S, S_A)."""
    features = batch.options.words
    if features == "D+S":
        return batch.rows, kb.words_ds.indptr, kb.words_ds.values
    indptr, words = gather_features(kb, batch.rows, features)
    return np.where(batch.rows >= 0, np.arange(len(batch.rows)), -1), indptr, words


def gather_features(kb: KB, rows: Int64, features: str) -> tuple[Int64, Int32]:
    """The unique words of each row over a sum of features such as `D+S_A`."""
    chosen = set(features.split("+"))
    d = (kb.words_d.indptr, kb.words_d.values) if "D" in chosen else _NO_WORDS
    p = (kb.words_p.indptr, kb.words_p.values) if "P" in chosen else _NO_WORDS
    return gather_words(
        len(kb.words),
        rows,
        bool(chosen & {"S", "S_A"}),
        "S_A" in chosen,
        *d,
        *p,
        kb.statements.indptr,
        kb.statements.values,
        kb.pair_value,
        kb.words_item.indptr,
        kb.words_item.values,
        kb.words_item_aliases.indptr,
        kb.words_item_aliases.values,
        kb.words_string.indptr,
        kb.words_string.values,
    )
