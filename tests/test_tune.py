"""Tuning against oracles: the grid point by point, the likelihood by hand, folds that keep documents whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

import oracle_evaluate as oracle
from namesake.errors import NamesakeError
from namesake.evaluate import grid, logit, tune
from namesake.evaluate.gold import GoldRow, align, in_split, read_gold
from namesake.evaluate.scores import ScoreTable, read_scores
from namesake.recipe import Part, Recipe

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
    searched = grid.search(RECIPE, data, step=0.5)
    assert len(searched.points) == 27
    assert searched.place.tolist() == oracle.grid_places(RECIPE, data, searched.points)


def test_the_best_point_has_the_best_figures_and_lies_inside_its_plateau():
    points = np.array([[i / 10] for i in range(11)])
    place = np.array([[2, 2, 2, 1, 1, 1, 1, 1, 2, 2, 2], [1] * 11, [2] * 11])
    searched = grid.Grid(points, place)
    assert points[searched.best()][0] == 0.5
    assert points[searched.best([1, 2])][0] == 0.5


def test_too_many_points_are_refused():
    recipe = Recipe("five", tuple(Part(name) for name in (*NAMES, "NP")))
    with pytest.raises(NamesakeError, match="points are too many"):
        grid.search(recipe, dataset([([(1, 1, 1, 1)], 0)]))


@given(st.lists(mention, min_size=1, max_size=4), st.tuples(*[st.floats(0, 2)] * 3))
def test_the_likelihood_and_its_gradient(mentions, beta):
    problem = logit.Problem.of(RECIPE, dataset(mentions))
    got = problem.log_likelihood(np.array(beta))
    for m, (_, gold) in enumerate(mentions):
        rows = problem.x[problem.offsets[m] : problem.offsets[m + 1]].tolist()
        assert got[m] == pytest.approx(oracle.log_likelihood(rows, gold, beta), abs=1e-9)
    at = np.array(beta)
    numeric = approx_fprime(at, lambda b: problem._loss(b, 0.7)[0], 1e-6)
    np.testing.assert_allclose(problem._loss(at, 0.7)[1], numeric, atol=2e-4)


def test_the_fit_finds_the_weights_that_made_the_data():
    rng = np.random.default_rng(3)
    truth = np.array([1.5, 0.0, 0.6])
    mentions = []
    for _ in range(1500):
        candidates = rng.integers(0, 4, size=(4, 4))
        utility = candidates[:, 0] * truth[0] + candidates[:, 2] * truth[2] + rng.gumbel(size=4)
        mentions.append(([tuple(row) for row in candidates.tolist()], int(np.argmax(utility))))
    weights, _ = logit.fit(RECIPE, dataset(mentions))
    np.testing.assert_allclose(weights, truth, atol=0.15)


def test_folds_keep_documents_whole_and_are_even():
    documents = np.repeat(np.arange(23), [1, 3] * 11 + [2])
    fold = logit.fold_of(documents, 10, seed=0)
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
    found = tune.tune(Recipe.load("uiscore-paper"), data, "grid")
    assert found.detail == "9,261 points"
    as_published = tune.answerable(data)
    searched = grid.search(Recipe.load("uiscore-paper"), as_published)
    ones = int(np.flatnonzero((searched.points == 1).all(axis=1))[0])
    assert found.figures[0] >= (searched.place[:, ones] == 1).mean()


def test_cross_validation_answers_every_mention_once(quotebank):
    table, gold = quotebank
    trials = {
        trial.name: trial for trial in tune.cross_validate(Recipe.load("uiscore-paper"), align(table, gold), ["fit"])
    }
    assert {trial.n for trial in trials.values()} == {310}
    assert trials["UIScore"].p_at_1.value == pytest.approx(292 / 310)
    assert trials["mGENRE"].p_at_1.value == pytest.approx(295 / 310)
    assert trials["uiscore-paper by fit"].p_at_1.low > 0.88
