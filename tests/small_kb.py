"""KBs of a few rows, made without a dump."""

from pathlib import Path
from typing import Any

import numpy as np

from namesake.kb.columns.column_files import Ragged, Strings
from namesake.kb.columns.declaration import Axis, Column, Lists, Text
from namesake.kb.columns.derived import DERIVED, derive_all
from namesake.kb.columns.layout import columns
from namesake.kb.manifest import FORMAT_VERSION, Manifest
from namesake.kb.publish.draft import Draft


def write_rest(draft: Draft, rows: dict[Axis, int]) -> None:
    """Write the columns that the draft lacks: nothing in them but zeros and empty rows, as many as are given."""
    for column in columns().values():
        if not draft.holds(column) and column not in DERIVED:
            draft.write(column, empty(column, rows.get(column.rows, 1 if column.rows.power_of_two else 0)))
    derive_all(draft)


def empty(column: Column, rows: int) -> Any:
    """A column without anything in its rows; numbers that may not be 0 ascend from 1."""
    if isinstance(column, Text):
        return Strings.empty(rows)
    if isinstance(column, Lists):
        return Ragged(np.zeros(rows + 1, np.int64), np.empty(0, column.dtype))
    if column.values.missing:
        return np.full(rows, -1, column.dtype)
    return np.arange(rows).astype(column.dtype) if column.order else np.zeros(rows, column.dtype)


def manifest(**changes: object) -> Manifest:
    """A manifest that counts nothing but what is given."""
    counts = dict.fromkeys(["entities", "people", "items", "statements", "names", "words", "rejected"], 0)
    fields = {"format_version": FORMAT_VERSION, "created": "now", "dumps": [], **counts, **changes}
    return Manifest(**fields)  # type: ignore[arg-type]


def writable(path: Path) -> Path:
    """A file of a KB that a test may damage: those of a published one are sealed."""
    path.chmod(0o644)
    return path
