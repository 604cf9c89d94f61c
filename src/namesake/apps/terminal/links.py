"""Links drawn in a terminal: as tables, inside the text, and compared with the right answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from namesake.articles.rejects import Rejects
from namesake.drawing.theme import percent
from namesake.kb.records import about
from namesake.linker import Linker
from namesake.printable import counted, lines, one_line

if TYPE_CHECKING:
    from namesake.evaluation.gold import GoldRow

Row = dict[str, Any]
NAME_STYLE, MATCH_STYLE, NIL_STYLE = "bold cyan", "bold green", "yellow"
PARTS_SHOWN = 2
"""Score parts that the comparison with the right answer names."""


def number(value: float | None) -> str:
    """A score with two decimals, or without any if it is an integer."""
    if value is None:
        return ""
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


# tables
def show_links(linker: Linker, articles: pa.Table, console: Console, rejects: Rejects | None = None) -> int:
    """Print a table of links for each article; returns the number of articles that were linked."""
    linked = linker.link_counted(articles, rejects=rejects)
    links = linked.links.to_pylist()
    titles = dict(zip(articles.column("id").to_pylist(), articles.column("title").to_pylist(), strict=True))
    headings = ("confidence", "") if linker.recipe.decide is not None else ("score", "ahead by")
    for article, rows in groupby(links, key=lambda row: row["article_id"]):
        title = escape(one_line(f"{article}  {titles[article]}" if titles[article] else article))
        columns = [Column(text, overflow="fold") for text in ("name", "entity", "")]
        columns += [Column(text, justify="right", overflow="fold") for text in headings]
        table = Table(*columns, title=title, title_justify="left", title_style="bold", box=None)
        for row in rows:
            table.add_row(*_cells(linker, row))
        console.print(Padding(table, (0, 0, 1, 0)))
    return linked.articles


def _cells(linker: Linker, row: Row) -> list[str]:
    name, sure = f"[{NAME_STYLE}]{escape(one_line(row['name']))}[/]", percent(row["confidence"])
    if row["qid"] is None:
        best = f"; best candidate {row['best']}" if row["best"] else ""
        return [name, f"[{NIL_STYLE}]NIL[/]", f"[dim]{row['reason']}{escape(best)}[/]", sure, ""]
    at = linker.kb.row(row["qid"])
    who = (about(linker.kb, at) or linker.kb.label(at)) if at >= 0 else "not in this KB"
    ahead = f"tie, {row['tie_break']}" if row["tie_break"] else number(row["margin"])
    if row["margin"] is None:
        ahead = "[dim]only candidate[/]"
    elif row["confidence"] is not None:
        ahead = ""
    return [name, row["qid"], escape(one_line(who)), number(row["score"]) if row["confidence"] is None else sure, ahead]


# the text
def show_text(linker: Linker, articles: pa.Table, console: Console) -> None:
    """Print each text with every name followed by its QID, or by the reason for NIL."""
    links = linker.link(articles).to_pylist()
    for article in articles.to_pylist():
        own = [link for link in links if link["article_id"] == article["id"]]
        console.print(linked_text(article["text"], own), soft_wrap=True)


def linked_text(text: str, links: list[Row]) -> Text:
    """The text with every occurrence of every name highlighted and followed by its QID, or by the reason for NIL."""
    marks = [(start, end, link) for link in links for start, end in link["spans"]]
    out, done = Text(), 0
    for start, end, link in sorted(marks, key=lambda mark: mark[:2]):
        if start < done:
            continue
        out.append(lines(text[done:start]))
        out.append(one_line(text[start:end]), NAME_STYLE if link["qid"] else NIL_STYLE)
        out.append(f" [{link['qid'] or link['reason']}]", "dim")
        done = end
    out.append(lines(text[done:]))
    return out


# the right answers
def show_mistakes(linker: Linker, articles: pa.Table, gold: Sequence[GoldRow], console: Console) -> None:
    """Print how many links are right, and each wrong one with the right answer and the parts that differ most."""
    truth = {row.mention: row.gold for row in gold}
    links = {(row["article_id"], row["name"]): row for row in linker.link(articles).to_pylist()}
    wrong = [mention for mention, qid in truth.items() if links[mention]["qid"] != qid]
    line = f"{len(truth) - len(wrong)} of {len(truth)} links are right. "
    console.print(Text(line + ("Wrong links:" if wrong else ""), style="bold"))
    for article, name in wrong:
        one = articles.filter(pc.equal(articles.column("id"), article))
        link, right = links[article, name], truth[article, name]
        head = Text.assemble((one_line(name), NAME_STYLE), (f" in {one_line(article)}", "dim"))
        sure = f", confidence {percent(link['confidence'])}" if link["qid"] else f" ({link['reason']})"
        given, meant = _entity(linker, link["qid"]) + sure, _entity(linker, right)
        console.print(Padding(Text.assemble(head, f" is linked to {given}; right is {meant}."), (0, 0, 0, 3)))
        why = _why(linker, linker.explain(one, name).to_pylist(), link["qid"], right)
        console.print(Padding(Text(why, style="dim"), (0, 0, 1, 5)))


def _entity(linker: Linker, qid: object) -> str:
    if qid is None:
        return "NIL"
    at = linker.kb.row(str(qid))
    what = one_line(about(linker.kb, at)) if at >= 0 else "not in this KB"
    return f"{qid}, {what}" if what else str(qid)


def _why(linker: Linker, rows: list[Row], given: str | None, right: object) -> str:
    """Which parts favoured the wrong answer, and how many statements the KB has about both."""
    chosen, meant = ([row for row in rows if row["qid"] == qid and row["role"] == "part"] for qid in (given, right))
    if not chosen or not meant or right is None:
        return "Why: the KB has no better candidate."
    total = f"{number(chosen[0]['score'])} against {number(meant[0]['score'])}"
    known = _statements(linker, right)
    if given is None:
        return f"Why: NIL scores {total} for the right entity, about which the KB has only {known}."
    parts = {row["part"]: row["contribution"] for row in meant}
    ahead = sorted(chosen, key=lambda row: parts[row["part"]] - row["contribution"])[:PARTS_SHOWN]
    gaps = (f"{row['part']} {number(row['contribution'])} against {number(parts[row['part']])}" for row in ahead)
    both = f"{_statements(linker, given)} and {known}"
    return f"Why: it scores {total}, mostly because of {', '.join(gaps)}; the KB has {both} about the two."


def _statements(linker: Linker, qid: object) -> str:
    at = linker.kb.row(str(qid))
    return counted(len(linker.kb.statements[at]) if at >= 0 else 0, "statement")
