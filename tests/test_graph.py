"""PageRank agrees with networkx on any graph, and has the scale the docs promise."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.kb.columns import large
from namesake.kb.columns.column_files import Ragged
from namesake.kb.dump.ranks import incoming, pagerank
from namesake.kernels.columns.group import count_values

NODES = 12
links = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=60)


def graph(edges: list[tuple[int, int]], nodes: int = NODES, downwards: bool = True) -> Ragged:
    """The links as the builder hands them over: row by row in any order of the sources, here mostly downwards."""
    sources = sorted({source for source, _ in edges}, reverse=downwards)
    targets = [[target for source, target in edges if source == row] for row in sources]
    indptr = np.cumsum([0, *map(len, targets)]).astype(np.int64)
    flat = np.array([target for row in targets for target in row], np.int32)
    return incoming(indptr, flat, np.array(sources, np.int32), nodes)


@pytest.mark.kernel
@settings(deadline=None)
@given(edges=links, none=st.sets(st.integers(0, NODES - 1)))
def test_incoming_links_are_distinct_and_others(edges: list[tuple[int, int]], none: set[int]) -> None:
    rows = list(range(NODES))
    targets = [[target for source, target in edges if source == row] + [-1] for row in rows]
    indptr = np.cumsum([0, *map(len, targets)]).astype(np.int64)
    flat = np.array([target for row in targets for target in row], np.int32)
    source = np.array([-1 if row in none else row for row in rows], np.int32)
    found = incoming(indptr, flat, source, NODES)
    with large.Room(block=5).used():  # for a few targets at a time
        again = incoming(indptr, flat, source, NODES)
    assert (found.indptr.tolist(), found.values.tolist()) == (again.indptr.tolist(), again.values.tolist())
    expected = [sorted({s for s, t in edges if t == node and s != node and s not in none}) for node in rows]
    assert [found[node].tolist() for node in rows] == expected


@pytest.mark.kernel
@given(values=st.lists(st.integers(0, 9)))
def test_counts_are_those_of_a_counter(values: list[int]) -> None:
    counts = np.zeros(10, np.int64)
    count_values(np.array(values, np.int32), counts)
    assert counts.tolist() == [values.count(number) for number in range(10)]


@settings(deadline=None)
@given(edges=links)
def test_agrees_with_networkx(edges: list[tuple[int, int]]) -> None:
    twin = nx.DiGraph()
    twin.add_nodes_from(range(NODES))
    twin.add_edges_from((s, t) for s, t in edges if s != t)
    expected = nx.pagerank(twin, alpha=0.85, tol=1e-12, max_iter=1000)
    ours = pagerank(graph(edges))
    np.testing.assert_allclose(ours, [NODES * expected[i] for i in range(NODES)], rtol=1e-6)


@settings(deadline=None)
@given(edges=links)
def test_the_order_of_the_dump_changes_no_bit(edges: list[tuple[int, int]]) -> None:
    np.testing.assert_array_equal(pagerank(graph(edges)), pagerank(graph(edges, downwards=False)))


def test_mean_is_one_and_the_linked_node_wins() -> None:
    ranks = pagerank(graph([(0, 2), (1, 2), (3, 2)], 4))
    assert ranks.mean() == pytest.approx(1)
    assert ranks.argmax() == 2


def test_a_repeated_link_and_a_link_to_oneself_change_nothing() -> None:
    once = pagerank(graph([(0, 1), (0, 2), (2, 0)], 3))
    again = pagerank(graph([(0, 1), (0, 1), (1, 1), (0, 2), (2, 0)], 3))
    np.testing.assert_array_equal(once, again)


def test_an_empty_graph() -> None:
    assert len(pagerank(graph([], 0))) == 0
    np.testing.assert_allclose(pagerank(graph([], 3)), 1)
