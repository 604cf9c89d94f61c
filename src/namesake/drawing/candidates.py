"""The candidates of one name side by side: what they are, how likely each is, the evidence, and the score.

The evidence lists words by their sources, and statements by property. Facts that nearly all people share, such as being
human, are listed separately. A score is drawn as a waterfall: each bar begins where the one before it ended.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from namesake.drawing.theme import REASONS, SOURCES, render
from namesake.kb.records import Found
from namesake.printable import one_line

Row = Mapping[str, Any]

SHOWN = 5
"""Candidates that are shown, besides NIL."""
LINES = 5
"""Lines of each kind of evidence; further ones unfold."""
COMMON = frozenset({"P31", "P21"})
"""Properties that hardly distinguish entities: instance of, such as human, and sex or gender."""
SMALL = 0.05
"""Parts that change the score by less are drawn as one."""
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
        reason=link and REASONS.get(link["reason"], one_line(link["reason"])),
        more=total - sum(card["first"]["qid"] is not None for card in cards),
        lines=LINES,
    )


# the evidence
@dataclass(frozen=True)
class Shared:
    """A statement that a candidate shares with other entities in the text."""

    property: str
    value: str
    others: Sequence[tuple[str, str]]
    """QID and label of each."""
    common: bool
    more: int = 0
    """How many more entities share it and are not listed."""


@dataclass(frozen=True)
class Evidence:
    """The evidence for a candidate, besides its scores."""

    words: list[tuple[str, list[str]]] = field(default_factory=list)
    """Sources, such as `occupation: baseball player`, each with the words as the text writes them."""
    shared: list[Shared] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Other matches of scorers."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """The places of the words in the text, in its order."""


def evidence(rows: Iterable[Row], text: str) -> Evidence:
    """The evidence in the rows of one candidate. A word that several parts matched counts once."""
    words: dict[str, Row] = {}
    others: list[Row] = []
    for row in rows:
        for match in row["matches"] or ():
            if match["word"] is None:
                others.append(match)
            else:
                words.setdefault(match["word"], match)
    spans = sorted({(start, end) for match in words.values() for start, end in match["spans"] or ()})
    shared = [match for match in others if of_anchors(match)]
    notes = [place(source) for match in others if not of_anchors(match) for source in match["sources"]]
    return Evidence(_words(list(words.values()), text), _shared(shared), list(dict.fromkeys(notes)), spans)


def place(source: Row, plain: bool = True) -> str:
    """The source of a word, in plain words or in those of the scorer."""
    if source["source"] in {"description", "paragraph"}:
        return str(source["source"])
    also = " (also known as)" if source["source"] == "alias" else ""
    name = SOURCES.get(source["source"], source["source"]) if plain else source["source"]
    what = source["property_label"] or source["property"] or name
    return one_line(f"{what}: {source['value']}{also}" if source["value"] else what)


def of_anchors(match: Row) -> bool:
    """Whether a match is a statement shared with other entities in the text."""
    return bool(match["sources"]) and all(source["anchor"] for source in match["sources"])


def surface(match: Row, text: str) -> str:
    """A matched word as the text writes it."""
    if not match["spans"]:
        return one_line(match["word"])
    start, end = match["spans"][0]
    return one_line(text[start:end])


def by_source(matches: Iterable[Row]) -> list[tuple[Row, list[Row]]]:
    """Groups of matches by source: as few sources as needed, those with the most matches first."""
    found: list[tuple[Row, list[Row]]] = []
    left = [match for match in matches if match["sources"]]
    while left:
        under: dict[str, tuple[Row, list[Row]]] = {}
        for match in left:
            for source in match["sources"]:
                under.setdefault(place(source), (source, []))[1].append(match)
        found.append(max(under.values(), key=lambda one: len(one[1])))
        left = [match for match in left if match not in found[-1][1]]
    return found


def _words(matches: list[Row], text: str) -> list[tuple[str, list[str]]]:
    """Words by source; words without a source first."""
    nowhere = [surface(match, text) for match in matches if not match["sources"]]
    found = [
        (place(source), list(dict.fromkeys(surface(match, text) for match in group)))
        for source, group in by_source(matches)
    ]
    return [("", nowhere), *found] if nowhere else found


def _shared(matches: Iterable[Row]) -> list[Shared]:
    """Shared statements, those that distinguish entities first."""
    found: dict[tuple[str, str], Shared] = {}
    for match in matches:
        first = match["sources"][0]
        what = first["property_label"] or first["property"] or first["source"]
        others = [(s["anchor"], s["anchor_label"] or s["anchor"]) for s in match["sources"]]
        key = (one_line(what), one_line(first["value"]))
        more = match.get("more_sources") or 0
        found[key] = Shared(*key, list(dict.fromkeys(others)), first["property"] in COMMON, more)
    return sorted(found.values(), key=lambda one: one.common)


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


def waterfalls(candidates: Sequence[Sequence[Row]]) -> list[list[dict[str, Any]]]:
    """The bars of several candidates, all drawn to one scale: steps, and positions in percent of the width."""
    every = [steps(rows) for rows in candidates]
    ends = [0.0, *(end for some in every for step in some for end in (step.begin, step.end))]
    low, width = min(ends), (max(ends) - min(ends)) or 1.0

    def bar(step: Step, kind: str) -> dict[str, Any]:
        left, right = (100 * (at - low) / width for at in sorted((step.begin, step.end)))
        return vars(step) | {"kind": kind, "zero": 100 * -low / width, "left": left, "width": max(right - left, 0.6)}

    def total(some: Sequence[Step]) -> Step:
        value = sum(step.value for step in some)
        return Step(TOTAL, value, number(round(value * 100) / 100).removeprefix("+"), 0.0, value)

    return [
        [*(bar(step, "for" if step.value >= 0 else "against") for step in some), bar(total(some), TOTAL)]
        for some in every
    ]
