"""Find the names in raw text: names of the KB, short forms of them, names of one word; and whom each may mean.

Capitals tell names from words where a text has them; in lowercased text or all capitals, names made of ordinary words
are left out. Nothing here decides who is meant, or whether anybody of the KB is: gates keep out the hopeless, and
`Evidence` tells the rest. Other detectors plug in through `group_spans`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from namesake.arrays import Float64, Int8, Int32, Int64, UInt8, indptr
from namesake.kb.columns import Ragged, Strings
from namesake.kb.names.index import NameIndex, nicknames
from namesake.kb.names.normalise import normalise
from namesake.kernels.names import detect as kernels
from namesake.kernels.names import page
from namesake.kernels.names.bearers import Labels
from namesake.names.evidence import Evidence, evidence_of
from namesake.names.tables import genders, tables


class Known(Protocol):
    """As much of a KB as finding names needs."""

    @property
    def names(self) -> NameIndex:
        """The name index."""

    @property
    def fame(self) -> npt.NDArray[np.float32]:
        """Everybody's fame."""

    @property
    def gender(self) -> Int8:
        """Whether everybody is a man (1), a woman (2), or not known to be either (0)."""

    @property
    def entity_item(self) -> Int32:
        """The item of each entity."""

    @property
    def item_labels(self) -> Strings:
        """The labels of the items."""

    @property
    def aliases(self) -> Ragged:
        """Rows of `alias_texts` for each entity."""

    @property
    def alias_texts(self) -> Strings:
        """The aliases."""


@dataclass(frozen=True)
class Found:
    """The people named in some texts. Text t has the mentions `indptr[t]` to `indptr[t + 1]`, by their first span.

    `where` is the first full span in bytes of all the texts. The spans of mention m, from `span_indptr[m]` on, are in
    characters and in bytes of their text; its candidates, from `offsets[m]` on, are rows of the KB with the quality of
    the match.
    """

    indptr: Int64
    where: Int64
    span_indptr: Int64
    spans: Int32
    byte_spans: Int32
    offsets: Int64
    rows: Int32
    quality: Float64
    evidence: Evidence

    def __len__(self) -> int:
        return len(self.where)


def find(kb: Known, data: UInt8, offsets: Int64, heads: Int64 | None = None) -> Found:
    """The people of a KB who may be named in texts in Arrow's layout; the first `heads[t]` bytes of one are a title."""
    heads = np.zeros(len(offsets) - 1, np.int64) if heads is None else heads
    texts, out = kernels.find_mentions(data, offsets, heads, tables(kb.names.language), _index(kb), _labels(kb))
    mentions, spans, candidates = out.sizes.tolist()
    facts, ends = out.facts[:mentions], out.ends[:spans]
    return Found(
        indptr=texts,
        where=np.ascontiguousarray(facts[:, [page.FIRST, page.END]]),
        span_indptr=indptr(out.span_count[:mentions]),
        spans=_pairs(ends, 1),
        byte_spans=_pairs(ends, 0),
        offsets=indptr(out.candidate_count[:mentions]),
        rows=out.rows[:candidates].copy(),
        quality=out.quality[:candidates].copy(),
        evidence=evidence_of(facts, out.evidence[:mentions]),
    )


def _pairs(ends: Int32, which: int) -> Int32:
    """The first or second two of the four numbers in each row; two that go as one are copied faster."""
    return np.ascontiguousarray(ends.view(np.int64)[:, which]).view(np.int32).reshape(-1, 2)


def _index(kb: Known) -> page.Index:
    names, other = kb.names, nicknames(kb.names.language)
    return page.Index(
        *(names.phrases, names.words, names.prefixes, names.person),
        *(names.entities.indptr, names.entities.values, names.kinds),
        *(names.short_entities.indptr, names.short_entities.values),
        *(names.short_forms, names.short_weights, names.short_count, names.misspelling_hashes, names.misspelling_names),
        *(
            names.misspelling_filter,
            names.texts.offsets,
            names.texts.data,
            other.keys,
            other.indptr,
            other.hashes,
            kb.fame,
        ),
        *(kb.gender, *genders(kb.names.language), kb.entity_item, kb.item_labels.offsets, kb.item_labels.data),
    )


def _labels(kb: Known) -> Labels:
    return Labels(
        *(kb.entity_item, kb.item_labels.offsets, kb.item_labels.data),
        *(kb.aliases.indptr, kb.aliases.values, kb.alias_texts.offsets, kb.alias_texts.data),
    )


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
