"""Order, ranks and winner against Python's own stable sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake import rank
from namesake.errors import NamesakeError

few_values = st.integers(-2, 2).map(float) | st.sampled_from([np.inf, -np.inf, -0.0])
keys_of_a_candidate = st.tuples(few_values, few_values, few_values)
mentions = st.lists(st.lists(keys_of_a_candidate, max_size=6), max_size=6)


def flat(mentions):
    offsets = np.cumsum([0, *map(len, mentions)]).astype(np.int64)
    rows = [row for mention in mentions for row in mention]
    return offsets, [np.array([row[k] for row in rows], np.float64) for k in range(3)]


def sorted_by_python(mention):
    """Positions best first: Python's sort is stable, so equal candidates keep their places."""
    return sorted(range(len(mention)), key=lambda i: tuple(-value for value in mention[i]))


@given(mentions)
def test_order_and_ranks_are_pythons_stable_sort(mentions):
    offsets, keys = flat(mentions)
    expected = [int(start) + i for start, m in zip(offsets, mentions, strict=False) for i in sorted_by_python(m)]
    best_first = rank.order(offsets, *keys)
    assert best_first.tolist() == expected
    places = rank.ranks(offsets, *keys)
    for start, mention in zip(offsets, mentions, strict=False):
        for place, i in enumerate(sorted_by_python(mention), start=1):
            assert places[start + i] == place


@given(mentions)
def test_the_winner_is_the_first_in_order(mentions):
    offsets, keys = flat(mentions)
    winners = rank.winner(offsets, *keys)
    for m, mention in enumerate(mentions):
        places = sorted_by_python(mention)
        assert winners[m] == (offsets[m] + places[0] if places else rank.NOBODY)


def test_a_key_that_cannot_be_ordered_is_refused_by_name():
    offsets = np.array([0, 2, 5], np.int64)
    good, bad = np.ones(5), np.array([1.0, 2.0, 3.0, np.nan, 5.0])
    with pytest.raises(NamesakeError, match=r"PR_WP is not a number \(NaN\) for candidate 1 of mention 1"):
        rank.order(offsets, good, bad, names=("score", "PR_WP"))
    with pytest.raises(NamesakeError, match="score has 4 values for 5 candidates"):
        rank.winner(offsets, np.ones(4), names=("score",))
