"""Entity–content similarity by words.

The paper counts the words that article and entity share: IScore over the article, NIScore over the sentences with
the name. Beyond it, words weigh by their rarity in the KB (…_IDF), and labels of several words match as one (Phrases).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from namesake.arrays import Int32, Int64
from namesake.batch import Batch
from namesake.kb.store import KB
from namesake.kernels.link import overlap as kernels
from namesake.kernels.types import Ragged
from namesake.scorers import Scores, scorer

_NO_WORDS = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int32))


@scorer("IScore")
def iscore(batch: Batch, kb: KB) -> Scores:
    """|(W_A ∩ W_e) \\ stop words|; with the recipe's context `narrow` it is NIScore, with `both` their sum."""
    return _in_context(batch, kb, equal(kb))


@scorer("NIScore")
def niscore(batch: Batch, kb: KB) -> Scores:
    """IScore over the sentences that hold a span of the mention."""
    return _narrow(batch, kb, equal(kb))


@scorer("IScore_IDF")
def iscore_idf(batch: Batch, kb: KB) -> Scores:
    """IScore with each word weighed by its rarity among the KB's entities instead of counted."""
    return _in_context(batch, kb, rarity(kb))


@scorer("NIScore_IDF")
def niscore_idf(batch: Batch, kb: KB) -> Scores:
    """NIScore with each word weighed by its rarity."""
    return _narrow(batch, kb, rarity(kb))


@scorer("Phrases")
def phrases(batch: Batch, kb: KB) -> Scores:
    """Statement values of several words that stand in the article as one: "World War II" is not "world" and "war"."""
    names = batch.name_words
    shared: Scores = kernels.phrases(
        rarity(kb),
        batch.words.indptr,
        batch.words.word,
        batch.article,
        names.indptr,
        names.word,
        batch.offsets,
        batch.rows,
        kb.statements.indptr,
        kb.statements.values,
        kb.pair_value,
        kb.words_item.indptr,
        kb.words_item.values,
    )
    return shared


@lru_cache(maxsize=4)  # a vocabulary of millions of words is not weighed anew for every batch
def equal(kb: KB) -> Scores:
    """1 for every word: what counts words instead of weighing them."""
    return np.ones(len(kb.words))


@lru_cache(maxsize=4)
def rarity(kb: KB) -> Scores:
    """log(N / n_w) / log(N) for every word: 1 if one entity of N has it, 0 if all do."""
    entities = max(len(kb), 2)
    weight: Scores = np.log(entities / np.clip(kb.word_count, 1, entities)) / np.log(entities)
    return weight


def _in_context(batch: Batch, kb: KB, weight: Scores) -> Scores:
    if batch.options.context == "article":
        return _article(batch, kb, weight)
    if batch.options.context == "narrow":
        return _narrow(batch, kb, weight)
    return _article(batch, kb, weight) + _narrow(batch, kb, weight)


def _article(batch: Batch, kb: KB, weight: Scores) -> Scores:
    return _overlap(batch, kb, weight, batch.words.indptr, batch.words.word, batch.article)


def _narrow(batch: Batch, kb: KB, weight: Scores) -> Scores:
    return _overlap(batch, kb, weight, *batch.narrow, np.arange(len(batch.names)))


def _overlap(batch: Batch, kb: KB, weight: Scores, indptr: Int64, words: Int32, context: Int64) -> Scores:
    rows, entity_indptr, entity_words = _entity_words(batch, kb)
    names = batch.name_words
    shared: Scores = kernels.overlap(
        weight,
        Ragged(indptr, words),
        context,
        Ragged(names.indptr, names.word),
        batch.offsets,
        rows,
        Ragged(entity_indptr, entity_words),
    )
    return shared


def _entity_words(batch: Batch, kb: KB) -> tuple[Int64, Int64, Int32]:
    """Candidate rows and the ragged words they point into, for the features the recipe sums (D, P, S, S_A)."""
    features = batch.options.words
    if features == "D+S":
        return batch.rows, kb.words_ds.indptr, kb.words_ds.values
    indptr, words = gather_features(kb, batch.rows, features)
    return np.where(batch.rows >= 0, np.arange(len(batch.rows)), -1), indptr, words


def gather_features(kb: KB, rows: Int64, features: str) -> tuple[Int64, Int32]:
    """The unique words of each row over a sum of features such as `D+S_A`."""
    chosen = set(features.split("+"))
    columns = kernels.Features(
        Ragged(kb.words_d.indptr, kb.words_d.values) if "D" in chosen else _NO_WORDS,
        Ragged(kb.words_p.indptr, kb.words_p.values) if "P" in chosen else _NO_WORDS,
        Ragged(kb.statements.indptr, kb.statements.values),
        kb.pair_value,
        Ragged(kb.words_item.indptr, kb.words_item.values),
        Ragged(kb.words_item_aliases.indptr, kb.words_item_aliases.values),
        Ragged(kb.words_string.indptr, kb.words_string.values),
    )
    gathered: tuple[Int64, Int32] = kernels.gather_words(
        len(kb.words), rows, bool(chosen & {"S", "S_A"}), "S_A" in chosen, columns
    )
    return gathered
