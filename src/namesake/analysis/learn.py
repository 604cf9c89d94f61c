"""Weights of a recipe learnt from decisions of people.

Decisions are few and concern uncertain names, so the weights stay near those of the recipe: the L2 penalty applies to
their difference from them. All figures are of decisions that the weights were not fitted to, by folds of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.optimize import minimize

from namesake.arrays import Float64, Int64, take_rows
from namesake.articles.article import Article, Mention
from namesake.articles.builder import check_articles, in_tables, pieces
from namesake.articles.rejects import NoRejects, Rejects
from namesake.decisions.lookup import NIL as DECIDED_NIL
from namesake.decisions.lookup import NOTHING, Decisions
from namesake.engines.file_linker import read_files
from namesake.errors import NamesakeError
from namesake.evaluation.fit_weights import Problem, fold_of, learnable, weights_of, with_learnt
from namesake.evaluation.gold import MISSED, NIL, Dataset
from namesake.evaluation.measure import from_recipe
from namesake.evaluation.reports.report import View
from namesake.evaluation.scores import ScoreTable
from namesake.evaluation.statistics import Bootstrap, Interval, estimate, means
from namesake.files import Paths, several
from namesake.kb.names.normalise import normalise
from namesake.linker import Linker
from namesake.printable import counted
from namesake.recipe import Recipe
from namesake.scoring import Scored

FOLDS = 5
PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0)
FEWEST = 10
"""Decisions below which nothing is fitted."""
HARDLY = 0.01
"""Twice as many decisions hardly help if the last half of them raised the log-likelihood per name by less than this."""


class Taught(NamedTuple):
    """A mention with the entity that a person decided for it."""

    scored: Scored
    mention: int
    entity: int
    document: str


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
    plain = Linker(linker.kb, linker.recipe, mentions=linker.mentions)
    known = Decisions(decisions, linker.kb)
    taught = list(_of_articles(plain, known, articles, rejects) if several(articles) else _of_sentences(plain, known))
    if len(taught) < FEWEST:
        raise NamesakeError(f"{counted(len(taught), 'decision')} can be learnt from, and {FEWEST} are needed: review more")
    data = learnable(linker.recipe, dataset(taught))
    return fitted(linker.recipe, data, name)


def _of_sentences(linker: Linker, known: Decisions) -> Iterator[Taught]:
    """The decided names in the sentences, or rows, that the decisions contain."""
    asked = [
        (one.decision, int(known.entity[at]))
        for at, one in enumerate(known.placed)
        if one.decision.text and one.decision.decision in ("entity", "nil", "alias")
    ]
    for in_row in (True, False):
        some = [(one, entity) for one, entity in asked if bool(one.cells) == in_row and entity != NOTHING]
        given = (
            Article(str(at), one.text or "", None, one.date, [Mention(one.name, [(0, len(one.name))])] if in_row else None)
            for at, (one, _) in enumerate(some)
        )
        for scored in _scored(linker, in_tables(given)):
            ids = scored.batch.ids.to_pylist()
            seen: set[int] = set()
            for m, called in enumerate(scored.batch.names.to_pylist()):
                at = int(ids[scored.batch.article[m]])
                one, entity = some[at]
                if at not in seen and normalise(called) == normalise(one.name):
                    seen.add(at)
                    yield Taught(scored, m, entity, one.article or f"row {one.key[2]}")


def _of_articles(linker: Linker, known: Decisions, articles: Paths, rejects: Rejects | None) -> Iterator[Taught]:
    """The decided names in whole articles."""
    ids = pa.array({one.decision.article for one in known.placed} - {None}, pa.string())
    paths = [Path(path) for path in several(articles)]
    for table in read_files(paths, NoRejects() if rejects is None else rejects):
        some = table.filter(pc.is_in(table.column("id"), ids)) if len(ids) else table
        for scored in _scored(linker, [some]):
            decided = known.apply(scored.batch.mentions, scored.batch.texts, linker.kb)[1]
            if decided is not None:
                of_mention = scored.batch.ids.take(pa.array(scored.batch.article)).to_pylist()
                for m in np.flatnonzero(decided.settled).tolist():
                    yield Taught(scored, m, int(decided.entity[m]), of_mention[m])


def _scored(linker: Linker, tables: Iterable[pa.Table]) -> Iterator[Scored]:
    for table in tables:
        for piece in pieces(check_articles(table)):
            yield linker.scored(piece)


def dataset(taught: Sequence[Taught]) -> Dataset:
    """The decided mentions with their candidates and evidence."""
    parts = []
    for scored in {id(one.scored): one.scored for one in taught}.values():
        own = [one for one in taught if one.scored is scored]
        offsets, at = take_rows(scored.batch.offsets, np.array([one.mention for one in own], np.int64))
        qids = [f"Q{number}" for number in scored.batch.qids[at].tolist()]
        gold = np.full(len(own), MISSED, np.int64)
        for m, one in enumerate(own):
            right = np.flatnonzero(scored.batch.qids[at[offsets[m] : offsets[m + 1]]] == one.entity)
            gold[m] = NIL if one.entity == DECIDED_NIL else offsets[m] + right[0] if len(right) else MISSED
        mentions = [(one.document, f"{one.mention}") for one in own]
        scores = {name: values[at] for name, values in scored.scores.items()}
        doubts = {name: values[[one.mention for one in own]] for name, values in scored.doubts.items()}
        kinds = scored.batch.kinds[at] if scored.recipe.uses_kinds else None
        parts.append(Dataset(ScoreTable(mentions, offsets, qids, scores, doubts=doubts, kinds=kinds), gold, [], {}))
    return _joined(parts)


def _joined(parts: Sequence[Dataset]) -> Dataset:
    """Data sets with the same scores as one."""
    tables, starts = [one.table for one in parts], np.cumsum([0, *(len(one.table.qids) for one in parts)])
    pairs = list(zip(parts, starts, strict=False))
    offsets = np.concatenate([one.offsets[: -1 if one is not parts[-1] else None] + start for one, start in pairs])
    table = ScoreTable(
        [mention for one in tables for mention in one.mentions],
        offsets.astype(np.int64),
        [qid for one in tables for qid in one.qids],
        {name: np.concatenate([one.scores[name] for one in tables]) for name in tables[0].scores},
        doubts={name: np.concatenate([one.doubts[name] for one in tables]) for name in tables[0].doubts},
        kinds=None if tables[0].kinds is None else np.concatenate([one.kinds for one in tables if one.kinds is not None]),
    )
    gold = np.concatenate([np.where(one.gold >= 0, one.gold + start, one.gold) for one, start in pairs])
    return Dataset(table, gold, [table.qids[at] if at >= 0 else None for at in gold.tolist()], {})


def fitted(recipe: Recipe, data: Dataset, name: str | None = None, bootstrap: Bootstrap | None = None) -> Learnt:
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
        beta = _fit(problem, inside, number)
        found = with_learnt(recipe, problem, own + beta)
        after[outside] = from_recipe(found, data.take(outside.tolist()), "after").right_with_nil
        gain[outside] = check.log_likelihood(beta) - check.log_likelihood(none)
        fewer = inside[np.random.default_rng(0).permutation(len(inside))[: len(inside) // 2]]
        half[outside] = check.log_likelihood(_fit(problem, fewer, number)) - check.log_likelihood(none)
    columns = np.column_stack([before, after, after - before, gain, gain - half])
    figures = estimate(means(columns), data.documents, bootstrap or Bootstrap())
    better = figures[2].low > 0 or (figures[2].value >= 0 and figures[3].low > 0)
    text = f"{recipe.name} refitted to {len(before)} decisions."
    beta = _fit(problem, np.arange(len(before)), 0)
    learnt = with_learnt(recipe, problem, own + beta).replace(name=name or f"{recipe.name}-learnt", description=text)
    return Learnt(learnt, better, _view(figures, len(before)), list(_verdict(figures, better)))


def near(problem: Problem, recipe: Recipe) -> Problem:
    """The same problem for the difference from the recipe's weights, so that the penalty applies to it."""
    own = weights_of(recipe)
    every = np.ones(len(own))
    lowest = np.minimum(problem.lowest - own, 0.0)
    return replace(problem, held=problem.x @ own, own=np.zeros(len(own)), lowest=lowest, penalised=every)


def _fit(problem: Problem, mentions: Int64, seed: int) -> Float64:
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


def _view(figures: Sequence[Interval], mentions: int) -> View:
    names = ("right before", "right after", "difference", "gain in log-likelihood per name")
    rows = [[name, f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}"] for name, one in zip(names, figures, strict=False)]
    caption = f"Over {mentions:,} decided names, each answered with weights fitted without its document. 95 % intervals."
    return View("learnt", "Decisions held out.", ["", "value", "interval"], rows, caption)


def _verdict(figures: Sequence[Interval], better: bool) -> Iterator[str]:
    gain, last = figures[3], figures[4]
    if not better:
        yield "The refitted recipe is not better on decisions that are held out: keep the recipe, or review more names."
    if better and last.value < HARDLY:
        yield f"More decisions would hardly help: the last half of them gained {last.value:.3f} of {gain.value:.3f}."
    else:
        yield f"More decisions are likely to help: the last half of them gained {last.value:.3f} of {gain.value:.3f}."
