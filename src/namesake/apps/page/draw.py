"""What `POST /draw` answers: a text with its names marked, and for each name why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from namesake.drawing.candidates import shown, side_by_side, verdict
from namesake.drawing.evidence import evidence
from namesake.drawing.meanings import GRADES
from namesake.drawing.results import Explanation
from namesake.drawing.text import Mark, Row, marked, numbered_marks, word_marks
from namesake.linker import Linker


def draw(linker: Linker, text: str, title: str | None = None, date: str | None = None) -> dict[str, Any]:
    """A text with its names marked, as JSON for the page. An unreadable date is a NamesakeError.

    - `html`: title and text. A name is `<a class="name …" data-mention="N">`, a word that matched for somebody
      `<span class="word" data-at="START">`.
    - `mentions`: for each name `name`, `qid`, `best`, `label` (of the best), `confidence`, `reason`, and `html`, its
      verdict and its candidates; these have `data-words`, the starts of the words that matched.
    - `threshold`: the confidence from which the recipe answers, null where it always does; `grades`: from which
      confidence an answer looks how sure; `people`: how many the KB has.
    """
    explained = linker.explain_text(text, date=date or None, title=title or None)
    return {
        "html": _text(explained),
        "mentions": [
            {
                "name": link["name"],
                "qid": link["qid"],
                "best": link["best"],
                "label": link["best_label"],
                "confidence": link["confidence"],
                "reason": link["reason"],
                "html": verdict(link) + side_by_side(rows, explained.text, explained.people, link["candidates"]),
            }
            for link, rows in zip(explained.links, explained.rows, strict=True)
        ],
        "threshold": linker.recipe.decide.threshold if linker.recipe.decide else None,
        "grades": [list(grade) for grade in GRADES],
        "people": linker.kb.manifest.people,
    }


def _text(explained: Explanation) -> str:
    """Title and text, with names and matched words marked; a matched word inside a name is part of the name."""
    links, text, title = explained.links, explained.text, explained.title
    heading = f"<h2>{marked(title, numbered_marks(links, 'title_spans'))}</h2>" if title else ""
    names = numbered_marks(links)
    return f'{heading}<div class="text">{marked(text, [*names, *_words(explained.rows, text, names)])}</div>'


def _words(explained: Sequence[Sequence[Row]], text: str, names: Sequence[Mark]) -> list[Mark]:
    """Marks for every word that matched for a candidate that is shown, but for those in names."""
    spans = {span for rows in explained for candidate in shown(rows) for span in evidence(candidate, text).spans}
    taken = bytearray(len(text) + 1)
    for mark in names:
        taken[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
    return word_marks((span for span in spans if not any(taken[span[0] : span[1]])), "word")
