"""Tables of tuned weights and of thresholds."""

from collections.abc import Mapping, Sequence

import numpy as np

from namesake.evaluation.cross_validation import Trial, Tuned
from namesake.evaluation.reports.report import View
from namesake.evaluation.reports.text_report import INTERVALS
from namesake.evaluation.text_figures import CONFIDENCE, LINKING, MEAN, mean_defined
from namesake.evaluation.thresholds import Trade
from namesake.recipe import Part

STEPS = tuple(k / 20 for k in range(20))
"""Thresholds that the table of `namesake eval threshold` shows beside the suggested one."""


def weights_view(tuned: Sequence[Tuned], split: str) -> View:
    """Return the weights of each way of tuning, one row per part, and the figures on the tuning data."""
    recipes = [each.recipe for each in tuned]
    rows = [
        [f"{part.scorer} ({part.scale})", *(f"{recipe.parts[k].weight:.4g}" for recipe in recipes), _remark(part)]
        for k, part in enumerate(recipes[0].parts)
    ]
    rules = [recipe.decide for recipe in recipes if recipe.decide is not None]
    if rules:
        rows.append(["NIL", *(f"{rule.nil:.4g}" for rule in rules), ""])
        if rules[0].alone is not None:
            rows.append(["NIL, one candidate", *(f"{rule.alone:.4g}" for rule in rules), ""])
        for k, part in enumerate(rules[0].parts):
            weights = [f"{rule.parts[k].weight:.4g}" for rule in rules]
            rows.append([f"NIL: {part.doubt} ({part.scale})", *weights, "fixed" if part.fixed else ""])
    rows += [[name, *(f"{each.figures[k]:.3f}" for each in tuned), ""] for k, name in enumerate(("P@1", "MRR"))]
    details = "; ".join(f"{each.how}: {each.detail}" for each in tuned)
    caption = f"P@1 and MRR on {split}, where the weights were found: expect less elsewhere. {details}."
    header = ["part (scale)", *(each.how for each in tuned), ""]
    return View("weights", "Weights found.", header, rows, caption, words=frozenset({0, len(header) - 1}))


def _remark(part: Part) -> str:
    rivals = " and no ".join(part.stands_in_for)
    return ", ".join([f"if there is no {rivals}"] * bool(rivals) + ["fixed"] * part.fixed)


def trials_view(trials: Sequence[Trial], title: str, caption: str) -> View:
    """Return the figures of systems on mentions that their weights were not tuned on."""
    top = max(trial.p_at_1.value for trial in trials)
    nil = any(trial.with_nil is not None for trial in trials)
    rows = [
        [trial.name, str(trial.p_at_1), str(trial.mrr), str(trial.n)]
        + ([str(trial.with_nil or ""), str(trial.of)] if nil else [])
        for trial in trials
    ]
    best = frozenset((i, 1) for i, trial in enumerate(trials) if trial.p_at_1.value == top)
    header = ["system", "P@1", "MRR", "n"] + (["accuracy with NIL", "of"] if nil else [])
    return View("trials", title, header, rows, f"{caption} {INTERVALS}", best)


def corpora_view(
    names: Sequence[str], seen: Sequence[Mapping[str, float]], unseen: Sequence[Mapping[str, float]], without: str
) -> View:
    """Return figures by corpus: with the tuned weights, and with weights fitted without the corpus."""
    metrics = (*LINKING, CONFIDENCE[-1])
    both = [[each[metric] for each in pair for metric in metrics] for pair in zip(seen, unseen, strict=True)]
    rows = [[name, *map(_short, values)] for name, values in zip(names, both, strict=True)]
    if len(rows) > 1:
        rows.append([MEAN, *map(_short, mean_defined(np.array(both)).tolist())])
    letters = ("P", "R", "F1", CONFIDENCE[-1])
    header = ["corpus", *letters, *(f"new {letter}" for letter in letters)]
    caption = f"Columns with “new”: each corpus is answered with weights fitted on {without}; expect these elsewhere."
    return View("corpora", "Figures with the weights.", header, rows, caption)


def _short(value: float) -> str:
    """Three digits in four characters, so that the table fits a terminal."""
    return "" if np.isnan(value) else f"{value:.3f}".removeprefix("0")


def thresholds_view(thresholds: Mapping[str, float], trade: Trade) -> View:
    """Return calibrated thresholds, with recall and coverage on text that the weights were not fitted on."""
    rows = []
    for name, threshold in thresholds.items():
        at = trade.at(threshold)
        if at is not None:
            figures = (trade.precision[at], trade.recall[at], trade.coverage[at])
            rows.append([name, str(threshold), *(f"{figure:.3f}" for figure in figures)])
    header = ["", "threshold", "precision", "recall", "coverage"]
    caption = "Over all corpora as one, with weights that were not fitted on them."
    return View("thresholds", "Thresholds by precision in percent.", header, rows, caption)


def trade_view(trade: Trade, suggested: float | None) -> View:
    """Return precision, recall, F1 and coverage at round thresholds and at the suggested one."""
    rows: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for at in sorted({*STEPS, *([] if suggested is None else [suggested])}):
        entry = trade.at(at)
        if at == suggested:
            best |= {(len(rows), column) for column in range(6)}
        figures = ["", "0.000", "", "0.000", "0"]
        if entry is not None:
            shares = (trade.precision, trade.recall, trade.f1, trade.coverage)
            figures = [*(f"{share[entry]:.3f}" for share in shares), f"{trade.answers[entry]:,.0f}"]
        rows.append([str(at), *figures])
    header = ["threshold", "precision", "recall", "F1", "coverage", "answers"]
    caption = "Coverage is the share of the names found that are answered. Names with informative labels are scored."
    return View("thresholds", "Figures by threshold.", header, rows, caption, frozenset(best))
