"""What somebody chose on the page of a review, read back: whom rows of the table mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.evaluation.gold import read_gold
from namesake.reconciling.rows import plain_name

ROW = "row "
"""What the ids of rows begin with; their number, from 1, follows."""


def row_id(place: int) -> str:
    """What pages, articles and gold call the row at a place of its table."""
    return f"{ROW}{place + 1}"


def read_choices(files: Sequence[Path], names: Sequence[str]) -> dict[int, str | None]:
    """Whom rows mean, by their place: a QID, or None for nobody. Of several files the last that names a row counts.

    `names` are the cells of the table's column of names: choices that do not fit them are of another table.
    """
    chosen: dict[int, str | None] = {}
    for choice in (one for file in files for one in read_gold(file)):
        row, name = choice.mention
        number = int(row.removeprefix(ROW)) if re.fullmatch(f"{ROW}[1-9][0-9]{{0,17}}", row) else 0
        if not 1 <= number <= len(names):
            raise NamesakeError(f"{choice.where}: no {row!r} in the table, which has {len(names):,} rows")
        here = plain_name(names[number - 1])
        if here != name:
            raise NamesakeError(
                f"{choice.where}: a choice for {name!r}, but {row} is {here!r}: is it of another table?"
            )
        if isinstance(choice.gold, int):
            raise NamesakeError(f"{choice.where}: gold is {choice.gold}, not a QID such as Q76, or null for nobody")
        chosen[number - 1] = choice.gold
    return chosen
