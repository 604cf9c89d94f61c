"""Text to sentences and words: Penn Treebank tokens that start with a letter, without stop words, as stems and ids."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import Stemmer

from namesake.arrays import Int32, Int64, UInt8, UInt64, indptr
from namesake.errors import NamesakeError, lacking
from namesake.kernels.hash import LINE, fill, remember, room_for
from namesake.kernels.text import boundaries, lookup
from namesake.kernels.text.characters import hash_all
from namesake.kernels.text.lookup import ABSENT, Analysis, Tables, look_up_all
from namesake.language import English, Language

CACHE_SLOTS = (1 << 14, 1 << 20)  # first and largest size of a Lexicon's cache
_EMPTY_CACHE = np.zeros(LINE, np.uint64)


def hash_strings(strings: Sequence[str]) -> UInt64:
    """The 64-bit hash of each string in tables: of its UTF-8 bytes, with A–Z in lower case and ‘ ’ as '."""
    data, offsets = pack(strings)
    hashes: UInt64 = hash_all(data, offsets)
    return hashes


def pack(strings: Sequence[str]) -> tuple[UInt8, Int64]:
    """Strings in Arrow's layout: all bytes and offsets. Lone surrogates become question marks."""
    encoded = [string.encode("utf-8", "replace") for string in strings]
    return np.frombuffer(b"".join(encoded), np.uint8), indptr([len(one) for one in encoded])


def spellings(data: UInt8, starts: Int64, ends: Int64) -> list[str]:
    """The tokens at these bytes, in the form that was hashed."""
    view = data.data
    joined = b"\n".join(view[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)).lower()
    joined = joined.replace("‘".encode(), b"'").replace("’".encode(), b"'")
    return joined.decode("utf-8", "replace").split("\n") if len(starts) else []


class Normaliser:
    """Surface forms to words of a language, by `how`: stem, lemma or none. It is not thread-safe."""

    def __init__(self, language: Language, how: str = "stem") -> None:
        self._stop_words = language.stop_words
        self._reduce = _reducer(language, how)

    def __call__(self, surfaces: Sequence[str]) -> list[str]:
        """The word of each surface; empty for a stop word or a non-ASCII token that does not start with a letter."""
        lowered = [surface if surface.isascii() else _clean(surface) for surface in surfaces]
        return self._reduce(["" if word in self._stop_words else word for word in lowered])


def _reducer(language: Language, how: str) -> Callable[[list[str]], list[str]]:
    if how == "none":
        return list
    if how not in ("stem", "lemma"):
        raise NamesakeError(f"words can be reduced by stem, lemma or none, not by {how!r}")
    if how == "stem" and language.stemmer is not None:
        stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language.stemmer, 0).stemWords
        return stem
    spoken = language.lemmas
    if how == "stem" or spoken is None:
        raise NamesakeError(f"the language {language.name!r} has no {how}s; use none to keep words unchanged")
    try:
        from simplemma import lemmatize
    except ImportError:
        raise lacking("lemmas need", "simplemma", "lemma") from None
    return lambda words: [lemmatize(word, lang=spoken).lower() if word else "" for word in words]


@cache
def period_words(language: Language) -> tuple[UInt64, UInt8]:
    """The language's words that decide whether a period ends a sentence, as a hash table, and their bits."""
    lists = {
        boundaries.TITLE: language.titles_before_names,
        boundaries.FINAL: language.abbreviations,
        boundaries.NUMBERED: language.before_numbers,
        boundaries.STARTER: language.starters,
        boundaries.CAPITAL: language.always_capital,
    }
    room = 2 * room_for(sum(map(len, lists.values())))
    keys, bits = np.zeros(room, np.uint64), np.zeros(room, np.uint8)
    for bit, listed in lists.items():
        bits[fill(hash_strings(sorted(listed)), keys)] |= bit
    return keys, bits


def _clean(surface: str) -> str:
    """A non-ASCII token in lower case without punctuation at its ends; empty if it does not start with a letter."""
    word = unicodedata.normalize("NFC", surface).lower()
    kept = [at for at, character in enumerate(word) if unicodedata.category(character)[0] not in "PSZC"]
    return word[kept[0] : kept[-1] + 1] if kept and word[kept[0]].isalpha() else ""


def tokenize(data: UInt8, offsets: Int64, language: Language) -> tuple[Int64, Int64, Int64, UInt64, Int32]:
    """Tokens of texts data[offsets[t]:offsets[t + 1]]: indptr, first byte and end of each, hash; sentence starts."""
    # no token is in an empty table, so that all tokens are misses of the analysis
    empty = Tables(*period_words(language), *table(np.zeros(0, np.uint64), np.zeros(0, np.int32)), _EMPTY_CACHE)
    to = _room(_tokens_at_most(offsets), len(offsets) - 1)
    _, sentences, count, _ = lookup.analyse(data, offsets, tuple(empty), 0, tuple(to))
    start, end, hashed = (one[:count].copy() for one in (to.miss_start, to.miss_end, to.miss_hash))
    return to.indptr, start, end, hashed, to.sentences[:sentences].copy()


def _tokens_at_most(offsets: Int64) -> int:
    return int(offsets[-1] - offsets[0]) // 2 + len(offsets)


def _room(tokens: int, texts: int) -> Analysis:
    """Arrays for an analysis of this many tokens and texts; unused pages cost no memory."""
    indptr, sentence_indptr = np.zeros(texts + 1, np.int64), np.zeros(texts + 1, np.int64)
    words, starts, sentences = (np.empty(tokens, np.int32) for _ in range(3))
    place, start, end = (np.empty(tokens, np.int64) for _ in range(3))
    return Analysis(indptr, words, starts, sentence_indptr, sentences, place, start, end, np.empty(tokens, np.uint64))


def sentences(text: str, language: Language = English) -> list[tuple[int, int]]:
    """Character spans of the sentences, without surrounding white space."""
    data, offsets = pack([text])
    starts = tokenize(data, offsets, language)[-1]
    characters = np.cumsum((data & 0xC0) != 0x80)
    edges = [0, *(int(characters[start]) - 1 for start in starts[1:]), len(text)]
    parts = [(begin, end, text[begin:end]) for begin, end in pairwise(edges)]
    return [(end - len(part.lstrip()), begin + len(part.rstrip())) for begin, end, part in parts if part.strip()]


@dataclass(frozen=True)
class Analysed:
    """Many texts as word ids. The words of text t are word[indptr[t]:indptr[t + 1]], in order; starts count bytes
    from the text's beginning. Its sentences start at sentence[sentence_indptr[t]:sentence_indptr[t + 1]]."""

    indptr: Int64
    word: Int32
    start: Int32
    sentence_indptr: Int64
    sentence: Int32


class Lexicon:
    """Looks up the words of texts in a KB's tables, with a bounded cache of stemmed tokens.

    The tables are read only. Each has a power of two as its length; hash 0 marks a free slot, and word -1 a surface
    that is no word. A Lexicon is cheap; give each thread its own. Results depend on the text alone.
    """

    def __init__(self, tables: Sequence[Any], language: Language, how: str = "stem") -> None:
        """`tables` are hashes and words of surfaces, then hashes and words of stems."""
        self._known, self._stems = (*period_words(language), tables[0], tables[1]), tables[2:]
        self._normalise = Normaliser(language, how)
        self._scratch = _room(0, 0)
        self._empty_cache(CACHE_SLOTS[0])

    def _empty_cache(self, slots: int) -> None:
        room = np.zeros(2 * slots + 8, np.uint64)
        first = -room.ctypes.data % 64 // 8  # a cache line begins there
        self._cache = room[first : first + 2 * slots]
        self._tables = tuple(Tables(*self._known, self._cache))
        self._cached = 0

    def _keep_room(self, more: int) -> bool:
        """Whether this many more tokens fit into the cache, which a larger, empty one may replace."""
        slots = len(self._cache) // 2
        if self._cached + more > 0.6 * slots:
            while slots < CACHE_SLOTS[1] and self._cached + more > 0.5 * slots:
                slots *= 2
            self._empty_cache(slots)
        return more <= 0.6 * slots

    def analyse(self, data: UInt8, offsets: Int64) -> Analysed:
        """The KB's words and the sentences of each text data[offsets[t]:offsets[t + 1]]."""
        tokens, texts = _tokens_at_most(offsets), len(offsets) - 1
        if tokens > len(self._scratch.words):
            self._scratch = _room(tokens, 0)
        self._keep_room(0)
        indptr, sentence_indptr = np.zeros(texts + 1, np.int64), np.zeros(texts + 1, np.int64)
        to = self._scratch._replace(indptr=indptr, sentence_indptr=sentence_indptr)
        size, sentences, misses, self._cached = lookup.analyse(data, offsets, self._tables, self._cached, tuple(to))
        words, starts, sentence = to.words[:size].copy(), to.starts[:size].copy(), to.sentences[:sentences].copy()
        if misses:
            missed = to.miss_start[:misses], to.miss_end[:misses], to.miss_hash[:misses]
            words[to.miss_place[:misses]] = self._resolve(data, *missed)
            known = words >= 0
            indptr, words, starts = np.append(0, np.cumsum(known))[indptr], words[known], starts[known]
        return Analysed(indptr, words, starts, sentence_indptr, sentence)

    def _resolve(self, data: UInt8, start: Int64, end: Int64, hashed: UInt64) -> Int32:
        """Words of tokens that are in no table: each distinct token is stemmed once, looked up and cached."""
        distinct, first, back = np.unique(hashed, return_index=True, return_inverse=True)
        stems = self._normalise(spellings(data, start[first], end[first]))
        found: Int32 = look_up_all(hash_strings(stems), *self._stems)
        found[(found == ABSENT) | np.array([not stem for stem in stems])] = -1
        if self._keep_room(len(distinct)):
            self._cached += remember(distinct, found, self._cache)
        return found[back]


def table(hashes: UInt64, words: Int32) -> tuple[UInt64, Int32]:
    """An open-addressing table, at most half full, for `Lexicon`."""
    slots = room_for(len(hashes))
    table_hash, table_word = np.zeros(slots, np.uint64), np.full(slots, -1, np.int32)
    table_word[fill(hashes, table_hash)] = words
    return table_hash, table_word
