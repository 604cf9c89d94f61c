"""Weights of a recipe from scores, labelled text or decisions of people, and thresholds from labelled text.

Decisions are few and concern uncertain names, so with them the weights stay near those of the recipe: the L2 penalty
applies to their difference. All figures are of decisions that the weights were not fitted to, by folds of documents.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.analysis.evaluate import AnyKB, link_text, only_known
from namesake.arrays import Bool, Float64, Int64
from namesake.articles.article import Article, Mention
from namesake.articles.builder import in_tables
from namesake.articles.rejects import NoRejects, Rejects
from namesake.decisions.lookup import NIL, NOTHING, Decisions
from namesake.engines.file_linker import read_files
from namesake.errors import NamesakeError
from namesake.evaluation import fit_weights, text_figures, tuning
from namesake.evaluation.fit_weights import CONSTANT, MOST_POINTS, STEP, Problem, fold_of, learnable, weights_of
from namesake.evaluation.gold import Dataset, GoldRow, align, in_split, read_gold, read_scores, resolved, score_table
from namesake.evaluation.labelled_text import Outcome
from namesake.evaluation.measure import from_recipe
from namesake.evaluation.reports.evaluation_report import INTERVALS, pivot
from namesake.evaluation.reports.report import TEXTS, View
from namesake.evaluation.statistics import DEFAULT, SAMPLES, SEED, Bootstrap, estimate, means
from namesake.evaluation.text_figures import Trade
from namesake.files import Paths, several
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.printable import counted
from namesake.recipe import Recipe

Names = str | Sequence[str]
ROUNDS = 2  # how often labelled text is linked and the weights are fitted
STEPS = tuple(k / 20 for k in range(20))  # thresholds that `threshold` shows beside the suggested one
DECISION_FOLDS = 5
PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0)
FEWEST = 10  # decisions below which nothing is fitted
HARDLY = 0.01  # more decisions hardly help if the last half raised the log-likelihood per name by less


class Tuning(NamedTuple):
    """The recipe with tuned weights, and tables about them."""

    recipe: Recipe
    views: list[View]
    mentions: int
    warning: str | None = None  # a warning if there are few mentions for so many weights


def tune(
    scores: Paths = (),
    gold: Paths = (),
    recipe: Recipe | str | Path = "default",
    *,
    labelled: Paths = (),
    kb: KB | str | Path | None = None,
    further: Sequence[KB | str | Path] = (),
    complete: Names = (),
    how: Literal["fit", "grid"] = "fit",
    split: str | None = None,
    step: float = STEP,
    folds: int = tuning.FOLDS,
    known: KB | str | Path | None = None,
    hold: bool = False,
    name: str | None = None,
) -> Tuning:
    """Find a recipe's weights by a fitted log-linear model or by grid search, and measure them.

    They are learnt from `scores` with `gold`, from `labelled` text, or from both at once. Labelled text also gives
    thresholds, `[decide.thresholds]`.

    Args:
        scores: files with the scores of every candidate; several are fitted as one.
        gold: one gold file for all score files, or one for each.
        recipe: the recipe to tune: a recipe, the name of a shipped recipe or a `.toml` file.
        labelled: files of raw text with labels, each a corpus with the same weight.
        kb: the KB to link labelled text with.
        further: more KBs to link it with, such as one of people: their samples are fitted, but not measured.
        complete: names of corpora in which every name is labelled: names without a label are NIL there.
        how: the weights of the resulting recipe: `fit` (log-linear) or `grid`.
        split: the gold to find the weights on; default: all of it.
        step: the step of the grid.
        folds: the number of folds by document, over all gold, for figures on unseen mentions.
        known: ignore candidates that are not in this KB, in files that `namesake link` wrote.
        hold: keep the weights, and fit only the constants of NIL: `nil`, `alone` and the doubt `Constant`.
        name: the name of the resulting recipe; default: the old name and `how`.
    """
    if how not in tuning.HOWS:
        raise NamesakeError(f"`how={how!r}`: must be one of {', '.join(tuning.HOWS)}")
    if not labelled and not scores:
        raise NamesakeError("tune needs scores and their `gold=`, or `labelled=` text and its `kb=`")
    if complete and not labelled:
        raise NamesakeError("`complete=` applies to `labelled=` text")
    given = Recipe.load(recipe)
    system = _held(given) if hold else given
    sources = _sources([Path(path) for path in several(scores)], [Path(path) for path in several(gold)], split, known)
    data = [each.take(np.flatnonzero(inside)) for _, each, inside in sources]
    if labelled:
        if how != "fit":
            raise NamesakeError("`how='grid'` is for score files: weights are fitted to labelled text")
        tuned = _tune_text(labelled, [kb, *further], system, data, name, complete)
    else:
        points = (round(1 / step) + 1) ** sum(not part.fixed for part in system.parts)
        grid = system.decide is None and not system.uses_kinds and len(sources) == 1 and points <= MOST_POINTS
        hows = [each for each in tuning.HOWS if each in {how, "fit"} or grid]  # the other way, for comparison
        found = [tuning.tune_weights(system, data, each, step, name) for each in hows]
        views = [tuning.weights_view(found, f"split {split}" if split else "all gold")]
        views += _unseen_views(sources, system, found, (step, folds), split)
        best = next(each.recipe for each in found if each.how == how)
        tuned = Tuning(best, views, sum(len(learnable(system, each).gold) for each in data))
    recipe = _released(tuned.recipe, given) if hold else tuned.recipe
    return tuned._replace(recipe=recipe, warning=fit_weights.few(system, tuned.mentions))


Source = tuple[str, Dataset, Bool]
"""The name of a score file, its scores with gold, and which mentions are in the split."""


def _sources(scores: Sequence[Path], gold: Sequence[Path], split: str | None, known: AnyKB | None) -> list[Source]:
    """Read score files and gold. Only files that `link` wrote can have candidates that the KB `known` lacks."""
    if scores and len(gold) not in {1, len(scores)}:
        raise NamesakeError(f"{len(scores)} files of `scores=` and {len(gold)} of `gold=`: give one, or one for each")
    rows = [resolved(read_gold(path))[0] for path in gold] if scores else []
    found = []
    for path, own in zip(scores, rows * len(scores) if len(rows) == 1 else rows, strict=True):
        data = align(read_scores(path), own)
        wanted = {row.mention for row in in_split(own, split)}
        if known is not None and data.table.chosen:
            data = only_known(data, known)
            # mentions with one candidate left are omitted: no longer ambiguous, they differ from names of one entity
            lost = zip(data.columns["known"], data.columns["rivals"], strict=True)
            data = data.take([i for i, mention in enumerate(lost) if mention != ("some known", None)])
        found.append((path.name, data, np.array([mention in wanted for mention in data.table.mentions], np.bool_)))
    return found


def _unseen_views(
    sources: Sequence[Source], recipe: Recipe, found: Sequence[tuning.Tuned], grid: tuple[float, int], split: str | None
) -> Iterator[View]:
    """Figures on gold outside the split, and by cross-validation over all gold."""
    for name, data, inside in sources if split else ():
        rest = data.take(np.flatnonzero(~inside))
        if rest.answerable.any():
            rest = learnable(recipe, rest)
            answers = [from_recipe(each.recipe, rest, f"{each.recipe.name} by {each.how}") for each in found]
            rows = tuning.figures([*answers, *tuning.untuned(rest)], rest)
            caption = f"The weights are not tuned on it. {INTERVALS}"
            yield pivot(rows, "unseen", f"{name}: gold outside the split.", caption)
    validated = tuning.cross_validate(recipe, [data for _, data, _ in sources], [each.how for each in found], *grid)
    caption = f"Each fold is answered with weights tuned on the others. {INTERVALS}"
    for (name, *_), rows in zip(sources, validated, strict=True):
        yield pivot(rows, "unseen", f"{name}: {grid[1]} folds by document over all gold.", caption)


def _tune_text(
    labelled: Paths, kbs: list[AnyKB | None], recipe: Recipe, more: Sequence[Dataset], name: str | None, complete: Names
) -> Tuning:
    """Fit weights on labelled text and more data sets. Thresholds come from text that is held out."""
    found = recipe
    for _ in range(ROUNDS):  # the names that are found depend on the weights of the round before
        texts = [link_text(labelled, kb, found, scores=True, complete=complete) for kb in kbs]
        samples = [tuning.Sample.of(*corpus) for corpus in texts[0].corpora]
        others = [tuning.Sample.of(*corpus, tuning.FURTHER) for text in texts[1:] for corpus in text.corpora]
        found = tuning.fit_text(recipe, [*samples, *others], more, start=found)
    if len(samples) > 1:
        left_out = tuning.left_out(recipe, [*samples, *others], more, start=found)
        unseen = [Outcome.of(sample.answered(left_out[sample.labels.name])) for sample in samples]
    else:
        unseen = [tuning.folded(recipe, samples[0], more, start=found)]
    if found.decide is not None:
        found = found.replace(decide=found.decide.replace(thresholds=text_figures.thresholds(Trade.of(unseen))))
    mentions = sum(len(sample.learnable(recipe)) for sample in samples) + sum(len(each.gold) for each in more)
    data = [*(sample.data for sample in samples), *more]
    tuned = tuning.named(found, recipe, data, "fit", f"L2 penalty {tuning.PENALTY:g}", name, mentions)
    without = "the others" if len(samples) > 1 else f"the rest of {tuning.FOLDS} folds by document"
    at = 0.0 if found.decide is None else found.decide.threshold
    names = [sample.labels.name for sample in samples]
    linked = link_text(labelled, kbs[0], tuned.recipe, complete=complete).corpora  # other names remain with new weights
    seen = [text_figures.plain_figures(Outcome.of(labels), at) for labels, _ in linked]
    new = [text_figures.plain_figures(outcome, at) for outcome in unseen]
    views = [tuning.weights_view([tuned], "all labelled text"), tuning.corpora_view(names, seen, new, without)]
    if found.decide is not None:
        shown = {f"{name} = {value}": value for name, value in found.decide.thresholds.items()}
        caption = "Over all corpora as one, with weights that were not fitted on them."
        views.append(text_figures.thresholds_view(Trade.of(unseen), shown, caption))
    return Tuning(tuned.recipe, views, mentions)


def _held(recipe: Recipe) -> Recipe:
    """The recipe with all weights fixed but the constants of NIL."""
    rule = recipe.decide
    if rule is None:
        raise NamesakeError(f"{recipe.name} has no [decide] table: with `hold=True` there is nothing to fit")
    doubts = tuple(part.replace(fixed=part.doubt != CONSTANT) for part in rule.parts)
    parts = tuple(part.replace(fixed=True) for part in recipe.parts)
    return recipe.replace(parts=parts, decide=rule.replace(parts=doubts))


def _released(found: Recipe, given: Recipe) -> Recipe:
    """The tuned recipe, with its parts fixed or free as in the given one."""
    if found.decide is None or given.decide is None:
        return found
    pairs = zip(found.decide.parts, given.decide.parts, strict=True)
    doubts = tuple(now.replace(fixed=before.fixed) for now, before in pairs)
    return found.replace(parts=given.parts, decide=found.decide.replace(parts=doubts))


class Calibration(NamedTuple):
    """Figures by threshold, and the threshold with the target precision."""

    recipe: Recipe  # the recipe, with `[decide.thresholds]` from this text
    trade: Trade
    suggested: float | None  # None if no threshold reaches the target
    view: View
    lines: Sequence[str]  # the suggestion, then remarks


def threshold(
    labelled: Paths,
    kb: KB | str | Path,
    *,
    target_precision: float = 0.95,
    recipe: Recipe | str | Path = "default",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Calibration:
    """Find the lowest threshold at which a recipe's answers have the target precision on labelled text.

    Args:
        labelled: files of raw text with labels; all of them count as one.
        kb: the KB to link them with.
        target_precision: the share of the answers that must be right.
        recipe: a recipe with a `[decide]` table, the name of a shipped recipe or a `.toml` file.
        samples: the number of bootstrap samples.
        seed: the seed of the bootstrap.
    """
    if not 0 < target_precision <= 1:
        raise NamesakeError(f"`target_precision={target_precision:g}`: must be above 0 and at most 1, such as 0.95")
    system = Recipe.load(recipe)
    if system.decide is None:
        raise NamesakeError(f"recipe {system.name} always answers: it has no [decide] table, so no threshold")
    text = link_text(labelled, kb, system)
    outcomes = text.outcomes
    trade = Trade.of(outcomes)
    entry = trade.reaching(target_precision)
    suggested = None if entry is None else trade.rounded(entry)
    percent = round(target_precision * 100)
    whole = {percent} if percent < 100 and abs(target_precision * 100 - percent) < 1e-9 else set()
    percents = sorted({*text_figures.PERCENTS, *whole})
    calibrated = system.replace(decide=system.decide.replace(thresholds=text_figures.thresholds(trade, percents)))
    suggestion = _suggestion(outcomes, trade, target_precision, suggested, Bootstrap(samples, seed))
    shown = {str(at): at for at in sorted({*STEPS, *([] if suggested is None else [suggested])})}
    view = text_figures.thresholds_view(trade, shown, TEXTS["coverage"], str(suggested))
    return Calibration(calibrated, trade, suggested, view, [suggestion, *text.remarks])


def _suggestion(
    outcomes: Sequence[Outcome], trade: Trade, target: float, suggested: float | None, bootstrap: Bootstrap
) -> str:
    if suggested is not None:
        pairs = zip(("precision", "recall"), text_figures.intervals(outcomes, suggested, bootstrap), strict=True)
        figures = [f"{name} {found.value:.3f} ({found.low:.3f} to {found.high:.3f})" for name, found in pairs]
        return f"threshold {suggested}: {', '.join(figures)}; use it with `threshold={suggested}`"
    needed = text_figures.fewest(target)
    best = trade.best(needed)
    if best is None:
        most = int(trade.answers.max(initial=0))
        return f"to measure precision {target:g} takes {needed:,} answers, and there are {most:,}: label more text"
    return (
        f"no threshold gives precision {target:g} on this text: the highest over {needed:,} answers or more is "
        f"{trade.precision[best]:.3f}, at threshold {trade.rounded(best)}"
    )


# decisions
class Learnt(NamedTuple):
    """A recipe learnt from decisions, and its figures on decisions that it was not fitted to."""

    recipe: Recipe
    better: bool  # whether it is better than the given recipe; if not, it should not be used
    view: View
    lines: list[str]  # the verdict, and whether more decisions would help


def learn(
    decisions: Paths, linker: Linker, *, articles: Paths = (), name: str | None = None, rejects: Rejects | None = None
) -> Learnt:
    """Refit a recipe to decisions, and compare it with the recipe before on decisions that are held out.

    Without `articles`, only the sentences that the decisions contain are linked, which is faster and less exact. The
    decisions of the linker itself are ignored.
    """
    known = Decisions(decisions, linker.kb)
    whole = bool(several(articles))
    pairs = ((one.decision, int(entity)) for one, entity in zip(known.placed, known.entity, strict=True))
    taught = [
        (one, None if entity == NIL else linker.kb.ids.text(entity))
        for one, entity in pairs
        if one.decision in ("entity", "nil", "alias") and entity != NOTHING and (one.article if whole else one.text)
    ]
    if len(taught) < FEWEST:
        few = counted(len(taught), "decision")
        raise NamesakeError(f"{few} to learn from, and {FEWEST} are needed: review more names")
    ids = (one.article or "" if whole else str(at) for at, (one, _) in enumerate(taught))
    gold = {(id, one.name): (one, entity) for id, (one, entity) in zip(ids, taught, strict=True)}
    if whole:
        read = read_files([Path(path) for path in several(articles)], NoRejects() if rejects is None else rejects)
        wanted = pa.array({id for id, _ in gold})
        tables: Iterable[pa.Table] = (table.filter(pc.is_in(table.column("id"), wanted)) for table in read)
    else:
        sentences = []
        for (id, name), (one, _) in gold.items():
            mentions = [Mention(name, [(0, len(name))])] if one.cells else None  # of a row: its name
            sentences.append(Article(id, one.text or "", None, one.date, mentions))
        tables = in_tables(sentences)
    plain = Linker(linker.kb, linker.recipe, mentions=linker.mentions)
    links = pa.concat_tables([plain.empty_links(scores=True), *(plain.link(table, scores=True) for table in tables)])
    keys = list(zip(links["article_id"].to_pylist(), links["name"].to_pylist(), strict=True))
    first = {key: at for at, key in reversed(list(enumerate(keys))) if key in gold}
    scored = score_table(links.take(pa.array(sorted(first.values()), pa.int64())), "decisions")
    data = align(scored, [GoldRow(key, entity, {}) for key, (_, entity) in gold.items() if key in first])
    unique = [(gold[key][0].article or key[0], f"{key[1]} {key[0]}") for key in data.table.mentions]
    data = replace(data, table=replace(data.table, mentions=unique))
    return fitted(linker.recipe, learnable(linker.recipe, data), name)


def fitted(recipe: Recipe, data: Dataset, name: str | None = None, bootstrap: Bootstrap = DEFAULT) -> Learnt:
    """The recipe refitted to all data, with figures by folds."""
    problem, own = near(Problem.of(recipe, [data]), recipe), weights_of(recipe)
    fold = fold_of(problem.document, DECISION_FOLDS, 0)
    if len(np.unique(fold)) < 2:
        raise NamesakeError("all decisions are about one document: decide names of other documents, too")
    before = from_recipe(recipe, data, "before").right_with_nil
    after, gain, half = np.zeros((3, len(before)))
    none = np.zeros(len(own))
    for number in np.unique(fold):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        check = problem.take(outside)
        fewer = inside[np.random.default_rng(0).permutation(len(inside))[: len(inside) // 2]]
        beta, of_half = (fit_near(problem, some, number) for some in (inside, fewer))
        found = fit_weights.with_learnt(recipe, problem, own + beta)
        after[outside] = from_recipe(found, data.take(outside), "after").right_with_nil
        gain[outside] = check.log_likelihood(beta) - check.log_likelihood(none)
        half[outside] = check.log_likelihood(of_half) - check.log_likelihood(none)
    columns = np.column_stack([before, after, after - before, gain, gain - half])
    figures = estimate(means(columns), problem.document, bootstrap)
    better = figures[2].low > 0 or (figures[2].value >= 0 and figures[3].low > 0)
    learnt = fit_weights.with_learnt(recipe, problem, own + fit_near(problem, np.arange(len(before)), 0))
    text = f"{recipe.name} refitted to {len(before)} decisions."
    learnt = learnt.replace(name=name or f"{recipe.name}-learnt", description=text)
    names = ("right before", "right after", "difference", "gain in log-likelihood per name")
    pairs = zip(names, figures, strict=False)
    rows = [[name, f"{one.value:.3f}", f"{one.low:.3f} to {one.high:.3f}"] for name, one in pairs]
    caption = TEXTS["held_out"].format(len(before))
    view = View("learnt", "Decisions held out.", ["", "value", "interval"], rows, caption)
    gained, last = figures[3].value, figures[4].value
    more = "would hardly help" if better and last < HARDLY else "are likely to help"
    expected = f"More decisions {more}: the last half of them gained {last:.3f} of {gained:.3f}."
    return Learnt(learnt, better, view, [expected] if better else [TEXTS["keep"], expected])


def near(problem: Problem, recipe: Recipe) -> Problem:
    """The same problem for the difference from the recipe's weights, so that the penalty applies to it."""
    own = weights_of(recipe)
    lowest, penalised = np.minimum(problem.lowest - own, 0.0), np.ones(len(own))
    return replace(problem, held=problem.x @ own, own=np.zeros(len(own)), lowest=lowest, penalised=penalised)


def fit_near(problem: Problem, mentions: Int64, seed: int) -> Float64:
    """The differences of weights fitted to some mentions; a quarter of their documents selects the penalty."""
    options = {"maxiter": 200}  # without the units and starts of `Problem.fit`: differences are small, penalties large
    inner = fold_of(problem.document, 4, 1 + seed)[mentions] == 0
    every, learn, check = (problem.take(one) for one in (mentions, mentions[~inner], mentions[inner]))
    beta, best = np.zeros(len(problem.own)), (-np.inf, PENALTIES[0])
    for penalty in PENALTIES if len(learn.gold) and len(check.gold) else ():
        beta = learn.minimised(penalty, beta, options)
        best = max(best, (float(check.log_likelihood(beta).sum()), penalty))
    return every.minimised(best[1], np.zeros(len(problem.own)), options)
