"""The bootstrap: its samples, its intervals against known ones, its paired test."""

import numpy as np
import pytest
from scipy import stats

from namesake.errors import NamesakeError
from namesake.evaluation import statistics
from namesake.evaluation.statistics import Bootstrap


def mean_of(values):
    return statistics.means(np.asarray(values, float)[:, None])


@pytest.mark.kernel
def test_a_sample_draws_as_many_units_as_there_are():
    blocks = list(statistics.weights(np.arange(7), Bootstrap(50, 1)))
    assert sum(map(len, blocks)) == 50
    assert all((block.sum(axis=1) == 7).all() for block in blocks)


def test_mentions_of_a_document_are_drawn_together():
    units = np.array([0, 0, 1, 2, 2, 2])
    for block in statistics.weights(units, Bootstrap(40, 1)):
        assert (block[:, 0] == block[:, 1]).all()
        assert (block[:, 3] == block[:, 5]).all()
        assert (block[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_samples_repeat_with_the_seed_and_do_not_depend_on_the_block_size(monkeypatch):
    whole = np.concatenate(list(statistics.weights(np.arange(11), Bootstrap(30, 5))))
    monkeypatch.setattr(statistics, "_CELLS", 40)
    pieces = list(statistics.weights(np.arange(11), Bootstrap(30, 5)))
    assert len(pieces) > 1
    assert np.array_equal(np.concatenate(pieces), whole)
    other = np.concatenate(list(statistics.weights(np.arange(11), Bootstrap(30, 6))))
    assert not np.array_equal(other, whole)


def test_the_interval_of_a_proportion_is_the_binomials():
    n, right = 245, 231
    values = np.r_[np.ones(right), np.zeros(n - right)]
    sampled = statistics.resample(mean_of(values), np.arange(n))
    (interval,) = statistics.intervals(np.array([right / n]), sampled)
    low, high = stats.binom.ppf([0.025, 0.975], n, right / n) / n
    assert interval.low == pytest.approx(low, abs=1.01 / n)
    assert interval.high == pytest.approx(high, abs=1.01 / n)
    assert interval.value + interval.half_width >= interval.high
    assert interval.value - interval.half_width <= interval.low


def test_documents_make_the_interval_wider_when_their_mentions_agree():
    values = np.repeat([1, 0, 1, 1, 0, 1, 0, 1, 1, 1], 8)
    documents = np.repeat(np.arange(10), 8)
    width = {}
    for name, units in (("mention", np.arange(80)), ("document", documents)):
        (interval,) = statistics.intervals(
            np.array([values.mean()]), statistics.resample(mean_of(values), units, Bootstrap(2000))
        )
        width[name] = interval.half_width
    assert width["document"] > 2 * width["mention"]


def test_the_paired_test_sees_a_difference_that_separate_intervals_hide():
    better, worse = np.arange(400) < 332, np.arange(400) < 320  # right wherever the other is, and 12 times more
    columns = np.column_stack([better, worse]).astype(float)
    sampled = statistics.resample(statistics.means(columns), np.arange(400), Bootstrap(2000))
    of_better, of_worse = statistics.intervals(np.array([0.83, 0.80]), sampled)
    assert of_better.low < of_worse.high
    difference, p = statistics.paired(0.03, sampled[:, 0] - sampled[:, 1])
    assert p < 0.01
    assert difference.low > 0
    _, same = statistics.paired(0.0, sampled[:, 0] - sampled[:, 0])
    assert same == 1


def test_nothing_cannot_be_resampled():
    with pytest.raises(NamesakeError, match="the slice is empty"):
        next(statistics.weights(np.empty(0, np.int64)))
