"""A text printed with its links in it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.text import Text

from namesake.linker import Linker
from namesake.printable import lines, one_line

LINKED, UNSURE = "bold cyan", "yellow"


def show_text(linker: Linker, articles: pa.Table, console: Console) -> None:
    """Print each text with every name followed by its QID, or by why it has none."""
    links = linker.link(articles).to_pylist()
    for article in articles.to_pylist():
        own = [link for link in links if link["article_id"] == article["id"]]
        console.print(linked_text(article["text"], own), soft_wrap=True)


def linked_text(text: str, links: list[dict[str, Any]]) -> Text:
    """The text with every span of every name marked: its QID stands behind it, or the reason it has none."""
    marks = [(start, end, link) for link in links for start, end in link["spans"]]
    out, done = Text(), 0
    for start, end, link in sorted(marks, key=lambda mark: mark[:2]):
        if start < done:
            continue
        out.append(lines(text[done:start]))
        out.append(one_line(text[start:end]), LINKED if link["qid"] else UNSURE)
        out.append(f" [{link['qid'] or link['reason']}]", "dim")
        done = end
    out.append(lines(text[done:]))
    return out
