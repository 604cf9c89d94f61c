"""The titles of a mention's candidates as a tree of tokens, so that a prefix that titles share is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """Node 0 is where every title begins; an edge adds a token. What ends a title is an edge that leads to no node."""

    tokens: list[int]
    """The token of each node."""
    parents: list[int]
    """-1 for node 0; all others stand behind their parents."""
    depths: list[int]
    edges: list[tuple[int, int]]
    """The node that each edge begins at, and its token."""
    paths: list[list[int]]
    """The edges of each title, to its end."""

    @staticmethod
    def of(titles: Sequence[Sequence[int]], begin: int, end: int) -> Tree:
        """The tree of titles given as tokens; `begin` comes before each, `end` behind it."""
        tokens, parents, depths = [begin], [-1], [0]
        edges: list[tuple[int, int]] = []
        known: dict[tuple[int, int], int] = {}
        leads: dict[int, int] = {}
        paths: list[list[int]] = []
        for title in titles:
            node, path = 0, []
            for at, token in enumerate((*title, end)):
                edge = known.setdefault((node, token), len(edges))
                if edge == len(edges):
                    edges.append((node, token))
                path.append(edge)
                if at == len(title):
                    break
                if edge not in leads:
                    leads[edge] = len(tokens)
                    tokens.append(token)
                    parents.append(node)
                    depths.append(depths[node] + 1)
                node = leads[edge]
            paths.append(path)
        return Tree(tokens, parents, depths, edges, paths)

    def sees(self) -> npt.NDArray[np.bool_]:
        """Which nodes each node looks back on: itself and those between it and the beginning."""
        seen = np.eye(len(self.tokens), dtype=np.bool_)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                seen[node] |= seen[parent]
        return seen

    def likelihoods(self, logs: npt.NDArray[np.float64], penalty: float, beam: int = 0) -> npt.NDArray[np.float64]:
        """exp(Σ log p / length ** penalty) of each title from the log-probability of each edge.

        With a `beam`, titles that a beam search of that width does not come upon have 0.
        """
        found = self.searched(logs, beam) if beam else set(range(len(self.paths)))
        scores = np.zeros(len(self.paths))
        for title in found:
            path = self.paths[title]
            scores[title] = np.exp(logs[path].sum() / len(path) ** penalty)
        return scores

    def searched(self, logs: npt.NDArray[np.float64], beam: int) -> set[int]:
        """The titles that a beam search finds: it keeps the `beam` best beginnings and ends with as many titles."""
        found: set[tuple[int, ...]] = set()
        alive: list[tuple[int, ...]] = [()]
        ends = {tuple(path) for path in self.paths}
        beginnings = {tuple(path[:size]) for path in self.paths for size in range(1, len(path))}
        following: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for path in self.paths:
            for size in range(len(path)):
                following.setdefault(tuple(path[:size]), set()).add(tuple(path[: size + 1]))
        while alive and len(found) < beam:
            longer = [extended for path in alive for extended in sorted(following.get(path, ()))]
            longer.sort(key=lambda path: -logs[list(path)].sum())
            found |= {path for path in longer[:beam] if path in ends}
            alive = [path for path in longer[: 2 * beam] if path in beginnings][:beam]
        return {title for title, path in enumerate(self.paths) if tuple(path) in found}
