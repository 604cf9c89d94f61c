"""The answer to `POST /draw`: a text with its names marked, or the explanation of one name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from namesake.drawing.candidates import shown, side_by_side
from namesake.drawing.evidence import evidence
from namesake.drawing.text import Mark, Row, marked_article, numbered_marks, word_marks
from namesake.drawing.theme import GRADES
from namesake.errors import NamesakeError
from namesake.linker import Linker

FIELDS = ("name", "qid", "best", "confidence", "reason")


def draw(
    linker: Linker, text: str, title: str | None = None, date: str | None = None, mention: int | None = None
) -> dict[str, Any]:
    """A text with its names marked, as JSON for the page. A date that cannot be read is a NamesakeError.

    - `html`: title and text; a name is `<a class="name …" data-mention="N">`, N its place in `mentions`.
    - `mentions`: `name`, `qid`, `best`, `confidence` and `reason` of each link.
    - `threshold`: the lowest confidence of an answer, null if the recipe always answers; `grades`: the classes of
      answers by confidence; `people`: the number of people in the KB.

    With `mention`, the number of a name, its explanation. An explanation takes longer than linking, so the page asks
    for one name at a time.

    - `panel`: the verdict and the candidates; their `data-words` are the starts of the matched words.
    - `html`: the text as above, with matched words as `<span class="word" data-at="START">`.
    """
    links = linker.link_text(text, date=date or None, title=title or None)
    if mention is not None:
        return _explained(linker, links.text, links.title, date or None, links.rows, mention)
    return {
        "html": _drawn(links.text, links.title, links.rows),
        "mentions": [{name: link[name] for name in FIELDS} for link in links.rows],
        "threshold": linker.recipe.decide.threshold if linker.recipe.decide else None,
        "grades": [list(grade) for grade in GRADES],
        "people": linker.kb.manifest.people,
    }


def _explained(
    linker: Linker, text: str, title: str | None, date: str | None, links: Sequence[Row], mention: int
) -> dict[str, Any]:
    """The panel of one name, and the text with the words that its candidates match."""
    if not 0 <= mention < len(links):
        raise NamesakeError(f"mention {mention}: the text has {len(links)} names, counted from 0")
    wanted = links[mention]
    why = linker.explain_text(text, wanted["name"], date, title)
    at = next(i for i, link in enumerate(why.links) if link["spans"] == wanted["spans"])
    words = {span for candidate in shown(why.rows[at]) for span in evidence(candidate, text).spans}
    return {
        "panel": side_by_side(why.rows[at], text, why.people, why.links[at]),
        "html": _drawn(text, title, links, words),
    }


def _drawn(text: str, title: str | None, links: Sequence[Row], words: Iterable[tuple[int, int]] = ()) -> str:
    """Title and text, with names and matched words marked. A matched word inside a name is not marked."""
    names = numbered_marks(links)
    marks = [*names, *word_marks(_outside(words, text, names), "word")]
    return marked_article(text, title, marks, numbered_marks(links, "title_spans"))


def _outside(words: Iterable[tuple[int, int]], text: str, names: Sequence[Mark]) -> list[tuple[int, int]]:
    """The words outside names."""
    named = bytearray(len(text) + 1)
    for mark in names:
        named[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
    return [(start, end) for start, end in words if not any(named[start:end])]
