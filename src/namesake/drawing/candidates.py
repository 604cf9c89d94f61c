"""The candidates of one name side by side: the evidence for each, and its score as a waterfall of bars."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from namesake.drawing.evidence import Row, evidence
from namesake.drawing.sentence import summary_sentence
from namesake.drawing.theme import REASONS, nil_confidence, render
from namesake.kb.records import Found
from namesake.printable import one_line

SHOWN = 5  # candidates that are shown, besides NIL
LINES = 5  # lines of each kind of evidence; further ones unfold
SMALL = 0.05  # parts that change the score by less are drawn as one
OTHERS, TOTAL = "all others", "total"


def shown(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of the first candidates of one name, candidate by candidate, and of NIL wherever it is ranked."""
    candidates = [list(group) for _, group in groupby(rows, key=lambda row: row["rank"])]
    entities = [candidate for candidate in candidates if candidate[0]["qid"] is not None]
    return [candidate for candidate in candidates if candidate not in entities[SHOWN:]]


def side_by_side(rows: Sequence[Row], text: str, found: Mapping[str, Found], link: Row | None = None) -> str:
    """Cards of the first candidates of one name; with `link`, also the verdict on the name."""
    candidates = shown(rows)
    cards: list[dict[str, Any]] = [
        {"first": some[0], "found": found.get(some[0]["qid"]), "evidence": evidence(some, text), "bars": bars}
        for some, bars in zip(candidates, waterfalls(candidates), strict=True)
    ]
    total = (link or {}).get("candidates") or 0
    return render(
        "drawing/candidates.html",
        cards=cards,
        link=link and {"best_label": None, "label": None, **link},
        sentence=summary_sentence(rows, text) if rows else "",
        nil=link and nil_confidence(link),
        reason=link and REASONS.get(link["reason"], one_line(link["reason"])),
        more=total - sum(card["first"]["qid"] is not None for card in cards),
        lines=LINES,
    )


# the score
@dataclass(frozen=True)
class Step:
    """A bar: the part and its value, the value as it is written, and where the bar begins and ends."""

    part: str
    value: float
    written: str
    begin: float
    end: float


def steps(rows: Iterable[Row]) -> list[Step]:
    """The steps of one candidate, the largest first and small ones as one. Also as written they add up to the score."""
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


def waterfalls(candidates: Sequence[Sequence[Row]]) -> list[list[dict[str, Any]]]:
    """The bars of several candidates, all drawn to one scale: steps, and positions in percent of the width."""
    every = [steps(rows) for rows in candidates]
    ends = [0.0, *(end for some in every for step in some for end in (step.begin, step.end))]
    low, width = min(ends), (max(ends) - min(ends)) or 1.0

    def bar(step: Step, kind: str) -> dict[str, Any]:
        left, right = (100 * (at - low) / width for at in sorted((step.begin, step.end)))
        return vars(step) | {"kind": kind, "zero": 100 * -low / width, "left": left, "width": max(right - left, 0.6)}

    bars = [[bar(step, "for" if step.value >= 0 else "against") for step in some] for some in every]
    for own, some in zip(bars, every, strict=True):
        value = sum(step.value for step in some)
        written = number(round(value * 100) / 100).removeprefix("+")
        own.append(bar(Step(TOTAL, value, written, 0.0, value), TOTAL))
    return bars
