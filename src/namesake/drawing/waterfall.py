"""A candidate's score as a waterfall: each part begins where the one before it ended, and the last bar is the total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from namesake.drawing.words import part_name

Row = Mapping[str, Any]

SMALL = 0.05
"""Parts that move the score by less are drawn as one."""
OTHERS = "all others"


@dataclass(frozen=True)
class Step:
    """A bar: what adds how much, as it is written, and from where to where the score goes."""

    part: str
    value: float
    written: str
    begin: float
    end: float


def steps(rows: Iterable[Row]) -> list[Step]:
    """The bars of one candidate, the largest first, what is small as one; their values add up to the score.

    So do the numbers as they are written: each is rounded so that the sum of all is the rounded total.
    """
    parts = {row["part"]: float(row["contribution"]) for row in rows if row["role"] == "part"}
    large = {part: value for part, value in parts.items() if abs(value) >= SMALL}
    small = sum(value for part, value in parts.items() if part not in large)
    ordered = sorted(large.items(), key=lambda one: -abs(one[1]))
    if any(value for part, value in parts.items() if part not in large):
        ordered.append((OTHERS, small))
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


def extent(candidates: Iterable[Iterable[Row]]) -> tuple[float, float]:
    """From where to where the waterfalls of several candidates go, so that they can be drawn to one scale."""
    ends = [end for rows in candidates for step in steps(rows) for end in (step.begin, step.end)]
    return min([0.0, *ends]), max([0.0, *ends])


def waterfall(rows: Sequence[Row], scale: tuple[float, float] | None = None) -> str:
    """The table of bars of one candidate; `scale` is the `extent` of all that are drawn beside it."""
    low, high = scale or extent([rows])
    bars = steps(rows)
    total = sum(step.value for step in bars)
    lines = [
        _line(step.part, step.value, step.written, (step.begin, step.end), (low, high), _sign(step.value))
        for step in bars
    ]
    written = number(round(total * 100) / 100).removeprefix("+")
    lines.append(_line("total", total, written, (0.0, total), (low, high), "total"))
    caption = "<caption>What the score adds up from</caption>"
    return f'<table class="waterfall">{caption}<tbody>{"".join(lines)}</tbody></table>'


def _sign(value: float) -> str:
    return "for" if value >= 0 else "against"


def _line(
    part: str, value: float, written: str, bar: tuple[float, float], scale: tuple[float, float], kind: str
) -> str:
    low, high = scale
    width = (high - low) or 1.0
    begin, end = (100 * (at - low) / width for at in sorted(bar))
    zero = 100 * -low / width
    code = f' title="{escape(part)}"' if part_name(part) != part else ""
    return (
        f'<tr class="{kind}" data-part="{escape(part)}" data-value="{value!r}">'
        f'<th scope="row"{code}>{escape(part_name(part))}</th>'
        '<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<line x1="{zero:.2f}" x2="{zero:.2f}" y1="0" y2="10"/>'
        f'<rect x="{begin:.2f}" y="1" width="{max(end - begin, 0.6):.2f}" height="8"/></svg></td>'
        f"<td>{written}</td></tr>"
    )
