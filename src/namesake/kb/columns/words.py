"""The words of a KB: a vocabulary over several columns of strings, the word set of each string, and look-up tables."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import (
    Int32,
    Int64,
    UInt8,
    UInt64,
    arrow_numbers,
    arrow_scalar,
    arrow_texts,
    numpy_numbers,
    take_rows,
)
from namesake.kb.build_options import Options
from namesake.kb.columns import KBColumns, Made, Ragged, Strings, large
from namesake.kb.columns.assemble import Statements, empty_table, group
from namesake.kb.dump.parse import Items
from namesake.kernels.columns.group import number_keys, union_words
from namesake.kernels.text.characters import hash_all
from namesake.kernels.text.lookup import ABSENT, look_up_all, word_sets
from namesake.kernels.types import Ragged as Rows
from namesake.language import Language
from namesake.text import Normaliser, spellings, table, tokenize

BLOCK = 4 << 20  # bytes of text tokenised at a time
UNION_BYTES = 256  # temporary memory per entity while its words are gathered
WORDS_GUESSED = 32  # words per entity that are gathered in one pass; more of them take a second one


def index_words(
    columns: Sequence[tuple[UInt8, Int64]], language: Language, how: str = "stem", old: KBColumns | None = None
) -> tuple[Made, list[Ragged]]:
    """Index several string columns, each (data, offsets) in Arrow's layout.

    Returns the vocabulary (most frequent word first, then by text) with the tables of `text.Lexicon`; and the word sets
    of each column: the sorted, distinct word ids of each of its strings.

    `how` is "stem", "lemma" or "none". The text is read block by block. Memory grows with the number of distinct
    surface forms; four bytes per token go to `large` arrays. The words of surface forms that the KB `old` has are taken
    from there.
    """
    surfaces = _Surfaces(old)
    numbered = [_joined(_numbers(data, offsets, surfaces, language)) for data, offsets in columns]
    vocabulary, word_of = _vocabulary(surfaces, language, how)
    stop_words = Strings.of(sorted(language.stop_words))
    hashes = np.concatenate([*surfaces.hashes, hash_all(stop_words.data, stop_words.offsets)])
    surface_hash, surface_word = table(hashes, np.append(word_of, np.full(len(stop_words), -1, np.int32)))
    sets = []
    while numbered:
        sets.append(_joined(_word_sets(numbered.pop(0), word_of)))  # which forgets the numbers
    hashes = hash_all(vocabulary.data, vocabulary.offsets)
    stem_hash, stem_word = table(hashes, np.arange(len(vocabulary), dtype=np.int32))
    return {
        KBColumns.words: vocabulary,
        KBColumns.surface_hash: surface_hash,
        KBColumns.surface_word: surface_word,
        KBColumns.stem_hash: stem_hash,
        KBColumns.stem_word: stem_word,
    }, sets


def _joined(parts: Iterable[tuple[Int64, Int32]]) -> Ragged:
    """One column of lists, from parts of it: their offsets and values."""
    sizes, values = large.gathered(((np.diff(ends), some) for ends, some in parts), np.int64, np.int32)
    return Ragged(large.running(sizes), values)


def _word_sets(surfaces: Ragged, word_of: Int32) -> Iterator[tuple[Int64, Int32]]:
    """The words of each string, from the numbers of its surface forms, in parts."""
    for low, high in large.spans(surfaces.indptr, 8):
        ends = surfaces.indptr[low : high + 1]
        yield word_sets(ends - ends[0], surfaces.values[ends[0] : ends[-1]], word_of)


class _Surfaces:
    """Every distinct surface form so far: its number, hash and count, and its word in the old KB or else its text."""

    def __init__(self, old: KBColumns | None) -> None:
        self.old = old
        self.known: list[Int32] = []
        self.spelled: list[str] = []
        self.hashes: list[UInt64] = []
        self.counts = np.zeros(0, np.int64)
        self._table = empty_table()

    def number(self, hashes: UInt64, data: UInt8, starts: Int64, ends: Int64) -> Int32:
        """The number of each surface form, given by its hash and its bytes in `data`."""
        known = len(self.counts)
        ids = np.empty(len(hashes), np.int32)
        *self._table, _ = number_keys(hashes, *self._table, known, ids)
        counts = np.bincount(ids, minlength=known)
        counts[:known] += self.counts
        self.counts = counts
        highest = np.maximum.accumulate(ids)  # new forms have ascending numbers
        new = np.flatnonzero((ids >= known) & np.append(True, highest[1:] > highest[:-1])[: len(ids)])
        words = np.full(len(new), ABSENT, np.int32)
        if self.old is not None:
            words = look_up_all(hashes[new], self.old.surface_hash, self.old.surface_word)
        self.hashes.append(hashes[new])
        self.known.append(words)
        absent = new[words == ABSENT]
        self.spelled += spellings(data, starts[absent], ends[absent])
        return ids


def _numbers(data: UInt8, offsets: Int64, surfaces: _Surfaces, language: Language) -> Iterator[tuple[Int64, Int32]]:
    """The numbers of the surface forms of each string, in parts."""
    for low, high in large.spans(offsets, 1, BLOCK):
        indptr, starts, ends, hashes, _ = tokenize(data, offsets[low : high + 1], language)
        yield indptr, surfaces.number(hashes, data, starts, ends)


def _vocabulary(surfaces: _Surfaces, language: Language, how: str) -> tuple[Strings, Int32]:
    """The words, most frequent first, ties by text; and the word of each surface (-1: a stop word or none)."""
    new = arrow_texts(["", *Normaliser(language, how)(surfaces.spelled)], pa.large_string())
    old = surfaces.old.words if surfaces.old is not None else Strings.empty(0)
    known = np.concatenate([np.empty(0, np.int32), *surfaces.known])
    text_of = np.where(known < 0, len(old), known)
    text_of[known == ABSENT] = len(old) + 1 + np.arange(len(surfaces.spelled))
    words = pc.dictionary_encode(pa.concat_arrays([old.arrow(), new]))
    place_of = numpy_numbers(words.indices)[text_of]
    counts = np.bincount(place_of, surfaces.counts, len(words.dictionary)).astype(np.int64)
    no_word = pc.index(words.dictionary, arrow_scalar("", pa.large_string())).as_py()
    counts[counts == 0] = counts[no_word] = -1  # old words do not all occur
    by_count = pa.table({"word": words.dictionary, "count": arrow_numbers(counts)})
    order = pc.sort_indices(by_count, [("count", "descending"), ("word", "ascending")])[: int((counts >= 0).sum())]
    rank = np.full(len(counts), -1, np.int32)
    rank[numpy_numbers(order)] = np.arange(len(order), dtype=np.int32)
    return Strings.of_arrow(words.dictionary.take(order)), rank[place_of]


def index_kb_words(
    items: Items,
    dump_of: Int32,
    stated: Statements,
    own: tuple[Strings, Strings],
    options: Options,
    old: KBColumns | None = None,
) -> Made:
    """The columns of words, from `own` descriptions and first paragraphs, and stated items; `old` is the updated KB."""
    is_value = np.zeros(len(dump_of), np.bool_)
    is_value[stated.pair_value[stated.pair_value >= 0]] = True
    values = np.flatnonzero(is_value)
    of_dump = dump_of[values]
    alias_counts = np.where(of_dump < 0, 0, items.alias_indptr[of_dump + 1] - items.alias_indptr[of_dump])
    aliases = items.alias.take(take_rows(items.alias_indptr, of_dump[of_dump >= 0])[1])
    texts = *own, items.label.take(of_dump), aliases, stated.strings
    columns = [(column.data, column.offsets) for column in texts]
    made, (d, p, labels, each_alias, strings) = index_words(columns, options.language, options.words, old)
    of_item = _spread(labels, values, len(dump_of))
    of_alias = np.repeat(np.arange(len(values), dtype=np.int32), alias_counts)
    alias_words = group(np.repeat(of_alias, np.diff(each_alias.indptr)), each_alias.values, len(values))
    return made | {
        KBColumns.words_d: d,
        KBColumns.words_p: p,
        KBColumns.words_ds: _joined(_unions(d, stated, of_item, strings, len(made[KBColumns.words]))),
        KBColumns.words_item: of_item,
        KBColumns.words_item_aliases: _spread(alias_words, values, len(dump_of)),
        KBColumns.words_string: strings,
    }


def _spread(rows: Ragged, places: Int64, size: int) -> Ragged:
    """Ragged rows as the rows `places` (ascending) of a longer column whose other rows are empty."""
    indptr = large.zeros(size + 1, np.int64)
    indptr[places + 1] = rows.indptr[1:] - rows.indptr[:-1]
    np.cumsum(indptr, out=indptr)
    return Ragged(indptr, rows.values)


def _unions(
    own: Ragged, stated: Statements, of_item: Ragged, of_string: Ragged, words: int
) -> Iterator[tuple[Int64, Int32]]:
    """D+S: the words of each entity's description and of its statements' values, in parts."""
    for low, high in large.blocks(len(own), UNION_BYTES):
        entities = (Rows(rows.indptr[low : high + 1], rows.values) for rows in (own, stated.statements))
        values_of = (Rows(rows.indptr, rows.values) for rows in (of_item, of_string))
        columns = (*entities, stated.pair_value, *values_of)
        some = np.empty(WORDS_GUESSED * (high - low), np.int32)  # untouched pages take no memory
        indptr = union_words(*columns, np.full(words, -1, np.int32), some)
        if indptr[-1] > len(some):
            some = np.empty(int(indptr[-1]), np.int32)
            union_words(*columns, np.full(words, -1, np.int32), some)
        yield indptr, some[: indptr[-1]].copy()
