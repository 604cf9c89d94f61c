"""Weights tuned on score files or on labelled text, and their figures on unseen mentions.

In labelled text, the weight of a mention is the square root of the number of its spans, and a quarter of that if it is
right as NIL only because all names are labelled and it is not. Every corpus and every other data set, such as a score
file with gold, has the same weight. A corpus that is linked with a further KB has half of it there.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from namesake import decide, rank
from namesake.arrays import Float64, Int64
from namesake.errors import NamesakeError
from namesake.evaluation import fit_weights
from namesake.evaluation.fit_weights import STEP, fold_of, learnable, weights_of, with_learnt, with_weights
from namesake.evaluation.gold import NIL, Dataset, article_numbers, nested_table
from namesake.evaluation.labelled_text import Alignment, Outcome
from namesake.evaluation.measure import Method, Row, available, evaluate_scores, from_recipe, method
from namesake.evaluation.reports.report import View
from namesake.evaluation.text_figures import CONFIDENCE, LINKING, MEAN, mean_defined
from namesake.printable import counted
from namesake.recipe import Recipe

HOWS = ("fit", "grid")
FOLDS = 10  # folds by document
INNER = (5, 1)  # folds and shuffles that select the penalty within a fold of `cross_validate`


class Tuned(NamedTuple):
    """A recipe with tuned weights."""

    recipe: Recipe
    how: str
    detail: str
    figures: tuple[float, float]  # P@1 and MRR on the answerable mentions that the weights were tuned on


def tune_weights(
    recipe: Recipe, data: Sequence[Dataset], how: str, step: float = STEP, name: str | None = None
) -> Tuned:
    """Find weights by `grid` (one data set) or `fit` (any number), and name the recipe."""
    if how == "grid":
        if recipe.decide is not None or len(data) > 1:
            raise NamesakeError("a grid takes one score file and a recipe without [decide]; use `how='fit'`")
        grid = fit_weights.search_grid(recipe, learnable(None, data[0]), step)
        found, detail = with_weights(recipe, fit_weights.best_point(*grid)), f"{len(grid[0]):,} points"
    else:
        found, penalty, held_out = fit_weights.fit(recipe, data)
        detail = f"L2 penalty {penalty:g}, log-likelihood held out {held_out:.3f} per mention"
    return named(found, recipe, data, how, detail, name, sum(len(learnable(recipe, each).gold) for each in data))


def named(
    found: Recipe, given: Recipe, data: Sequence[Dataset], how: str, detail: str, name: str | None, mentions: int
) -> Tuned:
    """Name a tuned recipe, and measure it on the data that it was tuned on."""
    name = name or f"{given.name}-{how}"
    text = given.description if name == given.name else f"{given.name} with weights by {how} on {mentions} mentions."
    found = found.replace(name=name, description=text)
    answers = [from_recipe(found, learnable(None, each), name) for each in data if each.answerable.any()]
    hits, ranks = (np.concatenate(each) for each in zip(*((a.hit, a.reciprocal_rank) for a in answers), strict=True))
    return Tuned(found, how, detail, (float(hits.mean()), float(ranks.mean())))


def cross_validate(
    recipe: Recipe, data: Sequence[Dataset], hows: Sequence[str], step: float = STEP, folds: int = FOLDS
) -> list[list[Row]]:
    """Return, for each data set, figures with weights tuned without a mention's fold, and of systems without tuning."""
    data = [learnable(recipe, each) for each in data]
    answers = [[from_recipe(recipe, each, f"{recipe.name} untuned"), *untuned(each)] for each in data]
    bounds = np.cumsum([len(each.gold) for each in data])[:-1]
    fold = np.split(fold_of(article_numbers(data), folds, 0), bounds)
    for how in hows:
        name, values = f"{recipe.name} by {how}", [np.zeros((3, len(number))) for number in fold]
        grids = [fit_weights.search_grid(recipe, each, step) for each in data] if how == "grid" else []
        for k in range(int(max(number.max() for number in fold)) + 1):
            inside = [np.flatnonzero(number != k) for number in fold]
            if grids:
                pairs = zip(grids, inside, strict=True)
                best = (fit_weights.best_point(points, place[some]) for (points, place), some in pairs)
                found = [with_weights(recipe, weights) for weights in best]
            else:
                rest = [each.take(some) for each, some in zip(data, inside, strict=True)]
                found = [fit_weights.fit(recipe, rest, *INNER)[0]] * len(data)
            for tuned, each, number, value in zip(found, data, fold, values, strict=True):
                outside = np.flatnonzero(number == k)
                if len(outside):
                    held_out = from_recipe(tuned, each.take(outside), name)
                    value[:, outside] = held_out.hit, held_out.reciprocal_rank, held_out.right_with_nil
        for column, value in zip(answers, values, strict=True):
            column.append(Method(name, *value))
    return [figures(some, each) for some, each in zip(answers, data, strict=True)]


def untuned(data: Dataset) -> list[Method]:
    """Return the paper's best heuristic and its neural rival, which need no tuning."""
    return [method(name, data) for name in available(data) if name in {"UIScore", "mGENRE"}]


def figures(answers: list[Method], data: Dataset) -> list[Row]:
    """Return P@1 and MRR on answerable mentions and accuracy with NIL on all of them, with intervals by document."""
    rows = evaluate_scores(data, answers, unit="document").rows
    return [row for row in rows if row.metric in {"P@1", "MRR", "accuracy with NIL"}]


def weights_view(tuned: Sequence[Tuned], split: str) -> View:
    """Return the weights of each way of tuning, one row per part, and the figures on the tuning data."""
    recipes = [each.recipe for each in tuned]
    rows = []
    for k, part in enumerate(recipes[0].parts):
        rivals = " and no ".join(part.stands_in_for)
        remark = ", ".join([f"if there is no {rivals}"] * bool(rivals) + ["fixed"] * part.fixed)
        for kind in part.weights:
            weights = [f"{each.parts[k].weights[kind]:.4g}" for each in recipes]
            rows.append([f"{part.name} ({part.scale})" + f", {kind}" * bool(kind), *weights, remark])
    rules = [recipe.decide for recipe in recipes if recipe.decide is not None]
    if rules:
        rows.append(["NIL", *(f"{rule.nil:.4g}" for rule in rules), ""])
        if rules[0].alone is not None:
            rows.append(["NIL, one candidate", *(f"{rule.alone:.4g}" for rule in rules), ""])
        for k, doubt in enumerate(rules[0].parts):
            weights = [f"{rule.parts[k].weight:.4g}" for rule in rules]
            rows.append([f"NIL: {doubt.name} ({doubt.scale})", *weights, "fixed" if doubt.fixed else ""])
    rows += [[name, *(f"{each.figures[k]:.3f}" for each in tuned), ""] for k, name in enumerate(("P@1", "MRR"))]
    details = "; ".join(f"{each.how}: {each.detail}" for each in tuned)
    caption = f"P@1 and MRR on {split}, where the weights were found: expect less elsewhere. {details}."
    header = ["part (scale)", *(each.how for each in tuned), ""]
    return View("weights", "Weights found.", header, rows, caption, words=(0, len(header) - 1))


# labelled text
PENALTY = 1.0  # the L2 penalty; with 3 and 10, figures on corpora that are left out are the same
UNLABELLED = 0.25  # the weight of a name without a label where all are labelled: some are names all the same
STEPS = 150  # the largest number of steps of the fit, which starts from the given weights
FURTHER = 0.5  # the weight of a corpus that is linked with a second KB


@dataclass(frozen=True)
class Sample:
    """A corpus as input of the fit: one row of `data` for each mention of `labels`."""

    labels: Alignment
    data: Dataset
    weight: Float64  # the root of the number of a mention's spans, less for `UNLABELLED`; 0 without information
    share: float = 1.0

    @classmethod
    def of(cls, labels: Alignment, links: pa.Table, share: float = 1.0) -> "Sample":
        """Make the sample from links with scores and without a threshold; the gold candidate is that of most spans."""
        instructive = np.array([label.is_instructive for label in labels.labels], np.bool_)
        spans = np.bincount(labels.span_mention, minlength=len(labels.mentions))
        teaches = np.zeros(len(spans))
        for flags, teaching in ((~labels.labelled, UNLABELLED), (labels.any_label(instructive), 1.0)):
            teaches[labels.span_mention[flags]] = teaching
        rows = links.take(pa.array(labels.mentions, pa.int64()))
        articles = [f"{labels.name} {article}" for article in rows["article_id"].to_pylist()]
        names = [f"{name} {m}" for m, name in enumerate(rows["name"].to_pylist())]  # it may belong to several people
        unique = rows.drop_columns("name").append_column("articleID", [articles]).append_column("name", [names])
        table = nested_table(unique, "links")
        pairs = zip(labels.pair_span.tolist(), labels.pair_label.tolist(), strict=True)
        stated = {(span, labels.labels[label].qid) for span, label in pairs if labels.known[label]}
        spans_of = Counter((int(labels.span_mention[span]), qid) for span, qid in stated)
        gold = np.full(len(names), NIL, np.int64)
        for m, start in enumerate(table.offsets[:-1].tolist()):
            often = [spans_of[m, qid] for qid in table.qids[start : table.offsets[m + 1]]]
            if any(often):
                gold[m] = start + int(np.argmax(often))
        data = Dataset(table, gold, [table.qids[at] if at >= 0 else None for at in gold], {})
        return cls(labels, data, teaches * np.sqrt(spans), share)

    @property
    def documents(self) -> Int64:
        """The document of each mention."""
        of_mention = np.zeros(len(self.labels.mentions), np.int64)
        of_mention[self.labels.span_mention] = self.labels.span_document
        return of_mention

    def answered(self, recipe: Recipe) -> Alignment:
        """Return the labels with the answers of a recipe with other weights."""
        table, offsets = self.data.table, self.data.offsets
        combined = table.combined(recipe)
        first = rank.winner(offsets, *combined.keys)
        decision = decide.decide(combined.total, combined.nil, offsets, first, recipe.decide, ~self.labels.person)
        best = [None if at == rank.NOBODY else table.qids[at] for at in first]
        return replace(self.labels, best=best, confidence=decision.confidence)

    def learnable(self, recipe: Recipe) -> Int64:
        """Return the mentions to learn from, which have candidates, and without [decide] the right one."""
        right = self.data.answerable if recipe.decide is None else np.diff(self.data.offsets) > 0
        return np.flatnonzero((self.weight > 0) & self.labels.person & right)

    def answerable(self, recipe: Recipe) -> Int64:
        """Return the mentions to learn from that have a gold candidate; without any there is nothing to fit."""
        kept = self.learnable(recipe)
        return kept[self.data.gold[kept] >= 0]


def text_problem(
    recipe: Recipe, samples: Sequence[Sample], more: Sequence[Dataset]
) -> tuple[fit_weights.Problem, list[str]]:
    """Return the input of the fit on corpora and on more data sets, and the corpus of each mention."""
    parts = []
    for sample in samples:
        if len(sample.answerable(recipe)):
            kept = sample.learnable(recipe)
            weight = sample.share * sample.weight[kept] / sample.weight[kept].sum()
            parts.append((sample.labels.name, sample.data.take(kept), weight))
    for each in more:
        rest = learnable(recipe, each)
        parts.append(("", rest, np.full(len(rest.gold), 1 / len(rest.gold))))
    if not parts:
        raise NamesakeError("no name that was found has its label's entity among its candidates: nothing to learn from")
    names, data, weights = zip(*parts, strict=True)
    problem = replace(fit_weights.Problem.of(recipe, data), weight=np.concatenate(weights))
    return problem, [name for name, each in zip(names, weights, strict=True) for _ in each]


def fit_problem(recipe: Recipe, problem: fit_weights.Problem, start: Recipe) -> Recipe:
    """Return the recipe with fitted weights; one that was fitted on similar data is a good `start`."""
    problem = replace(problem, weight=problem.weight * len(problem.weight) / problem.weight.sum())
    return with_learnt(recipe, problem, problem.fit(PENALTY, weights_of(start), STEPS))


def fit_text(recipe: Recipe, samples: Sequence[Sample], more: Sequence[Dataset], start: Recipe) -> Recipe:
    """Return the recipe with weights fitted on corpora and on more data sets."""
    return fit_problem(recipe, text_problem(recipe, samples, more)[0], start)


def left_out(recipe: Recipe, samples: Sequence[Sample], more: Sequence[Dataset], start: Recipe) -> dict[str, Recipe]:
    """Return, for each of several corpora, the recipe with weights fitted on the others."""
    useful = {sample.labels.name for sample in samples if len(sample.answerable(recipe))}
    if len(useful) == 1 and not more:
        raise NamesakeError(f"all names to learn from are in {useful.pop()}: label some in the other files, too")
    problem, corpora = text_problem(recipe, samples, more)
    corpus, names = np.array(corpora), dict.fromkeys(sample.labels.name for sample in samples)
    return {name: fit_problem(recipe, problem.take(np.flatnonzero(corpus != name)), start) for name in names}


def folded(recipe: Recipe, sample: Sample, more: Sequence[Dataset], start: Recipe) -> Outcome:
    """Return the results on one corpus, where each fold of documents has weights fitted on the others."""
    fold, useful_mentions = fold_of(sample.documents, FOLDS, 0), sample.answerable(recipe)
    if not more and len(np.unique(fold[useful_mentions])) == 1:
        documents = counted(len(np.unique(sample.documents[useful_mentions])), "document")
        raise NamesakeError(f"all names to learn from are in {documents}, too few for cross-validation: label more")
    best: list[str | None] = [None] * len(fold)
    confidence = np.full(len(fold), np.nan)
    for number in np.unique(fold):
        rest = replace(sample, weight=sample.weight * (fold != number))
        answered = sample.answered(fit_text(recipe, [rest], more, start))
        for m in np.flatnonzero(fold == number).tolist():
            best[m], confidence[m] = answered.best[m], answered.confidence[m]
    return Outcome.of(replace(sample.labels, best=best, confidence=confidence))


def corpora_view(
    names: Sequence[str], seen: Sequence[Mapping[str, float]], unseen: Sequence[Mapping[str, float]], without: str
) -> View:
    """Return figures by corpus: with the tuned weights, and with weights fitted without the corpus."""
    metrics = (*LINKING, CONFIDENCE[-1])
    both = [[each[metric] for each in pair for metric in metrics] for pair in zip(seen, unseen, strict=True)]
    if len(both) > 1:
        names, both = [*names, MEAN], [*both, mean_defined(np.array(both)).tolist()]
    rows = [
        [name, *("" if np.isnan(value) else f"{value:.3f}".removeprefix("0") for value in values)]
        for name, values in zip(names, both, strict=True)
    ]
    letters = ("P", "R", "F1", CONFIDENCE[-1])
    header = ["corpus", *letters, *(f"new {letter}" for letter in letters)]
    caption = f"Columns with “new”: each corpus is answered with weights fitted on {without}; expect these elsewhere."
    return View("corpora", "Figures with the weights.", header, rows, caption)
