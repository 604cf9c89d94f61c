"""Find every name of the KB in raw text, with its candidates and the tokens around it.

Nothing here decides whether a name means an entity of the KB, or which: evidence in the text (`text_evidence.py`) and
scorers describe the mentions, and a recipe weighs them. `choose` then keeps the best spans that do not overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt8, UInt64, indptr, take_rows
from namesake.errors import NamesakeError, did_you_mean
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise_many
from namesake.kernels.dump.wikidata import FIRST_OWN
from namesake.kernels.names import gather, lattice
from namesake.kernels.names import tokens as t
from namesake.kernels.names.around import (
    BITS,
    BITS_AT,
    MARKS,
    MARKS_AT,
    all_have,
    count_words,
    share_of_line,
    share_with,
    words_around,
)
from namesake.kernels.names.choose import choose, mean_of_spans
from namesake.kernels.names.constants import FAME_STEPS
from namesake.kernels.names.expected import count_labels
from namesake.kernels.names.phrases import FAME_AT
from namesake.kernels.text.spans import bytes_to_characters, cut_out
from namesake.names.candidates import variant_candidates
from namesake.names.tables import tables

if TYPE_CHECKING:
    from namesake.kb.names.index import NameIndex
    from namesake.kb.store import KB


@lru_cache
def _signs(names: tuple[str, ...]) -> np.uint64:
    """The bits of these signs in the numbers of `words_around`."""
    bits = 0
    for name in names:
        if not isinstance(sign := getattr(t, name, None), int):
            known = [one for one, value in vars(t).items() if one.isupper() and isinstance(value, int)]
            raise NamesakeError(
                f"there is no sign of words {name!r}{did_you_mean(name, known)}: see `kernels.names.tokens`"
            )
        bits |= sign << (BITS_AT if name in BITS else MARKS_AT if name in MARKS else 0)
    return np.uint64(bits)


@dataclass(frozen=True)
class Found:
    """The mentions of some texts. Text i has the mentions `indptr[i]` to `indptr[i + 1]`, by their first span.

    Mention m has the spans `span_indptr[m]` to `span_indptr[m + 1]`, which may overlap those of other mentions, and the
    candidates `offsets[m]` to `offsets[m + 1]`.
    """

    data: UInt8
    """The bytes of the texts."""
    begins: Int64
    """The place of the first byte of each text."""
    texts: lattice.Texts
    indptr: Int64
    span_indptr: Int64
    first: Int64
    """The first token of each span."""
    end: Int64
    """The token after each span."""
    spans: Int32
    """Each span in characters of its text; `byte_spans` in bytes."""
    byte_spans: Int32
    known: UInt64
    """What the KB knows of each mention's name: a packed number of `kernels.names.phrases`."""
    is_other: Bool
    """Whether each mention may be another entity than an earlier mention with this name: by its noun, or `is_said`."""
    is_said: Bool
    """Whether a word such as "another" is before the first span of each mention."""
    namesakes: Int64
    """The number of entities with exactly the name of each mention; `listed` counts all from which candidates came."""
    listed: Int64
    offsets: Int64
    rows: Int32
    forms: Int8
    """What the name is to each candidate: a number of `kernels.names.constants`, LABEL and so on."""
    quality: Float64
    """The quality of each candidate's match."""
    in_text: Bool
    """Whether the text contains a longer name of the candidate."""

    def __len__(self) -> int:
        return len(self.span_indptr) - 1

    @cached_property
    def span_text(self) -> Int64:
        """The text of each span."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.span_indptr[self.indptr]))

    @property
    def leads(self) -> Int64:
        """The first span of each mention."""
        return self.span_indptr[:-1]

    @property
    def spelled(self) -> tuple[UInt8, Int64]:
        """The bytes of the texts, and the ends of each mention's first span in them."""
        begin = self.begins[self.span_text[self.leads]]
        return self.data, (self.byte_spans[self.leads] + begin[:, None]).astype(np.int64)

    @property
    def name_hashes(self) -> tuple[Int64, UInt64]:
        """The hashes of the tokens of each mention's name, as ragged rows: their offsets, and all of them."""
        sizes = self.sizes[self.leads]
        ends = indptr(sizes)
        return ends, self.texts.hashes[np.repeat(self.first[self.leads] - ends[:-1], sizes) + np.arange(ends[-1])]

    @property
    def other_fame(self) -> Float64:
        """The fame of the most famous item with each mention's name that is no entity of the KB; 0 without one."""
        return np.expm1((self.known >> FAME_AT).astype(np.float64) / FAME_STEPS)

    def mean(self, of_spans: np.ndarray) -> Float64:
        """The mean over the spans of each mention."""
        numbers = of_spans if of_spans.dtype in (np.bool_, np.float64) else of_spans.astype(np.float64)
        means: Float64 = mean_of_spans(self.span_indptr, numbers)
        return means

    # the tokens in and around each span
    def has(self, place: str, *signs: str) -> Bool:
        """Whether the word "before", "after", "first" or "last" has one of these signs, constants of `tokens`.

        A word beside a span counts if nothing but a space or a hyphen is between.
        """
        found: Bool = self._flags(place) & _signs(signs) != 0
        return found

    def share(self, place: str, *signs: str) -> Float64:
        """The share of the spans of each mention for which `has` is true."""
        shares: Float64 = share_with(self.span_indptr, self._flags(place), _signs(signs))
        return shares

    def _flags(self, place: str) -> UInt64:
        """The flags of the word at a place in or beside each span."""
        if place not in self._words:
            raise NamesakeError(
                f"there is no place {place!r}{did_you_mean(place, self._words)}: {', '.join(self._words)}"
            )
        return self._words[place]

    @cached_property
    def _words(self) -> dict[str, UInt64]:
        """The flags of the words in and around each span."""
        known = words_around(self.texts, self.first, self.end)
        return {"before": known[0], "first": known[1], "last": known[2], "after": known[3]}

    def is_behind_comma(self, at: Int64) -> Bool:
        """Whether a comma is before the tokens at some places."""
        found: Bool = np.append(self.texts.gaps, np.uint8(t.HARD))[at] == t.COMMA
        return found

    def all_tokens(self, bits: int) -> Bool:
        """Whether all tokens of each span have one of these bits."""
        found: Bool = all_have(self.texts.bits, self.first, self.end, bits)
        return found

    def line_share(self, of_tokens: Bool) -> Float64:
        """The share of the tokens of each span's line for which something is true."""
        share: Float64 = share_of_line(self.texts.marks, of_tokens, self.first)
        return share

    def words_in_text(self, classes: int) -> Int64:
        """The number of words of some lists in the text of each span."""
        counts: Int64 = count_words(self.texts.indptr, self.texts.classes, classes)
        return counts[self.span_text]

    @cached_property
    def sizes(self) -> Int64:
        """The number of tokens of each span."""
        return self.end - self.first

    @property
    def lengths(self) -> Int32:
        """The number of characters of each span."""
        return self.spans[:, 1] - self.spans[:, 0]

    @property
    def styles(self) -> UInt8:
        """How the text of each span is written: `tokens.LOWER`, CASED or ALL_CAPITALS."""
        found: UInt8 = self.texts.styles[self.span_text]
        return found

    def best_spans(self, score: Float64, best: Int64) -> Bool:
        """The spans of the set with the largest sum of their mentions' scores in which no two spans overlap.

        A word inside a longer name does not count if both have the same best candidate: Obama in Barack Obama.
        """
        mention = np.repeat(np.arange(len(self)), np.diff(self.span_indptr))
        of_span, entity, longer = score[mention], best[mention], np.flatnonzero(self.sizes > 1)
        sizes = self.sizes[longer]
        token = np.repeat(self.first[longer] - indptr(sizes)[:-1], sizes) + np.arange(sizes.sum())
        inside = np.full(len(self.texts.hashes), -1, np.int64)
        inside[token] = np.repeat(entity[longer], sizes)
        of_span[(self.sizes == 1) & (inside[self.first] == entity)] = 0.0
        order = np.lexsort((self.first, self.end))
        texts = np.searchsorted(self.first[order], self.texts.indptr)
        chosen = np.zeros(len(order), np.bool_)
        chosen[order] = choose(texts, self.first[order], self.end[order], of_span[order])
        return chosen

    def take(self, spans: Bool, candidates: Bool | None = None) -> tuple[Found, Int64, Int64]:
        """The mentions that have some of these spans, with some of their candidates; the numbers of both."""
        counts = np.diff(indptr(spans)[self.span_indptr])
        kept, span = np.flatnonzero(counts), np.flatnonzero(spans)
        offsets, candidate = take_rows(self.offsets, kept)
        if candidates is not None:
            is_kept = candidates.take(candidate)
            offsets, candidate = indptr(is_kept)[offsets], candidate.take(np.flatnonzero(is_kept))
        part = replace(
            self,
            indptr=np.searchsorted(kept, self.indptr).astype(np.int64),
            span_indptr=indptr(counts[kept]),
            **{name: getattr(self, name).take(span, axis=0) for name in ("first", "end", "spans", "byte_spans")},
            **{
                name: getattr(self, name).take(kept) for name in ("known", "is_other", "is_said", "namesakes", "listed")
            },
            offsets=offsets,
            **{name: getattr(self, name).take(candidate) for name in ("rows", "forms", "quality", "in_text")},
        )
        if "_words" in vars(self):
            vars(part)["_words"] = {place: known.take(span) for place, known in self._words.items()}
        return part, kept, candidate


def find(kb: KB, data: UInt8, offsets: Int64, heads: Int64 | None = None) -> Found:
    """The names of a KB in texts in Arrow's layout; the first `heads[i]` bytes of text i are its title."""
    heads = np.zeros(len(offsets) - 1, np.int64) if heads is None else heads
    names = kb.names
    texts = lattice.cut_texts(data, offsets, heads, tables(names.language))
    known = lattice.list_hypotheses(texts, names.phrases, names.prefixes, names.common_words)
    found = lattice.add_unknown(texts, known)
    mentions = gather.group_hypotheses(texts, found)
    index = gather.Index(
        *(names.entities.indptr, names.entities.values, names.kinds),
        *(names.short_entities.indptr, names.short_entities.values, names.short_forms),
        *(kb.fame, int(np.searchsorted(kb.qids, FIRST_OWN))),
    )
    variants = _variants(names, data, offsets, texts, found, mentions)
    gathered = gather.gather_candidates(texts, found, mentions, index, variants)
    spans = bytes_to_characters(data, offsets, gathered.span_indptr[gathered.indptr], gathered.byte_spans)
    return Found(data=data, begins=offsets, texts=texts, spans=spans, **gathered._asdict())


def _variants(
    names: NameIndex,
    data: UInt8,
    offsets: Int64,
    texts: lattice.Texts,
    found: lattice.Hypotheses,
    mentions: gather.Mentions,
) -> gather.Variants:
    """Candidates of mentions that are not in the KB: entities with a similar name."""
    lead = mentions.order[mentions.spans[:-1]]  # the first hypothesis of each mention
    asked = np.flatnonzero(found.known[lead] == 0)
    first, last = found.first[lead[asked]], found.end[lead[asked]] - 1
    edges = texts.hashes[np.column_stack([first, last])].ravel()
    labels = names.token_hashes, names.token_first, names.token_middle, names.token_last
    begins, _, ends = count_labels(edges, 2 * np.arange(len(asked) + 1), *labels)
    may_vary = (begins > 0) | (ends > 0)
    asked, first, last = asked[may_vary], first[may_vary], last[may_vary]
    begin = offsets[np.searchsorted(mentions.indptr, asked, side="right") - 1]
    spelled, bytes_of, _ = cut_out(data, np.column_stack([begin + texts.starts[first], begin + texts.ends[last]]))
    query, rows, quality = variant_candidates(names, normalise_many(Strings(spelled.astype(np.int64), bytes_of)))
    counts = np.zeros(len(lead), np.int64)
    counts[asked] = np.bincount(query, minlength=len(asked))
    return gather.Variants(indptr(counts), rows, quality)


def group_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, list[tuple[int, int]]]]:
    """Names with their spans from another detector's spans (spaCy's, or your own), in characters.

    Equal names are one; a single word that begins or ends just one longer name is that name.
    """
    from namesake.kb.names.normalise import normalise

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
