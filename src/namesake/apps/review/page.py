"""The review of a table: one self-contained HTML page, and the rows on it as articles that gold refers to."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from namesake.apps.review.choices import row_id
from namesake.drawing.meanings import variables
from namesake.files import published
from namesake.reconciling.query import Candidate
from namesake.reconciling.rows import plain_name
from namesake.reconciling.table import Doubtful

MOST_ROWS = 2000
"""Rows on one page."""


def write_review(rows: Sequence[Doubtful], page: Path, title: str) -> Path:
    """Write the page, and beside it the rows as articles; returns where those are.

    The page saves choices as gold (`articleID`, `name`, `gold`), which `namesake evaluate` and `tune` read.
    """
    beside = articles_path(page)
    shown = rows[:MOST_ROWS]
    with published(page) as partial:
        partial.write_text(review_page(shown, title, len(rows)), encoding="utf-8")
    with published(beside) as partial:
        partial.write_bytes(b"".join(msgspec.json.encode(_article(row)) + b"\n" for row in shown))
    return beside


def articles_path(page: Path) -> Path:
    """Where the rows of a page are, as articles."""
    return page.with_name(f"{page.stem}.articles.jsonl")


def review_page(rows: Sequence[Doubtful], title: str, total: int) -> str:
    """The page as HTML. What tables hold stands in it as JSON alone, and is never read as markup."""
    template = (resources.files("namesake") / "apps" / "review" / "page.html").read_text(encoding="utf-8")
    data = {"title": title, "total": total, "rows": [_row(row) for row in rows]}
    json = msgspec.json.encode(data).decode()
    for character in "<>&\u2028\u2029":
        json = json.replace(character, f"\\u{ord(character):04x}")
    return template.replace("/*STYLE*/", ":root { color-scheme: light dark; }" + variables(":root")).replace(
        "/*DATA*/", json
    )


def _row(row: Doubtful) -> dict[str, Any]:
    query = row.query
    told = [("date", query.date)] if query.date else []
    return {
        "id": row_id(row.row),
        "name": plain_name(query.name),
        "context": query.context,
        "told": [*told, *query.values],
        "reason": row.reason,
        "candidates": [_candidate(one) for one in row.candidates],
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    strongest = sorted(candidate.parts.items(), key=lambda part: -abs(part[1]))
    return {
        "qid": candidate.qid,
        "label": candidate.label,
        "description": candidate.description,
        "confidence": candidate.confidence,
        "matched": candidate.matched,
        "parts": [[name, round(added, 2)] for name, added in strongest],
    }


def _article(row: Doubtful) -> dict[str, Any]:
    """The row as an article with its name as the one mention, as it was reconciled."""
    name = plain_name(row.query.name)
    told = ", ".join([row.query.context, *(value for _, value in row.query.values)]).strip(", ")
    mention = {"name": name, "spans": [[0, len(name)]], "candidates": [one.qid for one in row.candidates]}
    article = {"id": row_id(row.row), "text": f"{name}: {told}", "mentions": [mention]}
    return article | ({"date": row.query.date} if row.query.date else {})
