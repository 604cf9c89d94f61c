"""What `POST /draw` answers: a text with its names marked, and for one name why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from namesake.drawing.candidates import shown, side_by_side, verdict
from namesake.drawing.evidence import evidence
from namesake.drawing.meanings import GRADES
from namesake.drawing.text import Mark, Row, marked, numbered_marks, word_marks
from namesake.errors import NamesakeError
from namesake.linker import Linker

SHOWN = ("name", "qid", "best", "confidence", "reason")


def draw(
    linker: Linker, text: str, title: str | None = None, date: str | None = None, mention: int | None = None
) -> dict[str, Any]:
    """A text with its names marked, as JSON for the page. An unreadable date is a NamesakeError.

    - `html`: title and text; a name is `<a class="name …" data-mention="N">`, N its place in `mentions`.
    - `mentions`: for each name `name`, `qid`, `best`, `confidence` and `reason`, as links have them.
    - `threshold`: the confidence from which the recipe answers, null where it always does; `grades`: from which
      confidence an answer looks how sure; `people`: how many the KB has.

    With `mention`, the place of a name, why it is linked as it is; explaining takes longer than linking, so that each
    name is explained when somebody asks.

    - `panel`: its verdict, and its candidates; these have `data-words`, the starts of the words that matched.
    - `html`: the text as above, these words in it as `<span class="word" data-at="START">`.
    """
    links = linker.link_text(text, date=date or None, title=title or None)
    if mention is not None:
        return _explained(linker, links.text, links.title, date or None, links.rows, mention)
    return {
        "html": _drawn(links.text, links.title, links.rows),
        "mentions": [{name: link[name] for name in SHOWN} for link in links.rows],
        "threshold": linker.recipe.decide.threshold if linker.recipe.decide else None,
        "grades": [list(grade) for grade in GRADES],
        "people": linker.kb.manifest.people,
    }


def _explained(
    linker: Linker, text: str, title: str | None, date: str | None, links: Sequence[Row], mention: int
) -> dict[str, Any]:
    """The panel of one name, and the text with the words that matched for its candidates."""
    if not 0 <= mention < len(links):
        raise NamesakeError(f"mention {mention}: the text has {len(links)} names, counted from 0")
    wanted = links[mention]
    why = linker.explain_text(text, wanted["name"], date, title)
    at = next(i for i, link in enumerate(why.links) if link["spans"] == wanted["spans"])
    link, rows = why.links[at], why.rows[at]
    words = {span for candidate in shown(rows) for span in evidence(candidate, text).spans}
    return {
        "panel": verdict(link) + side_by_side(rows, text, why.people, link["candidates"]),
        "html": _drawn(text, title, links, words),
    }


def _drawn(text: str, title: str | None, links: Sequence[Row], words: Iterable[tuple[int, int]] = ()) -> str:
    """Title and text, with names and matched words marked; a matched word inside a name is part of the name."""
    heading = f"<h2>{marked(title, numbered_marks(links, 'title_spans'))}</h2>" if title else ""
    names = numbered_marks(links)
    return f'{heading}<div class="text">{marked(text, [*names, *_apart(words, text, names)])}</div>'


def _apart(words: Iterable[tuple[int, int]], text: str, names: Sequence[Mark]) -> list[Mark]:
    """Marks for words that stand in no name."""
    taken = bytearray(len(text) + 1)
    for mark in names:
        taken[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
    return word_marks((span for span in words if not any(taken[span[0] : span[1]])), "word")
