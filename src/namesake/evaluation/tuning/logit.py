"""A log-linear composite fitted to gold: the conditional logit over a mention's alternatives.

P(e | m) = exp(s_e) / Σ exp(s_e') with s_e = Σ_k β_k x_k(e), fitted by maximum likelihood with an L2 penalty and β ≥ 0:
every part is evidence for a candidate, so none may count against it. A recipe that decides has one alternative more,
"none of them". Its score is the sum of its doubts, whose weights may have either sign; or, where the data have none, a
number of its own: n, or n₁ where a mention has a single candidate. Constants are not penalised. All this is learnt
together, from all mentions; a recipe that always answers learns from answerable ones.

Several data sets may be fitted at once, such as scores of the same mentions from different KBs. A part that is absent
from one of them, or idle there as a stand-in, is learnt from the others; the rest is common to all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset
from namesake.evaluation.scores import BoolArray
from namesake.evaluation.tuning.grid import scaled_doubts, scaled_parts, with_weights
from namesake.rank import FloatArray, IntArray
from namesake.recipe import Recipe

PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.01)
FOLDS, SHUFFLES = 10, 10
DECIMALS = 4  # of weights, for people who read them
PER_WEIGHT = 10  # labelled mentions, below which weights are hardly more than chance
CONSTANT = "Constant"  # the doubt that is the same for all mentions


@dataclass(frozen=True)
class Problem:
    """What the fit sees: a row for each alternative, those of a mention together, and which of them is right.

    Columns are the recipe's scaled parts; for a recipe that decides there are more, which are 0 for all but "none of
    them": the scaled doubts, and two that mark it where there are none, beside several candidates and beside one.
    """

    x: FloatArray
    held: FloatArray
    """What the columns that are not learnt add to each row."""
    offsets: IntArray
    gold: IntArray
    document: IntArray
    weight: FloatArray
    """What each mention counts."""
    penalised: FloatArray
    """1 for weights, 0 for constants."""
    lowest: FloatArray
    """The least that each column may weigh: 0 for parts of candidates."""
    free: IntArray
    """The columns to learn: not fixed, and not the same for all alternatives of every mention."""

    @classmethod
    def of(cls, recipe: Recipe, data: Sequence[Dataset], alike: bool = False) -> "Problem":
        """Data sets seen through a recipe's parts; mentions of one article keep together in folds.

        With `alike`, each data set counts as much as any other, whatever its size.
        """
        data = [learnable(recipe, each) for each in data]
        blocks = [_alternatives(recipe, each) for each in data]
        x = np.concatenate([block[0] for block in blocks])
        sizes = np.concatenate([block[1] for block in blocks])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        gold = np.concatenate([block[2] for block in blocks]) + offsets[:-1]
        number: dict[str, int] = {}
        articles = [article for each in data for article, _ in each.table.mentions]
        document = np.array([number.setdefault(article, len(number)) for article in articles], np.int64)
        of_candidates = np.arange(x.shape[1]) < len(recipe.parts)
        learnt = _varies(x, offsets) & ~_fixed(recipe) & (of_candidates | _told_apart(x, gold))
        held = x @ np.where(learnt, 0.0, _came_with(recipe))
        return cls(
            *(x, held, offsets, gold, document, _weight([len(each.gold) for each in data], alike)),
            penalised=np.array([name not in {CONSTANT, "nil", "alone"} for name in _columns(recipe)], np.float64),
            lowest=np.where(of_candidates, 0.0, -np.inf),
            free=np.flatnonzero(learnt),
        )

    def take(self, wanted: IntArray) -> "Problem":
        """The same problem with only some mentions."""
        size = np.diff(self.offsets)[wanted]
        offsets = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        rows = np.repeat(self.offsets[:-1][wanted] - offsets[:-1], size) + np.arange(offsets[-1])
        gold = self.gold[wanted] - self.offsets[:-1][wanted] + offsets[:-1]
        document, weight = self.document[wanted], self.weight[wanted]
        x, held = self.x[rows], self.held[rows]
        return replace(self, x=x, held=held, offsets=offsets, gold=gold, document=document, weight=weight)

    def fit(self, penalty: float, start: FloatArray | None = None) -> FloatArray:
        """The columns' weights that maximise the penalised likelihood, 0 for those that cannot be learnt.

        A solution for another penalty is a good `start`.
        """
        columns = self.free
        beta = np.zeros(self.x.shape[1])
        if not len(columns):  # such as scores that have none of the recipe's parts
            return beta
        bounds = [(self.lowest[k], None) for k in columns]
        begin = np.where(self.lowest == 0, 0.1, np.where(self.penalised == 1, 0.0, 1.0)) if start is None else start

        def loss(part: FloatArray) -> tuple[float, FloatArray]:
            beta[columns] = part
            value, gradient = self.loss(beta, penalty)
            return value, gradient[columns]

        # truncated Newton: no BLAS, whose threads would wait in line for so small a problem
        exact = {"ftol": 1e-14, "xtol": 1e-9, "gtol": 1e-8, "maxfun": 10_000}
        found = minimize(loss, begin[columns], method="TNC", jac=True, bounds=bounds, options=exact)
        beta[columns] = found.x
        return beta

    def loss(self, beta: FloatArray, penalty: float) -> tuple[float, FloatArray]:
        """Penalised negative log-likelihood and its gradient."""
        log_p = self._log_probability(beta)
        shrunk = penalty * self.penalised * beta
        expected = np.einsum("ij,i->j", self.x, np.exp(log_p) * np.repeat(self.weight, np.diff(self.offsets)))
        gradient = expected - np.einsum("ij,i->j", self.x[self.gold], self.weight) + shrunk
        return float(-(self.weight * log_p[self.gold]).sum() + shrunk @ beta / 2), gradient

    def log_likelihood(self, beta: FloatArray) -> FloatArray:
        """log P(gold | m) of each mention, times what it counts."""
        return self.weight * self._log_probability(beta)[self.gold]

    def _log_probability(self, beta: FloatArray) -> FloatArray:
        size, score = np.diff(self.offsets), self.held + np.einsum("ij,j->i", self.x, beta)
        score = score - np.repeat(np.maximum.reduceat(score, self.offsets[:-1]), size)
        total = np.add.reduceat(np.exp(score), self.offsets[:-1])
        log_probability: FloatArray = score - np.repeat(np.log(total), size)
        return log_probability


@dataclass(frozen=True)
class Fit:
    """A recipe with fitted weights, the penalty that folds by document chose, and what those folds are worth."""

    recipe: Recipe
    penalty: float
    held_out: float
    """Mean log-likelihood of mentions under weights that were fitted without their article."""


def fit(
    recipe: Recipe, data: Sequence[Dataset], folds: int = FOLDS, shuffles: int = SHUFFLES, alike: bool = False
) -> Fit:
    """Fit the weights of a recipe, and the score of "none of them" where it decides; `alike` as for `Problem.of`.

    What cannot be learnt keeps the weight the recipe came with: fixed parts, and parts that tell no candidates apart.
    """
    problem = Problem.of(recipe, data, alike)
    held_out = dict.fromkeys(PENALTIES, 0.0)
    rounds = [fold_of(problem.document, folds, seed) for seed in range(shuffles)]
    for fold in rounds:
        for number in np.unique(fold):
            learn, check = problem.take(np.flatnonzero(fold != number)), problem.take(np.flatnonzero(fold == number))
            if not len(learn.gold):
                raise NamesakeError("all mentions are of one document: there are no folds to choose the penalty by")
            beta = None
            for penalty in PENALTIES:
                beta = learn.fit(penalty, beta)
                held_out[penalty] += float(check.log_likelihood(beta).sum())
    penalty = max(held_out, key=lambda p: (held_out[p], p))
    found = fitted(recipe, problem, problem.fit(penalty))
    return Fit(found, penalty, held_out[penalty] / (len(problem.gold) * shuffles))


def fold_of(documents: IntArray, folds: int, seed: int) -> IntArray:
    """A fold for each mention; the mentions of a document share theirs, and folds have equally many documents."""
    count = int(documents.max()) + 1
    shuffled = np.random.default_rng(seed).permutation(count)
    return (shuffled % folds)[documents]


def fitted(recipe: Recipe, problem: Problem, beta: FloatArray) -> Recipe:
    """The recipe with what was learnt."""
    came = _came_with(recipe).tolist()
    free = set(problem.free.tolist())
    found = [round(float(beta[k]), DECIMALS) if k in free else came[k] for k in range(len(came))]
    parts = len(recipe.parts)
    fitted = with_weights(recipe, found[:parts], recipe.name, recipe.description)
    rule = recipe.decide
    if rule is None:
        return fitted
    *doubts, nil, alone = found[parts:]
    weighed = tuple(part.replace(weight=weight) for part, weight in zip(rule.parts, doubts, strict=True))
    lone = alone if len(came) - 1 in free else rule.alone
    return fitted.replace(decide=rule.replace(parts=weighed, nil=nil, alone=lone))


def learnable(recipe: Recipe, data: Dataset) -> Dataset:
    """The mentions a recipe can learn from: those with a gold candidate and, if it may say "nobody", with any."""
    kept = np.flatnonzero(data.answerable if recipe.decide is None else np.diff(data.offsets) > 0)
    if not data.answerable.any():
        raise NamesakeError("no mention has its gold entity among its candidates: there is nothing to tune on")
    return data.take(kept.tolist())


def few(recipe: Recipe, mentions: int) -> str | None:
    """What to say where mentions are too few for a recipe's weights; None where they are enough."""
    doubts = () if recipe.decide is None else recipe.decide.parts
    weights = max(sum(not part.fixed for part in recipe.parts) + sum(not part.fixed for part in doubts), 1)
    if mentions >= PER_WEIGHT * weights:
        return None
    return (
        f"{mentions:,} labelled mentions are few for {weights} weights: with fewer than {PER_WEIGHT * weights:,} "
        f"({PER_WEIGHT} for each) they are hardly more than chance; label more, or keep the weights you have"
    )


def _weight(sizes: Sequence[int], alike: bool) -> FloatArray:
    """What each mention of data sets of these sizes counts: 1, or as much as makes all data sets alike."""
    mean = sum(sizes) / len(sizes)
    return np.concatenate([np.full(size, mean / size if alike else 1.0) for size in sizes])


def _alternatives(recipe: Recipe, data: Dataset) -> tuple[FloatArray, IntArray, IntArray]:
    """Rows of columns, rows of each mention, and which of its rows is right."""
    parts = np.column_stack(scaled_parts(recipe, data))
    size, gold = np.diff(data.offsets), data.gold - data.offsets[:-1]
    if recipe.decide is None:
        return parts, size, gold
    constant = not any(part.doubt in data.table.doubts for part in recipe.decide.parts)
    marks = [constant & (size > 1), constant & (size == 1)]
    doubts = np.column_stack([*scaled_doubts(recipe, data), *marks]).astype(np.float64)
    none = np.pad(doubts, ((0, 0), (parts.shape[1], 0)))
    x = np.insert(np.pad(parts, ((0, 0), (0, doubts.shape[1]))), data.offsets[1:], none, axis=0)
    return x, size + 1, np.where(data.answerable, gold, size)


def _columns(recipe: Recipe) -> list[str]:
    """The names of the columns: scorers, then doubts and the constants."""
    scorers = [part.scorer for part in recipe.parts]
    return scorers if recipe.decide is None else [*scorers, *recipe.doubts, "nil", "alone"]


def _came_with(recipe: Recipe) -> FloatArray:
    """The columns' weights that the recipe came with."""
    weights = [part.weight for part in recipe.parts]
    if recipe.decide is not None:
        nil, alone = recipe.decide.nil, recipe.decide.alone
        weights += [*(part.weight for part in recipe.decide.parts), nil, nil if alone is None else alone]
    return np.array(weights)


def _fixed(recipe: Recipe) -> BoolArray:
    """The columns that are not to be learnt."""
    fixed = [part.fixed for part in recipe.parts]
    if recipe.decide is not None:
        fixed += [*(part.fixed for part in recipe.decide.parts), False, False]
    return np.array(fixed)


def _told_apart(x: FloatArray, gold: IntArray) -> BoolArray:
    """The columns that mark right and wrong alternatives both: with one kind only, a score would run away."""
    right = (x[gold] != 0).sum(axis=0)
    told: BoolArray = (right > 0) & (right < (x != 0).sum(axis=0))
    return told


def _varies(x: FloatArray, offsets: IntArray) -> BoolArray:
    """The columns that differ between the alternatives of some mention."""
    low, high = (reduce.reduceat(x, offsets[:-1], axis=0) for reduce in (np.minimum, np.maximum))
    return np.asarray((low < high).any(axis=0), np.bool_)
