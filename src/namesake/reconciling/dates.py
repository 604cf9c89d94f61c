"""Dates as tables have them: 1963, 1963-02-17, 17 February 1963, 17.02.1963, February 17, 1963."""

from __future__ import annotations

import re
from typing import NamedTuple

_ISO = re.compile(r"\s*\+?(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?:T.*)?\s*", re.ASCII)
_EUROPEAN = re.compile(r"\s*(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\s*", re.ASCII)
_SPOKEN = re.compile(
    r"\s*(?:(\d{1,2})(?:st|nd|rd|th)?\.?\s+)?([A-Za-z]{3,9})\.?,?\s+(?:(\d{1,2}),?\s+)?(\d{4})\s*", re.ASCII
)
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Day(NamedTuple):
    """A date, as precise as it is told: month and day are 0 where they are not."""

    year: int
    month: int = 0
    day: int = 0


def read_day(text: str) -> Day | None:
    """The date that a cell tells; of one that can be read in two ways (03/04/1963) only the year; None for none."""
    if found := _ISO.fullmatch(text):
        return _day(*(int(part or 0) for part in found.groups()))
    if found := _EUROPEAN.fullmatch(text):
        return _day(int(found[3]), int(found[2]), int(found[1]))
    if (found := _SPOKEN.fullmatch(text)) and found[2][:3].lower() in _MONTHS:
        return _day(int(found[4]), _MONTHS.index(found[2][:3].lower()) + 1, int(found[1] or found[3] or 0))
    years = set(_YEAR.findall(text))
    return Day(int(years.pop())) if len(years) == 1 else None


def _day(year: int, month: int, day: int) -> Day | None:
    if month > 12 or day > 31 or not year:
        return None
    return Day(year, month, day if month else 0)
