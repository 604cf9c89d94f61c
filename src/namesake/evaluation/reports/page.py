"""A report as one HTML page that needs nothing else: styles and plots are inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from namesake.drawing.excerpt import Excerpt
from namesake.drawing.shell import document
from namesake.drawing.text import wikidata
from namesake.evaluation.reports.plots import SERIES

if TYPE_CHECKING:
    from namesake.evaluation.reports.report import Report, Section, View

_STYLE = """
body { margin: 0 auto; padding: clamp(1rem, 4vw, 2.5rem) clamp(1rem, 4vw, 1.5rem) 4rem; max-width: 74rem;
  overflow-wrap: break-word; }
h1 { font-size: clamp(1.4rem, 5vw, 1.9rem); line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; } h3 { font-size: 1rem; margin: 0; }
p { max-width: 46rem; } nav ul { padding-left: 1.2rem; margin: .2rem 0; }
nav > ul { columns: 20rem auto; } nav > ul > li { break-inside: avoid; }
.scroll { overflow-x: auto; max-width: 100%; margin: .4rem 0 1.4rem; }
.scroll table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
.caption { color: var(--soft); margin: .8rem 0 0; } .caption b { color: var(--ink); }
.scroll th, .scroll td { padding: .28rem .8rem; text-align: right; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
.scroll .words { text-align: left; } .scroll td + td.words { min-width: 5rem; }
.scroll th { color: var(--soft); font-weight: 600; border-bottom: 2px solid var(--ink); vertical-align: bottom; }
.scroll td:first-child { font-weight: 600; white-space: nowrap; }
.scroll tbody tr:nth-child(odd) { background: var(--band); } .scroll td.best { font-weight: 700; color: var(--for); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.5rem 2.5rem;
  align-items: start; margin: .6rem 0 1.6rem; }
figure { margin: 0; max-width: 34rem; } figcaption { font-weight: 600; }
figure svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; display: block; }
svg text { fill: var(--ink); } svg .band { fill: var(--band); }
svg .grid, svg .frame { stroke: var(--rule); fill: none; } svg .guide { stroke: var(--soft); stroke-dasharray: 5 5; }
svg .whisker { stroke-width: 2; } svg .curve { fill: none; stroke-width: 2; }
svg .mark { fill: none; stroke: var(--ink); stroke-width: 1.4; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1rem; list-style: none; padding: 0; margin: .1rem 0 .3rem;
  font-size: .85rem; }
.legend li::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: 50%;
  margin-right: .4em; background: var(--own); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: .8rem;
  margin: .6rem 0 1.6rem; }
.card { border: 1px solid var(--rule); border-radius: .6rem; padding: .7rem .9rem; min-width: 0; font-size: .9rem; }
.card p { margin: .4rem 0; font-size: 1rem; } .card dl { margin: 0; } .card dd { margin: 0 0 .3rem; }
.card dt { color: var(--soft); font-size: .8rem; font-weight: 600; }
.card dt.right { color: var(--for); } .card dt.wrong { color: var(--against); }
@media (max-width: 40rem) { .scroll th, .scroll td { padding: .28rem .5rem; }
  .scroll td:first-child { white-space: normal; min-width: 6rem; } }
""" + "".join(f".s{i} {{ fill: var(--s{i}); stroke: var(--s{i}); --own: var(--s{i}); }}\n" for i in range(SERIES))

_QID = re.compile(r"\bQ[1-9][0-9]*\b")


def html(report: Report) -> str:
    """The whole page: title, intro, contents, sections."""
    intro = "".join(f"<p>{escape(text)}</p>" for text in report.intro)
    sections = "".join(_section(section, number) for number, section in enumerate(report.sections, 1))
    body = f"<h1>{escape(report.title)}</h1>{intro}{_contents(report)}<main>{sections}</main>"
    return document(report.title, body, _STYLE)


def _contents(report: Report) -> str:
    """Links to the sections, and to the tables of those that have several."""
    lines = []
    for number, section in enumerate(report.sections, 1):
        tables = "".join(f'<li><a href="#{_anchor(view)}">{escape(view.title)}</a></li>' for view in section.views)
        inner = f"<ul>{tables}</ul>" if len(section.views) > 1 else ""
        lines.append(f'<li><a href="#section-{number}">{escape(section.title)}</a>{inner}</li>')
    return f'<nav aria-label="Contents"><ul>{"".join(lines)}</ul></nav>'


def _anchor(view: View) -> str:
    return f"table-{escape(view.name)}"


def _section(section: Section, number: int) -> str:
    text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in section.text)
    plots = f'<div class="plots">{"".join(section.plots)}</div>' if section.plots else ""
    views = "".join(_cards(view) if view.cards else _table(view) for view in section.views)
    return f'<section id="section-{number}"><h2>{escape(section.title)}</h2>{text}{plots}{views}</section>'


def _caption(view: View) -> str:
    return f'<p class="caption" id="{_anchor(view)}"><b>{escape(view.title)}</b> {escape(view.caption)}</p>'


def _table(view: View) -> str:
    """A table in a box of its own, which scrolls where the screen is narrow, also by keyboard."""
    head = "".join(
        f"<th scope=col{' class=words' if j in view.words else ''}>{escape(heading)}</th>"
        for j, heading in enumerate(view.header)
    )
    body = "".join(
        "<tr>" + "".join(_cell(view, i, j, cell) for j, cell in enumerate(row)) + "</tr>"
        for i, row in enumerate(view.rows)
    )
    box = f'<div class="scroll" role="region" tabindex="0" aria-labelledby="{_anchor(view)}">'
    return f"{_caption(view)}{box}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(view: View, i: int, j: int, text: str) -> str:
    kinds = ["best"] * ((i, j) in view.best) + ["words"] * (j in view.words)
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<td{kind}>{_inside(view, j, text)}</td>"


def _inside(view: View, j: int, text: str) -> str:
    """A cell as HTML: names marked, QIDs as links; figures of a table too wide break before their brackets only."""
    if isinstance(text, Excerpt):
        return text.html
    if j not in view.words:
        return escape(text.replace(" ", "\u00a0").replace("\u00a0(", " ("))
    return _QID.sub(lambda found: wikidata(found[0]), escape(text)) if j in view.qids else escape(text)


def _cards(view: View) -> str:
    """Each row as a card: its name and where it stands, what is said there, then its other cells."""
    cards = "".join(_card(view, row) for row in view.rows)
    return f'{_caption(view)}<div class="cards">{cards}</div>'


def _card(view: View, row: Sequence[str]) -> str:
    where, name, *_ = row
    said = "".join(f"<p>{cell.html}</p>" for cell in row if isinstance(cell, Excerpt))
    facts = "".join(
        f"<dt{_kind(view, j)}>{escape(view.header[j])}</dt><dd>{_inside(view, j, cell)}</dd>"
        for j, cell in enumerate(row)
        if j > 1 and cell and not isinstance(cell, Excerpt)
    )
    heading = f'<h3>{escape(name)} <span class="soft">{escape(where)}</span></h3>'
    return f'<article class="card">{heading}{said}<dl>{facts}</dl></article>'


def _kind(view: View, j: int) -> str:
    return f' class="{view.kinds[j]}"' if j in view.kinds else ""
