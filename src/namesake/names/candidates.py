"""Candidates: who may be meant by a name, each with the quality of the match."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from namesake.arrays import Float64, Int32, Int64, UInt8, positions, take_rows
from namesake.kb.columns import Strings
from namesake.kb.names.index import NameIndex, affixes, nicknames, romans
from namesake.kb.names.normalise import normalise_many
from namesake.kernels.names.constants import KIND_QUALITY
from namesake.kernels.names.variants import find_variants

Variants = Literal["never", "missing", "always"]


class Candidates(NamedTuple):
    """Entity rows by name, `rows[indptr[i]:indptr[i + 1]]`, best match first, with the match's quality in [0, 1]."""

    indptr: Int64
    rows: Int32
    quality: Float64


def candidates(index: NameIndex, data: UInt8, offsets: Int64, *, variants: Variants = "never") -> Candidates:
    """The entities with each name of a column in Arrow's layout, and those with a variant of it, if that is wanted.

    Variants are nicknames (Bill, William), initials (J. Smith), middle names on one side only, other transliterations
    (Zelensky, Zelenskiy), misspellings of well-known names (Obma) and reversed names. They cost precision: `variants`
    says whether they are tried never, if no entity has the name itself ("missing"), or always.
    """
    indptr, rows, kinds = index.lookup_many(data, offsets)
    name = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    quality = KIND_QUALITY[kinds]
    if variants != "never":
        asked = np.arange(len(indptr) - 1) if variants == "always" else np.flatnonzero(np.diff(indptr) == 0)
        query, more_rows, more_quality = variant_candidates(index, normalise_many(Strings(offsets, data)).take(asked))
        name, rows, quality = best_matches(
            np.concatenate([name, asked[query]]),
            np.concatenate([rows, more_rows]),
            np.concatenate([quality, more_quality]),
        )
        indptr = np.searchsorted(name, np.arange(len(indptr))).astype(np.int64)
    best_first = np.lexsort([rows, -quality, name])
    return Candidates(indptr, rows[best_first], quality[best_first])


def variant_candidates(index: NameIndex, queries: Strings) -> tuple[Int64, Int32, Float64]:
    """Query, entity row and quality of each entity with a variant of a normalised query, by query and row."""
    spoken = index.language
    ends, names, likeness = find_variants(
        queries.data, queries.offsets, affixes(spoken), romans(spoken), nicknames(spoken), index.searched
    )
    query = np.repeat(np.arange(len(queries)), np.diff(ends))
    ends, entry = take_rows(index.entities.indptr, names)
    of = np.repeat(np.arange(len(names)), np.diff(ends))
    return best_matches(query[of], index.entities.values[entry], likeness[of] * KIND_QUALITY[index.kinds[entry]])


def best_matches(query: Int64, rows: Int32, quality: Float64) -> tuple[Int64, Int32, Float64]:
    """Each entity of each query once, with its best quality, by query and row."""
    keys = query << 32 | rows
    order = np.argsort(keys, kind="stable")  # merges runs that ascend
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    kept = order[first]
    return query[kept], rows[kept], np.maximum.reduceat(quality[order], first)


def quality_of(index: NameIndex, data: UInt8, offsets: Int64, indptr: Int64, rows: Int64) -> Float64:
    """How well name i matches each of the entities `rows[indptr[i]:indptr[i + 1]]`; 0 if it is none of their names."""
    known = candidates(index, data, offsets, variants="missing")
    entities = len(index.entities.values) + 1  # more than there are rows
    bearer = np.repeat(np.arange(len(known.indptr) - 1), np.diff(known.indptr)) * entities + known.rows
    asked = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)) * entities + rows
    order = np.argsort(bearer)
    at = np.where(rows >= 0, positions(bearer[order], asked), -1)
    return np.append(known.quality[order], 0.0)[at]
