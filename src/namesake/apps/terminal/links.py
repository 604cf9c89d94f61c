"""Links drawn in a terminal: as tables, and inside the text."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from namesake.decide import REASONS, TOO_CLOSE
from namesake.drawing.text import Mark, pieces, who
from namesake.drawing.theme import nil_confidence, percent
from namesake.kb.records import about
from namesake.linker import Linker
from namesake.printable import one_line

Row = Mapping[str, Any]
NAME_STYLE, MATCH_STYLE, NIL_STYLE = "bold cyan", "bold green", "yellow"
CLOSE = REASONS[TOO_CLOSE]


def number(value: float | None) -> str:
    """A score with two decimals, or without any if it is an integer."""
    if value is None:
        return ""
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


# tables
def show_links(linker: Linker, articles: pa.Table, links: Sequence[Row], console: Console) -> None:
    """Print a table of links for each article, with the confidence in NIL."""
    titles = dict(zip(articles.column("id").to_pylist(), articles.column("title").to_pylist(), strict=True))
    headings = ("confidence", "") if linker.recipe.decide is not None else ("score", "ahead by")
    for article, rows in groupby(links, key=lambda row: row["article_id"]):
        title = escape(one_line(f"{article}  {titles[article]}" if titles[article] else article))
        columns = [Column(text, overflow="fold") for text in ("name", "entity", "kind", "")]
        columns += [Column(text, justify="right", overflow="fold") for text in headings]
        table = Table(*columns, title=title, title_justify="left", title_style="bold", box=None)
        for row in rows:
            table.add_row(*_cells(linker, row))
        console.print(Padding(table, (0, 0, 1, 0)))


def _cells(linker: Linker, row: Row) -> list[str]:
    name, sure = f"[{NAME_STYLE}]{escape(one_line(row['name']))}[/]", percent(row["confidence"])
    if row["qid"] is None:
        said = escape(one_line(rivals(linker, row)))
        return [name, f"[{NIL_STYLE}]NIL[/]", "", f"[dim]{said}[/]", percent(nil_confidence(row)), ""]
    at = linker.kb.row(row["qid"])
    who = (about(linker.kb, at) or linker.kb.label(at)) if at >= 0 else "not in this KB"
    ahead = f"tie, {row['tie_break']}" if row["tie_break"] else number(row["margin"])
    if row["margin"] is None:
        ahead = "[dim]only candidate[/]"
    elif row["confidence"] is not None:
        ahead = ""
    score = number(row["score"]) if row["confidence"] is None else sure
    return [name, row["qid"], row["kind"] or "", escape(one_line(who)), score, ahead]


def rivals(linker: Linker, row: Row) -> str:
    """Why a name has no answer, with its best candidate, and the second one if both are close."""
    if row["best"] is None:
        return str(row["reason"])
    best = who(row["best"], _label(linker, row["best"]), row["confidence"])
    if row["reason"] != CLOSE:
        return f"{row['reason']}; best candidate {best}"
    sure = None if row["confidence"] is None else row["confidence"] * math.exp(-row["margin"])
    return f"{row['reason']}: {best}, or {who(row['runner_up'], _label(linker, row['runner_up']), sure)}"


def _label(linker: Linker, qid: str) -> str | None:
    at = linker.kb.row(qid)
    return linker.kb.label(at) if at >= 0 else None


# the text
def show_texts(articles: pa.Table, links: Sequence[Row], console: Console) -> None:
    """Print each text with every name followed by its QID, or by the reason for NIL."""
    for article in articles.to_pylist():
        own = [link for link in links if link["article_id"] == article["id"]]
        console.print(linked_text(article["text"], own), soft_wrap=True)


def linked_text(text: str, links: list[Row]) -> Text:
    """The text with every occurrence of every name highlighted and followed by its QID, or by the reason for NIL."""
    marks = [Mark(start, end, "", link) for link in links for start, end in link["spans"]]
    out = Text()
    for piece, mark in pieces(text, marks):
        if mark is None:
            out.append(piece)
            continue
        link = mark.attributes
        out.append(one_line(piece), NAME_STYLE if link["qid"] else NIL_STYLE)
        out.append(f" [{link['qid'] or link['reason']}]", "dim")
    return out
