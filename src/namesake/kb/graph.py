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

    r = d · (P r + (r on nodes without links) / n) + (1 − d) / n with d = 0.85, where P spreads a node's rank evenly
    over the nodes it links to. A link counts once however often it is made, and links to oneself do not count. The
    scale is that of published rank files, so loaded and computed ranks compare.

    Nodes that nothing links to all have the same rank, `base`. Most nodes are such, so only the others are iterated.
    """
    if not nodes:
        return np.empty(0, np.float64)
    spread = _spread(source, target, nodes)
    linked = np.flatnonzero(np.diff(spread.indptr))
    unlinked = np.ones(nodes)
    unlinked[linked] = 0
    from_unlinked = spread[linked] @ unlinked
    among_linked = spread[linked][:, linked]
    ends = np.bincount(spread.indices, minlength=nodes) == 0
    linked_ends = np.flatnonzero(ends[linked])
    unlinked_ends = int(ends.sum()) - len(linked_ends)
    rank, base = np.full(len(linked), 1 / nodes), 1 / nodes
    for _ in range(STEPS):
        next_base = (DAMPING * (rank[linked_ends].sum() + base * unlinked_ends) + 1 - DAMPING) / nodes
        step = DAMPING * (among_linked @ rank + base * from_unlinked) + next_base
        moved = np.abs(step - rank).sum() + (nodes - len(linked)) * abs(next_base - base)
        rank, base = step, next_base
        if moved < TOLERANCE:
            break
    ranks = np.full(nodes, base * nodes)
    ranks[linked] = rank * nodes
    return ranks


def _spread(source: Int32, target: Int32, nodes: int) -> sparse.csr_array:
    """The matrix P whose entry (t, s) is 1 / (distinct targets of s) where s links to t."""
    other = source != target
    ones = np.ones(int(other.sum()), np.float64)
    links = sparse.coo_array((ones, (target[other], source[other])), shape=(nodes, nodes)).tocsr()
    links.sum_duplicates()
    links.data = 1.0 / np.bincount(links.indices, minlength=nodes)[links.indices]
    return links
