"""Wikidata's times as days since 1970-01-01 and a precision, and back as ISO dates cut to that precision.

A time is kept as the first day of the period it states: 1961 as 1961-01-01 with the precision of a year. Days are
counted in the proleptic Gregorian calendar with the digits as Wikidata gives them, so that what was read is what is
printed. Wikidata knows no year 0: `-0043` is 43 BCE, here and in print (where ISO's own reckoning would say -0042).
"""

from __future__ import annotations

import re

DAY, MONTH, YEAR, DECADE, CENTURY, MILLENNIUM = 11, 10, 9, 8, 7, 6
MISSING, FOREVER = -(2**31), 2**31 - 1  # no such day; the end of what has not ended
LAST_YEAR = 200_000

_TIME = re.compile(r"([+-])([0-9]+)-([0-9]{2})-([0-9]{2})T")
_MONTH_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EPOCH = 719_469  # days from 1 March of the year before year 1 to 1970-01-01


def parse_time(time: str, precision: int) -> tuple[int, int] | None:
    """First day and precision of a time such as `+1961-08-04T00:00:00Z`; None where it names no possible day.

    A month or day of 00 lowers the precision. So does 29 February of a year that is a leap year in the Julian
    calendar alone: the day has no place in the calendar used here, its month has.
    """
    match = _TIME.match(time)
    if match is None or not 1 <= precision <= 14:
        return None
    number, month, day = int(match[2].lstrip("0")[:7] or "0"), int(match[3]), int(match[4])
    if not 1 <= number <= LAST_YEAR or month > 12 or day > 31:
        return None
    year = number if match[1] == "+" else 1 - number
    precision = min(precision, DAY if month and day else MONTH if month else YEAR)
    if precision == DAY and day > _month_days(year, month):
        if (month, day) != (2, 29) or year % 4:
            return None
        precision = MONTH
    if precision >= MONTH:
        return _days(year, month, day if precision == DAY else 1), precision
    return _days(_first_year(year, precision), 1, 1), precision


def last_day(first: int, precision: int) -> int:
    """The last day of the period that begins on a first day."""
    if first == MISSING or precision >= DAY:
        return first
    year, month, _ = _civil(first)
    if precision == MONTH:
        return _days(year + month // 12, month % 12 + 1, 1) - 1
    years = {DECADE: 9 if year in (1, -8) else 10, CENTURY: 100, MILLENNIUM: 1000}.get(precision, 1)  # no year 0
    return _days(year + years, 1, 1) - 1


def iso(days: int, precision: int) -> str | None:
    """A date as ISO 8601 cut to its precision: `1961-08-04`, `1961-08`, `1961`, `196X`, `19XX`; None for none.

    The X are those of ISO 8601-2: the 1960s are `196X`, the 20th century `19XX`, the 1st century BCE `-00XX`.
    """
    if days == MISSING or precision < MILLENNIUM:
        return None
    year, month, day = _civil(days)
    sign, number = ("", year) if year > 0 else ("-", 1 - year)
    if precision >= YEAR:
        return (
            f"{sign}{number:04}"
            + (f"-{month:02}" if precision >= MONTH else "")
            + (f"-{day:02}" if precision >= DAY else "")
        )
    unknown = YEAR - precision
    known = number if year > 0 or precision == DECADE else number - 1
    return f"{sign}{known // 10**unknown:0{4 - unknown}}" + "X" * unknown


def _first_year(year: int, precision: int) -> int:
    """The year in which the decade, century or millennium of a year begins."""
    if precision == DECADE:
        return max(1, year // 10 * 10) if year > 0 else 1 - ((1 - year) // 10 * 10 + 9)
    size = {CENTURY: 100, MILLENNIUM: 1000}.get(precision, 1)
    return (year - 1) // size * size + 1


def _month_days(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTH_DAYS[month]


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; years begin in March, so that a leap day is a year's last."""
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - _EPOCH


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970-01-01."""
    era, day_of_era = divmod(days + _EPOCH - 1, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1
