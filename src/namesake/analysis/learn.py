"""Weights of a recipe learnt from decisions of people.

Decisions are few and concern uncertain names, so the weights stay near those of the recipe: the L2 penalty applies to
their difference from them. All figures are of decisions that the weights were not fitted to, by folds of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.optimize import minimize

from namesake.arrays import Float64, Int64
from namesake.articles.article import Article, Mention
from namesake.articles.builder import in_tables
from namesake.articles.rejects import NoRejects, Rejects
from namesake.decisions.lookup import NIL, NOTHING, Decisions
from namesake.decisions.records import Decision
from namesake.engines.file_linker import read_files
from namesake.errors import NamesakeError
from namesake.evaluation.fit_weights import Problem, fold_of, learnable, weights_of, with_learnt
from namesake.evaluation.gold import Dataset, GoldRow, align, score_table
from namesake.evaluation.measure import from_recipe
from namesake.evaluation.reports.report import View
from namesake.evaluation.statistics import DEFAULT, Bootstrap, Interval, estimate, means
from namesake.files import Paths, several
from namesake.linker import Linker
from namesake.printable import counted
from namesake.recipe import Recipe

FOLDS = 5
PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0)
FEWEST = 10
"""Decisions below which nothing is fitted."""
HARDLY = 0.01
"""Twice as many decisions hardly help if the last half of them raised the log-likelihood per name by less than this."""


@dataclass(frozen=True)
class Learnt:
    """A recipe learnt from decisions, and its figures on decisions that it was not fitted to."""

    recipe: Recipe
    better: bool
    """Whether it is better than the given recipe; if not, it should not be used."""
    view: View
    lines: list[str]
    """The verdict, and whether more decisions would help."""


def learn(
    decisions: Paths, linker: Linker, *, articles: Paths = (), name: str | None = None, rejects: Rejects | None = None
) -> Learnt:
    """Refit a recipe to decisions, and compare it with the recipe before on decisions that are held out.

    Args:
        decisions: the files of decisions.
        linker: its KB, and the recipe to refit. Its own decisions are ignored.
        articles: the articles that the decisions are about. Without them, only the sentences that the decisions
            contain are linked, which is faster and less exact.
        name: the name of the resulting recipe.
        rejects: receives articles that cannot be read.
    """
    known = Decisions(decisions, linker.kb)
    taught = [
        (one.decision, None if known.entity[at] == NIL else linker.kb.ids.text(int(known.entity[at])))
        for at, one in enumerate(known.placed)
        if one.decision.decision in ("entity", "nil", "alias") and known.entity[at] != NOTHING
    ]
    whole = bool(several(articles))
    texts = [(one, entity) for one, entity in taught if (one.article if whole else one.text)]
    if len(texts) < FEWEST:
        few = counted(len(texts), "decision")
        raise NamesakeError(f"{few} to learn from, and {FEWEST} are needed: review more names")
    names = [one.article or "" if whole else str(at) for at, (one, _) in enumerate(texts)]
    gold = {(id, one.name): (one, entity) for id, (one, entity) in zip(names, texts, strict=True)}
    if whole:
        read = read_files([Path(path) for path in several(articles)], NoRejects() if rejects is None else rejects)
        wanted = pa.array(set(names))
        tables: Iterable[pa.Table] = (table.filter(pc.is_in(table.column("id"), wanted)) for table in read)
    else:
        tables = in_tables(_article(id, one) for id, (one, _) in zip(names, texts, strict=True))
    plain = Linker(linker.kb, linker.recipe, mentions=linker.mentions)
    links = pa.concat_tables([plain.empty_links(scores=True), *(plain.link(table, scores=True) for table in tables)])
    keys = list(zip(links["article_id"].to_pylist(), links["name"].to_pylist(), strict=True))
    first = {key: at for at, key in reversed(list(enumerate(keys))) if key in gold}
    scored = score_table(links.take(pa.array(sorted(first.values()), pa.int64())), "decisions")
    data = align(scored, [GoldRow(key, entity, {}) for key, (_, entity) in gold.items() if key in first])
    mentions = [(gold[key][0].article or key[0], f"{key[1]} {key[0]}") for key in data.table.mentions]
    data = replace(data, table=replace(data.table, mentions=mentions))
    return fitted(linker.recipe, learnable(linker.recipe, data), name)


def _article(id: str, one: Decision) -> Article:
    """The sentence of a decision; the name of a row is its only mention."""
    mentions = [Mention(one.name, [(0, len(one.name))])] if one.cells else None
    return Article(id, one.text or "", None, one.date, mentions)


def fitted(recipe: Recipe, data: Dataset, name: str | None = None, bootstrap: Bootstrap = DEFAULT) -> Learnt:
    """The recipe refitted to all data, with figures by folds."""
    problem, own = near(Problem.of(recipe, [data]), recipe), weights_of(recipe)
    fold = fold_of(data.documents, FOLDS, 0)
    if len(np.unique(fold)) < 2:
        raise NamesakeError("all decisions are about one document: decide names of other documents, too")
    before = from_recipe(recipe, data, "before").right_with_nil
    after, gain, half = np.zeros(len(before)), np.zeros(len(before)), np.zeros(len(before))
    none = np.zeros(len(own))
    for number in np.unique(fold):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        check = problem.take(outside)
        beta = fit_near(problem, inside, number)
        found = with_learnt(recipe, problem, own + beta)
        after[outside] = from_recipe(found, data.take(outside.tolist()), "after").right_with_nil
        gain[outside] = check.log_likelihood(beta) - check.log_likelihood(none)
        fewer = inside[np.random.default_rng(0).permutation(len(inside))[: len(inside) // 2]]
        half[outside] = check.log_likelihood(fit_near(problem, fewer, number)) - check.log_likelihood(none)
    columns = np.column_stack([before, after, after - before, gain, gain - half])
    figures = estimate(means(columns), data.documents, bootstrap)
    better = figures[2].low > 0 or (figures[2].value >= 0 and figures[3].low > 0)
    text = f"{recipe.name} refitted to {len(before)} decisions."
    beta = fit_near(problem, np.arange(len(before)), 0)
    learnt = with_learnt(recipe, problem, own + beta).replace(name=name or f"{recipe.name}-learnt", description=text)
    names = ("right before", "right after", "difference", "gain in log-likelihood per name")
    pairs = zip(names, figures, strict=False)
    rows = [[name, f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}"] for name, one in pairs]
    held_out = "each answered with weights fitted without its document. 95 % intervals."
    caption = f"Over {len(before):,} decided names, {held_out}"
    view = View("learnt", "Decisions held out.", ["", "value", "interval"], rows, caption)
    return Learnt(learnt, better, view, list(_verdict(figures, better)))


def near(problem: Problem, recipe: Recipe) -> Problem:
    """The same problem for the difference from the recipe's weights, so that the penalty applies to it."""
    own = weights_of(recipe)
    every = np.ones(len(own))
    lowest = np.minimum(problem.lowest - own, 0.0)
    return replace(problem, held=problem.x @ own, own=np.zeros(len(own)), lowest=lowest, penalised=every)


def fit_near(problem: Problem, mentions: Int64, seed: int) -> Float64:
    """The differences of weights fitted to some mentions; a quarter of their documents selects the penalty."""
    inner = fold_of(problem.document, 4, 1 + int(seed))[mentions] == 0
    every, learn, check = (problem.take(one) for one in (mentions, mentions[~inner], mentions[inner]))
    beta, best = np.zeros(len(problem.own)), (-np.inf, PENALTIES[0])
    for penalty in PENALTIES if len(learn.gold) and len(check.gold) else ():
        beta = _minimised(learn, penalty, beta)
        best = max(best, (float(check.log_likelihood(beta).sum()), penalty))
    return _minimised(every, best[1], np.zeros(len(problem.own)))


def _minimised(problem: Problem, penalty: float, start: Float64) -> Float64:
    """The same as `Problem.fit`, by L-BFGS: for small differences and a large penalty it is many times as fast."""
    free, beta = problem.free, np.zeros(len(start))

    def loss(values: Float64) -> tuple[float, Float64]:
        beta[free] = values
        value, gradient = problem.loss(beta, penalty)
        return value, gradient[free]

    bounds = [(low, None) for low in problem.lowest[free]]
    beta[free] = minimize(loss, start[free], jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}).x
    return beta


def _verdict(figures: Sequence[Interval], better: bool) -> Iterator[str]:
    gain, last = figures[3], figures[4]
    if not better:
        yield "The refitted recipe is not better on decisions that are held out: keep the recipe, or review more names."
    more = "would hardly help" if better and last.value < HARDLY else "are likely to help"
    yield f"More decisions {more}: the last half of them gained {last.value:.3f} of {gain.value:.3f}."
