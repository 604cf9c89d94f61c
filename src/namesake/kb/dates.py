"""Wikidata's dates, stored as days since 1970-01-01 and a precision, as ISO dates cut to that precision."""

from __future__ import annotations

from namesake.kernels.dump.wikidata import DAY, DECADE, MILLENNIUM, MISSING, MONTH, YEAR

__all__ = ["DAY", "YEAR", "iso"]

_EPOCH = 719_469  # days from 1 March of the year before year 1 to 1970-01-01


def iso(days: int, precision: int) -> str | None:
    """A date as ISO 8601 cut to its precision: `1961-08-04`, `1961-08`, `1961`, `196X`, `19XX`; None if missing.

    ISO 8601-2 defines the X: the 1960s are `196X`, the 20th century `19XX`, the 1st century BCE `-00XX`. Years BCE are
    written as in Wikidata: `-0043` is 43 BCE.
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


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970-01-01."""
    era, day_of_era = divmod(days + _EPOCH - 1, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1
