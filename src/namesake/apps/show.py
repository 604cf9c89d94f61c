"""Links and explanations drawn in a terminal. Everything here reads tables and decides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from namesake.formats.rejects import Rejects
from namesake.linker import Linker

NAME_STYLE, MATCH_STYLE = "bold cyan", "bold green"
CONTEXT = 900  # characters of an article shown around its matches


def show_links(linker: Linker, articles: pa.Table, console: Console, rejects: Rejects | None = None) -> None:
    """A table of links for every article."""
    links = linker.link(articles, rejects=rejects).to_pylist()
    titles = dict(zip(articles.column("id").to_pylist(), articles.column("title").to_pylist(), strict=True))
    for article, rows in groupby(links, key=lambda row: row["article_id"]):
        table = Table(title=_title(article, titles[article]), title_justify="left", title_style="bold", box=None)
        for heading, justify in (
            ("name", "left"),
            ("who", "left"),
            ("", "left"),
            ("score", "right"),
            ("ahead by", "right"),
        ):
            table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*_link_cells(linker, row))
        console.print(Padding(table, (0, 0, 1, 0)))


def _title(article: str, title: str | None) -> str:
    return escape(f"{article}  {title}" if title else article)


def _link_cells(linker: Linker, row: dict[str, Any]) -> list[str]:
    name = f"[{NAME_STYLE}]{escape(row['name'])}[/]"
    if row["qid"] is None:
        return [name, "[yellow]nobody we know[/]", "", "", ""]
    at = int(linker.kb.rows(np.array([int(row["qid"][1:])]))[0])
    about = linker.kb.descriptions[at] if at >= 0 else "not in this KB"
    return [name, f"{row['qid']}", escape(about), number(row["score"]), _ahead(row["margin"], row["tie_break"])]


def _ahead(margin: float | None, tie_break: str | None) -> str:
    if margin is None:
        return "[dim]only candidate[/]"
    return f"tie, {tie_break}" if tie_break else number(margin)


def number(value: float | None) -> str:
    """A score as a person writes it: no decimals where there are none."""
    if value is None:
        return ""
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def show_explanation(article: pa.Table, rows: pa.Table, console: Console) -> None:
    """For every mention: the article with its matched words marked, then a table of candidates and what matched."""
    record = article.to_pylist()[0]
    for name, mention in groupby(rows.to_pylist(), key=lambda row: row["name"]):
        explained = list(mention)
        spans = [span for m in record["mentions"] or [] if m["name"] == name for span in m["spans"] or []]
        best = [row for row in explained if row["rank"] == 1]
        matched = [span for row in best for match in row["matches"] or [] for span in match["spans"]]
        console.print(Text(f"{name}", style="bold"), Text(f"in article {record['id']}", style="dim"))
        console.print(Padding(marked(record["text"], spans, matched), (0, 2, 1, 2)))
        console.print(_candidates(explained))
        console.print(Padding(verdict(best[0]), (0, 0, 1, 0)))


def marked(text: str, names: Iterable[tuple[int, int]], matches: Iterable[tuple[int, int]]) -> Text:
    """The text with the name and the matched words marked, cut to what surrounds them."""
    names, matches = list(names), list(matches)
    begin = max(min([start for start, _ in names], default=0) - CONTEXT // 3, 0)
    end = min(begin + CONTEXT, len(text))
    out = Text(text)
    for start, stop in matches:
        out.stylize(MATCH_STYLE, start, stop)
    for start, stop in names:
        out.stylize(NAME_STYLE, start, stop)
    piece = out[begin:end]
    return Text.assemble("… " if begin else "", piece, " …" if end < len(text) else "")


def _candidates(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading, justify in (
        ("", "right"),
        ("candidate", "left"),
        ("part", "left"),
        ("", "right"),
        ("what matched", "left"),
    ):
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for _, candidate in groupby(rows, key=lambda row: row["rank"]):
        parts = list(candidate)
        first = parts[0]
        style = "bold" if first["rank"] == 1 else ""
        who = f"{first['qid']} {first['label'] or '(not in this KB)'}"
        about = escape(first["description"] or "")
        cells = [f"[{style or 'none'}]{escape(who)}[/]\n[dim]{about}[/]"] + [""] * len(parts)
        for index, row in enumerate(parts):
            place = f"{first['rank']}" if index == 0 else ""
            shown = [
                place,
                cells[index],
                _part(row),
                number(row["value"]),
                "; ".join(_match(m) for m in row["matches"] or []),
            ]
            table.add_row(*shown)
        table.add_row("", "", "[bold]score[/]", f"[bold]{number(first['score'])}[/]", "", end_section=True)
    return table


def _part(row: dict[str, Any]) -> str:
    if row["role"] == "tie-break":
        return f"[dim]{row['part']} (tie-break)[/]"
    return row["part"] if row["weight"] == 1 else f"{row['part']} × {row['weight']:g}"


def _match(match: dict[str, Any]) -> str:
    source = match["sources"][0]
    more = f" +{len(match['sources']) - 1}" if len(match["sources"]) > 1 else ""
    if source["source"] == "anchor":
        return f"{_statement(source)} [dim]like {escape(source['anchor_label'])}{more}[/]"
    where = source["source"] if source["source"] in {"description", "paragraph"} else _statement(source)
    return f"[{MATCH_STYLE}]{escape(match['word'])}[/] [dim]({where}{more})[/]"


def _statement(source: dict[str, Any]) -> str:
    return escape(f"{source['property_label'] or source['property']}: {source['value']}")


def verdict(best: dict[str, Any]) -> str:
    """One line: who won, by how much, and what broke the tie if there was one."""
    who = f"[bold]{best['qid']}[/] {escape(best['label'] or '')}"
    if best["margin"] is None:
        return f"→ {who}: the only candidate."
    if best["tie_break"]:
        return f"→ {who}: scores tie at {number(best['score'])}; [bold]{best['tie_break']}[/] decided."
    return f"→ {who}: ahead of the next by {number(best['margin'])}."
