"""The review of a table: one self-contained HTML page, and the rows on it as articles that gold refers to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from namesake.apps.review.choices import Cells, row_id
from namesake.drawing.meanings import variables
from namesake.drawing.words import part_name
from namesake.files import published
from namesake.reconciling import Candidate, Query
from namesake.reconciling.matching import VALUES
from namesake.reconciling.rows import plain_name
from namesake.reconciling.table import Doubtful

MOST_ROWS = 2000
"""Rows on one page; those that say the same count as one."""


@dataclass(frozen=True)
class Row:
    """A row of the table that is to be reviewed."""

    doubtful: Doubtful
    number: int
    """Where it stands, as people count."""
    cells: Cells
    """What it was matched by, and what a decision about it belongs to."""

    @property
    def id(self) -> str:
        """Of the row, and of all others with the same cells."""
        return row_id(self.cells)


def write_review(rows: Sequence[Row], page: Path, title: str) -> Path:
    """Write the page, and beside it the rows as articles; returns where those are.

    The page saves decisions as gold (`articleID`, `name`, `gold`), which `namesake evaluate` and `tune` read, with the
    cells of the row (`cells`), which `namesake reconcile --choices` goes by.
    """
    beside = articles_path(page)
    with published(page) as partial:
        partial.write_text(review_page(rows, title), encoding="utf-8")
    with published(beside) as partial:
        distinct = {row.id: row for same in shown(rows) for row in same}
        partial.write_bytes(b"".join(msgspec.json.encode(_article(row)) + b"\n" for row in distinct.values()))
    return beside


def shown(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows on the page, those together that say the same of the same name: they are settled as one."""
    alike: dict[Query, list[Row]] = {}
    for row in rows:
        query = row.doubtful.query
        alike.setdefault(replace(query, name=plain_name(query.name)), []).append(row)
    return list(alike.values())[:MOST_ROWS]


def articles_path(page: Path) -> Path:
    """Where the rows of a page are, as articles."""
    return page.with_name(f"{page.stem}.articles.jsonl")


def review_page(rows: Sequence[Row], title: str) -> str:
    """The page as HTML. What tables hold stands in it as JSON alone, and is never read as markup."""
    template = (resources.files("namesake") / "apps" / "review" / "page.html").read_text(encoding="utf-8")
    data = {"title": title, "total": len(rows), "rows": [_row(same) for same in shown(rows)]}
    json = msgspec.json.encode(data).decode()
    for character in "<>&\u2028\u2029":
        json = json.replace(character, f"\\u{ord(character):04x}")
    return template.replace("/*STYLE*/", ":root { color-scheme: light dark; }" + variables(":root")).replace(
        "/*DATA*/", json
    )


def _row(same: Sequence[Row]) -> dict[str, Any]:
    """Rows that say the same, as the page has them."""
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
    """A part in plain words; one that stands for a column is called by its property."""
    return f"{name.removeprefix(VALUES)} of the row" if name.startswith(VALUES) else part_name(name)


def _article(row: Row) -> dict[str, Any]:
    """The row as an article with its name as the one mention, as it was reconciled."""
    query, candidates = row.doubtful.query, row.doubtful.candidates
    name = plain_name(query.name)
    told = ", ".join([query.context, *(value for _, value in query.values)]).strip(", ")
    mention = {"name": name, "spans": [[0, len(name)]], "candidates": [one.qid for one in candidates]}
    article = {"id": row.id, "text": f"{name}: {told}", "mentions": [mention]}
    return article | ({"date": query.date} if query.date else {})
