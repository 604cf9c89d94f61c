"""Words that an article shares with an entity.

IScore counts them over the article, NIScore over the sentences that contain the name. ArticleWords and SentenceWords
weight words by their rarity in the KB and compare the sum with chance: log((shared + 0.3) / (chance + 0.3)) is 0 if a
random entity with as many words shares as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from namesake.arrays import Int32, Int64, indptr, take_rows
from namesake.scorers.evidence_shown import MOST_LISTED, Candidate, Match, Page, Source, row_of, statement_source
from namesake.scorers.registry import Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.kernels.link.contexts import Runs
    from namesake.kernels.link.word_sums import Beyond

SMOOTHING = 0.3  # what is added to a shared weight and to its expectation, in units of rarity


# explanations
def shared_words(candidate: Candidate, context: str | None = None) -> Iterator[Match]:
    """The words of a context, by default the recipe's, that the candidate also has, without those of the name."""
    reading, kb = candidate.reading, candidate.kb
    is_narrow = (context or reading.batch.settings.context) == "narrow"
    of_mention, _ = reading.batch.narrow if is_narrow else reading.batch.wide
    places = reading.page.once(_places, is_narrow, int(of_mention[reading.mention]))
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


def _places(page: Page, is_narrow: bool, context: int) -> dict[int, list[int]]:
    """The first bytes of the words of a context, by word."""
    words, (_, runs) = page.batch.words, page.batch.narrow if is_narrow else page.batch.wide
    places: dict[int, list[int]] = {}
    for begin, end in row_of(runs.indptr, runs.runs, context):
        for word, start in zip(words.word[begin:end].tolist(), words.start[begin:end].tolist(), strict=True):
            places.setdefault(word, []).append(start)
    return places


def word_sources(kb: KB, row: int, features: set[str]) -> dict[int, list[Source]]:
    """Every word of an entity under the given features (D, P, S, S_A), with its sources."""
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


# scores
@scorer("IScore", explain=shared_words)
def iscore(batch: Batch, kb: KB) -> Scores:
    """|(W_A ∩ W_e) \\ stop words|; with the recipe's context `narrow` it is NIScore, with `both` their sum."""
    return _overlap(batch, kb, equal(kb), batch.settings.context)


@scorer("NIScore", explain=partial(shared_words, context="narrow"))
def niscore(batch: Batch, kb: KB) -> Scores:
    """IScore over the sentences that contain a span of the mention."""
    return _overlap(batch, kb, equal(kb), "narrow")


@scorer("IScore_IDF", explain=shared_words)
def iscore_idf(batch: Batch, kb: KB) -> Scores:
    """IScore with each word weighted by its rarity among the KB's entities."""
    return _overlap(batch, kb, rarity(kb), batch.settings.context)


@scorer("ArticleWords", explain=partial(shared_words, context="article"), aliases=("Words",))
def article_words(batch: Batch, kb: KB) -> Scores:
    """log((IScore_IDF + 0.3) / (chance + 0.3)): the article's words, compared with what a random entity shares."""
    beyond = batch.once(beyond_chance)
    return lift(beyond.shared, beyond.chance)


@scorer("SentenceWords", explain=partial(shared_words, context="narrow"), aliases=("Sentence",))
def sentence_words(batch: Batch, kb: KB) -> Scores:
    """ArticleWords over the sentences that contain a span of the mention."""
    beyond = batch.once(beyond_chance)
    return lift(beyond.near_shared, beyond.near_chance)


@scorer("ListedWords")
def listed_words(batch: Batch, kb: KB) -> Scores:
    """ArticleWords + SentenceWords for names that articles list; 0 for names found in the text."""
    if batch.mentions.context is not None:
        return np.zeros(len(batch.rows))
    return article_words(batch) + sentence_words(batch)


@scorer("LabelWords")
def label_words(batch: Batch, kb: KB) -> Scores:
    """Words of the label, beyond those of the name, that are in the article: at most 3; 0 if no statement names it."""
    named: Scores = np.minimum(batch.once(beyond_chance).label, 3.0)
    return named


@scorer("LabelWordsMissing")
def label_words_missing(batch: Batch, kb: KB) -> Scores:
    """-1 for each word of the label, beyond as many as the name has, that is not in the article: at least -4."""
    missing: Scores = np.maximum(-batch.once(beyond_chance).label_missing, -4.0)
    return missing


def lift(shared: Scores, chance: Scores) -> Scores:
    """log((shared + 0.3) / (chance + 0.3)): 0 if an entity shares just what chance gives."""
    ratio: Scores = np.log((shared + SMOOTHING) / (chance + SMOOTHING))
    return ratio


@lru_cache(maxsize=4)  # not computed again for every batch: a vocabulary may have millions of words
def equal(kb: KB) -> Scores:
    """The weight 1 for every word."""
    return np.ones(len(kb.words))


@lru_cache(maxsize=4)
def rarity(kb: KB) -> Scores:
    """log(N / n_w) / log(N) for every word: 1 if one entity of N has it, 0 if all do."""
    return rarity_of(kb.word_count, kb)


def rarity_of(counts: np.ndarray, kb: KB) -> Scores:
    """log(N / n) / log(N) for each count n of entities among the N of the KB."""
    entities = max(len(kb), 2)
    weight: Scores = np.log(entities / np.clip(counts, 1, entities)) / np.log(entities)
    return weight


@lru_cache(maxsize=4)
def expected(kb: KB) -> Scores:
    """The expected weight of one word of a random entity, word by word: share of all words times rarity."""
    share: Scores = kb.word_count / max(int(kb.word_count.sum()), 1)
    return share * rarity(kb)


def beyond_chance(batch: Batch, kb: KB) -> Beyond:
    """What candidates and their labels share with the article and the sentences of the name, and what chance gives."""
    from namesake.kernels.link.word_sums import overlap_and_chance
    from namesake.kernels.types import Ragged

    compared = _compared(batch, batch.narrow, _entity_words(batch, kb))
    items = np.where(batch.rows >= 0, kb.entity_item[batch.rows], -1).astype(np.int64)
    labels = Ragged(kb.words_item.indptr, kb.words_item.values)
    beyond: Beyond = overlap_and_chance(rarity(kb), expected(kb), *compared, items, labels)
    return beyond


def _overlap(batch: Batch, kb: KB, weight: Scores, context: str) -> Scores:
    """The weight of the words shared with the article, the sentences of the name ("narrow"), or the sum of "both"."""
    from namesake.kernels.link.word_sums import overlap

    scores, words = np.zeros(len(batch.rows)), _entity_words(batch, kb)
    if context in ("article", "both"):
        scores += overlap(weight, *_compared(batch, batch.wide, words))
    if context in ("narrow", "both"):
        scores += overlap(weight, *_compared(batch, batch.narrow, words))
    return scores


def _entity_words(batch: Batch, kb: KB) -> tuple[Int64, Int64, Int32]:
    """The words of each candidate's entity that the recipe uses: its row of a ragged array, and that array."""
    if batch.settings.words == "D+S":
        return batch.rows, kb.words_ds.indptr, kb.words_ds.values
    rows = np.where(batch.rows >= 0, np.arange(len(batch.rows)), -1)
    return rows, *gather_features(kb, batch.rows, set(batch.settings.features))


def _compared(batch: Batch, contexts: tuple[Int64, Runs], words: tuple[Int64, Int64, Int32]) -> tuple[Any, ...]:
    """The arguments of the kernels: texts, contexts in them, the words of names, candidates and their words."""
    from namesake.kernels.types import Ragged

    (context, runs), (rows, indptr, values) = contexts, words
    texts, names = (Ragged(one.indptr, one.word) for one in (batch.words, batch.name_words))
    return texts, batch.article, runs, context, names, batch.offsets, rows, Ragged(indptr, values)


def gather_features(kb: KB, rows: Int64, features: set[str]) -> tuple[Int64, Int32]:
    """The unique words of each row over some of the features D, P, S, S_A, as a ragged array."""
    known = np.flatnonzero(rows >= 0)
    lists = [(np.empty(0, np.int64), np.empty(0, np.int32))]
    for feature, column in (("D", kb.words_d), ("P", kb.words_p)):
        if feature in features and len(column.indptr) > 1:
            lists.append(_listed(known, column, rows[known]))
    if features & {"S", "S_A"}:
        owner, pairs = _listed(known, kb.statements, rows[known])
        values = kb.pair_value[pairs].astype(np.int64)
        items, strings = values >= 0, values < 0
        lists.append(_listed(owner[items], kb.words_item, values[items]))
        lists.append(_listed(owner[strings], kb.words_string, ~values[strings]))
        if "S_A" in features:
            lists.append(_listed(owner[items], kb.words_item_aliases, values[items]))
    owners, words = (np.concatenate(part) for part in zip(*lists, strict=True))
    owners, words = np.divmod(np.unique(owners * len(kb.words) + words), max(len(kb.words), 1))
    return indptr(np.bincount(owners, minlength=len(rows))), words.astype(np.int32)


def _listed(owner: Int64, column: Any, at: Int64) -> tuple[Int64, Int32]:
    """The values of a ragged column's rows `at`, each with its owner."""
    offsets, places = take_rows(column.indptr, at)
    return np.repeat(owner, np.diff(offsets)), column.values[places]
