"""A text with its names marked by confidence, and excerpts around one name. The text itself is always escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from namesake.drawing.theme import REASONS, grade, percent, render
from namesake.kb import WIKIDATA
from namesake.printable import lines, one_line

Row = Mapping[str, Any]
AROUND = 120
"""Characters of an excerpt on either side of the name."""


@dataclass(frozen=True)
class Mark:
    """A part of a text, and the tag around it with its attributes."""

    start: int
    end: int
    tag: str
    attributes: Mapping[str, str | int | None] = field(default_factory=dict)


def marked(text: str, marks: Iterable[Mark]) -> str:
    """A text as HTML with marks around parts of it.

    If marks overlap, the first in the text is drawn, and the longer of two that begin together.
    """
    pieces: list[tuple[str, Mark | None]] = []
    done = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if done <= mark.start < mark.end <= len(text):
            pieces += [(lines(text[done : mark.start]), None), (lines(text[mark.start : mark.end]), mark)]
            done = mark.end
    return render("drawing/marked.html", pieces=[*pieces, (lines(text[done:]), None)])


def marked_article(text: str, title: str | None, marks: Iterable[Mark], title_marks: Iterable[Mark]) -> str:
    """A text with its title, both with marks."""
    return render("drawing/article.html", title=title and marked(title, title_marks), text=marked(text, marks))


def name_marks(links: Sequence[Row], where: str = "spans") -> list[Mark]:
    """A mark for every span of every name: a link to Wikidata, or plain text for NIL."""
    return [
        Mark(start, end, "a" if qid else "span", _attributes(link, WIKIDATA + qid if qid else None))
        for link in links
        for qid in [link["qid"]]
        for start, end in link[where] or ()
    ]


def numbered_marks(links: Sequence[Row], where: str = "spans") -> list[Mark]:
    """Marks for a page that explains names: each links to the explanation, `#why`, and has the number of its name."""
    return [
        Mark(start, end, "a", _attributes(link, "#why") | {"data-mention": number})
        for number, link in enumerate(links)
        for start, end in link[where] or ()
    ]


def _attributes(link: Row, address: str | None = None) -> dict[str, str | int | None]:
    kind = f"name {grade(link['qid'] is not None, link['confidence'])}"
    return {"class": kind, "href": address, "title": hint(link)}


def hint(link: Row) -> str:
    """The tooltip of a name: its entity and the confidence, or why it is NIL; and the second candidate."""
    if link["qid"] is None:
        said = f"NIL: {REASONS.get(link['reason'], link['reason'])}"
        best = f"best: {who(link['best'], link.get('best_label'), link['confidence'])}" if link["best"] else ""
    else:
        about = f" ({link['description']})" if link.get("description") else ""
        said, best = who(link["qid"], link.get("label"), link["confidence"], about), ""
    second = link.get("runner_up")
    after = f"next: {who(second, link.get('runner_up_label'), link.get('runner_up_confidence'))}" if second else ""
    return one_line("; ".join(filter(None, (said, best, after))))


def who(qid: str, label: str | None, confidence: float | None = None, about: str = "") -> str:
    """An entity in words, such as Michael Jordan, Q41421, 97 %."""
    return ", ".join(filter(None, (label, qid, percent(confidence)))) + about


class Excerpt(str):
    """A text on one line, the name in it between « and »; it stores which part is the name."""

    __slots__ = ("parts",)
    parts: tuple[str, str, str]
    """The text before the name, the name, and the text after it."""

    def __new__(cls, before: str, name: str, after: str) -> Excerpt:
        """A text of three parts."""
        self = super().__new__(cls, f"{before}«{name}»{after}")
        self.parts = (before, name, after)
        return self

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]  # a copy is made of its parts
        return self.parts

    @property
    def html(self) -> str:
        """The text with the name as a mark."""
        before, name, after = (escape(one_line(part)) for part in self.parts)
        return f'{before}<b class="name sure">{name}</b>{after}'


def excerpt(text: str, span: Sequence[int], sentences: Sequence[tuple[int, int]]) -> Excerpt:
    """The sentence around a name on one line, cut if it is long."""
    start, end = span
    first, last = next(((a, b) for a, b in sentences if a <= start < b), (start, end))
    before, after = text[first:start], text[end : max(last, end)]
    before = f"…{before[-AROUND:]}" if len(before) > AROUND else before
    after = f"{after[:AROUND]}…" if len(after) > AROUND else after
    flat = [re.sub(r"\s+", " ", part) for part in (before, text[start:end], after)]
    return Excerpt(flat[0].lstrip(), flat[1], flat[2].rstrip())
