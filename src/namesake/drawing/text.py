"""A text with its names marked by confidence, always escaped; excerpts; links and explanations in notebooks."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, TypeVar

import pyarrow as pa

from namesake.drawing.theme import REASONS, grade, notebook_style, percent, render, symbol
from namesake.kb.ids import wikidata_page
from namesake.kb.records import Found
from namesake.printable import counted, lines, one_line

Row = Mapping[str, Any]
One = TypeVar("One")
AROUND = 120  # characters of an excerpt on either side of the name


@dataclass(frozen=True)
class Mark:
    """A part of a text, and the tag around it with its attributes."""

    start: int
    end: int
    tag: str
    attributes: Mapping[str, str | int | None] = field(default_factory=dict)


def pieces(text: str, marks: Iterable[Mark]) -> Iterator[tuple[str, Mark | None]]:
    """The marked parts of a text and the text between them. Of marks that overlap, the first counts, or the longer."""
    done = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if done <= mark.start < mark.end <= len(text):
            yield lines(text[done : mark.start]), None
            yield lines(text[mark.start : mark.end]), mark
            done = mark.end
    yield lines(text[done:]), None


def marked_article(text: str, title: str | None, marks: Iterable[Mark], title_marks: Iterable[Mark]) -> str:
    """A text with its title as HTML, both with marks around parts of them."""
    return render("drawing/article.html", title=list(pieces(title or "", title_marks)), text=pieces(text, marks))


def name_marks(links: Sequence[Row], where: str = "spans", numbered: bool = False) -> list[Mark]:
    """A mark for every span of every name: a link to Wikidata, or if `numbered` to the explanation on the page."""
    marks = []
    for number, link in enumerate(links):
        address = "#why" if numbered else wikidata_page(link["qid"])
        shown = f"name {grade(link['qid'] is not None, link['confidence'])}"
        attributes = {"class": shown, "href": address, "title": hint(link), "data-kind": symbol(link.get("kind"))}
        attributes |= {"data-mention": str(number)} if numbered else {}
        marks += [Mark(start, end, "a" if address else "span", attributes) for start, end in link[where] or ()]
    return marks


def hint(link: Row) -> str:
    """The tooltip of a name: its entity, kind and confidence, or why it is NIL; and the second candidate."""
    if link["qid"] is None:
        said = f"NIL: {REASONS.get(link['reason'], link['reason'])}"
        best = f"best: {who(link['best'], link.get('best_label'), link['confidence'])}" if link["best"] else ""
    else:
        facts = ": ".join(filter(None, (link.get("kind"), link.get("description"))))
        about = f" ({facts})" if facts else ""
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
    parts: tuple[str, str, str]  # the text before the name, the name, and the text after it

    def __new__(cls, before: str, name: str, after: str) -> "Excerpt":
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


# notebooks
class Links(list[One]):
    """The links of one text: a list. A notebook shows the text with its names marked, from `rows` with labels."""

    def __init__(self, links: Iterable[One] = (), text: str = "", title: str | None = None, rows: Sequence[Row] = ()):
        super().__init__(links)
        self.text, self.title, self.rows = text, title, rows

    def _repr_html_(self) -> str:
        return _shown(self.text, self.title, self.rows)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation of one text. A notebook shows its names, and the candidates of each with their waterfalls."""

    text: str
    title: str | None
    links: Sequence[Row]  # one row per explained name: its link, with labels and the second candidate
    table: pa.Table  # rows of `explain.EXPLANATION`
    people: Mapping[str, Found] = field(default_factory=dict)  # descriptions and years of the candidates, by QID

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The rows of the table for each link; empty if a name has no candidates."""
        own: dict[str, list[Row]] = {_key(link): [] for link in self.links}
        for row in self.table.to_pylist():
            own[_key(row)].append(row)
        return [own[_key(link)] for link in self.links]

    def _repr_html_(self) -> str:
        from namesake.drawing.evidence import side_by_side  # the terminal, which draws texts too, does not need it

        names = [
            (answer(link), side_by_side(rows, self.text, self.people, link))
            for link, rows in zip(self.links, self.rows, strict=True)
        ]
        return _shown(self.text, self.title, self.links, names)

    def __repr__(self) -> str:
        """One line per name: its entity, or why it is NIL."""
        heading = f"Explanation of {counted(len(self.links), 'name')} ({self.table.num_rows:,} rows in .table)"
        return "\n".join([heading, *(one_line(f"  {answer(link)}") for link in self.links)])


def answer(link: Row) -> str:
    """A name and its entity with the confidence, or why it is NIL, on one line."""
    if link["qid"] is not None:
        return f"{link['name']}: {who(link['qid'], link['label'], link['confidence'])}"
    best = who(link["best"], link["best_label"], link["confidence"]) if link["best"] else ""
    return f"{link['name']}: NIL ({link['reason']}{'; best candidate ' if best else ''}{best})"


def _key(row: Row) -> str:
    """What distinguishes the names of one text: the name and its places."""
    return repr((row["name"], row["spans"], row["title_spans"]))


def _shown(text: str, title: str | None, links: Sequence[Row], names: Sequence[tuple[str, str]] = ()) -> str:
    """A text with its names marked, then each name with its candidates. One name is open, several unfold."""
    article = marked_article(text, title, name_marks(links), name_marks(links, "title_spans"))
    return render("drawing/notebook.html", style=notebook_style(), heading="", article=article, names=names)
