"""Find the names in raw text: the KB's names of two words or more, with the short forms that stand for them.

Capitals tell names from words where a text has them; in lowercased text or all capitals, names made of ordinary words
are left out. Titles are no part of a name, a surname or a first name alone is the full name elsewhere in the text, and
a name followed by "Inc." or "Stadium" is nobody. Other detectors plug in through `group_spans`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from namesake.arrays import Int32, Int64, UInt8, indptr
from namesake.kb.names import NameIndex
from namesake.kb.spelling import normalise
from namesake.kernels.names import detect as kernels
from namesake.kernels.names.matching import Index
from namesake.kernels.names.similar import MISSING
from namesake.names.candidates import KIND_QUALITY, Candidates
from namesake.names.tables import tables


@dataclass(frozen=True)
class Found:
    """The people named in some texts. Text t has the mentions `indptr[t]` to `indptr[t + 1]`, by their first full span.

    `names` are ids in the name index, `where` the first full span in bytes of all the texts. The spans of mention m,
    from `span_indptr[m]` on, are in characters and in bytes of their text. `without_initial` says whether the text has
    an initial that the name in the KB has not.
    """

    indptr: Int64
    names: Int32
    without_initial: npt.NDArray[np.bool_]
    where: Int64
    span_indptr: Int64
    spans: Int32
    byte_spans: Int32

    def __len__(self) -> int:
        return len(self.names)


def find(index: NameIndex, data: UInt8, offsets: Int64) -> Found:
    """The people of an index who are named in texts in Arrow's layout."""
    entities = index.entities
    columns = Index(index.hashes, index.slots, index.prefixes, index.person, entities.indptr, entities.values)
    texts, mentions, ends = kernels.find_mentions(data, offsets, tables(index.language), columns)
    return Found(
        indptr=texts,
        names=mentions[:, kernels.WHO].astype(np.int32),
        without_initial=mentions[:, kernels.SKIPPED] != 0,
        where=mentions[:, kernels.FROM : kernels.TO + 1],
        span_indptr=indptr(mentions[:, kernels.SIZE]),
        spans=np.ascontiguousarray(ends[:, 2:]),
        byte_spans=np.ascontiguousarray(ends[:, :2]),
    )


def candidates_of(index: NameIndex, found: Found) -> Candidates:
    """Who bears each name found, with the quality of the match."""
    bearers = index.bearers(found.names)
    full = np.where(found.without_initial, MISSING, 1.0)
    quality = KIND_QUALITY[bearers.kinds] * np.repeat(full, np.diff(bearers.indptr))
    return Candidates(bearers.indptr, bearers.rows, quality)


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
