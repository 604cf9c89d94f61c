"""PageRank on a graph of links between rows: PR_WD of the Wikidata items, PR_WP of the Wikipedia pages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

DAMPING = 0.85
TOLERANCE = 1e-9  # the sum over all nodes of how much a step may still move; ranks sum to 1
STEPS = 200

Int32 = npt.NDArray[np.int32]
Float64 = npt.NDArray[np.float64]


def pagerank(source: Int32, target: Int32, nodes: int) -> Float64:
    """PageRank of each node, times the number of nodes, so that the mean is 1 whatever the size of the graph.

    r = d · (Pᵀ r + (r on nodes without links) / n) + (1 − d) / n with d = 0.85, where P spreads a node's rank
    evenly over the nodes it links to. A link counts once however often it is made, and links to oneself do not
    count. The scale is that of published rank files, so loaded and computed ranks compare.
    """
    if not nodes:
        return np.empty(0, np.float64)
    spread = _spread(source, target, nodes)
    dangling = np.flatnonzero(np.bincount(spread.indices, minlength=nodes) == 0)
    rank = np.full(nodes, 1.0 / nodes)
    for _ in range(STEPS):
        step = spread @ rank
        step *= DAMPING
        step += (DAMPING * rank[dangling].sum() + 1.0 - DAMPING) / nodes
        moved = np.abs(step - rank).sum()
        rank = step
        if moved < TOLERANCE:
            break
    return rank * nodes


def _spread(source: Int32, target: Int32, nodes: int) -> sparse.csr_array:
    """The matrix whose entry (t, s) is 1 / (distinct targets of s) where s links to t."""
    other = source != target
    ones = np.ones(int(other.sum()), np.float64)
    links = sparse.coo_array((ones, (target[other], source[other])), shape=(nodes, nodes)).tocsr()
    links.sum_duplicates()
    links.data = 1.0 / np.bincount(links.indices, minlength=nodes)[links.indices]
    return links
