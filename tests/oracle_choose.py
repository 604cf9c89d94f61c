"""The best set of spans by trying all sets: the slow twin of `kernels/names/choose.py`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations


def best_sum(spans: Sequence[tuple[int, int]], scores: Sequence[float]) -> float:
    """The largest sum of scores of spans that do not overlap."""
    sums = [0.0]
    for size in range(1, len(spans) + 1):
        sums += [
            sum(scores[k] for k in chosen)
            for chosen in combinations(range(len(spans)), size)
            if all(spans[a][1] <= spans[b][0] or spans[b][1] <= spans[a][0] for a, b in combinations(chosen, 2))
        ]
    return max(sums)
