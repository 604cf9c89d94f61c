"""Metrics against oracles that look at one mention, or one pair of mentions, at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_evaluate as oracle
from namesake.evaluation import statistics
from namesake.evaluation.gold import MISSED, NIL

small = st.integers(0, 3).map(float)
a_mention = st.lists(st.tuples(small, small), min_size=1, max_size=5).flatmap(
    lambda candidates: st.tuples(st.just(candidates), st.none() | st.integers(0, len(candidates) - 1))
)


def flat(mentions):
    offsets = np.cumsum([0, *(len(candidates) for candidates, _ in mentions)]).astype(np.int64)
    rows = [row for candidates, _ in mentions for row in candidates]
    gold = [NIL if g is None else start + g for (_, g), start in zip(mentions, offsets, strict=False)]
    return offsets, np.array(gold, np.int64), [np.array([row[k] for row in rows]) for k in range(2)]


@given(st.lists(a_mention, min_size=1, max_size=6))
def test_gold_ranks(mentions):
    offsets, gold, keys = flat(mentions)
    assert statistics.gold_ranks(offsets, gold, *keys).tolist() == [oracle.place_of_gold(c, g) for c, g in mentions]


@given(st.lists(a_mention, min_size=1, max_size=6))
def test_random_is_the_expectation_of_a_uniform_order(mentions):
    offsets, gold, _ = flat(mentions)
    hits, reciprocal = statistics.random_order(offsets, gold)
    for m, (candidates, g) in enumerate(mentions):
        assert hits[m] == (0 if g is None else 1 / len(candidates))
        assert reciprocal[m] == pytest.approx(0 if g is None else oracle.random_mrr(len(candidates)))


weights_of_five = st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=4)


@given(st.lists(st.none() | small, min_size=5, max_size=5), weights_of_five)
def test_means_pass_over_what_is_outside_the_slice(values, weights):
    column = np.array([[np.nan if value is None else value] for value in values])
    got = statistics.means(column)(np.array(weights, float))[:, 0]
    np.testing.assert_allclose(got, [oracle.mean(values, row) for row in weights])


answers_of_five = st.lists(st.tuples(st.integers(0, 10).map(lambda i: i / 10), st.booleans()), min_size=5, max_size=5)


@pytest.mark.kernel
@given(answers_of_five, weights_of_five)
def test_auroc_counts_pairs(answers, weights):
    confidence, right = np.array([a[0] for a in answers]), np.array([a[1] for a in answers])
    got = statistics.auroc(confidence, right, np.array(weights, float))
    np.testing.assert_allclose(got, [oracle.auroc(confidence, right, row) for row in weights])


@given(answers_of_five, weights_of_five.filter(lambda rows: all(sum(row) for row in rows)))
def test_calibration_error_sums_over_bins(answers, weights):
    probability, right = [a[0] for a in answers], [a[1] for a in answers]
    got = statistics.calibration_error(np.array(probability), np.array(right), np.array(weights, float))
    np.testing.assert_allclose(got, [oracle.calibration_error(probability, right, row) for row in weights], atol=1e-12)


@given(answers_of_five)
def test_risk_and_coverage_at_every_threshold(answers):
    confidence, right = [a[0] for a in answers], [a[1] for a in answers]
    coverage, risk = statistics.risk_coverage(np.array(confidence), np.array(right))
    expected = [oracle.risk_at(confidence, right, threshold) for threshold in sorted(set(confidence), reverse=True)]
    np.testing.assert_allclose(np.column_stack([coverage, risk]), expected, atol=1e-12)
    assert coverage[-1] == 1


def test_difficulty_is_easy_where_popularity_suffices():
    offsets = np.array([0, 2, 4, 6, 8], np.int64)
    gold = np.array([0, 2, NIL, MISSED], np.int64)
    sitelinks = np.array([9.0, 1, 3, 5, 1, 2, 1, 2])
    assert statistics.derived_difficulty(offsets, gold, sitelinks) == ["easy", "hard", None, None]


def test_mentions_of_unknown_confidence_do_not_count():
    confidence, right = np.array([0.9, np.nan, 0.2, 0.5, np.nan]), np.array([True, False, False, True, True])
    known, weights = ~np.isnan(confidence), np.array([[1.0, 5, 2, 1, 5]])
    for metric in (statistics.auroc, statistics.calibration_error):
        whole = metric(confidence, right, weights)
        assert whole == pytest.approx(metric(confidence[known], right[known], weights[:, known]))
