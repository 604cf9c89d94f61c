"""Methods, and their figures on score tables: one row per method, slice and metric, with interval and size.

A method gives answers on a data set: a recipe, a score column, a linker's output or chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from namesake import decide, rank
from namesake.arrays import Bool, Float64
from namesake.errors import NamesakeError, did_you_mean
from namesake.evaluation import statistics
from namesake.evaluation.gold import Dataset, article_numbers
from namesake.evaluation.statistics import DEFAULT, Bootstrap, Curve, Interval
from namesake.parts import Part, column
from namesake.recipe import Recipe, recipes

CEILING = "ceiling"  # the "method" that returns the gold entity: the limit that candidate generation sets
Label = tuple[str, str, str]  # method, slice and metric of a figure


@dataclass(frozen=True)
class Row:
    """One figure of an evaluation; `n` is the number of mentions in its denominator."""

    method: str
    slice: str
    metric: str
    value: float
    low: float
    high: float
    n: int

    @property
    def interval(self) -> Interval:
        """The figure with its interval."""
        return Interval(self.value, self.low, self.high)


@dataclass(frozen=True)
class Method:
    """The answers of a method: each array has one value per mention."""

    name: str
    hit: Float64  # 1 if the first candidate is the gold one; for Random, the probability
    reciprocal_rank: Float64  # 1 / rank of the gold candidate, 0 without one; NaN if the order is unknown
    right_with_nil: Float64  # 1 for a right answer; NIL is the right answer to NIL gold
    confidence: Float64 = field(default_factory=lambda: np.array([np.nan]))
    """The confidence in the first candidate; NaN without one, and for methods without confidence."""
    is_probability: bool = False
    absent: tuple[str, ...] = ()  # scorers of the recipe that the score file lacks

    @property
    def right(self) -> Bool:
        """Mentions whose first candidate is the gold one."""
        return np.equal(self.hit, 1)


@dataclass(frozen=True)
class Evaluation:
    """All figures of an evaluation."""

    rows: list[Row]
    best: str  # the method with the best P@1
    comparisons: list[tuple[str, Interval, float]]
    """Each other method, the difference of its P@1 from that of the best one over the same samples, and its p."""
    curves: list[Curve]
    notes: list[str] = field(default_factory=list)


def evaluate_scores(
    data: Dataset, methods: list[Method], by: Sequence[str] = (), unit: str = "mention", bootstrap: Bootstrap = DEFAULT
) -> Evaluation:
    """Measure methods on a data set, sliced `by` its columns, resampled by `unit` (mention or document)."""
    columns = _mean_columns(data, methods, {"all": np.ones(len(data.gold), bool), **slices_by(data, by)})
    values = np.column_stack(list(columns.values()))
    means = statistics.means(values)
    confident = [each for each in methods if not np.isnan(each.confidence).all()]
    metrics = {"AUROC": statistics.auroc, "ECE": statistics.calibration_error}
    more = [(each, metric) for each in confident for metric in metrics if each.is_probability or metric != "ECE"]
    labels = [*columns, *((each.name, "all", metric) for each, metric in more)]
    counts = [*np.count_nonzero(~np.isnan(values), axis=0), *((~np.isnan(each.confidence)).sum() for each, _ in more)]

    def statistic(weights: Float64) -> Float64:
        found = [metrics[metric](each.confidence, each.right, weights) for each, metric in more]
        return np.column_stack([means(weights), *found])

    plain = statistics.plain(statistic, len(data.gold))
    units = article_numbers([data]) if unit == "document" else np.arange(len(data.gold))
    sampled = statistics.resample(statistic, units, bootstrap)
    compared = [(label[0], plain[i], sampled[:, i]) for i, label in enumerate(labels) if label[1:] == ("all", "P@1")]
    curves = [Curve.of(each.name, each.confidence, each.right, each.is_probability) for each in confident]
    notes = [UCSE_REMARK for each in methods if each.name == "UCSE"]
    absent = [(each.name, ", ".join(each.absent)) for each in methods if each.absent]
    notes += [f"{name}: the scores have no {scorers}; counted as absent" for name, scorers in absent]
    best, best_value, best_samples = max(compared, key=lambda figure: figure[1])
    rest = [each for each in compared if each[0] != best]
    tests = [(name, *statistics.paired(float(value - best_value), some - best_samples)) for name, value, some in rest]
    return Evaluation(rows_of(labels, plain, sampled, counts), best, tests, curves, notes)


def rows_of(labels: Sequence[Label], values: Float64, sampled: Float64, counts: Sequence[int]) -> list[Row]:
    """Return the figures that are defined, with their intervals; AUROC is not if all answers are right."""
    defined = np.flatnonzero(~np.isnan(values))
    found = statistics.intervals(values[defined], sampled[:, defined])
    return [Row(*labels[i], *each, int(counts[i])) for i, each in zip(defined.tolist(), found, strict=True)]


def slices_by(data: Dataset, by: Sequence[str]) -> dict[str, Bool]:
    """Return a slice for every value of the columns. A missing `difficulty` is derived from NS, as in the paper."""
    slices: dict[str, Bool] = {}
    for name in by:
        values = _column(data, name)
        for value in sorted({value for value in values if value is not None}):
            inside = np.array([each == value for each in values])
            if not (inside & data.answerable).any():
                raise NamesakeError(f"the slice {name} = {value} is empty: none of its mentions has a gold candidate")
            slices[value if value not in slices else f"{name}={value}"] = inside
    return slices


def _column(data: Dataset, name: str) -> list[str | None]:
    if name in data.columns:
        return data.columns[name]
    sitelinks, lowest = (column(data.table.scores, score) for score in ("NS", "LQID"))
    if name == "difficulty" and sitelinks is not None:
        keys = [sitelinks] if lowest is None else [sitelinks, lowest]
        return statistics.derived_difficulty(data.offsets, data.gold, *keys)
    hint = did_you_mean(name, data.columns)
    raise NamesakeError(f"no column {name!r} in the gold to slice by{hint}; it has {', '.join(data.columns) or 'none'}")


def _mean_columns(data: Dataset, methods: Sequence[Method], slices: dict[str, Bool]) -> dict[Label, Float64]:
    """One value per mention for each figure that is a mean, NaN outside its denominator."""
    answerable = data.answerable
    if not answerable.any():
        raise NamesakeError("no mention has its gold entity among its candidates: there is nothing to measure P@1 on")
    figures: dict[Label, Float64] = {}
    for name, inside in slices.items():
        if data.table.lists_candidates:
            figures[CEILING, name, "candidate recall"] = np.where(inside, answerable, np.nan)
        for method in methods:
            measured = [("P@1", method.hit), ("MRR", method.reciprocal_rank)]
            for metric, values in measured:
                figures[method.name, name, metric] = np.where(inside & answerable, values, np.nan)
            if answerable[inside].all():
                continue
            for metric, values in measured:
                figures[method.name, name, f"{metric} of all"] = np.where(inside, values, np.nan)
            if data.unanswerable[inside].any():
                figures[method.name, name, "accuracy with NIL"] = np.where(inside, method.right_with_nil, np.nan)
    return figures


_SYSTEMS = "LQID NP NS PR_WD PR_WP IScore NIScore CSE NCSE EEIScore CSSVE UIScore UCSE Eigen Eigen_IScore mGENRE"
PAPER = {name: f"{name.lower()}-paper" for name in _SYSTEMS.split()}  # the paper's systems, and their recipes

UCSE_REMARK = "UCSE: as the paper's text has it; its Quotebank figures come from the recipe ucse-paper-quotebank"


def methods(names: Sequence[str], data: Dataset) -> list[Method]:
    """Return the named methods on a data set; without names, all that the scores suffice for."""
    return [method(name, data) for name in (names or available(data))]


def available(data: Dataset) -> list[str]:
    """Return the methods whose scorers are all in the data: Random, the linker's answers, the paper's, the default."""
    scores = data.table.scores
    if not data.table.lists_candidates:
        return ["links"]

    def has(recipe: str) -> list[bool]:
        return [column(scores, part.scorer) is not None for part in Recipe.load(recipe).parts]

    linked = ["links"] if data.table.chosen is not None else []
    paper = [name for name, recipe in PAPER.items() if all(has(recipe))]
    return ["Random", *linked, *paper, *(["default"] if any(has("default")) else [])]


def method(name: str, data: Dataset) -> Method:
    """Return a method by name: Random, links, a system of the paper, a recipe (shipped or .toml) or a score column."""
    if name == "Random":
        hit, reciprocal = statistics.random_order(data.offsets, data.gold)
        return Method(name, hit, reciprocal, hit)
    if name == "links":
        return linked(name, data)
    if name.endswith(".toml") or name in recipes():
        recipe = Recipe.load(name)
        return from_recipe(recipe, data, recipe.name)
    if name in PAPER:
        return from_recipe(Recipe.load(PAPER[name]), data, name)
    if name in data.table.scores:
        return from_recipe(Recipe(name, (Part(name),), tie_break=("LQID",)), data, name)
    known = ["Random", "links", *PAPER, *recipes(), *data.table.scores]
    raise NamesakeError(
        f"no method named {name!r}{did_you_mean(name, known)}: it is no recipe ({', '.join(recipes())}), "
        f"and the scores have {', '.join(data.table.scores)}"
    )


def from_recipe(recipe: Recipe, data: Dataset, name: str) -> Method:
    """Return a recipe's answers from the scores of a file; without a `[decide]` rule, scores are the confidence."""
    combined = data.table.combined(recipe)
    if all(part.source in combined.absent for part in recipe.parts):
        needed = ", ".join(dict.fromkeys(part.source for part in recipe.parts))
        raise NamesakeError(f"{name} needs {needed}, but the scores have {', '.join(data.table.scores)}")
    place = statistics.gold_ranks(data.offsets, data.gold, *combined.keys)
    first = rank.winner(data.offsets, *combined.keys, names=combined.names)
    decision = decide.decide(combined.total, combined.nil, data.offsets, first, recipe.decide)
    sureness = combined.total[first] if recipe.decide is None and len(combined.total) else decision.confidence
    confidence = np.where(first == rank.NOBODY, np.nan, sureness)
    hit = (place == 1).astype(np.float64)
    right = np.where(decision.reason == decide.ANSWERED, hit, data.unanswerable)
    return Method(name, hit, 1 / place, right, confidence, recipe.decide is not None, combined.absent)


def linked(name: str, data: Dataset) -> Method:
    """Return a linker's own answers: its QID for each mention, and its order if the file has candidates' scores."""
    if data.table.chosen is None:
        raise NamesakeError("no links in this file: it has scores only; name a recipe or a score column instead")
    chosen, golds = data.table.chosen, data.gold_qids
    hit = np.array([qid is not None and qid == gold for qid, gold in zip(chosen, golds, strict=True)], float)
    answered = np.array([qid is not None for qid in chosen])
    reciprocal = confidence = np.full(len(chosen), np.nan)
    score = data.table.scores.get("score")
    if score is not None:
        of_mention = np.repeat(np.arange(len(chosen)), np.diff(data.offsets))
        picked = [float(qid == chosen[m]) for qid, m in zip(data.table.qids, of_mention, strict=True)]
        ties = [column(data.table.scores, breaker) for breaker in data.table.tie_break]
        keys = (score, np.array(picked, np.float64), *(key for key in ties if key is not None))
        reciprocal = 1 / statistics.gold_ranks(data.offsets, data.gold, *keys)
        hit = np.where(answered, hit, reciprocal == 1)  # the answer without a threshold
        confidence = np.append(score, np.nan)[rank.winner(data.offsets, *keys)]
    if data.table.confidence is not None and data.table.first is not None:
        confidence = data.table.confidence
        first = [qid is not None and qid == gold for qid, gold in zip(data.table.first, golds, strict=True)]
        hit = np.where(answered, hit, first)
    right = np.where(answered, hit, data.unanswerable)
    return Method(name, hit, reciprocal, right, confidence, data.table.confidence is not None)
