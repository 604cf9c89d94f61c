"""What a tuning looks like to a reader."""

from collections.abc import Sequence

from namesake.evaluate.report import View
from namesake.evaluate.tune import Trial, Tuned


def weights_view(tuned: Sequence[Tuned], split: str) -> View:
    """The weights each way of tuning found, and their figures where they were found."""
    scorers = [f"{part.scorer} ({part.scale})" for part in tuned[0].recipe.parts]
    rows = [
        [
            each.how,
            *(f"{part.weight:.3g}" for part in each.recipe.parts),
            f"{each.figures[0]:.3f}",
            f"{each.figures[1]:.3f}",
            each.detail,
        ]
        for each in tuned
    ]
    caption = f"Figures on {split}, where the weights were found: expect less elsewhere."
    return View("weights", "Weights found.", ["how", *scorers, "P@1", "MRR", "by"], rows, caption)


def trials_view(trials: Sequence[Trial], title: str, caption: str) -> View:
    """Systems on mentions that their weights have not seen."""
    top = max(trial.p_at_1.value for trial in trials)
    rows = [
        [
            trial.name,
            f"{trial.p_at_1.value:.3f} ± {trial.p_at_1.half_width:.3f}",
            f"{trial.mrr.value:.3f} ± {trial.mrr.half_width:.3f}",
            str(trial.n),
        ]
        for trial in trials
    ]
    best = frozenset((i, 1) for i, trial in enumerate(trials) if trial.p_at_1.value == top)
    return View("trials", title, ["system", "P@1", "MRR", "n"], rows, caption, best)
