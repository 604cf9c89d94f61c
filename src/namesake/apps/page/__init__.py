"""The page at `/`, which marks the names of a text and explains each link.

A server that shows it answers `GET` of each path in `FILES` with its media type and bytes. It answers `POST /draw`,
whose body is the JSON object `{"text": …, "title": …, "date": …, "mention": …}` (only the text is required), with
`draw(linker, text, title, date, mention)` as JSON. It turns errors into a status and `{"error": …, "what_to_do": …}`,
which the page shows. The page needs no other address.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from namesake.drawing.candidates import evidence, shown, side_by_side
from namesake.drawing.text import Mark, Row, marked_article, numbered_marks
from namesake.drawing.theme import GRADES, page_style
from namesake.errors import NamesakeError
from namesake.linker import Linker
from namesake.sample import ARTICLES

FIELDS = ("name", "qid", "best", "confidence", "reason")


def _file(name: str) -> bytes:
    return (Path(__file__).parent / name).read_bytes()


def _samples() -> bytes:
    """The articles of the sample, as texts to try."""
    articles = [msgspec.json.decode(line) for line in ARTICLES.read_bytes().splitlines()]
    wanted = ("id", "title", "date", "text")
    return msgspec.json.encode([{name: article.get(name) for name in wanted} for article in articles])


FILES: dict[str, tuple[str, bytes]] = {
    "/": ("text/html; charset=utf-8", _file("index.html")),
    "/page.css": ("text/css; charset=utf-8", page_style().encode() + _file("page.css")),
    "/page.js": ("text/javascript; charset=utf-8", _file("page.js")),
    "/icon.svg": ("image/svg+xml", _file("icon.svg")),
    "/samples.json": ("application/json", _samples()),
}
"""The files of the page by path: media type and bytes."""


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
    named = bytearray(len(text) + 1)
    for mark in names:
        named[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
    outside = [(start, end) for start, end in words if not any(named[start:end])]
    matched = [Mark(start, end, "span", {"class": "word", "data-at": start}) for start, end in outside]
    return marked_article(text, title, [*names, *matched], numbered_marks(links, "title_spans"))
