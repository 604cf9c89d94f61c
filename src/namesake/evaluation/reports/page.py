"""A report as one HTML page that needs no other file: styles and plots are inside."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from namesake.drawing.text import Excerpt
from namesake.drawing.theme import page_style, render
from namesake.evaluation.reports.plots import SERIES
from namesake.kb import WIKIDATA

if TYPE_CHECKING:
    from namesake.evaluation.reports.report import Report, View

_QID = re.compile(r"\bQ[1-9][0-9]*\b")
_LINK = f'<a class="qid" href="{WIKIDATA}{{0}}" rel="noreferrer">{{0}}</a>'


def html(report: Report) -> str:
    """The whole page: title, intro, contents, sections."""
    return render("evaluation/reports/report.html", report=report, style=page_style(), series=range(SERIES), cell=_cell)


def _cell(view: View, j: int, text: str) -> str:
    """A cell as HTML: names marked, QIDs as links. Figures break only before their brackets."""
    if isinstance(text, Excerpt):
        return text.html
    if j not in view.words:
        return escape(text.replace(" ", "\u00a0").replace("\u00a0(", " ("))
    return _QID.sub(lambda found: _LINK.format(found[0]), escape(text)) if j in view.qids else escape(text)
