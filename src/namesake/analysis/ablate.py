"""What makes the links good: IScore over each kind of words and each context, as the paper's Tables 6 and 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from namesake.analysis.corpus import Corpus
from namesake.articles.rejects import Rejects
from namesake.evaluation.gold import GoldRow, in_split, read_gold
from namesake.evaluation.measures.tables import Row
from namesake.evaluation.paper import ablation
from namesake.evaluation.reports.report import Report
from namesake.files.several import several
from namesake.kb.store import KB
from namesake.kb.vectors.stored import has_vectors
from namesake.recipe import Recipe


def ablate(
    articles: str | Path,
    gold: str | Path,
    kbs: KB | str | Path | Sequence[KB | str | Path],
    *,
    split: str | None = None,
    rejects: Rejects | None = None,
) -> Report:
    """Measure IScore over each kind of words and each context.

    Args:
        articles: a file of articles.
        gold: a file with `articleID`, `name`, `gold` (a candidate's index, a QID or null).
        kbs: KBs to compare, such as some that were built with different `words`.
        split: only gold of this split.
        rejects: takes articles that cannot be used; without it, the first of them is an error.
    """
    rows = in_split(read_gold(Path(gold)), split)
    features: list[Row] = []
    context: list[Row] = []
    for number, kb in enumerate(several(kbs)):
        corpus = Corpus(articles, kb, Rejects() if number else rejects)  # the same articles are set aside each time
        label = ablation.NORMALISATION[corpus.kb.manifest.words_how]
        paragraphs = len(corpus.kb.words_p.values) > 0
        features += _measured(corpus, ablation.feature_recipes(paragraphs), rows, label)
        context += _measured(corpus, ablation.context_recipes(has_vectors(corpus.kb, "text")), rows, label)
    return ablation.ablation_report(features, context, [f"{articles} against {gold}."])


def _measured(corpus: Corpus, recipes: Mapping[str, Recipe], gold: list[GoldRow], label: str) -> list[Row]:
    scored = {name: (recipe, corpus.dataset(recipe, gold)) for name, recipe in recipes.items()}
    return ablation.measure(scored, label)
