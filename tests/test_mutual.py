"""Candidates of other mentions that support a candidate, against dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_mutual as oracle
from namesake.kernels.link.mutual import Facts, logarithm, mutual_support

pytestmark = pytest.mark.kernel

ENTITIES, ITEMS, PAIRS = 6, 9, 12
PROBABILITY = st.sampled_from([0.0, 0.004, 0.005, 0.05, 0.3, 0.5, 1.0])
ARTICLE = st.lists(st.lists(st.tuples(st.integers(-1, ENTITIES - 1), PROBABILITY), max_size=4), max_size=4)
STATEMENTS = st.lists(
    st.lists(st.integers(0, PAIRS - 1), max_size=6, unique=True), min_size=ENTITIES, max_size=ENTITIES
)
VALUES = st.lists(st.integers(-3, ITEMS - 1), min_size=PAIRS, max_size=PAIRS)
RARITIES = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=PAIRS, max_size=PAIRS)


def by_kernel(articles: list[list[oracle.Mention]], facts: oracle.Facts) -> list[tuple[float, ...]]:
    """The four numbers of each candidate of several articles."""
    mentions = [mention for article in articles for mention in article]
    flat = [candidate for mention in mentions for candidate in mention]
    ends = (np.cumsum([0, *map(len, lists)]).astype(np.int64) for lists in (articles, mentions, facts.statements))
    of_article, offsets, indptr = ends
    pairs = np.array([pair for some in facts.statements for pair in some], np.int32)
    columns = np.array(facts.values, np.int32), np.array(facts.rarity, np.float64), np.array(facts.items, np.int32)
    rows, probability = np.array([row for row, _ in flat], np.int64), np.array([p for _, p in flat], np.float64)
    found = mutual_support(of_article, offsets, rows, probability, Facts(indptr, pairs, *columns))
    return list(zip(*(column.tolist() for column in found), strict=True))


@given(st.lists(ARTICLE, max_size=3), STATEMENTS, VALUES, RARITIES)
def test_support_is_that_of_dictionaries(articles, statements, values, rarity):
    facts = oracle.Facts(statements, values, rarity, range(2, 2 + ENTITIES))
    wanted = [numbers for article in articles for numbers in oracle.support(article, facts)]
    found = by_kernel(articles, facts)
    assert np.array(found).ravel().tolist() == pytest.approx(np.array(wanted).ravel().tolist(), abs=1e-9)


@pytest.mark.parametrize("x", [-1.0, 0.0, 1e-9, 1 / 64, 0.3, 1.0, 7.77, 31.99, 32.0, 1e6])
def test_the_logarithm_of_a_table_is_that_of_numpy(x: float) -> None:
    assert logarithm(x) == pytest.approx(np.log1p(max(x, 0.0)), abs=1e-10)


BILL, HILLARY, GATES = 0, 1, 2
SPOUSE_OF_HILLARY, LAWYER, RICH = 0, 1, 2
CLINTONS = oracle.Facts([[SPOUSE_OF_HILLARY, LAWYER], [LAWYER], [RICH]], [1, 7, 8], [1.0, 0.5, 0.5], [0, 1, 2])


def test_a_couple_supports_each_other():
    """Bill and Hillary: his statement names her, and both are lawyers."""
    found = by_kernel([[[(BILL, 0.4), (GATES, 0.6)], [(HILLARY, 0.5)]]], CLINTONS)
    assert found[0] == pytest.approx((0.5, 0.0, 0.5 * np.log1p(0.5), 0.0))
    assert found[1] == (0.0, 0.0, 0.0, 0.0)
    assert found[2] == pytest.approx((0.0, 0.4, 0.5 * np.log1p(0.4), 0.0))


def test_a_candidate_of_several_mentions():
    """Bill, Clinton, Hillary: both of the first two mentions may mean the same entity."""
    found = by_kernel([[[(BILL, 0.4)], [(BILL, 0.7), (HILLARY, 0.2)], [(HILLARY, 0.9)]]], CLINTONS)
    assert [numbers[3] for numbers in found] == pytest.approx([0.7, 0.4, 0.9, 0.2])
    assert by_kernel([[[(BILL, 0.4)], [(BILL, 0.7)]]], CLINTONS)[0][:3] == pytest.approx((0.0, 0.0, 0.0))


def test_a_mention_does_not_support_itself():
    assert by_kernel([[[(BILL, 0.5), (HILLARY, 0.5)]]], CLINTONS) == [(0.0,) * 4] * 2


def test_only_the_first_statements_are_read():
    size = oracle.MOST_STATEMENTS + 5
    many = oracle.Facts([list(range(size)), [size - 1]], [-1] * size, [1.0] * size, [0, 1])
    assert by_kernel([[[(0, 1.0)], [(1, 1.0)]]], many) == [(0.0,) * 4] * 2
