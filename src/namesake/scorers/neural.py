"""Scorers by vectors and models: similarity of text and entity (CSE, NCSE), themes (Eigen), titles (mGENRE).

The KB stores the vectors of entities (`namesake kb embed`, `namesake kb walk`); texts are encoded while linking. For
CSE and NCSE, a text or an entity without a vector counts -1, the lowest cosine.

Eigenthemes: the right candidates lie near the few dimensions that an article's candidates have in common. The rows of a
matrix are the vectors of all candidates of an article, each times its weight. The k strongest right singular vectors v
with their values σ are the theme, and score(e) = ‖(σ_i e·v_i / Σσ)_i‖ / ‖e‖, without centring.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from namesake.kb.vectors.stored import KINDS, has_vectors
from namesake.scorers.evidence_shown import Candidate, Match, Page, Reading, Source, row_of
from namesake.scorers.popularity import sitelinks
from namesake.scorers.registry import Need, Scores, Signal, scorer
from namesake.scorers.word_overlap import iscore

if TYPE_CHECKING:
    from namesake.arrays import Int64
    from namesake.batch import Batch
    from namesake.encoders import Encoder
    from namesake.kb.store import KB


TEXT_VECTORS = Need("vectors of the KB's texts (`namesake kb embed`)", lambda kb: has_vectors(kb, "text"), refused=True)
VECTORS = Need(
    "vectors of the KB's graph (`namesake kb walk`) or texts (`namesake kb embed`)",
    lambda kb: any(has_vectors(kb, kind) for kind in KINDS),
    refused=True,
)
MODEL = "NAMESAKE_MGENRE"
"""The environment variable that names the model of mGENRE: a folder, or facebook/mgenre-wiki."""
SEQUENCES = Need(
    f"the extra neural and a model (set {MODEL} to a folder or to facebook/mgenre-wiki)",
    lambda kb: bool(os.environ.get(MODEL)) and all(map(find_spec, ("torch", "transformers"))),
    refused=True,
)
SHOWN, CARRIERS = 160, 5  # characters of a sentence, and candidates of an article, that an explanation shows
_LOADING = threading.Lock()


def encoder(kb: KB) -> Encoder:
    """The encoder that made the KB's vectors, loaded once for all threads."""
    from namesake.kb.vectors.make import encoder_of

    with _LOADING:
        return encoder_of(kb)


# similarity of text and entity
def nearest_sentence(candidate: Candidate, among: Sequence[int]) -> Iterator[Match]:
    """The sentence with the highest cosine among some sentences of the article."""
    from namesake.kernels.vectors import cosines

    if not len(among):
        return
    page, kb = candidate.reading.page, candidate.kb
    spans, vectors = page.once(_sentences)
    rows = np.full(len(among), candidate.row)
    found = cosines(vectors, np.array(among), rows, kb.text_vectors.entities)
    best = int(found.argmax())
    if found[best] > -1:
        start, end = spans[among[best]]
        shown = " ".join(page.text[start:end].split())[:SHOWN]
        yield Match(spans=[(start, end)], sources=[Source("sentence", value=f"{shown} ({found[best]:.2f})")])


def _sentences(page: Page) -> tuple[list[tuple[int, int]], Any]:
    """The spans of an article's sentences, in characters, and their vectors."""
    spans = list(pairwise([*page.characters[page.sentences].tolist(), len(page.text)]))
    return spans, encoder(page.batch.kb).encode([page.text[start:end] for start, end in spans])


@scorer("CSE", needs=TEXT_VECTORS, explain=lambda one: nearest_sentence(one, range(len(one.reading.page.sentences))))
def cse(batch: Batch, kb: KB) -> Scores:
    """cos(ε(A), ε(e)): the article and the entity's first paragraph, else its description and values; -1 if unknown."""
    used = np.flatnonzero(np.diff(batch.articles))
    return _compared(batch, kb, batch.texts.take(used).to_pylist(), np.searchsorted(used, batch.article))


@scorer("NCSE", needs=TEXT_VECTORS, explain=lambda one: nearest_sentence(one, one.reading.sentences))
def ncse(batch: Batch, kb: KB) -> Scores:
    """CSE over the sentences that contain a span of the mention."""
    texts: dict[str, int] = {}
    of_mention = [texts.setdefault(text, len(texts)) for text in _narrow_texts(batch)]
    return _compared(batch, kb, list(texts), np.array(of_mention, np.int64))


def _narrow_texts(batch: Batch) -> Iterator[str]:
    """For each mention, the sentences that contain one of its spans."""
    for article, mentions in groupby(range(len(batch.mentions)), lambda mention: int(batch.article[mention])):
        page = Page(batch, article)
        raw, ends = page.text.encode(), [*page.sentences[1:], None]
        for mention in mentions:
            parts = (raw[page.sentences[at] : ends[at]] for at in Reading(page, mention).sentences)
            yield b" ".join(part.strip() for part in parts).decode("utf-8", "replace")


def _compared(batch: Batch, kb: KB, texts: list[str], of_mention: Int64) -> Scores:
    """The cosine of each candidate with its mention's text."""
    from namesake.kernels.vectors import cosines

    of_candidate = np.repeat(of_mention, np.diff(batch.offsets))
    if not len(of_candidate):
        return np.zeros(0)
    scores: Scores = cosines(encoder(kb).encode(texts), of_candidate, batch.rows, kb.text_vectors.entities)
    return scores


# themes of articles
def _theme_shares(page: Page, weights: Signal) -> list[Match]:
    """The candidates of an article with the largest shares of the theme."""
    kb, (rows, _, _, shares) = page.batch.kb, _theme_of(page.batch, weights(page.batch), page.article)
    largest = [at for at in np.lexsort((rows, -shares))[:CARRIERS] if shares[at] > 0]
    shown = (f"{kb.label(rows[at])} (Q{kb.qids[rows[at]]}), {100 * shares[at]:.0f} %" for at in largest)
    return [Match(sources=[Source("theme", value=text)]) for text in shown]


@scorer("Eigen", needs=VECTORS, explain=lambda one: one.reading.page.once(_theme_shares, sitelinks))
def eigen(batch: Batch) -> Scores:
    """Eigenthemes: nearness to the few dimensions that the article's candidates have in common, weighted by NS."""
    return near_the_theme(batch, sitelinks(batch))


@scorer("Eigen_IScore", needs=VECTORS, explain=lambda one: one.reading.page.once(_theme_shares, iscore))
def eigen_iscore(batch: Batch) -> Scores:
    """Eigen with the candidates weighted by IScore."""
    return near_the_theme(batch, iscore(batch))


def near_the_theme(batch: Batch, weights: Scores) -> Scores:
    """The score of every candidate, article by article; 0 for one without a vector."""
    articles = range(len(batch.articles) - 1)
    scores = [np.append(near, 0.0)[place] for _, place, near, _ in (_theme_of(batch, weights, one) for one in articles)]
    return np.concatenate([np.zeros(0), *scores])


def _theme_of(batch: Batch, weights: Scores, article: int) -> tuple[Int64, Int64, Scores, Scores]:
    """The rows and places of an article's candidates, as `distinct` returns them, and the rows' scores and shares."""
    first, last = batch.offsets[batch.articles[article : article + 2]]
    rows, place, own = distinct(batch.rows[first:last], weights[first:last])
    kb, wanted = batch.kb, batch.settings.neural.themes_from
    is_walk = wanted == "walk" or (wanted == "any" and has_vectors(kb, "walk"))
    vectors = kb.walk_vectors if is_walk else kb.text_vectors
    held = np.asarray(vectors.entities[rows].view(np.float16), np.float64)
    return rows, place, *theme(held, own, batch.settings.neural.themes)


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


# likelihood of titles
def scored_title(candidate: Candidate) -> Iterator[Match]:
    """The title whose likelihood is the score."""
    title = title_of(candidate.kb, candidate.row)
    yield Match(sources=[Source("title", value=title or "none: an entity without a page counts 0")])


@scorer("mGENRE", needs=SEQUENCES, explain=scored_title, aliases=("mGENRE_t128",))
def mgenre(batch: Batch, kb: KB) -> Scores:
    """Likelihood of the candidate's title given the text around the mention, summed over its spans; 0 without one."""
    from namesake.encoders.mgenre import load_mgenre

    with _LOADING:
        model = load_mgenre(os.environ.get(MODEL, ""))
    scores, settings = np.zeros(len(batch.rows)), batch.settings.neural
    asked, questions = [], []
    for mention in range(len(batch.mentions)):
        begin, end = (int(at) for at in batch.offsets[mention : mention + 2])
        titles = {at: title for at in range(begin, end) if (title := title_of(kb, int(batch.rows[at])))}
        text = batch.texts[int(batch.article[mention])].as_py() if titles else ""
        for start, stop in row_of(batch.placed.span_indptr, batch.placed.spans, mention) if titles else ():
            questions.append(model.question(text, (start, stop), list(titles.values()), settings.tokens))
            asked.append(list(titles))
    for places, likelihoods in zip(asked, model.answers(questions, settings.beam), strict=True):
        scores[places] += likelihoods
    return scores


def title_of(kb: KB, row: int) -> str:
    """The title in mGENRE's form, such as `Tim Wheeler >> en`; empty for an entity without a page."""
    title = kb.titles[row] if row >= 0 else ""
    return f"{title} >> {kb.manifest.language}" if title else ""
