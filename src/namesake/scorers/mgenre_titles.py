"""mGENRE: the likelihood of the candidate's title under a sequence model, given the text around the name.

The environment variable NAMESAKE_MGENRE names the model: a folder, or facebook/mgenre-wiki.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from namesake.scorers.evidence_shown import Candidate, Match, Source
from namesake.scorers.registry import Need, Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.encoders.mgenre import MGenre
    from namesake.kb.store import KB

MODEL = "NAMESAKE_MGENRE"

_LOADING = threading.Lock()


def _has_model(kb: KB) -> bool:
    return bool(os.environ.get(MODEL)) and all(map(find_spec, ("torch", "transformers")))


SEQUENCES = Need(
    f"the extra neural and a model (set {MODEL} to a folder or to facebook/mgenre-wiki)", _has_model, refused=True
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
    from namesake.encoders.models import load_model

    return MGenre(load_model(where, "seq2seq"))
