"""How the weights of the default recipe are fitted: to the F1 of each corpus, with effects of single corpora apart.

`namesake eval tune` maximises the likelihood of labels. The measure is the mean F1 of corpora, which differ in what
they label. The fit therefore has two steps, and the result is the mean of both:

1. The likelihood, where each corpus has weights of its own beside the common ones, for NIL and for the constants of
   kinds, with an L2 penalty. They take up what one corpus labels and others do not, and are then discarded.
2. From there, the expected F1 of each corpus, plus a small part of the likelihood. The sentences of each corpus, as
   texts of their own, are a second sample of it, in which names have little context.

A name without a label, where every name is labelled, counts as much as a labelled one; a name counts as often as it
occurs.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack

from namesake.evaluation.fit_weights import CURVATURE, Problem, with_learnt
from namesake.evaluation.gold import Dataset
from namesake.evaluation.tuning import Sample, text_problem
from namesake.recipe import Recipe
from namesake.text import sentences

SHARES = {"sentences": 1.5, "people": 0.3, "quotebank": 0.5}
"""The weights of samples; a corpus with the KB of every kind has 1."""
FULL_SAMPLE = 500
"""Sentences of a corpus with fewer names than this have less weight."""
MOST_SENTENCES = 1200
CANDIDATES = 5
"""The best candidates of a name by the weights at the start, to which the fit is confined, and the right one."""
OWN_PENALTY = 300.0
"""The L2 penalty on what single corpora add to weights."""
STEPS = (120, 40)
PENALTIES = (8.0, 40.0)
LIKELIHOOD, F1 = 0.3, 3.0
"""The weights of the mean log-likelihood and of the mean F1 in the second step."""
SCALE, SHIFT, LISTED, INSIDE = 1 / 1.6, -0.45, 0.95, 0.4
"""Weights are multiplied, and the constant of NIL is shifted, so that the confidence of labelled names is calibrated
and the mean precision is at least .84; the shift for names that an article lists keeps nineteen of twenty answers for
single candidates right; that for the end of a longer name keeps "Le Pen" as one name. The numbers were set
on the fitted corpora and on Quotebank's articles."""

Loss = Callable[["Data", Any], tuple[float, Any]]


def write_sentences(corpus: Path, folder: Path) -> None:
    """Write the sentences with labels of a corpus as documents to a file of the same name, `MOST_SENTENCES` or so."""
    found = []
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            spans = sentences(document["text"])
            low, high = document.get("evaluation_span") or (0, len(document["text"]))
            for number, (begin, end) in enumerate(spans if len(spans) > 1 else ()):
                labels = [_moved(label, begin) for label in document["labels"] if _inside(label["span"], begin, end)]
                if labels and low <= begin and end <= high:
                    text = document["text"][begin:end]
                    found.append({"id": f"{document['id']}-{number}", "text": text, "labels": labels})
                    found[-1] |= {"date": document["date"]} if document.get("date") else {}
    rows = found[:: max(1, len(found) // MOST_SENTENCES)]
    (folder / f"{corpus.name.partition('.')[0]}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _inside(span: Sequence[int], begin: int, end: int) -> bool:
    return begin <= span[0] and span[1] <= end


def _moved(label: dict[str, Any], by: int) -> dict[str, Any]:
    spans = {key: [at - by for at in label[key]] for key in ("span", "core") if label.get(key)}
    return label | spans


@dataclass(frozen=True)
class Data:
    """The mentions to fit on: their alternatives, of which NIL is the last, the right one and their weights."""

    x: Any
    across: Any
    """The transpose of x."""
    held: Any
    offsets: Any
    gold: Any
    weight: Any
    corpus: Any
    """The number of the corpus and sample whose F1 a mention counts in; -1 without one."""
    spans: Any
    factor: Any
    """The weight of the F1 of each corpus and sample."""

    def probability(self, beta: Any) -> tuple[Any, Any]:
        """The log-probability and the probability of each alternative."""
        size = np.diff(self.offsets)
        score = self.held + self.x @ beta
        score -= np.repeat(np.maximum.reduceat(score, self.offsets[:-1]), size)
        total = np.repeat(np.log(np.add.reduceat(np.exp(score), self.offsets[:-1])), size)
        return score - total, np.exp(score - total)


def likelihood(data: Data, beta: Any) -> tuple[float, Any]:
    """The negative log-likelihood and its gradient."""
    log_p, p = data.probability(beta)
    excess = p * np.repeat(data.weight, np.diff(data.offsets))
    excess[data.gold] -= data.weight
    return float(-(data.weight * log_p[data.gold]).sum()), data.across @ excess


def expected_f1(data: Data, beta: Any) -> tuple[float, Any]:
    """The negative sum over corpora of 2 · expected right links / (expected links + labels), and its gradient."""
    _, p = data.probability(beta)
    nil, size, count = data.offsets[1:] - 1, np.diff(data.offsets), len(data.factor)
    inside = data.corpus >= 0
    weight, at = np.where(inside, data.spans, 0.0), np.maximum(data.corpus, 0)
    answerable = data.gold != nil
    right, made = p[data.gold] * answerable, 1 - p[nil]
    hits, links, labels = (np.bincount(at, weight * each, count) for each in (right, made, answerable))
    both = np.maximum(links + labels, 1e-9)
    by_right, by_link = (2 * data.factor / both)[at], (-2 * data.factor * hits / both**2)[at]
    for_gold, for_nil = by_right * weight * right, -by_link * weight * p[nil]
    slope = -p * np.repeat(for_gold + for_nil, size)
    slope[data.gold] += for_gold
    slope[nil] += for_nil
    return float(-(data.factor * 2 * hits / both).sum()), -(data.across @ slope)


class Fitting:
    """The corpora with all samples, ready to be fitted with or without one of them."""

    def __init__(self, recipe: Recipe, samples: dict[str, list[Sample]], more: Sequence[Dataset]) -> None:
        self.recipe = recipe
        kept = [(kind, each) for kind, some in samples.items() for each in some if len(each.answerable(recipe))]
        problem, names = text_problem(recipe, [each for _, each in kept], more)
        self.names = np.array(names)
        self.problem = pruned(problem, problem.x @ problem.own)
        self.corpora = list(dict.fromkeys(name for name in names if name))
        self._weigh(kept, len(names))
        self._own_columns()

    def _weigh(self, kept: Sequence[tuple[str, Sample]], mentions: int) -> None:
        """Set the weight of each mention, its spans, and the corpus and sample of its F1."""
        self.weight, self.spans = np.ones(mentions), np.ones(mentions)
        self.group = np.full(mentions, -1)
        self.factor = np.zeros(2 * len(self.corpora))
        begin = 0
        for kind, sample in kept:
            rows = sample.learnable(self.recipe)
            here = slice(begin, begin := begin + len(rows))
            spans = np.bincount(sample.labels.span_mention, minlength=len(sample.labels.mentions))[rows]
            share = SHARES.get(kind, 1.0)
            if kind == "sentences":
                share *= min(1.0, len(rows) / FULL_SAMPLE)
            self.spans[here], self.weight[here] = spans, share * spans / spans.sum()
            if kind != "people":
                number = self.corpora.index(sample.labels.name) + len(self.corpora) * (kind == "sentences")
                self.group[here], self.factor[number] = number, share
        self.weight[begin:] = SHARES["quotebank"] / max(mentions - begin, 1)

    def _own_columns(self) -> None:
        """Add columns for NIL and constants that concern one corpus each."""
        problem, recipe = self.problem, self.recipe
        names = [(part.name, kind) for part in recipe.parts for kind in part.weights]
        apart = [k for k, at in enumerate(problem.free) if at >= len(names) or names[at][0] == "Constant"]
        x = problem.x[:, problem.free].tocsr()
        some = x[:, apart].tocoo()
        numbers = {name: number for number, name in enumerate([*self.corpora, ""])}
        of_row = np.repeat([numbers[name] for name in self.names], np.diff(problem.offsets))
        places = some.row, of_row[some.row] * len(apart) + some.col
        self.x = x
        self.wide = hstack(
            [x, csr_array((some.data, places), shape=(x.shape[0], len(numbers) * len(apart)))], format="csr"
        )

    def data(self, x: Any, wanted: Any) -> Data:
        """The mentions of some corpora."""
        problem = replace(self.problem, x=x, weight=self.weight).take(np.flatnonzero(wanted))
        weight = problem.weight * len(problem.weight) / problem.weight.sum()
        rest = self.group[wanted], self.spans[wanted], self.factor
        return Data(problem.x, problem.x.T.tocsr(), problem.held, problem.offsets, problem.gold, weight, *rest)

    def fitted(self, without: str | None = None) -> Recipe:
        """The recipe with weights from all corpora, or from all but one."""
        wanted, problem = self.names != (without or "-"), self.problem
        penalty, lowest = problem.penalised[problem.free], problem.lowest[problem.free]
        more = self.wide.shape[1] - len(penalty)
        first = self.data(self.wide, wanted & (self.group < len(self.corpora)))  # without sentences
        plain = np.where(lowest == 0, 0.1, 0.0)
        both = minimised(
            *(likelihood, first, np.append(plain, np.zeros(more)), STEPS[0]),
            penalty=np.append(PENALTIES[0] * penalty, np.full(more, OWN_PENALTY)),
            lowest=np.append(lowest, np.full(more, -np.inf)),
        )
        common = both[: len(penalty)]
        second = self.data(self.x, wanted)

        def mixed(data: Data, beta: Any) -> tuple[float, Any]:
            (a, by_a), (b, by_b) = likelihood(data, beta), expected_f1(data, beta)
            f1 = F1 * len(data.weight) / len(self.corpora)
            return LIKELIHOOD * a + f1 * b, LIKELIHOOD * by_a + f1 * by_b

        better = minimised(mixed, second, common, STEPS[1], penalty=PENALTIES[1] * penalty, lowest=lowest)
        beta = problem.own.copy()
        beta[problem.free] = SCALE * (common + better) / 2
        recipe = with_learnt(self.recipe, problem, beta)
        assert recipe.decide is not None
        shift = {"Constant": SHIFT, "GivenName": LISTED, "CapitalBefore": INSIDE}
        parts = (part.replace(weight=round(part.weight + shift.get(part.name, 0.0), 4)) for part in recipe.decide.parts)
        return recipe.replace(decide=recipe.decide.replace(parts=tuple(parts)))


def pruned(problem: Problem, score: Any) -> Problem:
    """The problem with only the best candidates of each mention by a score, its right one and NIL."""
    size = np.diff(problem.offsets)
    mention = np.repeat(np.arange(len(size)), size)
    score = score.copy()
    score[problem.offsets[1:] - 1] = np.inf
    order = np.lexsort([-score, mention])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - problem.offsets[mention[order]]
    kept = place <= CANDIDATES
    kept[problem.gold] = True
    offsets = np.append(0, np.cumsum(np.bincount(mention[kept], minlength=len(size))))
    gold = (np.cumsum(kept) - 1)[problem.gold]
    return replace(problem, x=problem.x[np.flatnonzero(kept)], held=problem.held[kept], offsets=offsets, gold=gold)


def minimised(loss: Loss, data: Data, start: Any, steps: int, *, penalty: Any, lowest: Any) -> Any:
    """The weights after some steps of L-BFGS, in units in which all of them are about equally easy to find."""
    squares = data.x.copy()
    squares.data **= 2
    unit = 1 / np.sqrt(CURVATURE * np.repeat(data.weight, np.diff(data.offsets)) @ squares + penalty + 1e-9)

    def scaled(values: Any) -> tuple[float, Any]:
        beta = values * unit
        value, slope = loss(data, beta)
        return value + penalty @ beta**2 / 2, (slope + penalty * beta) * unit

    bounds = [(low, None) for low in lowest / unit]
    options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-6}
    first = np.maximum(start, lowest) / unit
    return minimize(scaled, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x * unit
