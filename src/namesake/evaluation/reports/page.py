"""A report as one HTML page that needs nothing else: styles and plots are inside."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from namesake.evaluation.reports.report import Report, Section, View

_STYLE = """
:root { --ink: #1c2430; --soft: #5b6675; --paper: #fdfdfb; --band: #f3f4f1; --rule: #d9dcd6;
  --s0: #0072b2; --s1: #d55e00; --s2: #009e73; --s3: #cc79a7; --s4: #b58900; --s5: #56b4e9; --s6: #7a5195; --s7: #444; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa5b1; --paper: #15191f; --band: #1d232b;
  --rule: #343c46; --s0: #56b4e9; --s1: #e69f00; --s2: #2fc79a; --s3: #e39cc4; --s4: #f0e442; --s5: #0072b2;
  --s6: #b79ad6; --s7: #bbb; } }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 74rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .6rem; } h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; }
p { max-width: 46rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .4rem 0 1.4rem; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; color: var(--soft); padding: .3rem 0 .5rem; } caption b { color: var(--ink); }
th, td { padding: .28rem .8rem; text-align: right; vertical-align: top; border-bottom: 1px solid var(--rule); }
td:first-child { white-space: nowrap; }
.words { text-align: left; } td + td.words { min-width: 5rem; }
th { color: var(--soft); font-weight: 600; border-bottom: 2px solid var(--ink); vertical-align: bottom; }
td:first-child { font-weight: 600; }
tbody tr:nth-child(odd) { background: var(--band); } td.best { font-weight: 700; color: var(--s2); }
svg { width: 100%; max-width: 62rem; height: auto; margin: .6rem 0 1.6rem; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .title { font-size: 14px; font-weight: 600; } svg .band { fill: var(--band); }
svg .grid, svg .frame { stroke: var(--rule); fill: none; } svg .guide { stroke: var(--soft); stroke-dasharray: 5 5; }
svg .whisker { stroke-width: 2; } svg .curve { fill: none; stroke-width: 2; }
svg .mark { fill: none; stroke: var(--ink); stroke-width: 1.4; }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .s6 { fill: var(--s6); } .s7 { fill: var(--s7); }
"""


def html(report: Report) -> str:
    """The whole page."""
    intro = "".join(f"<p>{escape(text)}</p>" for text in report.intro)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(report.title)}</h1>{intro}{''.join(map(_section, report.sections))}</body></html>\n"
    )


def _section(section: Section) -> str:
    text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in section.text)
    plots = "".join(f"<figure style='margin:0'>{plot}</figure>" for plot in section.plots)
    return f"<section><h2>{escape(section.title)}</h2>{text}{plots}{''.join(map(_table, section.views))}</section>"


def _table(view: View) -> str:
    head = "".join(
        f"<th{' class=words' if j in view.words else ''}>{escape(heading)}</th>"
        for j, heading in enumerate(view.header)
    )
    body = "".join(
        "<tr>" + "".join(_cell(cell, (i, j) in view.best, j in view.words) for j, cell in enumerate(row)) + "</tr>"
        for i, row in enumerate(view.rows)
    )
    caption = f"<caption><b>{escape(view.title)}</b> {escape(view.caption)}</caption>"
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(text: str, best: bool, words: bool) -> str:
    """A cell; where a table is too wide, figures break before their brackets only."""
    text = text if words else text.replace(" ", "\u00a0").replace("\u00a0(", " (")
    kind = ' class="best"' if best else ' class="words"' if words else ""
    return f"<td{kind}>{escape(text)}</td>"
