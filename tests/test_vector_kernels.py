"""The kernels of vectors against loops in plain Python; also with the JIT switched off."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.kernels.vectors import compare_values, cosines, learn, means, walk

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered")]  # numbers mod 2⁶⁴

RANDOM = np.random.default_rng(8)
VALUES = RANDOM.normal(size=(6, 5)).astype(np.float16)
VALUES /= np.linalg.norm(VALUES.astype(np.float32), axis=1, keepdims=True).astype(np.float16)
PROPERTIES = np.array([3, 3, 3, 7, 7, 9, 9, 9], np.int32)
VECTORS_OF = np.array([0, 1, -1, 2, 3, 4, 5, 0], np.int32)
ENTITIES = st.lists(st.sets(st.integers(0, 7)).map(sorted), min_size=1, max_size=5)


def csr(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return indptr, np.array([x for one in lists for x in one], np.int32)


@given(ENTITIES, st.data())
def test_values_are_compared_as_all_pairs_are(statements, data):
    rows = st.integers(-1, len(statements) - 1)
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    mentions = [data.draw(st.lists(rows, max_size=3)) for _ in range(sum(sizes))]
    anchors = [data.draw(rows) for _ in mentions]
    indptr, pairs = csr(statements)
    articles = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    offsets, flat = csr(mentions)
    got = compare_values(
        *(articles, offsets, flat.astype(np.int64), np.array(anchors, np.int64).reshape(-1), indptr, pairs),
        *(PROPERTIES, VECTORS_OF, VALUES.view(np.uint16)),
    )
    expected = []
    wide = VALUES.astype(np.float64)
    for first, last in itertools.pairwise(articles):
        for m in range(first, last):
            for row in mentions[m]:
                others = {anchors[n] for n in range(first, last)} - {-1, anchors[m], row}
                union = set().union(*(statements[anchor] for anchor in others))
                mine = statements[row] if row >= 0 else []
                same = [(u, e) for u in union for e in mine if PROPERTIES[u] == PROPERTIES[e]]
                same = [(u, e) for u, e in same if min(VECTORS_OF[u], VECTORS_OF[e]) >= 0]
                expected.append(sum(wide[VECTORS_OF[u]] @ wide[VECTORS_OF[e]] for u, e in same))
    assert got.tolist() == pytest.approx(expected, abs=1e-4)


def test_cosines_are_numpys_and_who_has_no_vector_gets_the_least():
    texts = RANDOM.normal(size=(3, 5)).astype(np.float32)
    texts[2] = 0
    held = np.vstack([VALUES, np.zeros((1, 5), np.float16)])
    text, rows = np.array([0, 1, 0, 2, 1]), np.array([0, 3, -1, 2, 6])
    got = cosines(texts, text, rows, held.view(np.uint16))
    one, other = texts[:2], held[[0, 3]].astype(np.float32)
    expected = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    assert got[:2] == pytest.approx(expected, abs=1e-6)
    assert got[2:].tolist() == [-1, -1, -1]


def test_means_leave_out_who_has_no_vector():
    held = np.vstack([VALUES, np.zeros((1, 5), np.float16)])
    got = means(np.array([0, 3, 3, 5]), np.array([0, -1, 2, 6, 4], np.int32), held.view(np.uint16))
    wide = held.astype(np.float32)
    assert got == pytest.approx(np.stack([(wide[0] + wide[2]) / 2, np.zeros(5), wide[4]]), abs=1e-6)


def test_a_walk_keeps_to_the_graph_and_takes_every_neighbour_alike():
    indptr, neighbours = np.array([0, 3, 4, 5, 5]), np.array([1, 2, 3, 0, 0], np.int32)
    seen = np.zeros(4)
    for number in range(2000):
        steps = np.full(4, -1, np.int32)
        size = walk(np.array([number * 7919], np.uint64), indptr, neighbours, 0, steps)
        assert steps[0] == 0
        for here, there in itertools.pairwise(steps[:size]):
            assert there in neighbours[indptr[here] : indptr[here + 1]]
        assert size == 4 or steps[size - 1] == 3  # which has no way out
        seen[steps[1]] += 1
    assert np.abs(seen[1:] / 2000 - 1 / 3).max() < 0.05


def test_learning_draws_neighbours_together():
    """Two pairs of nodes that know each other alone: each ends nearer to its own than to the others."""
    indptr, neighbours = np.arange(5), np.array([1, 0, 3, 2], np.int32)
    vectors = (RANDOM.random((4, 6), np.float32) - 0.5).astype(np.float32)
    contexts = np.zeros((4, 6), np.float32)
    starts = noise = np.arange(4, dtype=np.int32)
    passed = learn(vectors, contexts, indptr, neighbours, starts, noise, np.uint64(1), 0, 400, 400, 6, 2, 2, 0.1)
    assert passed == 2400
    near = vectors @ contexts.T
    assert near[0, 1] > near[0, 2]
    assert near[2, 3] > near[2, 1]
