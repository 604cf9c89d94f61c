"""Weights of a recipe from gold: a log-linear model fitted to it, or the paper's grid search.

The fit is a conditional logit over a mention's alternatives, P(e | m) = exp(s_e) / Σ exp(s_e') with s_e = Σ_k β_k
x_k(e), by maximum likelihood with an L2 penalty. Weights of scorers are at least 0; what `by_kind` adds to them has any
sign. A recipe with a `[decide]` rule has one more alternative, NIL, whose score is the sum of its evidence; without
evidence, the constant n, or n₁ for a single candidate. Such a recipe learns from all mentions with candidates, others
from answerable mentions only. Several data sets may be fitted at once: a part that is absent from one of them, or
inactive there as a substitute, is learnt from the others.

L-BFGS finds the weights in a few hundred steps, in units in which all of them are about equally easy to find.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csc_array, csr_array, vstack

from namesake import rank
from namesake.arrays import Float64, Int64, indptr, take_rows
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset, article_numbers
from namesake.kernels.kinds import PERSON
from namesake.parts import column, scaled_values
from namesake.recipe import Recipe

PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.01)
FOLDS, SHUFFLES = 10, 10
DECIMALS = 4  # of weights
PER_WEIGHT = 10  # labelled mentions; with fewer, weights are hardly better than chance
CONSTANT = "Constant"  # the evidence for NIL that is the same for all mentions
STEP = 0.05
MOST_POINTS = 250_000
CURVATURE = 0.1  # of the loss by score, about p (1 - p): units in which all weights are equally easy to find
MOST_STEPS = 1000  # of L-BFGS
_POINTS_AT_ONCE = 256


@dataclass(frozen=True)
class Problem:
    """The input of the fit: one row per alternative, grouped by mention, and the right one of each mention.

    Columns are the recipe's scaled parts, each followed by its columns for the kinds in `by_kind`, which are 0 for
    candidates of other kinds. A recipe with a `[decide]` rule has more, which are 0 for all rows but NIL: the scaled
    evidence, and the constants for mentions with several candidates and with one.
    """

    x: Any  # a sparse matrix (`csr_array`), since most columns concern few alternatives
    held: Float64  # the contribution of the columns that are not learnt
    offsets: Int64
    gold: Int64
    document: Int64
    weight: Float64
    penalised: Float64  # 1 for weights, 0 for constants
    own: Float64  # the recipe's weights
    lowest: Float64  # the lower bound of each weight: 0 for parts of candidates
    free: Int64  # the columns to learn: those that are not fixed and that differ between alternatives

    @classmethod
    def of(cls, recipe: Recipe, data: Sequence[Dataset]) -> "Problem":
        """Make the problem from data sets."""
        data = [learnable(recipe, each) for each in data]
        blocks = [_alternatives(recipe, each) for each in data]
        x = vstack([block[0] for block in blocks], format="csr")
        offsets = indptr(np.concatenate([block[1] for block in blocks]))
        gold = np.concatenate([block[2] for block in blocks]) + offsets[:-1]
        own, fixed, lowest, penalised = _columns(recipe)
        of_candidates = np.arange(x.shape[1]) < sum(len(part.weights) for part in recipe.parts)
        differs = np.zeros(x.shape[1], np.bool_)
        differs[(x - x[np.repeat(offsets[:-1], np.diff(offsets))]).nonzero()[1]] = True
        right, all_rows = (np.bincount(rows.indices, minlength=x.shape[1]) for rows in (x[gold], x))
        bounded = (right > 0) & (right < all_rows)  # other weights of evidence for NIL would diverge
        learnt = differs & (fixed == 0) & (of_candidates | bounded)
        held, weight, document = x @ np.where(learnt, 0.0, own), np.ones(len(gold)), article_numbers(data)
        return cls(x, held, offsets, gold, document, weight, penalised, own, lowest, np.flatnonzero(learnt))

    def take(self, wanted: Int64) -> "Problem":
        """Return the problem with only some mentions."""
        offsets, rows = take_rows(self.offsets, wanted)
        gold = self.gold[wanted] - self.offsets[:-1][wanted] + offsets[:-1]
        document, weight = self.document[wanted], self.weight[wanted]
        x, held = self.x[rows], self.held[rows]
        return replace(self, x=x, held=held, offsets=offsets, gold=gold, document=document, weight=weight)

    def fit(self, penalty: float, start: Float64 | None = None, steps: int = MOST_STEPS) -> Float64:
        """Return the weights of maximum penalised likelihood, 0 for columns that are not learnt; `start` is a guess."""
        free = self.free
        if not len(free):  # the scores have none of the recipe's parts
            return np.zeros(self.x.shape[1])
        plain = np.where(self.lowest == 0, 0.1, np.where(self.penalised == 1, 0.0, 1.0))
        is_free = np.isin(np.arange(self.x.shape[1]), free)
        starts = [np.where(is_free, each, 0.0) for each in (plain, self.own, start) if each is not None]
        with np.errstate(over="ignore", invalid="ignore"):  # a recipe may have weights of any size
            begin = min(starts, key=lambda each: self.loss(each, penalty)[0])
        size = np.diff(self.offsets)
        columns = self.x[:, free]
        squares = csr_array((columns.data**2, columns.indices, columns.indptr), columns.shape)
        curvature = CURVATURE * np.repeat(self.weight, size) @ squares + penalty * self.penalised[free]
        options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-6}
        return self.minimised(penalty, np.maximum(begin, self.lowest), options, 1 / np.sqrt(curvature + 1e-9))

    def minimised(self, penalty: float, start: Float64, options: dict[str, Any], unit: Any = 1.0) -> Float64:
        """Return the weights that L-BFGS finds, in the given units, from `start`; 0 for columns that are not learnt."""
        free, beta = self.free, np.zeros(len(start))

        def loss(values: Float64) -> tuple[float, Float64]:
            beta[free] = values * unit
            value, gradient = self.loss(beta, penalty)
            return value, gradient[free] * unit

        bounds = [(low, None) for low in self.lowest[free] / unit]
        found = minimize(loss, start[free] / unit, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        beta[free] = found.x * unit
        return beta

    def loss(self, beta: Float64, penalty: float) -> tuple[float, Float64]:
        """Return the penalised negative log-likelihood and its gradient."""
        log_p = self._log_probability(beta)
        shrunk = penalty * self.penalised * beta
        excess = np.exp(log_p) * np.repeat(self.weight, np.diff(self.offsets))
        excess[self.gold] -= self.weight
        gradient = self.x.T @ excess + shrunk
        return float(-(self.weight * log_p[self.gold]).sum() + shrunk @ beta / 2), gradient

    def log_likelihood(self, beta: Float64) -> Float64:
        """Return log P(gold | m) of each mention, times its weight."""
        return self.weight * self._log_probability(beta)[self.gold]

    def _log_probability(self, beta: Float64) -> Float64:
        size, score = np.diff(self.offsets), self.held + self.x @ beta
        score = score - np.repeat(np.maximum.reduceat(score, self.offsets[:-1]), size)
        total = np.add.reduceat(np.exp(score), self.offsets[:-1])
        log_probability: Float64 = score - np.repeat(np.log(total), size)
        return log_probability


def fit(
    recipe: Recipe, data: Sequence[Dataset], folds: int = FOLDS, shuffles: int = SHUFFLES
) -> tuple[Recipe, float, float]:
    """Fit the weights of a recipe, and of its evidence for NIL.

    Fixed parts, and parts that are equal for all candidates, keep the recipe's weights. Returned are also the penalty
    that cross-validation by document selected, and the mean log-likelihood of mentions without their article.
    """
    problem = Problem.of(recipe, data)
    held_out = dict.fromkeys(PENALTIES, 0.0)
    for fold in (fold_of(problem.document, folds, seed) for seed in range(shuffles)):
        for number in np.unique(fold):
            learn, check = problem.take(np.flatnonzero(fold != number)), problem.take(np.flatnonzero(fold == number))
            if not len(learn.gold):
                raise NamesakeError("all mentions are of one document: there are no folds to choose the penalty by")
            beta = None
            for penalty in PENALTIES:
                beta = learn.fit(penalty, beta)
                held_out[penalty] += float(check.log_likelihood(beta).sum())
    penalty = max(held_out, key=lambda p: (held_out[p], p))
    found = with_learnt(recipe, problem, problem.fit(penalty))
    return found, penalty, held_out[penalty] / (len(problem.gold) * shuffles)


def fold_of(documents: Int64, folds: int, seed: int) -> Int64:
    """Return a fold for each mention; mentions of a document share it, and folds have equally many documents."""
    shuffled = np.random.default_rng(seed).permutation(int(documents.max()) + 1)
    return (shuffled % folds)[documents]


def with_learnt(recipe: Recipe, problem: Problem, beta: Float64) -> Recipe:
    """Return the recipe with the learnt weights."""
    own = weights_of(recipe).tolist()
    free = set(problem.free.tolist())
    found = iter([round(float(beta[k]), DECIMALS) if k in free else own[k] for k in range(len(own))])
    parts = (part.with_weights({key: next(found) for key in part.weights}) for part in recipe.parts)
    fitted = recipe.replace(parts=tuple(parts))
    rule = recipe.decide
    if rule is None:
        return fitted
    *doubts, nil, alone = found
    weighed = tuple(part.replace(weight=weight) for part, weight in zip(rule.parts, doubts, strict=True))
    lone = alone if len(own) - 1 in free else rule.alone
    return fitted.replace(decide=rule.replace(parts=weighed, nil=nil, alone=lone))


def weights_of(recipe: Recipe) -> Float64:
    """Return the weights of a recipe in the order of the columns of `Problem`."""
    weights: Float64 = _columns(recipe)[0]
    return weights


def learnable(recipe: Recipe | None, data: Dataset) -> Dataset:
    """Return the mentions to learn from: answerable ones, or with a `[decide]` rule all that have candidates."""
    kept = np.flatnonzero(data.answerable if recipe is None or recipe.decide is None else np.diff(data.offsets) > 0)
    if not data.answerable.any():
        raise NamesakeError("no mention has its gold entity among its candidates: there is nothing to tune on")
    return data.take(kept.tolist())


def few(recipe: Recipe, mentions: int) -> str | None:
    """Return a warning if there are too few mentions for a recipe's weights."""
    constants = 0 if recipe.decide is None else 2
    weights = max(int(np.count_nonzero(_columns(recipe)[1] == 0)) - constants, 1)
    if mentions >= PER_WEIGHT * weights:
        return None
    return (
        f"{mentions:,} labelled mentions are few for {weights} weights: with fewer than {PER_WEIGHT * weights:,} "
        f"({PER_WEIGHT} for each) they are hardly better than chance; label more text, or keep the weights you have"
    )


def _alternatives(recipe: Recipe, data: Dataset) -> tuple[Any, Int64, Int64]:
    """The rows of all mentions, the number of rows of each mention, and the right one."""
    kinds = np.full(len(data.table.qids), PERSON) if data.table.kinds is None else data.table.kinds
    columns = []
    for part, numbers in zip(recipe.parts, scaled_parts(recipe, data), strict=True):
        columns += [numbers if not key else numbers * np.isin(kinds, part.kinds_of(key)) for key in part.weights]
    size, gold = np.diff(data.offsets), data.gold - data.offsets[:-1]
    if recipe.decide is None:
        return _sparse([(np.arange(len(kinds)), columns)], len(kinds)), size, gold
    constant = not any(part.doubt in data.table.doubts for part in recipe.decide.parts)
    marks = [constant & (size > 1), constant & (size == 1)]
    unweighted = tuple(part.replace(weight=1.0) for part in recipe.decide.parts)
    known = dict(recipe.decide.replace(parts=unweighted).nil_parts(data.table.doubts, data.offsets))
    scaled = [known.get(part.name, np.zeros(len(data.gold))) for part in unweighted]
    number = np.arange(len(size))  # NIL is the last alternative of its mention
    places = [
        (np.arange(len(kinds)) + np.repeat(number, size), columns),
        (data.offsets[1:] + number, [*scaled, *marks]),
    ]
    return _sparse(places, len(kinds) + len(size)), size + 1, np.where(data.answerable, gold, size)


def _sparse(places: Sequence[tuple[Int64, Sequence[Float64]]], height: int) -> Any:
    """A sparse matrix of columns, each with numbers for the rows beside it and 0 for others."""
    kept = [(rows[at], column[at]) for rows, columns in places for column in columns for at in [np.flatnonzero(column)]]
    rows, numbers = (np.concatenate(each) for each in zip(*kept, strict=True))
    bounds = indptr(np.array([len(each) for each, _ in kept]))
    return csc_array((numbers.astype(np.float64), rows, bounds), shape=(height, len(kept))).tocsr()


def _columns(recipe: Recipe) -> Float64:
    """For scorers and their kinds, evidence for NIL and constants: weight, 1 if fixed, least weight, 1 if penalised."""
    columns = [
        (weight, part.fixed, -np.inf if kind or part.above is not None else 0.0, True)
        for part in recipe.parts
        for kind, weight in part.weights.items()
    ]
    if recipe.decide is not None:
        nil, alone = recipe.decide.nil, recipe.decide.alone
        columns += [(part.weight, part.fixed, -np.inf, part.name != CONSTANT) for part in recipe.decide.parts]
        columns += [(weight, False, -np.inf, False) for weight in (nil, nil if alone is None else alone)]
    return np.array(columns, np.float64).T


def search_grid(recipe: Recipe, data: Dataset, step: float = STEP) -> tuple[Float64, Int64]:
    """Return the points of the grid [0, 1], and the rank of each gold candidate at each; mentions are answerable."""
    values = [i * step for i in range(round(1 / step) + 1)]
    if recipe.uses_kinds:
        raise NamesakeError(f"{recipe.name}: a grid has no weights by kind; use `how='fit'`")
    free = sum(not part.fixed for part in recipe.parts)
    if len(values) ** free > MOST_POINTS:
        too_many = f"{len(values) ** free:,} points are too many for a grid of {free} parts"
        raise NamesakeError(f"{recipe.name}: {too_many}; take a larger `step=`, or `how='fit'`")
    axes = [[part.weight] if part.fixed else [round(value, 10) for value in values] for part in recipe.parts]
    points = np.array(list(product(*axes)))
    parts = scaled_parts(recipe, data)
    chain = [key for name in recipe.tie_break if (key := column(data.table.scores, name)) is not None]
    seat = rank.ranks(data.offsets, np.zeros(len(data.table.qids)), *chain)
    gold = np.repeat(data.gold, np.diff(data.offsets))
    earlier = (seat < seat[gold])[:, None]
    place = np.empty((len(data.gold), len(points)), np.int64)
    for start in range(0, len(points), _POINTS_AT_ONCE):
        block = points[start : start + _POINTS_AT_ONCE]
        total = np.zeros((len(gold), len(block)))
        for part, weights in zip(parts, block.T, strict=True):  # as in `Recipe.combine`: ties are the linker's ties
            total = total + weights * part[:, None]
        ahead = (total > total[gold]) | ((total == total[gold]) & earlier)
        place[:, start : start + len(block)] = 1 + np.add.reduceat(ahead, data.offsets[:-1], axis=0, dtype=np.int64)
    return points, place


def best_point(points: Float64, place: Int64) -> Float64:
    """Return the point with the best P@1, then MRR; of equal ones, the one nearest their mean."""
    hits = (place == 1).mean(axis=0)
    reciprocal = np.where(hits == hits.max(), (1 / place).mean(axis=0), 0.0)
    plateau = points[reciprocal >= reciprocal.max() - 1e-12]
    nearest: Float64 = plateau[np.argmin(((plateau - plateau.mean(axis=0)) ** 2).sum(axis=1))]
    return nearest


def scaled_parts(recipe: Recipe, data: Dataset) -> list[Float64]:
    """Return the scaled, unweighted scores of each part; zeros if it is absent or inactive."""
    found = scaled_values(recipe.parts, data.table.scores, data.offsets, data.table.doubts)
    return [np.zeros(len(data.table.qids)) if numbers is None else numbers for numbers in found.values()]


def with_weights(recipe: Recipe, weights: Sequence[float] | Float64) -> Recipe:
    """Return the recipe with other weights."""
    parts = tuple(part.replace(weight=float(weight)) for part, weight in zip(recipe.parts, weights, strict=True))
    return recipe.replace(parts=parts)
