"""Mutual support of candidates with dictionaries: the slow twin of `kernels/link/mutual.py`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

LEAST, LEAST_ASKED = 0.1, 0.05
MOST_STATEMENTS = 100

Mention = Sequence[tuple[int, float]]
"""The row of each candidate, -1 if it is not in the KB, and its probability."""


@dataclass(frozen=True)
class Facts:
    """The pairs of each entity, the item that each pair names (negative: a string), rarities, and items of entities."""

    statements: Sequence[Sequence[int]]
    values: Sequence[int]
    rarity: Sequence[float]
    items: Sequence[int]

    def of(self, row: int) -> Sequence[int]:
        return self.statements[row][:MOST_STATEMENTS]


def support(mentions: Sequence[Mention], facts: Facts) -> list[tuple[float, ...]]:
    """What `mutual_support` gives for the candidates of one article."""
    found = []
    for number, mention in enumerate(mentions):
        present, named, shared = (defaultdict[int, float](float) for _ in range(3))
        for other in (*mentions[:number], *mentions[number + 1 :]):
            for row, probability in other:
                if row >= 0:
                    present[facts.items[row]] += probability
                if row >= 0 and probability >= LEAST:
                    for pair in facts.of(row):
                        shared[pair] += probability
                        if facts.values[pair] not in (facts.items[row], *range(-99, 0)):
                            named[facts.values[pair]] += probability * facts.rarity[pair]
        for row, probability in mention:
            pairs = facts.of(row) if row >= 0 else []
            own = facts.items[row] if row >= 0 else -1
            names = sum(
                facts.rarity[pair] * min(present[facts.values[pair]], 1.0)
                for pair in pairs
                if facts.values[pair] >= 0 and facts.values[pair] != own
            )
            shares = sum(facts.rarity[pair] * math.log1p(max(shared[pair] - present[own], 0.0)) for pair in pairs)
            asked = row >= 0 and probability >= LEAST_ASKED
            found.append((names, named[own], shares, min(present[own], 1.0)) if asked else (0.0,) * 4)
    return found
