"""Entity–content similarity by words.

The paper counts the words that article and entity share: IScore over the article, NIScore over the sentences with
the name. Beyond it, words weigh by their rarity in the KB (…_IDF), and what is shared is compared with what chance
alone gives an entity with so many words in a text with those words (Words, Sentence): log((shared + 0.3) /
(chance + 0.3)) is 0 where chance explains it all, and below 0 where a rich record shares too little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from namesake.scorers.matches import MOST_LISTED, Candidate, Match, Source, statement_source
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.arrays import Int32, Int64
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.kernels.link.chance import Beyond
    from namesake.kernels.link.contexts import Runs


NOTHING = 0.3
"""Shared weight that counts as nothing, in units of rarity."""


# why
def words_of_context(candidate: Candidate) -> Iterator[Match]:
    """The words of the context that the recipe says; for `both`, those of the article, which hold the others."""
    narrow = candidate.reading.batch.settings.context == "narrow"
    return words_nearby(candidate) if narrow else words_everywhere(candidate)


def words_everywhere(candidate: Candidate) -> Iterator[Match]:
    """The words of the article."""
    return _shared_words(candidate, candidate.reading.page.everywhere)


def words_nearby(candidate: Candidate) -> Iterator[Match]:
    """The words of the sentences that hold a span of the mention."""
    return _shared_words(candidate, candidate.reading.nearby)


def _shared_words(candidate: Candidate, places: dict[int, list[int]]) -> Iterator[Match]:
    """The words at these places that the candidate has, too, but for those of the name; the first few places listed."""
    reading, kb = candidate.reading, candidate.kb
    sources = word_sources(kb, candidate.row, set(reading.batch.settings.features))
    shared = (places.keys() & sources.keys()) - reading.name_words
    for word in sorted(shared, key=lambda word: places[word][0]):
        text = kb.words[word]
        yield Match(
            text,
            reading.word_spans(places[word][:MOST_LISTED], text.endswith(".")),
            sources[word][:MOST_LISTED],
            max(len(places[word]) - MOST_LISTED, 0),
            max(len(sources[word]) - MOST_LISTED, 0),
        )


def word_sources(kb: KB, row: int, features: set[str]) -> dict[int, list[Source]]:
    """Every word of an entity under the given features (D, P, S, S_A), with where it comes from."""
    sources: dict[int, list[Source]] = {}

    def add(words: Int32, source: Source) -> None:
        for word in words.tolist():
            sources.setdefault(word, []).append(source)

    if "D" in features:
        add(kb.words_d[row], Source("description", value=kb.descriptions[row]))
    if "P" in features:
        add(kb.words_p[row], Source("paragraph"))
    if features & {"S", "S_A"}:
        for pair in kb.statements[row].tolist():
            value = int(kb.pair_value[pair])
            source = statement_source(kb, pair)
            add(kb.words_item[value] if value >= 0 else kb.words_string[~value], source)
            if "S_A" in features and value >= 0:
                add(kb.words_item_aliases[value], replace(source, source="alias"))
    return sources


# the scores
@scorer("IScore", explain=words_of_context)
def iscore(batch: Batch, kb: KB) -> Scores:
    """|(W_A ∩ W_e) \\ stop words|; with the recipe's context `narrow` it is NIScore, with `both` their sum."""
    return _in_context(batch, kb, equal(kb))


@scorer("NIScore", explain=words_nearby)
def niscore(batch: Batch, kb: KB) -> Scores:
    """IScore over the sentences that hold a span of the mention."""
    return _narrow(batch, kb, equal(kb))


@scorer("IScore_IDF", explain=words_of_context)
def iscore_idf(batch: Batch, kb: KB) -> Scores:
    """IScore with each word weighed by its rarity among the KB's entities instead of counted."""
    return _in_context(batch, kb, rarity(kb))


@scorer("NIScore_IDF", explain=words_nearby)
def niscore_idf(batch: Batch, kb: KB) -> Scores:
    """NIScore with each word weighed by its rarity."""
    return _narrow(batch, kb, rarity(kb))


@scorer("ArticleWords", explain=words_everywhere)
def words(batch: Batch, kb: KB) -> Scores:
    """log((IScore_IDF + 0.3) / (chance + 0.3)): the article's words, against what a random entity would share."""
    beyond = batch.once(beyond_chance)
    return lift(beyond.shared, beyond.chance)


@scorer("SentenceWords", explain=words_nearby)
def sentence(batch: Batch, kb: KB) -> Scores:
    """log((NIScore_IDF + 0.3) / (chance + 0.3)): the same for the sentences that hold a span of the mention."""
    beyond = batch.once(beyond_chance)
    return lift(beyond.near_shared, beyond.near_chance)


def lift(shared: Scores, chance: Scores) -> Scores:
    """log((shared + 0.3) / (chance + 0.3)): 0 where an entity shares just what chance gives."""
    ratio: Scores = np.log((shared + NOTHING) / (chance + NOTHING))
    return ratio


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


@lru_cache(maxsize=4)
def expected(kb: KB) -> Scores:
    """What one word of a random entity weighs by being w: its share of all words of entities, times its rarity."""
    share: Scores = kb.word_count / max(int(kb.word_count.sum()), 1)
    return share * rarity(kb)


def beyond_chance(batch: Batch, kb: KB) -> Beyond:
    """The words that candidates share with the text and with the sentences near the name, and what chance gives."""
    from namesake.kernels.link.chance import overlap_and_chance

    beyond: Beyond = overlap_and_chance(rarity(kb), expected(kb), *_compared(batch, kb, *batch.narrow))
    return beyond


def _in_context(batch: Batch, kb: KB, weight: Scores) -> Scores:
    if batch.settings.context == "article":
        return _article(batch, kb, weight)
    if batch.settings.context == "narrow":
        return _narrow(batch, kb, weight)
    return _article(batch, kb, weight) + _narrow(batch, kb, weight)


def _article(batch: Batch, kb: KB, weight: Scores) -> Scores:
    return _overlap(batch, kb, weight, *batch.wide)


def _narrow(batch: Batch, kb: KB, weight: Scores) -> Scores:
    return _overlap(batch, kb, weight, *batch.narrow)


def _overlap(batch: Batch, kb: KB, weight: Scores, context: Int64, contexts: Runs) -> Scores:
    from namesake.kernels.link import overlap as kernels

    shared: Scores = kernels.overlap(weight, *_compared(batch, kb, context, contexts))
    return shared


def _compared(batch: Batch, kb: KB, context: Int64, contexts: Runs) -> tuple[Any, ...]:
    """What kernels compare: texts, contexts in them, the words of names, candidates and their words."""
    from namesake.kernels.types import Ragged

    rows, entity_indptr, entity_words = _entity_words(batch, kb)
    texts, names = batch.words, batch.name_words
    return (
        *(Ragged(texts.indptr, texts.word), batch.article, contexts, context),
        *(Ragged(names.indptr, names.word), batch.offsets, rows, Ragged(entity_indptr, entity_words)),
    )


def _entity_words(batch: Batch, kb: KB) -> tuple[Int64, Int64, Int32]:
    """Candidate rows and the ragged words they point into, for the features the recipe sums (D, P, S, S_A)."""
    if batch.settings.words == "D+S":
        return batch.rows, kb.words_ds.indptr, kb.words_ds.values
    indptr, words = gather_features(kb, batch.rows, set(batch.settings.features))
    return np.where(batch.rows >= 0, np.arange(len(batch.rows)), -1), indptr, words


def gather_features(kb: KB, rows: Int64, features: set[str]) -> tuple[Int64, Int32]:
    """The unique words of each row over some of the features D, P, S, S_A."""
    from namesake.kernels.link import overlap as kernels
    from namesake.kernels.types import Ragged

    nothing = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int32))
    columns = kernels.Features(
        Ragged(kb.words_d.indptr, kb.words_d.values) if "D" in features else nothing,
        Ragged(kb.words_p.indptr, kb.words_p.values) if "P" in features else nothing,
        Ragged(kb.statements.indptr, kb.statements.values),
        kb.pair_value,
        Ragged(kb.words_item.indptr, kb.words_item.values),
        Ragged(kb.words_item_aliases.indptr, kb.words_item_aliases.values),
        Ragged(kb.words_string.indptr, kb.words_string.values),
    )
    gathered: tuple[Int64, Int32] = kernels.gather_words(
        len(kb.words), rows, bool(features & {"S", "S_A"}), "S_A" in features, columns
    )
    return gathered
