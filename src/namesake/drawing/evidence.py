"""The evidence for a candidate: words by source, and statements by property; common facts are listed separately."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from namesake.drawing.theme import SOURCES
from namesake.printable import one_line

Row = Mapping[str, Any]

COMMON = frozenset({"P31", "P21"})
"""Properties that hardly distinguish entities: instance of, such as human, and sex or gender."""


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
    notes = [place(source) for match in others if not of_anchors(match) for source in match["sources"]]
    shared: dict[tuple[str, str], Shared] = {}
    for match in filter(of_anchors, others):
        first = match["sources"][0]
        what = first["property_label"] or first["property"] or first["source"]
        anchors = [(s["anchor"], s["anchor_label"] or s["anchor"]) for s in match["sources"]]
        key, more = (one_line(what), one_line(first["value"])), match.get("more_sources") or 0
        shared[key] = Shared(*key, list(dict.fromkeys(anchors)), first["property"] in COMMON, more)
    telling = sorted(shared.values(), key=lambda one: one.common)  # those that distinguish entities first
    return Evidence(_words(list(words.values()), text), telling, list(dict.fromkeys(notes)), spans)


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
