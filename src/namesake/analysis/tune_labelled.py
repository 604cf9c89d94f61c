"""The weights of a recipe from labelled text, what they are worth on other text, and thresholds to go with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from namesake.analysis.labelled import link_labelled
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset
from namesake.evaluation.labelled import figures
from namesake.evaluation.labelled.judged import Outcome
from namesake.evaluation.labelled.thresholds import Trade, thresholds
from namesake.evaluation.measures.methods import from_recipe
from namesake.evaluation.reports.report import View
from namesake.evaluation.tuning.labelled import FOLDS, PENALTY, Sample, fitted, held_out
from namesake.evaluation.tuning.tune import Tuned, answerable
from namesake.evaluation.tuning.view import corpora_view, thresholds_view, weights_view
from namesake.files.several import Paths
from namesake.kb.store import KB
from namesake.recipe import Recipe


def tune_labelled(
    labelled: Paths,
    kb: KB | str | Path | None,
    recipe: Recipe,
    more: Sequence[Dataset],
    name: str | None,
) -> tuple[Recipe, list[View], int]:
    """The recipe with weights fitted on labelled text and more data sets, and with thresholds; and tables about it.

    The number is how many mentions the weights were fitted on.

    Thresholds come from answers to text that the weights have not seen.
    """
    linked = link_labelled(labelled, kb, recipe, scores=True)
    samples = [Sample.of(corpus.judged, corpus.links) for corpus in linked.corpora]
    found = fitted(recipe, samples, more)
    unseen = held_out(recipe, samples, more)
    if found.decide is not None:
        found = found.replace(decide=found.decide.replace(thresholds=thresholds(Trade.of(unseen))))
    mentions = sum(len(sample.learnable(recipe)) for sample in samples) + sum(len(each.gold) for each in more)
    tuned = _named(found, recipe, samples, more, name or f"{recipe.name}-fit", mentions)
    without = "the others" if len(samples) > 1 else f"the rest of {FOLDS} folds by document"
    at = 0.0 if found.decide is None else found.decide.threshold
    seen = [sample.outcome(found) for sample in samples]
    views = [
        weights_view([tuned], "all labelled text"),
        corpora_view([outcome.judged.name for outcome in seen], _plain(seen, at), _plain(unseen, at), without),
    ]
    if found.decide is not None:
        views.append(thresholds_view(found.decide.thresholds, Trade.of(unseen)))
    return tuned.recipe, views, mentions


def _named(
    found: Recipe, given: Recipe, samples: Sequence[Sample], more: Sequence[Dataset], name: str, mentions: int
) -> Tuned:
    """The fitted recipe under its name, with its figures where it was fitted."""
    data = [*(sample.data for sample in samples), *more]
    told = f"{given.name} with weights by fit on {mentions} mentions."
    found = found.replace(name=name, description=given.description if name == given.name else told)
    answers = [from_recipe(found, answerable(each), name) for each in data if each.answerable.any()]
    if not answers:
        raise NamesakeError("no mention has its gold entity among its candidates: there is nothing to tune on")
    hits = np.concatenate([each.hit for each in answers])
    reciprocal = np.concatenate([each.reciprocal_rank for each in answers if each.reciprocal_rank is not None])
    return Tuned(found, "fit", f"L2 penalty {PENALTY:g}", (float(hits.mean()), float(reciprocal.mean())))


def _plain(outcomes: Sequence[Outcome], threshold: float) -> list[dict[str, float]]:
    return [figures.plain(outcome, threshold) for outcome in outcomes]
