"""An evaluation as tables: a row per method, slice and metric, each with its interval and the mentions it counts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from namesake.errors import NamesakeError, did_you_mean
from namesake.evaluation.gold import Dataset
from namesake.evaluation.measures import bootstrap, metrics
from namesake.evaluation.measures.bootstrap import SAMPLES, SEED, Difference
from namesake.evaluation.measures.methods import REMARKS, Method
from namesake.evaluation.scores import BoolArray
from namesake.rank import FloatArray
from namesake.recipe import column

CEILING = "ceiling"  # the "method" that knows the gold: what candidate generation leaves possible


@dataclass(frozen=True)
class Row:
    """One figure of an evaluation. `n` is its denominator: the mentions it is a mean over."""

    method: str
    slice: str
    metric: str
    value: float
    low: float
    high: float
    n: int

    def asdict(self) -> dict[str, Any]:
        """The row as `tables.json` has it."""
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """A method's P@1 against the best method's, over the same samples."""

    method: str
    best: str
    difference: Difference


@dataclass(frozen=True)
class Curve:
    """Risk and coverage of a method that answers only where it is confident, and its calibration if it claims any."""

    method: str
    coverage: FloatArray
    risk: FloatArray
    bins: tuple[FloatArray, FloatArray, FloatArray] | None = None
    """For ten bins of probability: answers, summed probability, right answers."""


@dataclass(frozen=True)
class Evaluation:
    """All tables of an evaluation."""

    rows: list[Row]
    comparisons: list[Comparison]
    curves: list[Curve]
    notes: list[str] = field(default_factory=list)

    def row(self, method: str, metric: str, slice: str = "all") -> Row:
        """One figure; KeyError where it was not measured."""
        for row in self.rows:
            if (row.method, row.metric, row.slice) == (method, metric, slice):
                return row
        raise KeyError((method, metric, slice))


def evaluate_scores(
    data: Dataset,
    methods: Sequence[Method],
    by: Sequence[str] = (),
    unit: str = "mention",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Evaluation:
    """Measure methods on a data set, sliced `by` its columns, resampled by `unit` (mention or document)."""
    slices = {"all": np.ones(len(data.gold), bool), **slices_by(data, by)}
    labels, values = _mean_figures(data, methods, slices)
    confident = _Confidence(methods)
    labels += confident.labels

    means = metrics.Means(values)

    def statistic(weights: FloatArray) -> FloatArray:
        return np.column_stack([means(weights), *confident.figures(weights)])

    plain = statistic(np.ones((1, len(data.gold))))[0]
    units = data.documents if unit == "document" else bootstrap.by_mention(len(data.gold))
    sampled = bootstrap.resample(statistic, units, samples, seed)
    defined = np.flatnonzero(~np.isnan(plain))  # AUROC is not, where all answers are right
    counts = [*np.count_nonzero(~np.isnan(values), axis=0), *confident.counts]
    rows = [
        Row(*labels[i], estimate.value, estimate.low, estimate.high, int(counts[i]))
        for i, estimate in zip(defined, bootstrap.intervals(plain[defined], sampled[:, defined]), strict=True)
    ]
    compared = [(label, plain[i], sampled[:, i]) for i, label in enumerate(labels) if label[1:] == ("all", "P@1")]
    return Evaluation(rows, _comparisons(compared), confident.curves(), _notes(methods))


def slices_by(data: Dataset, by: Sequence[str]) -> dict[str, BoolArray]:
    """A slice for every value of the columns; `difficulty` is derived from NS, as in the paper, if not given."""
    slices: dict[str, BoolArray] = {}
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
    sitelinks = column(data.table.scores, "NS")
    if name == "difficulty" and sitelinks is not None:
        lowest = column(data.table.scores, "LQID")
        return metrics.derived_difficulty(data.offsets, data.gold, sitelinks, *([] if lowest is None else [lowest]))
    hint = did_you_mean(name, data.columns)
    raise NamesakeError(f"no column {name!r} in the gold to slice by{hint}; it has {', '.join(data.columns) or 'none'}")


def _mean_figures(
    data: Dataset, methods: Sequence[Method], slices: dict[str, BoolArray]
) -> tuple[list[tuple[str, str, str]], FloatArray]:
    """Labels (method, slice, metric) and, for each, one value per mention, NaN outside its denominator."""
    answerable = data.answerable
    if not answerable.any():
        raise NamesakeError("no mention has its gold entity among its candidates: there is nothing to measure P@1 on")
    figures: dict[tuple[str, str, str], FloatArray] = {}
    for name, inside in slices.items():
        all_answerable = bool(answerable[inside].all())
        if data.table.lists_candidates:
            figures[CEILING, name, "candidate recall"] = metrics.as_slice(answerable.astype(np.float64), inside)
        for method in methods:
            figures[method.name, name, "P@1"] = metrics.as_slice(method.hit, inside & answerable)
            if method.reciprocal_rank is not None:
                figures[method.name, name, "MRR"] = metrics.as_slice(method.reciprocal_rank, inside & answerable)
            if all_answerable:
                continue
            figures[method.name, name, "P@1 of all"] = metrics.as_slice(method.hit, inside)
            if method.reciprocal_rank is not None:
                figures[method.name, name, "MRR of all"] = metrics.as_slice(method.reciprocal_rank, inside)
            if data.unanswerable[inside].any():
                figures[method.name, name, "accuracy with NIL"] = metrics.as_slice(method.right_with_nil, inside)
    return list(figures), np.column_stack(list(figures.values()))


class _Confidence:
    """AUROC and calibration error of the methods that say how sure they are, over all mentions with candidates."""

    def __init__(self, methods: Sequence[Method]) -> None:
        self.answers = [
            (method, method.confidence, method.right)
            for method in methods
            if method.confidence is not None and not np.isnan(method.confidence).all()
        ]
        self.labels: list[tuple[str, str, str]] = []
        self.counts: list[int] = []
        for method, confidence, _ in self.answers:
            for metric in ("AUROC", "ECE") if method.is_probability else ("AUROC",):
                self.labels.append((method.name, "all", metric))
                self.counts.append(int(np.count_nonzero(~np.isnan(confidence))))

    def figures(self, weights: FloatArray) -> list[FloatArray]:
        """A column for each label."""
        columns = []
        for method, confidence, right in self.answers:
            columns.append(metrics.auroc(confidence, right, weights))
            if method.is_probability:
                columns.append(metrics.calibration_error(confidence, right, weights))
        return columns

    def curves(self) -> list[Curve]:
        """What the plots draw."""
        return [_curve(method, confidence, right) for method, confidence, right in self.answers]


def _curve(method: Method, confidence: FloatArray, right: BoolArray) -> Curve:
    known = ~np.isnan(confidence)
    coverage, risk = metrics.risk_coverage(confidence[known], right[known])
    if not method.is_probability:
        return Curve(method.name, coverage, risk)
    count, summed, rights = metrics.calibration_bins(confidence, right, np.ones((1, len(right))))
    return Curve(method.name, coverage, risk, (count[0], summed[0], rights[0]))


def _comparisons(compared: list[tuple[tuple[str, str, str], float, FloatArray]]) -> list[Comparison]:
    """Every method against the one with the best P@1, over the same samples."""
    if len(compared) < 2:
        return []
    (best, *_), best_value, best_samples = max(compared, key=lambda figure: figure[1])
    return [
        Comparison(name, best, bootstrap.paired(float(value - best_value), samples - best_samples))
        for (name, *_), value, samples in compared
        if name != best
    ]


def _notes(methods: Sequence[Method]) -> list[str]:
    remarks = [f"{method.name}: {REMARKS[method.name]}" for method in methods if method.name in REMARKS]
    absent = [
        f"{method.name}: the scores have no {', '.join(method.absent)}; counted as absent"
        for method in methods
        if method.absent
    ]
    return remarks + absent
