"""Links drawn in a terminal. Everything here reads tables and decides nothing."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from namesake.articles.rejects import Rejects
from namesake.drawing.meanings import percent
from namesake.engines.local import link_table
from namesake.kb.records import about
from namesake.linker import Linker
from namesake.printable import one_line

NAME_STYLE, MATCH_STYLE = "bold cyan", "bold green"


def show_links(linker: Linker, articles: pa.Table, console: Console, rejects: Rejects | None = None) -> int:
    """Print a table of links for every article; returns the number of articles that were linked."""
    done = link_table(linker, articles, rejects=rejects)
    links = done.links.to_pylist()
    titles = dict(zip(articles.column("id").to_pylist(), articles.column("title").to_pylist(), strict=True))
    for article, rows in groupby(links, key=lambda row: row["article_id"]):
        table = Table(title=_title(article, titles[article]), title_justify="left", title_style="bold", box=None)
        sure = linker.recipe.decide is not None
        for heading in ("name", "who", "", "sure" if sure else "score", "" if sure else "ahead by"):
            table.add_column(heading, justify="left" if heading in ("name", "who") else "right", overflow="fold")
        table.columns[2].justify = "left"
        for row in rows:
            table.add_row(*_link_cells(linker, row))
        console.print(Padding(table, (0, 0, 1, 0)))
    return done.articles


def _title(article: str, title: str | None) -> str:
    return escape(one_line(f"{article}  {title}" if title else article))


def _link_cells(linker: Linker, row: dict[str, Any]) -> list[str]:
    name = f"[{NAME_STYLE}]{escape(one_line(row['name']))}[/]"
    if row["qid"] is None:
        best = f"; at best {row['best']}" if row["best"] else ""
        return [name, "[yellow]nobody[/]", f"[dim]{row['reason']}{escape(best)}[/]", percent(row["confidence"]), ""]
    at = linker.kb.row(row["qid"])
    who = (about(linker.kb, at) or linker.kb.label(at)) if at >= 0 else "not in this KB"
    last = [number(row["score"]), _ahead(row["margin"], row["tie_break"])]
    if row["confidence"] is not None:
        last = [percent(row["confidence"]), "[dim]only candidate[/]" if row["margin"] is None else ""]
    return [name, f"{row['qid']}", escape(one_line(who)), *last]


def _ahead(margin: float | None, tie_break: str | None) -> str:
    if margin is None:
        return "[dim]only candidate[/]"
    return f"tie, {tie_break}" if tie_break else number(margin)


def number(value: float | None) -> str:
    """A score as a person reads it: two decimals, or none where there are none."""
    if value is None:
        return ""
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
