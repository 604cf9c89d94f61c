"""Tuning against oracles: the grid point by point, the likelihood by hand, folds that keep documents whole."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

import oracle_evaluate as oracle
from namesake.errors import NamesakeError
from namesake.evaluation import fit_weights, tuning
from namesake.evaluation.fit_weights import learnable
from namesake.evaluation.gold import NIL, GoldRow, ScoreTable, align, in_split, read_gold, read_scores
from namesake.kernels.kinds import KINDS, PERSON
from namesake.recipe import Decide, DoubtPart, Part, Recipe

RECIPE = Recipe("three", (Part("IScore"), Part("NIScore", scale="log1p"), Part("EEIScore")), tie_break=("NS", "LQID"))
NAMES = ("IScore", "NIScore", "EEIScore", "NS")


def dataset(mentions):
    """Mentions as (candidates as tuples of four scores, gold index); two mentions a document."""
    offsets = np.cumsum([0, *(len(candidates) for candidates, _ in mentions)]).astype(np.int64)
    rows = [row for candidates, _ in mentions for row in candidates]
    scores = {name: np.array([row[k] for row in rows], float) for k, name in enumerate(NAMES)}
    scores["LQID"] = -np.arange(len(rows), dtype=float)
    keys = [(f"a{i // 2}", f"n{i}") for i in range(len(mentions))]
    table = ScoreTable(keys, offsets, [f"Q{i + 1}" for i in range(len(rows))], scores)
    return align(table, [GoldRow(key, gold, {}) for key, (_, gold) in zip(keys, mentions, strict=True)])


few = st.integers(0, 3)
mention = st.lists(st.tuples(few, few, few, few), min_size=1, max_size=4).flatmap(
    lambda candidates: st.tuples(st.just(candidates), st.integers(0, len(candidates) - 1))
)


@settings(max_examples=25, deadline=None)
@given(st.lists(mention, min_size=1, max_size=4))
def test_the_grid_ranks_as_the_recipe_does_at_every_point(mentions):
    data = dataset(mentions)
    points, place = fit_weights.search_grid(RECIPE, data, step=0.5)
    assert len(points) == 27
    assert place.tolist() == oracle.grid_places(RECIPE, data, points)


def test_the_best_point_has_the_best_figures_and_lies_inside_its_plateau():
    points = np.array([[i / 10] for i in range(11)])
    place = np.array([[2, 2, 2, 1, 1, 1, 1, 1, 2, 2, 2], [1] * 11, [2] * 11])
    assert fit_weights.best_point(points, place)[0] == 0.5
    assert fit_weights.best_point(points, place[[1, 2]])[0] == 0.5


def test_too_many_points_are_refused():
    recipe = Recipe("five", tuple(Part(name) for name in (*NAMES, "NP")))
    with pytest.raises(NamesakeError, match="points are too many"):
        fit_weights.search_grid(recipe, dataset([([(1, 1, 1, 1)], 0)]))


@given(st.lists(mention, min_size=1, max_size=4), st.tuples(*[st.floats(0, 2)] * 3))
def test_the_likelihood_and_its_gradient(mentions, weights):
    problem = fit_weights.Problem.of(RECIPE, [dataset(mentions)])
    got = problem.log_likelihood(np.array(weights))
    for m, (_, gold) in enumerate(mentions):
        rows = problem.x[problem.offsets[m] : problem.offsets[m + 1]].toarray().tolist()
        assert got[m] == pytest.approx(oracle.log_likelihood(rows, gold, weights), abs=1e-9)
    at = np.array(weights)
    numeric = approx_fprime(at, lambda b: problem.loss(b, 0.7)[0], 1e-6)
    np.testing.assert_allclose(problem.loss(at, 0.7)[1], numeric, atol=2e-4)


# recipes that may say "nobody"

DECIDES = RECIPE.replace(decide=Decide(nil=1.0, alone=0.5))
or_nobody = st.lists(st.tuples(few, few, few, few), min_size=1, max_size=4).flatmap(
    lambda candidates: st.tuples(st.just(candidates), st.none() | st.integers(0, len(candidates) - 1))
)
answered = mention.filter(lambda m: len(m[0]) > 1)


def scaled(mentions):
    """The parts that the recipe makes of scores: the second is log1p."""
    return [([(i, math.log1p(n), e) for i, n, e, _ in candidates], gold) for candidates, gold in mentions]


@given(st.lists(or_nobody, max_size=4), answered, st.tuples(*[st.floats(0, 2)] * 3), st.tuples(*[st.floats(-2, 3)] * 2))
def test_nobody_is_an_alternative(mentions, last, weights, none):
    mentions = [*mentions, last]
    problem = fit_weights.Problem.of(DECIDES, [dataset(mentions)])
    beta = np.zeros(5)
    beta[problem.free] = np.array([*weights, *none])[problem.free]
    came_with = [1.0, 1.0, 1.0, 1.0, 0.5]
    used = [value if k in problem.free else came_with[k] for k, value in enumerate([*weights, *none])]
    got = problem.log_likelihood(beta)
    for m, (parts, gold) in enumerate(scaled(mentions)):
        expected = oracle.log_likelihood(parts, gold, used[:3], used[4] if len(parts) == 1 else used[3])
        assert got[m] == pytest.approx(expected, abs=1e-9)
    numeric = approx_fprime(beta, lambda b: problem.loss(b, 0.7)[0], 1e-6)
    np.testing.assert_allclose(problem.loss(beta, 0.7)[1], numeric, atol=2e-4)


@settings(max_examples=10, deadline=None)
@given(st.lists(or_nobody, min_size=3, max_size=10), st.sampled_from([0.3, 1.0, 3.0]))
def test_the_fit_is_what_an_optimiser_without_gradients_finds(mentions, penalty):
    nobody, somebody = ([(0, 1, 0, 0), (1, 0, 1, 0)], None), ([(2, 1, 0, 0), (0, 0, 1, 0)], 0)
    alone, stranger = ([(1, 1, 0, 0)], 0), ([(0, 0, 0, 0)], None)
    mentions = [*mentions, nobody, somebody, alone, stranger]
    problem = fit_weights.Problem.of(DECIDES, [dataset(mentions)])
    assert problem.free.tolist() == [0, 1, 2, 3, 4]
    plain = scaled(mentions)

    def loss(b):
        return oracle.penalised_loss(plain, b[:3], b[3], b[4], penalty)

    bounds = [(0, None)] * 3 + [(None, None)] * 2
    found = problem.fit(penalty)
    slow = minimize(loss, [0.5, 0.5, 0.5, 0, 0], method="Powell", bounds=[(0, 20)] * 3 + [(-20, 20)] * 2, tol=1e-10)
    assert loss(found) <= slow.fun + 1e-6
    assert all(low is None or value >= low for value, (low, _) in zip(found, bounds, strict=True))
    for k in range(5):  # no step in any direction helps
        for step in (-1e-3, 1e-3):
            moved = found.copy()
            moved[k] = max(moved[k] + step, 0) if k < 3 else moved[k] + step
            assert loss(moved) >= loss(found) - 1e-9


def drawn(truth, nil, count, size=4, seed=3):
    """Mentions whose gold is drawn from the model: candidates of random scores, and nobody."""
    rng = np.random.default_rng(seed)
    mentions = []
    for _ in range(count):
        candidates = rng.integers(0, 4, size=(size, 4))
        parts = np.column_stack([candidates[:, 0], np.log1p(candidates[:, 1]), candidates[:, 2]])
        utility = np.append(parts @ truth, nil) + rng.gumbel(size=size + 1)
        best = int(np.argmax(utility))
        mentions.append(([tuple(row) for row in candidates.tolist()], None if best == size else best))
    return mentions


def test_the_fit_finds_the_weights_that_made_the_data():
    truth = np.array([1.5, 0.0, 0.6])
    always = drawn(truth, -np.inf, 1500)
    weights = [part.weight for part in fit_weights.fit(RECIPE, [dataset(always)], 5, 1)[0].parts]
    np.testing.assert_allclose(weights, truth, atol=0.15)
    several, single = drawn(truth, 4.0, 1500), drawn(truth, 1.0, 1500, size=1, seed=4)
    found = fit_weights.fit(DECIDES, [dataset(several), dataset(single)], 5, 1)[0]
    np.testing.assert_allclose([part.weight for part in found.parts], truth, atol=0.15)
    assert found.decide.nil == pytest.approx(4.0, abs=0.3)
    assert found.decide.alone == pytest.approx(1.0, abs=0.3)
    assert found.decide.threshold == DECIDES.decide.threshold


# weights by kind

PLACE, ORGANISATION = KINDS.index("place"), KINDS.index("organisation")
BY_KIND = Recipe(
    "kinds",
    (
        Part("IScore", 0.8, by_kind={"place": -1.0, "organisation": 0.0}),
        Part("NIScore", 0.5, "log1p"),
        Part(evidence="OneWord", by_kind={"place": 1.5, "person": -0.5}),
        Part(evidence="Constant", by_kind={"organisation": 0.75}),
    ),
    tie_break=("LQID",),
    decide=Decide(1.0, parts=(DoubtPart("Constant", 1.25), DoubtPart("OneWord", 0.5))),
)


def of_kinds(count, seed=7):
    """Mentions with candidates of three kinds and with evidence, and gold drawn from BY_KIND, summed by hand."""
    rng = np.random.default_rng(seed)
    data = dataset([([tuple(row) for row in rng.integers(0, 4, (3, 4)).tolist()], 0) for _ in range(count)])
    kinds = rng.choice([PERSON, PLACE, ORGANISATION], len(data.table.qids)).astype(np.int8)
    one_word = rng.integers(0, 2, count).astype(float)
    gold = np.empty(count, np.int64)
    for m in range(count):
        scores = [1.25 + 0.5 * one_word[m]]
        for at in range(data.offsets[m], data.offsets[m + 1]):
            first = {PERSON: 0.8, PLACE: -0.2, ORGANISATION: 0.8}[kinds[at]]
            own = {PERSON: -0.5 * one_word[m], PLACE: 1.5 * one_word[m], ORGANISATION: 0.75}[kinds[at]]
            second = 0.5 * math.log1p(data.table.scores["NIScore"][at])
            scores.append(first * data.table.scores["IScore"][at] + second + own)
        best = int(np.argmax(np.array(scores) + rng.gumbel(size=len(scores))))
        gold[m] = data.offsets[m] + best - 1 if best else NIL
    table = replace(data.table, kinds=kinds, doubts={"OneWord": one_word, "Constant": np.ones(count)})
    return replace(data, table=table, gold=gold)


def test_the_fit_scores_alternatives_as_the_linker_does():
    data = of_kinds(50)
    problem = fit_weights.Problem.of(BY_KIND, [data])
    weights = fit_weights.weights_of(BY_KIND)
    free = np.isin(np.arange(len(weights)), problem.free)
    alternatives = problem.held + problem.x @ np.where(free, weights, 0.0)
    combined = data.table.combined(BY_KIND)
    expected = np.insert(combined.total, data.offsets[1:], combined.nil)
    np.testing.assert_allclose(alternatives, expected, atol=1e-12)
    begin = np.where(free, 0.1, 0.0)
    numeric = approx_fprime(begin, lambda b: problem.loss(b, 0.7)[0], 1e-6)
    np.testing.assert_allclose(problem.loss(begin, 0.7)[1], numeric, atol=1e-3)


def test_the_fit_finds_weights_by_kind_whatever_it_starts_from():
    data = of_kinds(6000)
    unknown = tuple(part.with_weights(dict.fromkeys(part.weights, 0.0)) for part in BY_KIND.parts)
    found = tuning.fit_text(BY_KIND.replace(parts=unknown), [], [data], BY_KIND)
    again = tuning.fit_text(BY_KIND, [], [data], start=found)
    for part, other, truth in zip(found.parts, again.parts, BY_KIND.parts, strict=True):
        assert other.weights == pytest.approx(part.weights, abs=1e-4)
        for kind in set(truth.by_kind):
            base = truth.weights.get("", 0.0)
            assert part.weights.get("", 0.0) + part.by_kind[kind] == pytest.approx(base + truth.by_kind[kind], abs=0.25)
    assert found.decide.parts[0].weight == pytest.approx(1.25, abs=0.2)
    held = BY_KIND.replace(parts=(BY_KIND.parts[0].replace(fixed=True), *BY_KIND.parts[1:]))
    assert tuning.fit_text(held, [], [data], held).parts[0] == held.parts[0]


def test_weights_by_kind_are_for_the_fit_only():
    with pytest.raises(NamesakeError, match="kinds: a grid has no weights by kind; use `how='fit'`"):
        tuning.tune_weights(BY_KIND.replace(decide=None), [of_kinds(9)], "grid")
    rows = tuning.weights_view([tuning.tune_weights(BY_KIND, [of_kinds(60)], "fit")], "all gold").rows
    assert [row[0] for row in rows[:4]] == [
        "IScore (none)",
        "IScore (none), place",
        "IScore (none), organisation",
        "NIScore (log1p)",
    ]
    assert "9 weights" in fit_weights.few(BY_KIND, 60)


def test_a_stand_in_is_learnt_where_it_counts_and_the_rest_from_all_files():
    parts = (Part("IScore"), Part("EEIScore"), Part("NIScore", scale="log1p", unless="IScore"))
    recipe = Recipe("two", parts, tie_break=("LQID",), decide=Decide(1.0))
    whole = dataset(drawn(np.array([1.0, 0.0, 0.7]), 3.0, 1200))
    lacking = dataset(drawn(np.array([0.0, 2.0, 0.7]), 3.0, 1200, seed=5))
    del lacking.table.scores["IScore"]
    found = fit_weights.fit(recipe, [whole, lacking], 5, 1)[0]
    assert [part.scorer for part in found.parts] == ["IScore", "EEIScore", "NIScore"]
    np.testing.assert_allclose([part.weight for part in found.parts], [1.0, 0.7, 2.0], atol=0.2)
    assert found.decide.nil == pytest.approx(3.0, abs=0.3)


def test_what_cannot_be_learnt_keeps_the_weight_it_came_with():
    mentions = [([(1, 2, 0, 0), (0, 1, 0, 0)], 0), ([(3, 0, 0, 0), (1, 1, 0, 0)], 0), ([(2, 2, 0, 0), (0, 0, 0, 0)], 1)]
    recipe = DECIDES.replace(
        parts=(Part("IScore", 0.25, fixed=True), Part("NIScore", 1, "log1p"), Part("EEIScore", 7.0))
    )
    found = fit_weights.fit(recipe, [dataset(mentions * 2)], 2, 1)[0]
    assert found.parts[0] == recipe.parts[0]  # fixed
    assert found.parts[2] == recipe.parts[2]  # 0 everywhere
    assert found.decide == recipe.decide  # nobody is never right, so its score would run away
    assert found.parts[1].weight != recipe.parts[1].weight


def test_a_fixed_weight_counts_in_the_fit():
    truth = np.array([1.5, 0.5, 0.6])
    mentions = drawn(truth, 3.0, 1500)
    held = DECIDES.replace(parts=(Part("IScore", 1.5, fixed=True), *DECIDES.parts[1:]))
    found = fit_weights.fit(held, [dataset(mentions)], 5, 1)[0]
    np.testing.assert_allclose([part.weight for part in found.parts], truth, atol=0.15)
    assert found.decide.nil == pytest.approx(3.0, abs=0.2)


def test_a_grid_holds_fixed_weights_and_finds_no_odds_of_nobody():
    recipe = RECIPE.replace(parts=(Part("IScore", 0.3, fixed=True), *RECIPE.parts[1:]))
    points, _ = fit_weights.search_grid(recipe, dataset([([(1, 1, 1, 1), (2, 0, 0, 0)], 0)]), step=0.5)
    assert len(points) == 9
    assert set(points[:, 0]) == {0.3}
    with pytest.raises(NamesakeError, match="a grid takes one score file and a recipe without"):
        tuning.tune_weights(DECIDES, [dataset([([(1, 1, 1, 1), (2, 0, 0, 0)], 0)])], "grid")


def test_folds_keep_documents_whole_and_are_even():
    documents = np.repeat(np.arange(23), [1, 3] * 11 + [2])
    fold = fit_weights.fold_of(documents, 10, seed=0)
    assert all(len(set(fold[documents == d])) == 1 for d in range(23))
    per_fold = [len(set(documents[fold == f])) for f in range(10)]
    assert max(per_fold) - min(per_fold) <= 1


@pytest.fixture(scope="module")
def quotebank(shared):
    table = read_scores(shared / "quotebank" / "reference_scores.parquet")
    return table, read_gold(shared / "quotebank" / "gold.jsonl")


def test_the_papers_grid_on_the_tune_split(quotebank):
    table, gold = quotebank
    data = align(table, in_split(gold, "tune"))
    found = tuning.tune_weights(Recipe.load("uiscore-paper"), [data], "grid")
    assert found.detail == "9,261 points"
    as_published = learnable(None, data)
    points, place = fit_weights.search_grid(Recipe.load("uiscore-paper"), as_published)
    ones = int(np.flatnonzero((points == 1).all(axis=1))[0])
    assert found.figures[0] >= (place[:, ones] == 1).mean()


def test_cross_validation_answers_every_mention_once(quotebank):
    table, gold = quotebank
    (found,) = tuning.cross_validate(Recipe.load("uiscore-paper"), [align(table, gold)], ["fit"])
    assert {row.n for row in found if row.metric == "P@1"} == {310}
    hits = {row.method: row for row in found if row.metric == "P@1"}
    assert hits["UIScore"].value == pytest.approx(292 / 310)
    assert hits["mGENRE"].value == pytest.approx(295 / 310)
    assert hits["uiscore-paper by fit"].low > 0.88
