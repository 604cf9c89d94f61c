"""The words of a KB: a vocabulary over several columns of strings, the word set of each string, and look-up tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int32, Int64, arrow_numbers, arrow_scalar, arrow_texts, numpy_numbers
from namesake.kb.build_options import Options
from namesake.kb.columns import KBColumns, Made, Ragged, Strings, large
from namesake.kb.columns.assemble import Statements, empty_table, group, ranges
from namesake.kb.dump.parse import Items
from namesake.kernels.columns.group import number_keys, union_words
from namesake.kernels.text.characters import hash_all
from namesake.kernels.text.lookup import ABSENT, look_up_all, word_sets
from namesake.kernels.types import Ragged as Rows
from namesake.language import Language
from namesake.text import Bytes, Hashes, Ints, Normaliser, Offsets, spellings, table, tokenize

BLOCK = 4 << 20  # bytes of text tokenised at a time
UNION_BYTES = 256  # temporary memory per entity while its words are gathered
WORDS_GUESSED = 32  # words per entity that are gathered in one pass; more of them take a second one


@dataclass(frozen=True)
class WordIndex:
    """A vocabulary (most frequent word first, then by text), the tables of `text.Lexicon`, word sets per column.

    The word sets of a column are the sorted, distinct word ids of each of its strings.
    """

    vocabulary: Strings
    surface_hash: Hashes
    surface_word: Ints
    stem_hash: Hashes
    stem_word: Ints
    columns: list[Ragged]


def index_words(
    columns: Sequence[tuple[Bytes, Offsets]], language: Language, how: str = "stem", old: KBColumns | None = None
) -> WordIndex:
    """Index several string columns, each (data, offsets) in Arrow's layout.

    `how` is "stem", "lemma" or "none". The text is read block by block. Memory grows with the number of distinct
    surface forms; four bytes per token go to `large` arrays. The words of surface forms that the KB `old` has are taken
    from there.
    """
    surfaces = _Surfaces(old)
    numbered = [_number(data, np.asarray(offsets, np.int64), surfaces, language) for data, offsets in columns]
    vocabulary, word_of = _vocabulary(surfaces, language, how)
    stop_words = Strings.of(sorted(language.stop_words))
    surface_hash = np.concatenate([*surfaces.hashes, hash_all(stop_words.data, stop_words.offsets)])
    surface_word = np.concatenate([word_of, np.full(len(stop_words), -1, np.int32)])
    sets = []
    while numbered:
        indptr, ids = numbered.pop(0)
        sets.append(_word_sets(indptr, ids, word_of))
    stem_hash = hash_all(vocabulary.data, vocabulary.offsets)
    stems = table(stem_hash, np.arange(len(vocabulary), dtype=np.int32))
    return WordIndex(vocabulary, *table(surface_hash, surface_word), *stems, sets)


def _word_sets(indptr: Offsets, ids: Ints, word_of: Ints) -> Ragged:
    """The words of each string, from the numbers of its surface forms."""
    sizes, words = large.Growing(np.int64), large.Growing(np.int32)
    for low, high in large.spans(indptr, 8):
        ends = indptr[low : high + 1]
        found, some = word_sets(ends - ends[0], ids[ends[0] : ends[-1]], word_of)
        sizes.append(np.diff(found))
        words.append(some)
    return Ragged(large.running(sizes.done()), words.done())


class _Surfaces:
    """Every distinct surface form so far: its number, hash and count, and its word in the old KB or else its text."""

    def __init__(self, old: KBColumns | None) -> None:
        self.old = old
        self.known: list[Ints] = []
        self.spelled: list[str] = []
        self.hashes: list[Hashes] = []
        self.counts = np.zeros(0, np.int64)
        self._table = empty_table()

    def number(self, hashes: Hashes) -> tuple[Ints, Offsets]:
        """The number of each surface, and where in `hashes` the new ones occur first."""
        known = len(self.counts)
        ids = np.empty(len(hashes), np.int32)
        *self._table, _ = number_keys(hashes, *self._table, known, ids)
        counts = np.bincount(ids, minlength=known)
        counts[:known] += self.counts
        self.counts = counts
        highest = np.maximum.accumulate(ids)  # new forms have ascending numbers
        new: Offsets = np.flatnonzero((ids >= known) & np.append(True, highest[1:] > highest[:-1])[: len(ids)])
        self.hashes.append(hashes[new])
        return ids, new

    def name(self, data: Bytes, starts: Offsets, ends: Offsets) -> None:
        """Note the words, or else the texts, of the surface forms that were numbered last."""
        hashes = self.hashes[-1]
        known = np.full(len(hashes), ABSENT, np.int32)
        if self.old is not None:
            known = look_up_all(hashes, self.old.surface_hash, self.old.surface_word)
        self.known.append(known)
        absent = np.flatnonzero(known == ABSENT)
        self.spelled += spellings(data, starts[absent], ends[absent])


def _number(data: Bytes, offsets: Offsets, surfaces: _Surfaces, language: Language) -> tuple[Offsets, Ints]:
    """A column as surface numbers: CSR of the tokens of each string."""
    indptr, numbers = large.zeros(len(offsets), np.int64), large.Growing(np.int32)
    for low, high in large.spans(offsets, 1, BLOCK):
        block = offsets[low : high + 1]
        token_indptr, starts, ends, hashes, _ = tokenize(data, block, language)
        indptr[low + 1 : high + 1] = indptr[low] + token_indptr[1:]
        ids, new = surfaces.number(hashes)
        surfaces.name(data, starts[new], ends[new])
        numbers.append(ids)
    return indptr, numbers.done()


def _vocabulary(surfaces: _Surfaces, language: Language, how: str) -> tuple[Strings, Ints]:
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
    """The columns of words, from the entities' `own` descriptions and first paragraphs, and from stated items.

    `old` is the KB that is updated.
    """
    values = stated_items(stated, len(dump_of))
    of_dump = dump_of[values]
    starts = items.alias_indptr[of_dump]
    alias_counts = np.where(of_dump < 0, 0, items.alias_indptr[of_dump + 1] - starts)
    aliases = items.alias.take(ranges(starts, alias_counts))
    texts = *own, items.label.take(of_dump), aliases, stated.strings
    found = index_words([(column.data, column.offsets) for column in texts], options.language, options.words, old)
    d, p, labels, each_alias, strings = found.columns
    of_item = spread(labels, values, len(dump_of))
    of_alias = np.repeat(np.arange(len(values), dtype=np.int32), alias_counts)
    alias_words = group(np.repeat(of_alias, np.diff(each_alias.indptr)), each_alias.values, len(values))
    return {
        KBColumns.words: found.vocabulary,
        KBColumns.words_d: d,
        KBColumns.words_p: p,
        KBColumns.words_ds: union(d, stated, of_item, strings, len(found.vocabulary)),
        KBColumns.words_item: of_item,
        KBColumns.words_item_aliases: spread(alias_words, values, len(dump_of)),
        KBColumns.words_string: strings,
        KBColumns.surface_hash: found.surface_hash,
        KBColumns.surface_word: found.surface_word,
        KBColumns.stem_hash: found.stem_hash,
        KBColumns.stem_word: found.stem_word,
    }


def stated_items(stated: Statements, items: int) -> Int64:
    """The rows of the items that entities state, ascending."""
    is_value = np.zeros(items, np.bool_)
    is_value[stated.pair_value[stated.pair_value >= 0]] = True
    return np.flatnonzero(is_value)


def spread(rows: Ragged, places: Int64, size: int) -> Ragged:
    """Ragged rows as the rows `places` (ascending) of a longer column whose other rows are empty."""
    indptr = large.zeros(size + 1, np.int64)
    indptr[places + 1] = rows.indptr[1:] - rows.indptr[:-1]
    np.cumsum(indptr, out=indptr)
    return Ragged(indptr, rows.values)


def union(own: Ragged, stated: Statements, of_item: Ragged, of_string: Ragged, words: int) -> Ragged:
    """D+S: the words of each entity's description and of its statements' values."""
    sizes, values = large.Growing(np.int64), large.Growing(np.int32)
    for low, high in large.blocks(len(own), UNION_BYTES):
        entities = (Rows(rows.indptr[low : high + 1], rows.values) for rows in (own, stated.statements))
        values_of = (Rows(rows.indptr, rows.values) for rows in (of_item, of_string))
        columns = (*entities, stated.pair_value, *values_of)
        some = np.empty(WORDS_GUESSED * (high - low), np.int32)  # untouched pages take no memory
        indptr = union_words(*columns, np.full(words, -1, np.int32), some)
        if indptr[-1] > len(some):
            some = np.empty(int(indptr[-1]), np.int32)
            union_words(*columns, np.full(words, -1, np.int32), some)
        sizes.append(np.diff(indptr))
        values.append(some[: indptr[-1]].copy())
    return Ragged(large.running(sizes.done()), values.done())
