"""Parsing of dates: 1963, 1963-02-17, 17.02.1963, 17 February 1963, February 1963, with or without a time."""

import datetime
import re
from calendar import monthrange
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from namesake.errors import NamesakeError, warn
from namesake.printable import counted

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_ISO = re.compile(r"\s*\+?(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(?:\D.*)?)?)?\s*", re.ASCII | re.DOTALL)
_EUROPEAN = re.compile(r"\s*(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\s*", re.ASCII)
_SPOKEN = re.compile(
    r"\s*(?:(\d{1,2})(?:st|nd|rd|th)?\.?\s+)?([A-Za-z]{3,9})\.?,?\s+(?:(\d{1,2}),?\s+)?(\d{4})\s*", re.ASCII
)
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)", re.ASCII)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

UNDATED = 2**31 - 1  # the day of an article without a date
HOW_TO_WRITE = "2016-12-26, 2016-12 or 2016"  # as messages suggest


class Day(NamedTuple):
    """A date as precise as it is given: month and day are 0 if they are not given."""

    year: int
    month: int = 0
    day: int = 0


def read_day(text: str) -> Day | None:
    """The date in a text, or None; for an ambiguous date (03/04/1963) only the year."""
    if parts := written_date(text):
        year, month, day = parts
        exists = year and month <= 12 and day <= (monthrange(year, month)[1] if month else 0)
        return Day(year, month, day) if exists else None
    years = set(_YEAR.findall(text))
    return Day(int(years.pop())) if len(years) == 1 else None


@lru_cache(maxsize=1 << 14)
def day_number(text: str | None) -> int:
    """Days from 1970-01-01 to a date as `read_day` reads it, or to the last day of a month or year; else UNDATED."""
    day = read_day(text) if text else None
    if day is None:
        return UNDATED
    month = day.month or 12
    return datetime.date(day.year, month, day.day or monthrange(day.year, month)[1]).toordinal() - _EPOCH


def check_date(date: str | None, argument: str = "date") -> None:
    """Refuse a text that is not a date; `argument` is the name of the caller's argument."""
    if date is not None and day_number(date) == UNDATED:
        raise NamesakeError(f"`{argument}={date!r}`: not a date; write it as {HOW_TO_WRITE}")


def date_text(value: object) -> str | None:
    """A date that a program sets, as text: a `datetime.date`, a text or a year. Other values become bad dates."""
    return None if value is None else value.isoformat() if isinstance(value, datetime.date) else str(value)


def unread_dates(dates: pa.ChunkedArray) -> Counter[str]:
    """The dates that cannot be read and how often each occurs, in the order of their first occurrences."""
    counted_dates = zip(*(field.to_pylist() for field in pc.value_counts(dates).flatten()), strict=True)
    return Counter({text: count for text, count in counted_dates if text is not None and day_number(text) == UNDATED})


def about_unread(bad: Counter[str]) -> str:
    """A sentence with the number of articles whose date cannot be read, and the first of these dates."""
    unread = f"{counted(bad.total(), 'article')} with a date that cannot be read, such as {next(iter(bad))[:60]!r}"
    return f"{unread}: linked as undated; write dates as {HOW_TO_WRITE}"


def warn_of_unread(dates: pa.ChunkedArray) -> None:
    """Warn once, with their number, if dates cannot be read."""
    if bad := unread_dates(dates):
        warn(about_unread(bad))


def written_date(text: str) -> tuple[int, int, int] | None:
    """Year, month and day (0 if not given) of a text that has the form of a date, even if the day does not exist."""
    if found := _ISO.fullmatch(text):
        return int(found[1]), int(found[2] or 0), int(found[3] or 0)
    if found := _EUROPEAN.fullmatch(text):
        return int(found[3]), int(found[2]), int(found[1])
    if found := _SPOKEN.fullmatch(text):
        word = found[2].lower()
        month = next((number for number, name in enumerate(_MONTHS, 1) if name.startswith(word)), 0)
        if month:
            return int(found[4]), month, int(found[1] or found[3] or 0)
    return None
