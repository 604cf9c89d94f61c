"""PageRank on a graph of links between rows: PR_WD of the Wikidata items, PR_WP of the Wikipedia pages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from namesake.kb.columns import Ragged
from namesake.kernels.columns import group as kernels

DAMPING = 0.85
TOLERANCE = 1e-9  # the sum over all nodes of how much a step may still move; ranks sum to 1
STEPS = 200
BLOCK = 1 << 26  # links counted at a time

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


def incoming(indptr: Int64, target: Int32, source: Int32, nodes: int) -> Ragged:
    """The distinct other nodes that link to each of `nodes` nodes.

    Row i links from node source[i], all of its links being there, to the nodes target[indptr[i]:indptr[i + 1]]; a
    negative number is no node.
    """
    starts, sources = kernels.incoming(indptr, target, source, nodes)
    return Ragged(starts, sources)


def pagerank(links: Ragged) -> Float64:
    """PageRank of each node, times the number of nodes, so that the mean is 1 whatever the size of the graph.

    r = d · (P r + (r on nodes without links) / n) + (1 − d) / n with d = 0.85, where P spreads a node's rank evenly
    over the nodes it links to; row i of `links` are the nodes that link to node i, see `incoming`. The scale is that
    of published rank files, so loaded and computed ranks compare.

    Nodes that nothing links to all have the same rank, `base`. Most nodes are such, so only the others are iterated.
    """
    nodes = len(links)
    if not nodes:
        return np.empty(0, np.float64)
    outgoing = _outgoing(links)
    linked = np.flatnonzero(np.diff(links.indptr))
    rows = np.append(links.indptr[linked], len(links.values))
    if len(links.values) <= np.iinfo(np.int32).max:
        rows = rows.astype(np.int32)  # else SciPy would widen the links as well
    to_linked = sparse.csr_array((np.ones(len(links.values)), links.values, rows), shape=(len(linked), nodes))
    among_linked = to_linked[:, linked]
    share = 1 / np.maximum(outgoing, 1)
    linked_share = share[linked]
    share[linked] = 0
    from_unlinked = to_linked @ share
    del to_linked, share
    ends = outgoing == 0
    linked_ends = np.flatnonzero(ends[linked])
    unlinked_ends = int(ends.sum()) - len(linked_ends)
    rank, base = np.full(len(linked), 1 / nodes), 1 / nodes
    for _ in range(STEPS):
        next_base = (DAMPING * (rank[linked_ends].sum() + base * unlinked_ends) + 1 - DAMPING) / nodes
        step = DAMPING * (among_linked @ (rank * linked_share) + base * from_unlinked) + next_base
        moved = np.abs(step - rank).sum() + (nodes - len(linked)) * abs(next_base - base)
        rank, base = step, next_base
        if moved < TOLERANCE:
            break
    ranks = np.full(nodes, base * nodes)
    ranks[linked] = rank * nodes
    return ranks


def _outgoing(links: Ragged) -> Int64:
    """How many nodes each node links to; in blocks, for NumPy counts in copies of twice the size."""
    counts = np.zeros(len(links), np.int64)
    for start in range(0, len(links.values), BLOCK):
        counts += np.bincount(links.values[start : start + BLOCK], minlength=len(links))
    return counts
