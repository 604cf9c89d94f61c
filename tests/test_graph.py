"""PageRank agrees with networkx on any graph, and has the scale the docs promise."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.kb.graph import pagerank

NODES = 12
links = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=60)


def columns(edges: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(edges, np.int32).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@settings(deadline=None)
@given(edges=links)
def test_agrees_with_networkx(edges: list[tuple[int, int]]) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_edges_from((s, t) for s, t in edges if s != t)
    expected = nx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000)
    ours = pagerank(*columns(edges), NODES)
    np.testing.assert_allclose(ours, [NODES * expected[i] for i in range(NODES)], rtol=1e-6)


def test_mean_is_one_and_the_linked_node_wins() -> None:
    ranks = pagerank(*columns([(0, 2), (1, 2), (3, 2)]), 4)
    assert ranks.mean() == pytest.approx(1)
    assert ranks.argmax() == 2


def test_a_repeated_link_and_a_link_to_oneself_change_nothing() -> None:
    once = pagerank(*columns([(0, 1), (0, 2), (2, 0)]), 3)
    again = pagerank(*columns([(0, 1), (0, 1), (1, 1), (0, 2), (2, 0)]), 3)
    np.testing.assert_array_equal(once, again)


def test_an_empty_graph() -> None:
    assert len(pagerank(*columns([]), 0)) == 0
    np.testing.assert_allclose(pagerank(*columns([]), 3), 1)
