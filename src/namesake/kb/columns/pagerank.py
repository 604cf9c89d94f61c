"""PageRank on a graph of links between rows: PR_WD of the Wikidata items, PR_WP of the Wikipedia pages.

Memory holds two numbers per node with incoming links; each step reads all links once.
"""

from __future__ import annotations

import numpy as np

from namesake.arrays import Float64, Int32, Int64
from namesake.kb.columns import large
from namesake.kb.columns.column_files import Ragged
from namesake.kernels.columns import links as kernels

DAMPING = 0.85
TOLERANCE = 1e-9  # sum of the changes of all ranks in the last step; ranks sum to 1
STEPS = 200


def incoming(indptr: Int64, target: Int32, source: Int32, nodes: int) -> Ragged:
    """The distinct other nodes that link to each of `nodes` nodes.

    Row i has all links from node source[i], to the nodes target[indptr[i]:indptr[i + 1]]; negative numbers are ignored.
    Links are placed for one range of targets at a time, so that the range fits in memory; each range costs one pass.
    """
    starts = large.zeros(nodes + 1, np.int64)
    kernels.count_links(indptr, target, source, large.full(nodes, -1, np.int32), starts)
    np.cumsum(starts, out=starts)
    links = large.empty(int(starts[-1]), np.int32)
    for low, high in large.spans(starts, 1):
        place = starts[low:high] - starts[low]
        last = np.full(high - low, -1, np.int32)
        kernels.place_links(indptr, target, source, low, last, place, links[starts[low] : starts[high]])
    return Ragged(starts, links)


def pagerank(links: Ragged) -> Float64:
    """PageRank of each node, times the number of nodes, so that the mean is 1 whatever the size of the graph.

    r = d · (P r + (r on nodes without links) / n) + (1 − d) / n with d = 0.85, where P spreads a node's rank evenly
    over the nodes it links to; row i of `links` are the nodes that link to node i, see `incoming`. The scale is that of
    published rank files.

    All nodes without incoming links have the same rank, `base`. Most nodes are such, so only the others are iterated.
    """
    nodes = len(links)
    if not nodes:
        return np.empty(0, np.float64)
    outgoing = large.zeros(nodes, np.int64)
    kernels.count_values(links.values, outgoing)
    linked = np.flatnonzero(links.indptr[1:] > links.indptr[:-1])
    share = large.empty(nodes, np.float64)
    for low, high in large.blocks(nodes, 16):
        share[low:high] = 1 / np.maximum(outgoing[low:high], 1)
    among, from_unlinked = _split(links, linked, share)
    linked_share = large.kept(share[linked])
    linked_ends = np.flatnonzero(outgoing[linked] == 0)
    unlinked_ends = nodes - int(np.count_nonzero(outgoing)) - len(linked_ends)
    del share, outgoing
    rank, given, base = np.full(len(linked), 1 / nodes), np.empty(len(linked)), 1 / nodes
    for _ in range(STEPS):
        next_base = (DAMPING * (rank[linked_ends].sum() + base * unlinked_ends) + 1 - DAMPING) / nodes
        np.multiply(rank, linked_share, out=given)
        moved = kernels.step(among.indptr, among.values, given, from_unlinked, DAMPING, base, next_base, rank)
        moved += (nodes - len(linked)) * abs(next_base - base)
        base = next_base
        if moved < TOLERANCE:
            break
    ranks = large.full(nodes, base * nodes, np.float64)
    ranks[linked] = rank * nodes
    return ranks


def _split(links: Ragged, linked: Int64, share: Float64) -> tuple[Ragged, Float64]:
    """The links to the `linked` nodes: those from linked nodes, as places in `linked`; and the sum of other shares."""
    place = large.full(len(links), -1, np.int32)
    place[linked] = np.arange(len(linked), dtype=np.int32)
    indptr, among = large.zeros(len(linked) + 1, np.int64), large.empty(len(links.values), np.int32)
    rest = large.empty(len(linked), np.float64)
    size = kernels.split_links(linked, links.indptr, links.values, place, share, indptr, among, rest)
    return Ragged(indptr, among[:size]), rest
