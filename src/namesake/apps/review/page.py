"""The review of a table: one HTML page that needs no other file, and its rows as articles that gold refers to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from namesake.apps.review.choices import Cells, row_id
from namesake.drawing.theme import part_name, render, style_sheet
from namesake.files import published
from namesake.reconciling import Candidate, Query
from namesake.reconciling.matching import VALUES
from namesake.reconciling.rows import plain_name
from namesake.reconciling.table import Doubtful

MOST_ROWS = 2000
"""Rows on one page. Rows with the same content count as one."""


@dataclass(frozen=True)
class Row:
    """A row of the table for review."""

    doubtful: Doubtful
    number: int
    """Its number in the table, from 1."""
    cells: Cells
    """The cells by which it was matched. A decision applies to all rows with these cells."""

    @property
    def id(self) -> str:
        """The id of all rows with these cells."""
        return row_id(self.cells)


def write_review(rows: Sequence[Row], page: Path, title: str) -> Path:
    """Write the page, and beside it a file with the rows as articles; returns the path of that file.

    The page saves decisions as gold (`articleID`, `name`, `gold`), which `namesake eval run` and `tune` read. They also
    have the cells of the row (`cells`), which `namesake reconcile --choices` compares.
    """
    beside = articles_path(page)
    with published(page) as partial:
        partial.write_text(review_page(rows, title), encoding="utf-8")
    with published(beside) as partial:
        distinct = {row.id: row for same in shown(rows) for row in same}
        partial.write_bytes(b"".join(msgspec.json.encode(_article(row)) + b"\n" for row in distinct.values()))
    return beside


def shown(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows on the page. Rows with the same name and the same content are one group with one decision."""
    alike: dict[Query, list[Row]] = {}
    for row in rows:
        query = row.doubtful.query
        alike.setdefault(replace(query, name=plain_name(query.name)), []).append(row)
    return list(alike.values())[:MOST_ROWS]


def articles_path(page: Path) -> Path:
    """The path of the file with the rows of a page as articles."""
    return page.with_name(f"{page.stem}.articles.jsonl")


def review_page(rows: Sequence[Row], title: str) -> str:
    """The page as HTML. The contents of tables are in it as JSON only, never as markup."""
    data = {"title": title, "total": len(rows), "rows": [_row(same) for same in shown(rows)]}
    return render("apps/review/page.html", style=style_sheet("colours"), data=data)


def _row(same: Sequence[Row]) -> dict[str, Any]:
    """Rows with the same content, as data for the page."""
    row, query = same[0].doubtful, same[0].doubtful.query
    told = [("date", query.date)] if query.date else []
    return {
        "numbers": [one.number for one in same],
        "decided": list({one.id: {"id": one.id, "cells": one.cells} for one in same}.values()),
        "name": plain_name(query.name),
        "context": query.context,
        "told": [*told, *query.values],
        "reason": row.reason,
        "candidates": [_candidate(one) for one in row.candidates],
        "total": row.total,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    strongest = sorted(candidate.parts.items(), key=lambda part: -abs(part[1]))
    return {
        "qid": candidate.qid,
        "label": candidate.label,
        "description": candidate.description,
        "confidence": candidate.confidence,
        "matched": candidate.matched,
        "parts": [[_part(name), round(added, 2)] for name, added in strongest],
    }


def _part(name: str) -> str:
    """A part of a score in words; for a column of the table, its property."""
    return f"{name.removeprefix(VALUES)} of the row" if name.startswith(VALUES) else part_name(name)


def _article(row: Row) -> dict[str, Any]:
    """The row as an article, with its name as the only mention."""
    query, candidates = row.doubtful.query, row.doubtful.candidates
    name = plain_name(query.name)
    told = ", ".join([query.context, *(value for _, value in query.values)]).strip(", ")
    mention = {"name": name, "spans": [[0, len(name)]], "candidates": [one.qid for one in candidates]}
    article = {"id": row.id, "text": f"{name}: {told}", "mentions": [mention]}
    return article | ({"date": query.date} if query.date else {})
