"""Find the names in raw text: the KB's names of two words or more, with the short forms that stand for them.

Capitals tell names from words where a text has them; in lowercased text or all capitals, names made of ordinary words
are left out. Titles are no part of a name, a surname or a first name alone is the full name elsewhere in the text, and
a name followed by "Inc." or "Stadium" is nobody. Other detectors plug in through `group_spans`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import one_chunk, text_buffers
from namesake.articles.schema import MENTION
from namesake.kb.names import ALIAS, NameIndex
from namesake.kb.spelling import APOSTROPHES, fold_table, normalise
from namesake.kb.store import KB
from namesake.kernels.hash import hash_bytes
from namesake.kernels.link.qids import format_qids
from namesake.kernels.names import detect as kernels
from namesake.kernels.names import index as name_kernels
from namesake.kernels.names import tokens as nametokens
from namesake.kernels.names.similar import MISSING
from namesake.language import english as wordlists
from namesake.names.candidates import KIND_QUALITY, Candidates

Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
UInt64 = npt.NDArray[np.uint64]
Bool = npt.NDArray[np.bool_]

COMBINING = slice(0x0300, 0x0370)  # accents after their letters: folding drops them


@dataclass(frozen=True)
class Found:
    """The names in some texts. Text t has the mentions `indptr[t]` to `indptr[t + 1]`, by their first full span.

    `names` are ids in the name index, `found` the bytes of the first full span, `spans` all spans in characters
    (those of mention m from `span_indptr[m]` on).
    """

    indptr: Int64
    names: Int32
    found: Int64
    flags: UInt8
    span_indptr: Int64
    spans: Int32

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def person(self) -> Bool:
        """Whether the text lets a mention be a person: not if "Inc.", "Stadium" … follows each of its full spans."""
        return np.asarray(self.flags & kernels.NO_PERSON == 0)

    @cached_property
    def without_initial(self) -> Bool:
        """Whether the text has an initial that the name in the KB has not."""
        return np.asarray(self.flags & kernels.WITHOUT_INITIAL != 0)


def find(index: NameIndex, data: UInt8, offsets: Int64) -> Found:
    """The names of an index in texts in Arrow's layout."""
    entities = index.entities
    columns = (index.hashes, index.slots, index.prefixes, index.person, entities.indptr, entities.values)
    with np.errstate(over="ignore"):  # hashes wrap
        return Found(*kernels.find_mentions(data, offsets, *_characters(), *_words(), columns))


def candidates_of(index: NameIndex, found: Found) -> Candidates:
    """Who bears each name found, with the quality of the match; nobody where the text speaks of no person."""
    names = np.where(found.person, found.names, np.int32(name_kernels.NOBODY))
    indptr = np.zeros(len(names) + 1, np.int64)
    name_kernels.count_bearers(names, index.entities.indptr, index.kinds, ALIAS, indptr)
    rows, kinds = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.int8)
    name_kernels.gather_bearers(
        names, index.entities.indptr, index.entities.values, index.kinds, indptr, ALIAS, rows, kinds
    )
    full = np.where(found.without_initial, MISSING, 1.0)
    return Candidates(indptr, rows, KIND_QUALITY[kinds] * np.repeat(full, np.diff(indptr)))


def find_mentions(texts: pa.Array | pa.ChunkedArray, kb: KB) -> pa.ListArray:
    """The people named in each text, as the column `mentions` of a table of articles, candidates included."""
    data, offsets = text_buffers(one_chunk(texts))
    found = find(kb.names, data, offsets)
    candidates = candidates_of(kb.names, found)
    kept = np.flatnonzero(found.person)
    name_bytes = np.empty(int(np.diff(found.found[kept]).sum()), np.uint8)
    name_offsets = np.zeros(len(kept) + 1, np.int64)
    starts, ends = np.ascontiguousarray(found.found[kept].T)
    name_kernels.copy_texts(data, starts, ends, name_bytes, name_offsets)
    span_sizes = np.diff(found.span_indptr)
    spans = found.spans[np.repeat(found.person, span_sizes)]
    qid_offsets, qid_bytes = format_qids(kb.qids[candidates.rows])
    names = _strings(name_offsets.astype(np.int32), name_bytes)
    if (name_bytes < ord(" ")).any():  # a name that a line break parts is one name still
        names = pc.replace_substring_regex(names, r"\s*[\t-\r]\s*", " ")
    fields = [
        names,
        _lists(span_sizes[kept], pa.FixedSizeListArray.from_arrays(pa.array(spans.ravel()), 2)),
        _lists(np.diff(candidates.indptr)[kept], _strings(qid_offsets, qid_bytes)),
    ]
    before = np.concatenate([[0], np.cumsum(found.person)])[found.indptr]
    return _lists(np.diff(before), pa.StructArray.from_arrays(fields, fields=list(MENTION)))


def fill_mentions(articles: pa.Table, kb: KB) -> pa.Table:
    """The same articles with the names found in those whose `mentions` are null; the others stay as they are."""
    given = one_chunk(articles.column("mentions"))
    if not given.null_count:
        return articles
    missing = given.is_null()
    found = find_mentions(one_chunk(articles.column("text")).filter(missing), kb)
    place = articles.schema.get_field_index("mentions")
    if given.null_count == len(given):
        return articles.set_column(place, articles.schema.field(place), found)
    is_missing = missing.to_numpy(zero_copy_only=False)
    order = np.where(is_missing, np.cumsum(is_missing) - 1 + len(given), np.arange(len(given)))
    both = pa.chunked_array([given, found.cast(given.type)]).combine_chunks()
    return articles.set_column(place, articles.schema.field(place), both.take(pa.array(order)))


def group_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, list[tuple[int, int]]]]:
    """Names with their spans from another detector's spans of people (spaCy's, or your own), in characters.

    Equal names are one; a single word that begins or ends just one longer name is that name.
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    for start, end in sorted(spans):
        groups.setdefault(normalise(text[start:end]), []).append((start, end))
    for short in [name for name in groups if " " not in name]:
        full = [name for name in groups if " " in name and short in (name.split()[0], name.split()[-1])]
        if len(full) == 1:
            groups[full[0]] = sorted(groups[full[0]] + groups.pop(short))
    longest = (max(where, key=lambda span: span[1] - span[0]) for where in groups.values())
    named = [(text[start:end], where) for (start, end), where in zip(longest, groups.values(), strict=True)]
    return sorted(named, key=lambda group: group[1])


def _strings(offsets: Int32, data: UInt8) -> pa.StringArray:
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _lists(sizes: Int64, values: pa.Array) -> pa.ListArray:
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)


@cache
def _characters() -> tuple[Int8, UInt8, UInt8]:
    """For the tokeniser: what each character folds to, and what it is."""
    widths, letters = fold_table()
    widths = widths.copy()
    widths[COMBINING] = 0
    kinds = np.zeros(len(widths), np.uint8)
    for point in range(len(widths)):
        character = chr(point)
        kinds[point] = (
            nametokens.UPPER_LETTER * character.isupper()
            | nametokens.CAPITAL * (character.isupper() or character.istitle() or character.isdigit())
            | nametokens.BLANK * character.isspace()
            | nametokens.APOSTROPHE * (character in APOSTROPHES)
            | nametokens.HYPHEN * (character in "-‐‑")
        )
    return widths, letters, kinds


@cache
def _words() -> tuple[UInt64, UInt8]:
    """The word lists as one open-addressing table: hashes of the words, and which lists have them."""
    lists = {
        nametokens.HONORIFIC: wordlists.HONORIFICS,
        nametokens.SUFFIX: wordlists.SUFFIXES,
        nametokens.FUNCTION: wordlists.FUNCTION_WORDS,
        nametokens.ORDINARY: wordlists.ORDINARY_FIRST_NAMES,
        nametokens.FIRM: wordlists.NOT_A_PERSON,
        nametokens.BEFORE_FIRM: wordlists.BEFORE_NOT_A_PERSON,
        nametokens.TITLE: wordlists.TITLE_WORDS,
    }
    bits: dict[str, int] = {}
    for bit, words in lists.items():
        for word in words:
            bits[word] = bits.get(word, 0) | bit
    room = 1 << (8 * len(bits)).bit_length()  # sparse: the kernel looks up every word
    keys, values = np.zeros(room, np.uint64), np.zeros(room, np.uint8)
    for word, bit in sorted(bits.items()):
        text = np.frombuffer(word.encode(), np.uint8)
        key = hash_bytes(text, 0, len(text))
        at = int(key) % room
        while values[at]:
            at = (at + 1) % room
        keys[at], values[at] = key, bit
    return keys, values
