"""Eigenthemes: those who are meant lie near the few dimensions that an article's candidates have in common.

Rows are the vectors of all candidates of an article, each times its weight. Of this matrix the k strongest right
singular vectors v, with their values σ, are the theme, and score(e) = ‖(σ_i e·v_i / Σσ)_i‖ / ‖e‖, without centring.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.matches import Candidate, Match, Source
from namesake.scorers.overlap import iscore
from namesake.scorers.popularity import sitelinks
from namesake.scorers.registry import Need, Scorer, Scores, scorer

if TYPE_CHECKING:
    from namesake.arrays import Int64
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.kb.vectors import Vectors


def _has_vectors(kb: KB) -> bool:
    from namesake.kb.vectors import KINDS, has_vectors

    return any(has_vectors(kb, kind) for kind in KINDS)


VECTORS = Need(
    "vectors of the KB's graph (`namesake kb walk`) or texts (`namesake kb embed`)", _has_vectors, refused=True
)

CARRIERS = 5
"""Candidates of the article that an explanation names."""


# why
def _carriers(candidate: Candidate, weights: Scorer) -> Iterator[Match]:
    """The candidates of the article that carry the theme, with their share of it."""
    batch, kb = candidate.reading.batch, candidate.kb
    first, last = _bounds(batch, candidate.reading.article)
    rows, vectors = batch.rows[first:last], _vectors(batch, kb)
    known = np.flatnonzero(rows >= 0)
    _, share = theme(_widened(vectors, rows[known]), weights(batch)[first:last][known], batch.settings.neural.themes)
    named: dict[int, float] = {}
    for row, part in zip(rows[known].tolist(), share.tolist(), strict=True):
        named[row] = named.get(row, 0.0) + part
    for row, part in sorted(named.items(), key=lambda one: (-one[1], one[0]))[:CARRIERS]:
        if part > 0:
            yield Match(sources=[Source("theme", value=f"{kb.label(row)} (Q{kb.qids[row]}), {100 * part:.0f} %")])


def carriers_by_sitelinks(candidate: Candidate) -> Iterator[Match]:
    """Who carries the theme of Eigen."""
    return _carriers(candidate, sitelinks)


def carriers_by_words(candidate: Candidate) -> Iterator[Match]:
    """Who carries the theme of Eigen_IScore."""
    return _carriers(candidate, iscore)


# the scores
@scorer("Eigen", needs=VECTORS, explain=carriers_by_sitelinks)
def eigen(batch: Batch, kb: KB) -> Scores:
    """Eigenthemes: nearness to the few dimensions that the article's candidates have in common, weighted by NS."""
    return near_the_theme(batch, kb, sitelinks(batch))


@scorer("Eigen_IScore", needs=VECTORS, explain=carriers_by_words)
def eigen_iscore(batch: Batch, kb: KB) -> Scores:
    """Eigen with the candidates weighted by IScore."""
    return near_the_theme(batch, kb, iscore(batch))


def near_the_theme(batch: Batch, kb: KB, weights: Scores) -> Scores:
    """The score of every candidate, article by article; 0 for one without a vector."""
    vectors, scores = _vectors(batch, kb), np.zeros(len(batch.rows))
    for article in range(len(batch.articles) - 1):
        first, last = _bounds(batch, article)
        known = first + np.flatnonzero(batch.rows[first:last] >= 0)
        if len(known):
            wide = _widened(vectors, batch.rows[known])
            scores[known] = theme(wide, weights[known], batch.settings.neural.themes)[0]
    return scores


def theme(vectors: Scores, weights: Scores, themes: int) -> tuple[Scores, Scores]:
    """The score of each row, and its share of the theme.

    Never larger than the matrix itself: singular vectors are those of its Gram matrix on the smaller side, rows or
    dimensions. On the side of rows, M Mᵀ = U Σ² Uᵀ and σ_i e·v_i = e·(Mᵀ u_i): no right vector is ever made.
    """
    rows, dimensions = vectors.shape
    order = np.lexsort(vectors.T[: min(dimensions, 4)]) if rows > 1 else np.arange(rows)
    order = order[np.argsort(-weights[order], kind="stable")]  # so that the order of candidates makes no difference
    placed, weighted = vectors[order], vectors[order] * weights[order, None]
    if rows <= dimensions:
        values, left = np.linalg.eigh(weighted @ weighted.T)
        strongest = np.sqrt(np.maximum(values[::-1][:themes], 0))
        left = left[:, ::-1][:, :themes]
        along = (placed @ weighted.T) @ left  # σ_i e·v_i
        carried = left * strongest
    else:
        values, right = np.linalg.eigh(weighted.T @ weighted)
        strongest = np.sqrt(np.maximum(values[::-1][:themes], 0))
        along = (placed @ right[:, ::-1][:, :themes]) * strongest
        carried = weighted @ right[:, ::-1][:, :themes]
    length, total = np.linalg.norm(placed, axis=1), strongest.sum()
    near = np.linalg.norm(along, axis=1)
    scores, share = np.zeros(rows), np.zeros(rows)
    if total > 0:
        scores[order] = np.divide(near, length * total, out=np.zeros(rows), where=length > 0)
        share[order] = (carried**2).sum(1) / (strongest**2).sum()
    return scores, share


def _bounds(batch: Batch, article: int) -> tuple[int, int]:
    """The candidates of an article."""
    first, last = batch.articles[article : article + 2]
    return int(batch.offsets[first]), int(batch.offsets[last])


def _widened(vectors: Vectors, rows: Int64) -> Scores:
    return np.asarray(vectors.entities[rows].view(np.float16), np.float64)


def _vectors(batch: Batch, kb: KB) -> Vectors:
    """The vectors that the recipe asks for."""
    from namesake.kb.vectors import has_vectors

    wanted = batch.settings.neural.themes_from
    if wanted == "any":
        wanted = "walk" if has_vectors(kb, "walk") else "text"
    return kb.walk_vectors if wanted == "walk" else kb.text_vectors
