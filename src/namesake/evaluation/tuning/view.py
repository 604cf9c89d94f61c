"""What a tuning looks like to a reader."""

from collections.abc import Mapping, Sequence

import numpy as np

from namesake.evaluation.labelled.figures import CONFIDENCE, LINKING, MEAN, mean_defined
from namesake.evaluation.labelled.thresholds import Trade
from namesake.evaluation.measures.bootstrap import Interval
from namesake.evaluation.reports.report import View
from namesake.evaluation.tuning.tune import Trial, Tuned
from namesake.recipe import Part

INTERVALS = "± covers the 95 % bootstrap interval by document."


def weights_view(tuned: Sequence[Tuned], split: str) -> View:
    """The weights that each way of tuning found, a row for each part, and their figures where they were found."""
    recipes = [each.recipe for each in tuned]
    rows = [
        [f"{part.scorer} ({part.scale})", *(f"{recipe.parts[k].weight:.4g}" for recipe in recipes), _remark(part)]
        for k, part in enumerate(recipes[0].parts)
    ]
    if recipes[0].decide is not None:
        rules = [recipe.decide for recipe in recipes if recipe.decide is not None]
        rows.append(["none of them", *(f"{rule.nil:.4g}" for rule in rules), ""])
        if rules[0].alone is not None:
            rows.append(["none of one", *(f"{rule.alone:.4g}" for rule in rules), ""])
        for k, doubt in enumerate(rules[0].parts):
            fixed = "fixed" if doubt.fixed else ""
            rows.append(
                [f"none: {doubt.doubt} ({doubt.scale})", *(f"{rule.parts[k].weight:.4g}" for rule in rules), fixed]
            )
    rows += [[name, *(f"{each.figures[k]:.3f}" for each in tuned), ""] for k, name in enumerate(("P@1", "MRR"))]
    caption = f"P@1 and MRR on {split}, where the weights were found: expect less elsewhere. " + "; ".join(
        f"{each.how}: {each.detail}" for each in tuned
    )
    header = ["part (scale)", *(each.how for each in tuned), ""]
    return View("weights", "Weights found.", header, rows, caption + ".", words=frozenset({0, len(header) - 1}))


def _remark(part: Part) -> str:
    rivals = " and no ".join(part.stands_in_for)
    return ", ".join([f"where there is no {rivals}"] * bool(rivals) + ["fixed"] * part.fixed)


def trials_view(trials: Sequence[Trial], title: str, caption: str) -> View:
    """Systems on mentions that their weights have not seen."""
    top = max(trial.p_at_1.value for trial in trials)
    nil = any(trial.with_nil is not None for trial in trials)
    rows = [
        [trial.name, _figure(trial.p_at_1), _figure(trial.mrr), str(trial.n)]
        + ([_figure(trial.with_nil), str(trial.of)] if nil else [])
        for trial in trials
    ]
    best = frozenset((i, 1) for i, trial in enumerate(trials) if trial.p_at_1.value == top)
    header = ["system", "P@1", "MRR", "n"] + (["accuracy with NIL", "of"] if nil else [])
    return View("trials", title, header, rows, caption, best)


def _figure(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.value:.3f} ± {interval.half_width:.3f}"


def corpora_view(
    names: Sequence[str], seen: Sequence[Mapping[str, float]], unseen: Sequence[Mapping[str, float]], without: str
) -> View:
    """Figures on labelled text by corpus: with the weights that were found, and with weights that have not seen it."""
    metrics = (*LINKING, CONFIDENCE[-1])
    both = [
        [*(row[metric] for metric in metrics), *(other[metric] for metric in metrics)]
        for row, other in zip(seen, unseen, strict=True)
    ]
    rows = [[name, *map(_short, values)] for name, values in zip(names, both, strict=True)]
    if len(rows) > 1:
        rows.append([MEAN, *map(_short, mean_defined(np.array(both)).tolist())])
    letters = ("P", "R", "F1", CONFIDENCE[-1])
    header = ["corpus", *letters, *(f"new {letter}" for letter in letters)]
    caption = f"On the right (new) each corpus is answered with weights fitted on {without}: expect that elsewhere."
    return View("corpora", "What the weights are worth.", header, rows, caption)


def thresholds_view(thresholds: Mapping[str, float], trade: Trade) -> View:
    """Calibrated thresholds, with recall and coverage there on text that the weights have not seen."""
    rows = []
    for name, threshold in thresholds.items():
        at = trade.at(threshold)
        if at is not None:
            figures = (trade.precision[at], trade.recall[at], trade.coverage[at])
            rows.append([name, str(threshold), *map(_number, figures)])
    header = ["", "threshold", "precision", "recall", "coverage"]
    caption = "Over all corpora as one, from answers by weights that have not seen them."
    return View("thresholds", "Thresholds for so many right answers of 100.", header, rows, caption)


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def _short(value: float) -> str:
    """Three digits in four letters, so that the table fits a terminal."""
    return _number(value).removeprefix("0")
