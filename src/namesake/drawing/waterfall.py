"""A candidate's score as a waterfall: each bar begins where the one before it ended, and the last bar is the total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

SMALL = 0.05
"""Parts that change the score by less are drawn as one."""
OTHERS, TOTAL = "all others", "total"


@dataclass(frozen=True)
class Step:
    """A bar: the part and its value, the value as it is written, and where the bar begins and ends."""

    part: str
    value: float
    written: str
    begin: float
    end: float


@dataclass(frozen=True)
class Bar:
    """A step to be drawn; positions are percentages of the width."""

    part: str
    value: float
    written: str
    kind: str
    zero: float
    left: float
    width: float


def steps(rows: Iterable[Row]) -> list[Step]:
    """The steps of one candidate, the largest first and small ones as one; their values add up to the score.

    So do the written numbers: each is rounded up or down so that their sum is the rounded total.
    """
    parts = {row["part"]: float(row["contribution"]) for row in rows if row["role"] == "part"}
    ordered = sorted((one for one in parts.items() if abs(one[1]) >= SMALL), key=lambda one: -abs(one[1]))
    small = [value for value in parts.values() if abs(value) < SMALL]
    if any(small):
        ordered.append((OTHERS, sum(small)))
    found, at = [], 0.0
    for (part, value), hundredths in zip(ordered, rounded([value for _, value in ordered]), strict=True):
        found.append(Step(part, value, number(hundredths / 100), at, at + value))
        at += value
    return found


def rounded(values: Sequence[float]) -> list[int]:
    """Each value in hundredths, rounded up or down so that they add up to the rounded sum."""
    down = [int(value * 100 // 1) for value in values]
    missing = round(sum(values) * 100) - sum(down)
    by_rest = sorted(range(len(values)), key=lambda i: down[i] - values[i] * 100)
    for i in by_rest[:missing]:
        down[i] += 1
    return down


def number(value: float) -> str:
    """A contribution with its sign: +1.20, −0.30, 0.00."""
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"


def waterfalls(candidates: Sequence[Sequence[Row]]) -> list[list[Bar]]:
    """The bars of several candidates, all drawn to one scale."""
    every = [steps(rows) for rows in candidates]
    ends = [0.0, *(end for some in every for step in some for end in (step.begin, step.end))]
    low, width = min(ends), (max(ends) - min(ends)) or 1.0

    def bar(step: Step, kind: str) -> Bar:
        left, right = (100 * (at - low) / width for at in sorted((step.begin, step.end)))
        return Bar(step.part, step.value, step.written, kind, 100 * -low / width, left, max(right - left, 0.6))

    def total(some: Sequence[Step]) -> Step:
        value = sum(step.value for step in some)
        return Step(TOTAL, value, number(round(value * 100) / 100).removeprefix("+"), 0.0, value)

    return [
        [*(bar(step, "for" if step.value >= 0 else "against") for step in some), bar(total(some), TOTAL)]
        for some in every
    ]
