"""How well are people found and linked in labelled raw text, from end to end?"""

from __future__ import annotations

from pathlib import Path

from namesake.analysis.labelled import are_names, link_labelled
from namesake.evaluation.labelled import figures
from namesake.evaluation.labelled.misses import misses, wrong_links
from namesake.evaluation.reports.labelled import LabelledFigures, labelled_report
from namesake.evaluation.reports.report import Report
from namesake.files.several import Paths
from namesake.kb.store import KB
from namesake.recipe import Recipe
from namesake.text import sentences


def evaluate_labelled(
    paths: Paths,
    kb: KB | str | Path | None,
    recipe: Recipe | str | Path,
    threshold: float | str | None,
    samples: int,
    seed: int,
) -> Report:
    """Link labelled files with a recipe, and measure: see `analysis.evaluate.evaluate`."""
    system = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
    system = system if threshold is None else system.at(threshold)
    labelled = link_labelled(paths, kb, system)
    at = 0.0 if system.decide is None else system.decide.threshold
    outcomes = [corpus.outcome for corpus in labelled.corpora]
    missed, shares = [], []
    for number, outcome in enumerate(outcomes):
        named = are_names(outcome.judged, labelled.kb)
        here = misses(outcome, at, named, lambda text: sentences(text, labelled.kb.language))
        shares += figures.miss_rows(outcome, here, system.name, samples, seed + number)
        missed += here
    found = LabelledFigures(
        figures.figures(outcomes, at, system.name, samples, seed),
        missed,
        shares,
        {outcome.judged.name: wrong_links(outcome, at) for outcome in outcomes},
        figures.curves(outcomes),
        {outcome.judged.name: int(outcome.judged.known.sum()) for outcome in outcomes},
    )
    documents = sum(len(outcome.judged.corpus.documents) for outcome in outcomes)
    answered = "always answering" if system.decide is None else f"answering from confidence {at:g}"
    about = [
        f"{documents:,} labelled documents, linked with {labelled.kb.path} by {system.name}, {answered}.",
        f"Intervals: 95 %, {samples:,} bootstrap samples by document, seed {seed}.",
    ]
    return labelled_report(found, about, labelled.remarks)
