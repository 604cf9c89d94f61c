"""Candidates: who may be meant by a name, each with the quality of the match."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from namesake.kb.columns import Strings
from namesake.kb.names import NameIndex, affixes
from namesake.kb.spelling import normalise_many
from namesake.kb.variants import nicknames, romans
from namesake.kernels.names import similar as kernels

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Float64 = npt.NDArray[np.float64]

Variants = Literal["never", "missing", "always"]

KIND_QUALITY = np.array([1.0, 0.95, 0.9, 0.85])
"""Quality of an exact match by kind: label, alias, bare form of a label, of an alias."""


class Candidates(NamedTuple):
    """Entity rows by name, `rows[indptr[i]:indptr[i + 1]]`, best match first, with the match's quality in [0, 1]."""

    indptr: Int64
    rows: Int32
    quality: Float64


def candidates(index: NameIndex, data: UInt8, offsets: Int64, *, variants: Variants = "never") -> Candidates:
    """Who bears each name of a column in Arrow's layout, and who bears a variant of it, if that is wanted.

    Variants are nicknames (Bill, William), initials (J. Smith), middle names on one side only, and other
    transliterations (Zelensky, Zelenskiy). They cost precision: `variants` says whether they are tried never, where
    nobody bears the very name ("missing"), or always.
    """
    indptr, rows, kinds = index.lookup_many(data, offsets)
    name = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    quality = KIND_QUALITY[kinds]
    if variants != "never":
        asked = np.arange(len(indptr) - 1) if variants == "always" else np.flatnonzero(np.diff(indptr) == 0)
        query, more_rows, more_quality = _variants(index, normalise_many(Strings(offsets, data)).take(asked))
        name = np.concatenate([name, asked[query]])
        rows = np.concatenate([rows, more_rows])
        quality = np.concatenate([quality, more_quality])
        order = np.lexsort([-quality, rows, name])
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(name[order]) != 0) | (np.diff(rows[order]) != 0)
        name, rows, quality = name[order][first], rows[order][first], quality[order][first]
        indptr = np.searchsorted(name, np.arange(len(indptr))).astype(np.int64)
    best_first = np.lexsort([rows, -quality, name])
    return Candidates(indptr, rows[best_first], quality[best_first])


def _variants(index: NameIndex, queries: Strings) -> tuple[Int64, Int32, Float64]:
    """Query, entity row and quality of everybody who bears a variant of a normalised query."""
    filed = kernels.Filed(index.drawers, index.filed, index.texts.offsets, index.texts.data)
    indptr, names, likeness = kernels.find_variants(
        queries.data, queries.offsets, affixes(), romans(), nicknames(), filed
    )
    bearers = index.entities.indptr
    sizes = bearers[names + 1] - bearers[names]
    variant = np.repeat(np.arange(len(names)), sizes)
    ends = np.cumsum(sizes)
    entry = np.arange(len(variant)) - (ends - sizes)[variant] + bearers[names][variant]
    query = np.repeat(np.arange(len(queries)), np.diff(indptr))
    return query[variant], index.entities.values[entry], likeness[variant] * KIND_QUALITY[index.kinds[entry]]
