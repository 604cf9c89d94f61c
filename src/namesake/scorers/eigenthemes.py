"""Eigenthemes: the right candidates lie near the few dimensions that an article's candidates have in common.

The rows of a matrix are the vectors of all candidates of an article, each times its weight. The k strongest right
singular vectors v with their values σ are the theme, and score(e) = ‖(σ_i e·v_i / Σσ)_i‖ / ‖e‖, without centring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from namesake.kb.vectors.stored import KINDS, has_vectors
from namesake.scorers.evidence_shown import Match, Page, Source
from namesake.scorers.popularity import sitelinks
from namesake.scorers.registry import Need, Scores, Signal, scorer
from namesake.scorers.word_overlap import iscore

if TYPE_CHECKING:
    from namesake.arrays import Int64
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.kb.vectors.stored import Vectors


VECTORS = Need(
    "vectors of the KB's graph (`namesake kb walk`) or texts (`namesake kb embed`)",
    lambda kb: any(has_vectors(kb, kind) for kind in KINDS),
    refused=True,
)
CARRIERS = 5
"""Candidates of the article that an explanation lists."""


def _explained_by(weights: Signal) -> Callable[[Page], list[Match]]:
    """A function that lists the candidates of an article with the largest shares of the theme."""

    def shares(page: Page) -> list[Match]:
        batch, kb = page.batch, page.batch.kb
        first, last = _bounds(batch, page.article)
        rows, _, own = distinct(batch.rows[first:last], weights(batch)[first:last])
        _, share = theme(_widened(_vectors(batch, kb), rows), own, batch.settings.neural.themes)
        ranked = sorted(zip(rows.tolist(), share.tolist(), strict=True), key=lambda one: (-one[1], one[0]))
        return [
            Match(sources=[Source("theme", value=f"{kb.label(row)} (Q{kb.qids[row]}), {100 * part:.0f} %")])
            for row, part in ranked[:CARRIERS]
            if part > 0
        ]

    return shares


_by_sitelinks, _by_words = _explained_by(sitelinks), _explained_by(iscore)


@scorer("Eigen", needs=VECTORS, explain=lambda candidate: candidate.reading.page.once(_by_sitelinks))
def eigen(batch: Batch, kb: KB) -> Scores:
    """Eigenthemes: nearness to the few dimensions that the article's candidates have in common, weighted by NS."""
    return near_the_theme(batch, kb, sitelinks(batch))


@scorer("Eigen_IScore", needs=VECTORS, explain=lambda candidate: candidate.reading.page.once(_by_words))
def eigen_iscore(batch: Batch, kb: KB) -> Scores:
    """Eigen with the candidates weighted by IScore."""
    return near_the_theme(batch, kb, iscore(batch))


def near_the_theme(batch: Batch, kb: KB, weights: Scores) -> Scores:
    """The score of every candidate, article by article; 0 for one without a vector."""
    vectors, scores = _vectors(batch, kb), np.zeros(len(batch.rows))
    for article in range(len(batch.articles) - 1):
        first, last = _bounds(batch, article)
        rows, place, own = distinct(batch.rows[first:last], weights[first:last])
        if len(rows):
            near, _ = theme(_widened(vectors, rows), own, batch.settings.neural.themes)
            scores[first:last] = np.append(near, 0.0)[place]
    return scores


def distinct(rows: Int64, weights: Scores) -> tuple[Int64, Int64, Scores]:
    """The distinct known rows, ascending; the place of each given row among them, -1 if unknown; their weights.

    Equal rows of a matrix are replaced by one with the root of the sum of their squared weights, which has the same
    singular vectors. So neither order nor repetition of candidates makes a difference.
    """
    known = rows >= 0
    single, at = np.unique(rows[known], return_inverse=True)
    place = np.full(len(rows), -1, np.int64)
    place[known] = at
    return single, place, np.sqrt(np.bincount(at, weights[known] ** 2, len(single)))


def theme(vectors: Scores, weights: Scores, themes: int) -> tuple[Scores, Scores]:
    """The score of each row, and its share of the theme.

    Singular vectors come from the Gram matrix of the smaller side, rows or dimensions. On the side of rows,
    M Mᵀ = U Σ² Uᵀ and σ_i e·v_i = e·(Mᵀ u_i), so right vectors are not needed.
    """
    rows, dimensions = vectors.shape
    weighted = vectors * weights[:, None]
    values, found = np.linalg.eigh(weighted @ weighted.T if rows <= dimensions else weighted.T @ weighted)
    strongest, found = np.sqrt(np.maximum(values[::-1][:themes], 0)), found[:, ::-1][:, :themes]
    if rows <= dimensions:
        along, carried = (vectors @ weighted.T) @ found, found * strongest  # along: σ_i e·v_i
    else:
        along, carried = (vectors @ found) * strongest, weighted @ found
    length, total = np.linalg.norm(vectors, axis=1), strongest.sum()
    if not total > 0:
        return np.zeros(rows), np.zeros(rows)
    near = np.linalg.norm(along, axis=1)
    scores = np.divide(near, length * total, out=np.zeros(rows), where=length > 0)
    return scores, (carried**2).sum(1) / (strongest**2).sum()


def _bounds(batch: Batch, article: int) -> tuple[int, int]:
    """The candidates of an article."""
    first, last = batch.articles[article : article + 2]
    return int(batch.offsets[first]), int(batch.offsets[last])


def _widened(vectors: Vectors, rows: Int64) -> Scores:
    return np.asarray(vectors.entities[rows].view(np.float16), np.float64)


def _vectors(batch: Batch, kb: KB) -> Vectors:
    """The vectors that the recipe chooses."""
    wanted = batch.settings.neural.themes_from
    if wanted == "any":
        wanted = "walk" if has_vectors(kb, "walk") else "text"
    return kb.walk_vectors if wanted == "walk" else kb.text_vectors
