"""The candidates of one name side by side: who they are, how likely each is, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from namesake.drawing.evidence import evidence
from namesake.drawing.templates import render
from namesake.drawing.theme import REASONS
from namesake.drawing.waterfall import waterfalls
from namesake.printable import one_line

if TYPE_CHECKING:
    from namesake.kb.records import Found

Row = Mapping[str, Any]

SHOWN = 5
"""Candidates that are shown, besides NIL."""
LINES = 5
"""Lines of each kind of evidence; further ones unfold."""


def shown(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of the first candidates of one name, candidate by candidate, and of NIL wherever it is ranked."""
    candidates = [list(group) for _, group in groupby(rows, key=lambda row: row["rank"])]
    people = [candidate for candidate in candidates if candidate[0]["qid"] is not None]
    return [candidate for candidate in candidates if candidate not in people[SHOWN:]]


def side_by_side(rows: Sequence[Row], text: str, people: Mapping[str, Found], link: Row | None = None) -> str:
    """Cards of the first candidates of one name; with `link`, also the verdict on the name."""
    candidates = shown(rows)
    cards: list[dict[str, Any]] = [
        {"first": some[0], "person": people.get(some[0]["qid"]), "evidence": evidence(some, text), "bars": bars}
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
