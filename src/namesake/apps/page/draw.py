"""What `POST /draw` answers: a text with its names marked, and for each name why."""

from __future__ import annotations

from html import escape
from typing import Any

from namesake.linker import Linker


def draw(linker: Linker, text: str, title: str | None = None, date: str | None = None) -> dict[str, Any]:
    """A text with its names marked, as JSON for the page: `html`, and for each name what `mentions` says.

    An unreadable date is a NamesakeError.
    """
    links = linker.link_text(text, date=date, title=title)
    return {
        "html": escape(text),
        "threshold": linker.recipe.decide.threshold if linker.recipe.decide else None,
        "people": linker.kb.manifest.people,
        "mentions": [
            {"name": link.name, "qid": link.qid, "confidence": link.confidence, "reason": link.reason, "html": ""}
            for link in links
        ],
    }
