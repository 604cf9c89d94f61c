"""Links and explanations drawn in a terminal: tables, texts, wrong links with the reason, and candidates."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from namesake.decide import REASONS, TOO_CLOSE
from namesake.drawing.evidence import by_source, of_anchors, place, summary_sentence, surface
from namesake.drawing.text import Mark, pieces, who
from namesake.drawing.theme import nil_confidence, percent
from namesake.kb.records import about, found_all
from namesake.linker import Linker
from namesake.printable import one_line

Row = Mapping[str, Any]
NAME_STYLE, MATCH_STYLE, NIL_STYLE = "bold cyan", "bold green", "yellow"
EXCERPT = 800  # maximum number of characters of an article
AROUND_NAME, AROUND_WORD = 140, 50  # characters shown on each side of a highlighted name or word
CANDIDATES = 3
LINES = 8  # lines of matches per part
MOST_ANCHORS = 12  # anchors that the explanation of shared statements lists
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


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
    known = found_all(linker.kb, filter(None, (row["best"], row["runner_up"])))
    labels = {qid: one.label for qid, one in known.items()}
    best = who(row["best"], labels.get(row["best"]), row["confidence"])
    if row["reason"] != REASONS[TOO_CLOSE]:
        return f"{row['reason']}; best candidate {best}"
    sure = None if row["confidence"] is None else row["confidence"] * math.exp(-row["margin"])
    return f"{row['reason']}: {best}, or {who(row['runner_up'], labels.get(row['runner_up']), sure)}"


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


# the right answers
def show_mistakes(linker: Linker, articles: pa.Table, truth: Mapping[Any, object], console: Console) -> None:
    """Print how many links are right, and each wrong one with its true QID in `truth` and the reason in a sentence."""
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
        why = summary_sentence(linker.explain(one, name).to_pylist(), one.column("text")[0].as_py())
        console.print(Padding(Text(f"Why: {why}", style="dim"), (0, 0, 1, 5)))


def _entity(linker: Linker, qid: object) -> str:
    if qid is None:
        return "NIL"
    at = linker.kb.row(str(qid))
    what = one_line(about(linker.kb, at)) if at >= 0 else "not in this KB"
    return f"{qid}, {what}" if what else str(qid)


# explanations
def show_explanation(article: pa.Table, rows: pa.Table, console: Console, everything: bool = False) -> None:
    """Print why each mention of an article was linked; with `everything`, all candidates, matches and text."""
    record = article.to_pylist()[0]
    for _, mention in groupby(rows.to_pylist(), key=lambda row: (row["name"], row["spans"], row["title_spans"])):
        explained = list(mention)
        candidates = [list(group) for _, group in groupby(explained, key=lambda row: row["rank"])]
        entities = [rows for rows in candidates if rows[0]["qid"] is not None]
        console.print(_heading(explained[0], record["title"]), no_wrap=True, overflow="ellipsis")
        console.print(Padding(excerpt(record["text"], entities[0], everything), (0, 2, 1, 2)))
        # a single hidden candidate is shown instead of a line about it
        hidden = entities[CANDIDATES:] if len(entities) > CANDIDATES + 1 and not everything else []
        for candidate in (rows for rows in candidates if rows not in hidden):
            console.print(Padding(_candidate(candidate, record["text"], everything), (0, 0, 1, 0)))
        if hidden:
            console.print(Text(f"    … and {len(hidden):,} more candidates (--all)\n", style="dim"))
        why = Text(f"  {summary_sentence(explained, record['text'])}")
        console.print(Padding(Group(verdict(entities[0][0]), why), (0, 0, 1, 0)))


def _heading(row: Row, title: str | None) -> Text:
    where = Text.assemble((one_line(row["name"]), NAME_STYLE), (one_line(f"  in {row['article_id']}"), "dim"))
    if title:
        headline = Text(one_line(title), "dim")
        for start, end in row["title_spans"] or ():
            headline.stylize(NAME_STYLE, start, end)
        where.append(", ", "dim").append_text(headline)
        if row["title_spans"] and not row["spans"]:
            where.append("  (in the title only)", "dim")
    return where


# the article
def excerpt(text: str, rows: Sequence[Row], everything: bool = False) -> Text:
    """The text around the name and each matched word, highlighted; an ellipsis replaces omitted text."""
    names = [span for row in rows[:1] for span in row["spans"] or []]
    matches = [match["spans"] for row in rows for match in row["matches"] or [] if match["spans"]]
    whole = Text(one_line(text))
    for style, spans in (*((MATCH_STYLE, spans) for spans in matches), (NAME_STYLE, names)):
        for start, end in spans:
            whole.stylize(style, start, end)
    if everything:
        return whole
    around = [(span, AROUND_NAME) for span in names] + [(spans[0], AROUND_WORD) for spans in matches]
    shown = np.zeros(len(text), np.bool_)
    for (start, end), margin in around or [((0, 0), EXCERPT // 4)]:
        begin = (text.find(" ", start - margin, start) + 1 or start) if start > margin else 0
        stop = max(text.rfind(" ", end, end + margin), end) if end + margin < len(text) else len(text)
        more = shown.copy()
        more[begin:stop] = True
        shown = more if more.sum() <= EXCERPT or not shown.any() else shown
    edges = np.flatnonzero(np.diff(shown.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    out = Text(" … ").join(whole[int(begin) : int(end)] for begin, end in edges)
    before, after = ("… " if not shown[:1].all() else ""), (" …" if not shown[-1:].all() else "")
    return Text.assemble(before, out, after)


# a candidate
def _candidate(rows: list[Row], text: str, everything: bool) -> RenderableType:
    first = rows[0]
    style = "bold" if first["rank"] == 1 else ""
    if first["qid"] is None:
        who = Text("NIL (none of the candidates)", style=style)
    else:
        label = one_line(first["label"]) if first["label"] is not None else "not in this KB"
        who = Text.assemble((first["qid"], "cyan"), " ", (label, style), (f"  {first['kind'] or ''}", "dim"))
    sure = percent(first["confidence"]) + "  "
    columns = Column(justify="right", width=2), Column(ratio=1), Column(justify="right", no_wrap=True)
    head = Table.grid(*columns, padding=(0, 1), expand=True)
    head.add_row(str(first["rank"]), who, Text.assemble((sure, "dim"), (number(first["score"]), "bold")))
    described = [Text(one_line(first["description"]), style="italic dim")] if first["description"] else []
    return Group(head, Padding(Group(*described, _parts(rows, text, everything)), (0, 0, 0, 3)))


def _parts(rows: list[Row], text: str, everything: bool) -> RenderableType:
    """Parts that add to the score, with their matches, and tie-breaks if they decided; with `everything` all parts."""
    columns = Column(no_wrap=True), Column(justify="right", no_wrap=True), Column(ratio=1)
    table = Table.grid(*columns, padding=(0, 1))
    parts = [row for row in rows if row["role"] == "part"]
    shown: set[str] = set()
    silent = [row for row in parts if not row["contribution"] and not row["matches"]]
    for row in (row for row in parts if row not in silent):
        lines = list(_matched(row["matches"] or [], text, shown))
        if len(lines) > LINES + 1 and not everything:
            lines[LINES:] = [Text(f"… and {len(lines) - LINES} more lines (--all)", style="dim")]
        amount = Text(number(row["contribution"]))
        if row["value"] != row["contribution"]:
            amount = Text.assemble((f"{number(row['value'])} → ", "dim"), amount)
        table.add_row(row["part"], amount, Text("\n").join(lines))
    ties = " · ".join(f"{row['part']} {number(row['value'])}" for row in rows if row["role"] == "tie-break")
    if ties and (everything or rows[0]["tie_break"]):
        table.add_row(Text("tie-break", style="dim"), "", Text(ties))
    nothing = Text(f"no contribution from {', '.join(row['part'] for row in silent)}", style="dim")
    return Group(table, nothing) if silent and everything else table


# what matched
def _matched(matches: list[Row], text: str, shown: set[str]) -> Iterator[Text]:
    """Lines about the matches of a part; words whose source was `shown` before are only listed."""
    if shared := [match for match in matches if match["word"] is None and of_anchors(match)]:
        yield from _statements(shared)
    for match in matches:
        if match["word"] is None and match not in shared:  # a user-defined scorer
            yield Text(", ".join(place(source, plain=False) for source in match["sources"]), style="dim")
    matches = [match for match in matches if match["word"] is not None]
    if again := [match for match in matches if match["word"] in shown]:
        yield Text(", ".join(surface(match, text) for match in again), style=MATCH_STYLE)
    fresh = [match for match in matches if match["word"] not in shown]
    shown.update(match["word"] for match in fresh)
    groups: list[tuple[Row | None, list[Row]]] = [(None, [match]) for match in fresh if not match["sources"]]
    for source, group in sorted([*groups, *by_source(fresh)], key=lambda one: one[1][0]["spans"]):  # in text order
        words = ", ".join(surface(match, text) for match in group)
        yield Text.assemble((words, MATCH_STYLE), (f" ← {place(source, plain=False)}" if source else "", "dim"))


def _statements(matches: list[Row]) -> Iterator[Text]:
    """The numbered anchors, then one line per property with the shared statements and the numbers of their anchors."""
    anchors: dict[str, str] = {}
    for match in matches:
        for source in match["sources"]:
            anchors.setdefault(source["anchor"], one_line(source["anchor_label"]) or source["anchor"])
    numbers = {anchor: str(place).translate(SUPERSCRIPT) for place, anchor in enumerate(anchors, 1)}
    if len(anchors) == 1:
        numbers = dict.fromkeys(anchors, "")
    legend = ", ".join(f"{name}{numbers[anchor]}" for anchor, name in list(anchors.items())[:MOST_ANCHORS])
    rest = f" and {len(anchors) - MOST_ANCHORS:,} more" if len(anchors) > MOST_ANCHORS else ""
    yield Text.assemble("like ", (legend, NAME_STYLE), rest)
    firsts = ((match["sources"][0], match) for match in matches)
    by_property = groupby(firsts, key=lambda one: (one[0]["property"], one[0]["property_label"]))
    for (identifier, label), group in by_property:
        values = Text(", ").join(
            Text.assemble(one_line(source["value"]), (own, NAME_STYLE), more)
            for source, match in group
            for sharing in [{one["anchor"] for one in match["sources"]}]
            for own in [" ".join(number for anchor, number in numbers.items() if anchor in sharing)]
            for more in [f" and {match['more_sources']:,} more" if match.get("more_sources") else ""]
        )
        yield Text.assemble((f"{one_line(label) or identifier}: ", "dim"), values)


def verdict(best: Row) -> Text:
    """One line: the linked entity, its margin, and the tie-break if one decided."""
    who = Text.assemble((best["qid"], "bold cyan"), " ", (one_line(best["label"]), "bold"))
    sure = "" if best["confidence"] is None else f", confidence {percent(best['confidence'])}"
    if best["reason"]:
        said: list[Any] = [("NIL", "bold yellow"), f": {best['reason']}; the best candidate is ", who]
        sure = "" if best["confidence"] is None else f", {percent(best['confidence'])} likely"
    elif best["margin"] is None:
        said = [who, ": the only candidate"]
    elif best["tie_break"]:
        said = [who, f": scores tie at {number(best['score'])}; ", (best["tie_break"], "bold"), " decided"]
    else:
        said = [who, f": ahead of the next by {number(best['margin'])}"]
    return Text.assemble("→ ", *said, f"{sure}.")
