"""Which threshold to take: what each is worth on labelled text, and the one that is precise enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from namesake.analysis.labelled import link_labelled
from namesake.errors import NamesakeError
from namesake.evaluation.labelled.judged import Outcome
from namesake.evaluation.labelled.thresholds import PERCENTS, Trade, fewest, intervals, thresholds
from namesake.evaluation.measures.bootstrap import SAMPLES, SEED
from namesake.evaluation.reports.report import View
from namesake.files.several import Paths
from namesake.kb.store import KB
from namesake.recipe import Recipe

STEPS = tuple(k / 20 for k in range(20))
"""Thresholds that the table shows beside the suggested one."""


@dataclass(frozen=True)
class Calibration:
    """What thresholds are worth, and the one that reaches the wanted precision."""

    recipe: Recipe
    """The recipe, with `[decide.thresholds]` as found here."""
    trade: Trade
    suggested: float | None
    """None where no threshold is precise enough."""
    view: View
    lines: Sequence[str]
    """What to know of it, the suggestion first."""


def threshold(
    labelled: Paths,
    kb: KB | str | Path,
    *,
    target_precision: float = 0.95,
    recipe: Recipe | str | Path = "default",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Calibration:
    """Find the lowest threshold at which a recipe's answers are precise enough on labelled text.

    Args:
        labelled: files of raw text with labels; all of them count as one.
        kb: the KB to link them with.
        target_precision: the share of the answers that must be right.
        recipe: a recipe with a `[decide]` table, a shipped recipe's name or a `.toml` file.
        samples: how many bootstrap samples.
        seed: of the bootstrap.
    """
    if not 0 < target_precision <= 1:
        raise NamesakeError(f"`target_precision={target_precision:g}`: must be above 0 and at most 1, such as 0.95")
    system = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
    if system.decide is None:
        raise NamesakeError(f"recipe {system.name} always answers: it has no [decide] table, so no threshold")
    linked = link_labelled(labelled, kb, system)
    outcomes = [corpus.outcome for corpus in linked.corpora]
    trade = Trade.of(outcomes)
    entry = trade.reaching(target_precision)
    suggested = None if entry is None else trade.rounded(entry)
    percents = sorted({*PERCENTS, *_whole_percent(target_precision)})
    calibrated = system.replace(decide=system.decide.replace(thresholds=thresholds(trade, percents)))
    lines = [_suggestion(outcomes, trade, target_precision, suggested, samples, seed), *linked.remarks]
    return Calibration(calibrated, trade, suggested, trade_view(trade, suggested), lines)


def trade_view(trade: Trade, suggested: float | None) -> View:
    """Precision, recall, F1 and coverage at round thresholds and at the suggested one."""
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
    caption = (
        "Coverage is the share of the names found that are answered. Judged are names whose labels tell who it is."
    )
    return View("thresholds", "What thresholds are worth.", header, rows, caption, frozenset(best))


def _whole_percent(share: float) -> list[int]:
    """A share in percent, where it is a whole number that a threshold can be called by."""
    percent = round(share * 100)
    return [percent] if percent < 100 and abs(share * 100 - percent) < 1e-9 else []


def _suggestion(
    outcomes: Sequence[Outcome], trade: Trade, target: float, suggested: float | None, samples: int, seed: int
) -> str:
    if suggested is not None:
        precision, recall = intervals(outcomes, suggested, samples, seed)
        figures = [
            f"{name} {figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"
            for name, figure in (("precision", precision), ("recall", recall))
        ]
        return f"threshold {suggested}: {', '.join(figures)}; use it with `threshold={suggested}`"
    needed = fewest(target)
    best = trade.best(needed)
    if best is None:
        most = int(trade.answers.max(initial=0))
        return f"to tell precision {target:g} takes {needed:,} answers, and there are {most:,}: label more text"
    return (
        f"no threshold gives precision {target:g} on this text: the most over {needed:,} answers or more is "
        f"{trade.precision[best]:.3f}, at threshold {trade.rounded(best)}"
    )
