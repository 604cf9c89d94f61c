"""Similarity of the vectors of text and entity (CSE, NCSE), and likelihood of the entity's title (mGENRE).

The KB stores the vectors of entities (`namesake kb embed`); texts are encoded while linking. A text or an entity
without a vector counts -1, the lowest cosine.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from namesake.kb.vectors.stored import has_vectors
from namesake.scorers.evidence_shown import Candidate, Match, Page, Source, overlapping_sentences, row_of
from namesake.scorers.registry import Need, Scores, scorer

if TYPE_CHECKING:
    from namesake.arrays import Int64
    from namesake.batch import Batch
    from namesake.encoders import Encoder
    from namesake.encoders.mgenre import MGenre
    from namesake.kb.store import KB


TEXT_VECTORS = Need("vectors of the KB's texts (`namesake kb embed`)", lambda kb: has_vectors(kb, "text"), refused=True)
_LOADING = threading.Lock()
SHOWN = 160
"""Characters of a sentence that an explanation shows."""


# explanations
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


# scores
@scorer("CSE", needs=TEXT_VECTORS, explain=lambda one: nearest_sentence(one, range(len(one.reading.page.sentences))))
def cse(batch: Batch, kb: KB) -> Scores:
    """cos(ε(A), ε(e)): the article and the entity's first paragraph, else its description and values; -1 if unknown."""
    used = np.flatnonzero(np.diff(batch.articles))
    place = np.zeros(len(batch.articles), np.int64)
    place[used] = np.arange(len(used))
    return _compared(batch, kb, batch.texts.take(used).to_pylist(), place[batch.article])


@scorer("NCSE", needs=TEXT_VECTORS, explain=lambda one: nearest_sentence(one, one.reading.sentences))
def ncse(batch: Batch, kb: KB) -> Scores:
    """CSE over the sentences that contain a span of the mention."""
    texts: dict[str, int] = {}
    of_mention = [texts.setdefault(text, len(texts)) for text in narrow_texts(batch)]
    return _compared(batch, kb, list(texts), np.array(of_mention, np.int64))


def _compared(batch: Batch, kb: KB, texts: list[str], of_mention: Int64) -> Scores:
    """The cosine of each candidate with its mention's text."""
    from namesake.kernels.vectors import cosines

    of_candidate = np.repeat(of_mention, np.diff(batch.offsets))
    if not len(of_candidate):
        return np.zeros(0)
    scores: Scores = cosines(encoder(kb).encode(texts), of_candidate, batch.rows, kb.text_vectors.entities)
    return scores


def encoder(kb: KB) -> Encoder:
    """The encoder that made the KB's vectors, loaded once for all threads."""
    with _LOADING:
        return _loaded(kb)


@lru_cache(maxsize=4)
def _loaded(kb: KB) -> Encoder:
    from namesake.kb.vectors.make import encoder_of

    return encoder_of(kb)


def narrow_texts(batch: Batch, mentions: Iterable[int] | None = None) -> Iterator[str]:
    """For each mention, or each of some ascending ones, the sentences that contain one of its spans."""
    words = batch.words
    asked = range(len(batch.names)) if mentions is None else mentions
    for article, some in groupby(asked, lambda mention: int(batch.article[mention])):
        raw = batch.texts[article].as_py().encode()
        starts = row_of(words.sentence_indptr, words.sentence, article)
        for mention in some:
            kept = overlapping_sentences(starts, row_of(batch.span_indptr, batch.byte_spans, mention))
            parts = (raw[starts[at] : starts[at + 1] if at + 1 < len(starts) else None] for at in sorted(kept))
            yield b" ".join(part.strip() for part in parts).decode("utf-8", "replace")


MODEL = "NAMESAKE_MGENRE"
"""The environment variable that names the model of mGENRE: a folder, or facebook/mgenre-wiki."""
SEQUENCES = Need(
    f"the extra neural and a model (set {MODEL} to a folder or to facebook/mgenre-wiki)",
    lambda kb: bool(os.environ.get(MODEL)) and all(map(find_spec, ("torch", "transformers"))),
    refused=True,
)


def scored_title(candidate: Candidate) -> Iterator[Match]:
    """The title whose likelihood is the score."""
    title = title_of(candidate.kb, candidate.row)
    yield Match(sources=[Source("title", value=title or "none: an entity without a page counts 0")])


@scorer("mGENRE", needs=SEQUENCES, explain=scored_title, aliases=("mGENRE_t128",))
def mgenre(batch: Batch, kb: KB) -> Scores:
    """Likelihood of the candidate's title given the text around the mention, summed over its spans; 0 without one."""
    model, settings = loaded(os.environ.get(MODEL, "")), batch.settings.neural
    scores = np.zeros(len(batch.rows))
    asked, questions = [], []
    texts: dict[int, str] = {}
    for mention in range(len(batch.names)):
        begin, end = (int(at) for at in batch.offsets[mention : mention + 2])
        titles = {at: title for at in range(begin, end) if (title := title_of(kb, int(batch.rows[at])))}
        if not titles:
            continue
        article = int(batch.article[mention])
        text = texts.setdefault(article, batch.texts[article].as_py())
        for start, stop in batch.spans[batch.span_indptr[mention] : batch.span_indptr[mention + 1]].tolist():
            questions.append(model.question(text, (start, stop), list(titles.values()), settings.tokens))
            asked.append(list(titles))
    for places, likelihoods in zip(asked, model.answers(questions, settings.beam), strict=True):
        scores[places] += likelihoods
    return scores


def title_of(kb: KB, row: int) -> str:
    """The title in mGENRE's form, such as `Tim Wheeler >> en`; empty for an entity without a page."""
    title = kb.titles[row] if row >= 0 else ""
    return f"{title} >> {kb.manifest.language}" if title else ""


def loaded(where: str) -> MGenre:
    """The model with this name or in this folder, loaded once for all threads."""
    with _LOADING:
        return _load(where)


@lru_cache(maxsize=1)
def _load(where: str) -> MGenre:
    from namesake.encoders.mgenre import MGenre
    from namesake.encoders.transformer import load_model

    return MGenre(load_model(where, "seq2seq"))
