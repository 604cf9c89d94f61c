"""`namesake kb walk`: DeepWalk vectors from the graph of a KB's statements.

Nodes are entities and the items in their statements; a statement is an edge. Random walks are the sentences from which
a skip-gram model with negative samples learns a vector for each node.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from namesake.arrays import Float32, Int32, Int64
from namesake.errors import NamesakeError
from namesake.kb.store import KB
from namesake.kb.vectors.stored import ENTITY, HALF, VectorDraft, VectorManifest, halves
from namesake.progress import Reporter

BLOCK = 1 << 14
"""Walks between two reports."""
NOISE = 1 << 20
"""Size of the table of negative samples: nodes in proportion to their degree to the power ¾."""


RATE = 0.025
"""The learning rate at the beginning."""


@dataclass(frozen=True)
class Graph:
    """An undirected graph in CSR form; the node of an entity is the row of its item."""

    indptr: Int64
    neighbours: Int32

    @staticmethod
    def of(kb: KB) -> Graph:
        """The graph of the statements whose values are items."""
        value = kb.pair_value[kb.statements.values]
        items = value >= 0
        head = np.repeat(kb.entity_item, np.diff(kb.statements.indptr))[items]
        return Graph.joined(head, value[items], len(kb.item_qids))

    @staticmethod
    def joined(head: Int32, tail: Int32, nodes: int) -> Graph:
        """The graph with an edge for each head and tail; a node is not its own neighbour."""
        other = head != tail
        head, tail = head[other], tail[other]
        both = np.concatenate([head.astype(np.int64) * nodes + tail, tail.astype(np.int64) * nodes + head])
        both = np.unique(both)
        indptr = np.searchsorted(both, np.arange(nodes + 1, dtype=np.int64) * nodes).astype(np.int64)
        return Graph(indptr, (both % max(nodes, 1)).astype(np.int32))


def walk(
    kb: KB | str | Path,
    *,
    dimensions: int = 64,
    walks: int = 5,
    length: int = 20,
    window: int = 5,
    negatives: int = 5,
    seed: int = 1,
    force: bool = False,
    reporter: Reporter | None = None,
) -> VectorManifest:
    """Give a KB vectors of its graph: `KB/vectors/walk`. The same seed gives the same vectors.

    Args:
        kb: a KB or its folder.
        dimensions: length of a vector.
        walks: number of walks from each node.
        length: number of nodes of a walk.
        window: largest distance in a walk between nodes that count as near.
        negatives: number of random nodes that each pair of near nodes is contrasted with.
        seed: seed of the random numbers.
        force: replace existing walk vectors.
        reporter: receives the progress.
    """
    settings = {"dimensions": dimensions, "walks": walks, "length": length, "window": window, "negatives": negatives}
    for name, value in settings.items():
        if value < 1:
            raise NamesakeError(f"`{name}={value}`: must be 1 or more")
    kb = kb if isinstance(kb, KB) else KB.open(kb)
    reporter = Reporter() if reporter is None else reporter
    made = {"method": "deepwalk", **{name: str(value) for name, value in (*settings.items(), ("seed", seed))}}
    with VectorDraft(kb, "walk", made, dimensions, force) as draft:
        with reporter.stage("walking"):
            graph = Graph.of(kb)
            if not len(graph.neighbours):
                raise NamesakeError(f"{kb.path}: no statement has an item as its value, so there is no graph")
            vectors = learn_vectors(graph, settings, seed, reporter)
        known = np.diff(graph.indptr)[kb.entity_item] > 0
        entities = np.where(known[:, None], vectors[kb.entity_item], 0)
        draft.write(ENTITY, HALF, entities.size, [halves(entities, "kb walk")])
        return draft.publish(entities=len(kb))


def learn_vectors(graph: Graph, settings: dict[str, int], seed: int, reporter: Reporter) -> Float32:
    """A vector for each node, from walks that start at each node with neighbours."""
    from namesake.kernels.vectors.walk import learn

    dimensions, walks, *rest = settings.values()
    nodes = len(graph.indptr) - 1
    degree = np.diff(graph.indptr)
    random = np.random.default_rng(seed)
    vectors: Float32 = (random.random((nodes, dimensions), np.float32) - np.float32(0.5)) / np.float32(dimensions)
    contexts = np.zeros((nodes, dimensions), np.float32)
    starts = random.permutation(np.flatnonzero(degree).astype(np.int32))
    share = np.cumsum(degree.astype(np.float64) ** 0.75)
    noise = np.searchsorted(share, (np.arange(NOISE) + 0.5) / NOISE * share[-1]).astype(np.int32)
    total = walks * len(starts)
    for first in range(0, total, BLOCK):
        last = min(first + BLOCK, total)
        learn(
            *(vectors, contexts, graph.indptr, graph.neighbours, starts, noise, np.uint64(seed)),
            *(first, last, total, *rest, RATE),
        )
        reporter.advance(last / total, last, "walks")
    return vectors
