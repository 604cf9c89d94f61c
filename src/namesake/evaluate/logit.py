"""A log-linear composite fitted to gold: the conditional logit over a mention's candidates.

P(e | m) = exp(Σ_k β_k x_k(e)) / Σ_{e' ∈ E_m} exp(Σ_k β_k x_k(e')), fitted by maximum likelihood with an L2 penalty
and β ≥ 0: every part is evidence for a candidate, so none may count against it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from namesake.errors import NamesakeError
from namesake.evaluate.gold import Dataset
from namesake.evaluate.grid import scaled_parts
from namesake.rank import FloatArray, IntArray
from namesake.recipe import Recipe

PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True)
class Problem:
    """What the fit sees: parts of every candidate (in units of their spread within mentions) and who is right."""

    x: FloatArray
    spread: FloatArray
    offsets: IntArray
    gold: IntArray

    @classmethod
    def of(cls, recipe: Recipe, data: Dataset) -> "Problem":
        """The answerable mentions of a data set, seen through a recipe's parts."""
        if not data.answerable.all():
            raise NamesakeError("weights are fitted on answerable mentions; some have no gold candidate")
        x = np.column_stack(scaled_parts(recipe, data))
        size = np.diff(data.offsets)
        centre = np.add.reduceat(x, data.offsets[:-1], axis=0) / size[:, None]
        spread = np.sqrt(((x - np.repeat(centre, size, axis=0)) ** 2).mean(axis=0))
        spread[spread == 0] = 1.0  # a part that tells no candidates apart: its weight stays 0
        return cls(x / spread, spread, data.offsets, data.gold)

    def log_likelihood(self, beta: FloatArray) -> FloatArray:
        """log P(gold | m) of each mention."""
        return self._log_probability(beta)[self.gold]

    def fit(self, penalty: float) -> FloatArray:
        """The weights that maximise the penalised likelihood, in units of the spread."""
        found = minimize(
            self._loss,
            np.full(self.x.shape[1], 0.1),
            (penalty,),
            "L-BFGS-B",
            True,
            bounds=[(0, None)] * self.x.shape[1],
        )
        weights: FloatArray = np.asarray(found.x, np.float64)
        return weights

    def _loss(self, beta: FloatArray, penalty: float) -> tuple[float, FloatArray]:
        """Penalised negative log-likelihood and its gradient."""
        log_p = self._log_probability(beta)
        gradient = self.x.T @ np.exp(log_p) - self.x[self.gold].sum(axis=0) + penalty * beta
        return float(-log_p[self.gold].sum() + penalty * (beta @ beta) / 2), gradient

    def _log_probability(self, beta: FloatArray) -> FloatArray:
        size, score = np.diff(self.offsets), self.x @ beta
        score = score - np.repeat(np.maximum.reduceat(score, self.offsets[:-1]), size)
        total = np.add.reduceat(np.exp(score), self.offsets[:-1])
        log_probability: FloatArray = score - np.repeat(np.log(total), size)
        return log_probability


def fit(recipe: Recipe, data: Dataset, folds: int = 5, seed: int = 0) -> tuple[FloatArray, float]:
    """Weights of a recipe's parts fitted to a data set, and the penalty that folds by document chose."""
    problem = Problem.of(recipe, data)
    fold = fold_of(data.documents, folds, seed)
    held_out = dict.fromkeys(PENALTIES, 0.0)
    for number in range(folds):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        if not len(inside) or not len(outside):
            continue
        learn, check = Problem.of(recipe, data.take(inside.tolist())), Problem.of(recipe, data.take(outside.tolist()))
        for penalty in PENALTIES:
            beta = learn.fit(penalty) / learn.spread * check.spread
            held_out[penalty] += float(check.log_likelihood(beta).sum())
    penalty = max(held_out, key=lambda p: (held_out[p], p))
    return problem.fit(penalty) / problem.spread, penalty


def fold_of(documents: IntArray, folds: int, seed: int) -> IntArray:
    """A fold for each mention; the mentions of a document share theirs, and folds have equally many documents."""
    count = int(documents.max()) + 1
    shuffled = np.random.default_rng(seed).permutation(count)
    return (shuffled % folds)[documents]
