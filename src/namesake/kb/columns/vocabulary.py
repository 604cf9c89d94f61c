"""The words of a KB: a vocabulary over several columns of strings, each string's word set, and the look-up tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.kb.columns import large
from namesake.kernels.text.lookup import intern, word_sets
from namesake.kernels.text.tokenizer import tokenize
from namesake.language import Language
from namesake.text import Bytes, Hashes, Ints, Normaliser, Offsets, hash_strings, period_words, spellings, table

BLOCK = 4 << 20  # bytes of text tokenised at a time


@dataclass(frozen=True)
class WordSets:
    """The sorted, distinct word ids of each string of a column: words[indptr[k]:indptr[k + 1]]."""

    indptr: Offsets
    words: Ints


@dataclass(frozen=True)
class WordIndex:
    """A vocabulary (most frequent word first, then by text), the tables of `text.Lexicon`, one WordSets per column."""

    vocabulary: list[str]
    surface_hash: Hashes
    surface_word: Ints
    stem_hash: Hashes
    stem_word: Ints
    columns: list[WordSets]


def index_words(columns: Sequence[tuple[Bytes, Offsets]], language: Language, how: str = "stem") -> WordIndex:
    """Index several string columns, each (data, offsets) in Arrow's layout.

    `how` is "stem", "lemma" or "none". The text is read block by block; memory grows with the number of distinct
    surface forms, and four bytes per token go where large arrays go.
    """
    surfaces = _Surfaces()
    numbered = [_number(data, np.asarray(offsets, np.int64), surfaces, language) for data, offsets in columns]
    vocabulary, word_of = _vocabulary(surfaces, language, how)
    stop_words = sorted(language.stop_words)
    surface_hash = np.concatenate([surfaces.hashes[: surfaces.known], hash_strings(stop_words)])
    surface_word = np.concatenate([word_of, np.full(len(stop_words), -1, np.int32)])
    sets = []
    while numbered:
        indptr, ids = numbered.pop(0)
        sets.append(_word_sets(indptr, ids, word_of))
    stems = table(hash_strings(vocabulary), np.arange(len(vocabulary), dtype=np.int32))
    return WordIndex(vocabulary, *table(surface_hash, surface_word), *stems, sets)


def _word_sets(indptr: Offsets, ids: Ints, word_of: Ints) -> WordSets:
    """The words of each string whose surfaces are numbered."""
    sizes, words = large.Growing(np.int64), large.Growing(np.int32)
    for low, high in large.spans(indptr, 8):
        ends = indptr[low : high + 1]
        found, some = word_sets(ends - ends[0], ids[ends[0] : ends[-1]], word_of)
        sizes.append(np.diff(found))
        words.append(some)
    return WordSets(large.running(sizes.done()), words.done())


class _Surfaces:
    """Every distinct surface form met so far: numbered as met, spelled, counted."""

    def __init__(self) -> None:
        self.known = 0
        self.spelled: list[str] = []
        self.hashes = np.zeros(1 << 15, np.uint64)  # by number
        self.counts = np.zeros(1 << 15, np.int64)
        self._table_hash = np.zeros(1 << 16, np.uint64)
        self._table_id = np.zeros(1 << 16, np.int32)

    def number(self, hashes: Hashes) -> tuple[Ints, Offsets]:
        """The number of each surface, and where in `hashes` the new ones occur first."""
        ids = np.empty(len(hashes), np.int32)
        done, new = 0, []
        while True:
            first = np.empty(len(self._table_hash) // 2, np.int64)
            begin = self.known
            done, self.known = intern(hashes, done, self._table_hash, self._table_id, begin, ids, first)
            new.append(first[begin : self.known])
            self.hashes[begin : self.known] = hashes[new[-1]]
            if done == len(hashes):
                break
            self._grow()
        self.counts[: self.known] += np.bincount(ids, minlength=self.known)
        return ids, np.concatenate(new)

    def _grow(self) -> None:
        slots = 2 * len(self._table_hash)
        self.hashes.resize(slots // 2, refcheck=False)
        self.counts.resize(slots // 2, refcheck=False)
        self._table_hash, self._table_id = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        ids, first = np.empty(self.known, np.int32), np.empty(slots // 2, np.int64)
        intern(self.hashes[: self.known].copy(), 0, self._table_hash, self._table_id, 0, ids, first)


def _number(data: Bytes, offsets: Offsets, surfaces: _Surfaces, language: Language) -> tuple[Offsets, Ints]:
    """A column as surface numbers: CSR of the tokens of each string."""
    indptr, numbers = large.zeros(len(offsets), np.int64), large.Growing(np.int32)
    for low, high in _blocks(offsets):
        block = offsets[low : high + 1]
        token_indptr, starts, ends, hashes, *_ = tokenize(data, block, period_words(language), False)
        indptr[low + 1 : high + 1] = indptr[low] + token_indptr[1:]
        ids, new = surfaces.number(hashes)
        text_of = np.searchsorted(token_indptr, new, "right") - 1
        surfaces.spelled += spellings(data, block[text_of] + starts[new], block[text_of] + ends[new])
        numbers.append(ids)
    return indptr, numbers.done()


def _blocks(offsets: Offsets) -> Iterator[tuple[int, int]]:
    """Row ranges of about BLOCK bytes each (at least one row)."""
    low, rows = 0, len(offsets) - 1
    while low < rows:
        high = int(np.searchsorted(offsets, offsets[low] + BLOCK, "right")) - 1
        high = min(rows, max(high, low + 1))
        yield low, high
        low = high


def _vocabulary(surfaces: _Surfaces, language: Language, how: str) -> tuple[list[str], Ints]:
    """The words, most frequent first, ties by text; and the word of each surface (-1: a stop word or none)."""
    words = pc.dictionary_encode(pa.array(Normaliser(language, how)(surfaces.spelled), pa.large_string()))
    place_of = words.indices.to_numpy()
    counts = np.bincount(place_of, surfaces.counts[: surfaces.known], len(words.dictionary)).astype(np.int64)
    no_word = pc.index(words.dictionary, "").as_py()
    if no_word >= 0:
        counts[no_word] = -1
    by_count = pa.table({"word": words.dictionary, "count": counts})
    order = pc.sort_indices(by_count, [("count", "descending"), ("word", "ascending")])[: int((counts >= 0).sum())]
    rank = np.full(len(counts), -1, np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return words.dictionary.take(order).to_pylist(), rank[place_of]
