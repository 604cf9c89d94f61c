"""A text with its names marked, each by how sure its link is; whatever the text says, it stays a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from namesake.drawing.meanings import REASONS, grade, percent
from namesake.kb import WIKIDATA
from namesake.printable import lines, one_line

Row = Mapping[str, Any]
Span = Sequence[int]


@dataclass(frozen=True)
class Mark:
    """A part of a text, and the tag around it: `<tag attributes>part</tag>`."""

    start: int
    end: int
    tag: str
    attributes: str = ""


def marked(text: str, marks: Iterable[Mark], begin: int = 0, end: int | None = None) -> str:
    """A text, or its part from `begin` to `end`, as HTML with marks around parts of it.

    Of marks that overlap, the one that comes first in the text is drawn, and of two that begin together the longer.
    """
    stop = len(text) if end is None else min(end, len(text))
    out, done = [], begin
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if mark.start < done or mark.end > stop or mark.end <= mark.start:
            continue
        inner = escape(lines(text[mark.start : mark.end]))
        out.append(escape(lines(text[done : mark.start])))
        out.append(f"<{mark.tag}{mark.attributes}>{inner}</{mark.tag}>")
        done = mark.end
    return "".join([*out, escape(lines(text[done:stop]))])


def name_marks(links: Sequence[Row], where: str = "spans") -> list[Mark]:
    """A mark for every span of every name: a link to Wikidata, and what the mouse shows over it."""
    return [Mark(start, end, *_to_wikidata(link)) for link in links for start, end in link[where] or ()]


def numbered_marks(links: Sequence[Row], where: str = "spans") -> list[Mark]:
    """Marks for a page that explains names: each leads to the explanation, `#why`, and knows its number."""
    return [
        Mark(start, end, "a", _attributes(link, "#why") + f' data-mention="{number}"')
        for number, link in enumerate(links)
        for start, end in link[where] or ()
    ]


def word_marks(spans: Iterable[Span], kind: str = "match") -> list[Mark]:
    """Marks of words that matched."""
    return [Mark(start, end, "span", f' class="{kind}" data-at="{start}"') for start, end in spans]


def _to_wikidata(link: Row) -> tuple[str, str]:
    """A name as a link where it has an answer, else as plain text with a hint."""
    if link["qid"] is None:
        return "span", _attributes(link, None)
    return "a", _attributes(link, WIKIDATA + str(link["qid"]))


def _attributes(link: Row, address: str | None) -> str:
    """The attributes of a name: class, address, and what the mouse shows."""
    kind = f' class="name {grade(link["qid"] is not None, link["confidence"])}"'
    to = "" if address is None else f' href="{escape(address)}"'
    return f'{kind}{to} title="{escape(hint(link))}"'


def hint(link: Row) -> str:
    """What the mouse shows over a name: who it is and how sure, or why nobody; and who comes next."""
    if link["qid"] is None:
        said = f"nobody: {REASONS.get(link['reason'], link['reason'])}"
        best = f"best: {who(link['best'], link.get('best_label'), link['confidence'])}" if link["best"] else ""
    else:
        about = f" ({link['description']})" if link.get("description") else ""
        said, best = who(link["qid"], link.get("label"), link["confidence"], about), ""
    runner_up = link.get("runner_up")
    after = (
        f"next: {who(runner_up, link.get('runner_up_label'), link.get('runner_up_confidence'))}" if runner_up else ""
    )
    return one_line("; ".join(filter(None, (said, best, after))))


def who(qid: str, label: str | None, confidence: float | None = None, about: str = "") -> str:
    """Such as Michael Jordan, Q41421, 97 %."""
    return ", ".join(filter(None, (label, qid, percent(confidence)))) + about


def wikidata(qid: str, label: str | None = None) -> str:
    """A link to an entity at Wikidata, by its label or its QID."""
    return f'<a class="qid" href="{WIKIDATA}{escape(qid)}" rel="noreferrer">{escape(one_line(label or qid))}</a>'
