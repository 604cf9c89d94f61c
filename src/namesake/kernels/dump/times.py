"""Wikidata's time values read from text: first and last day of the stated period, as days since 1970-01-01.

Days are counted in the proleptic Gregorian calendar with Wikidata's digits unchanged. There is no year 0 in Wikidata:
`-0043` is 43 BCE; here the year before year 1 is year 0.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.dump.jsontext import ZERO
from namesake.kernels.dump.wikidata import CENTURY, DAY, DECADE, LAST_YEAR, MILLENNIUM, MISSING, MONTH, YEAR
from namesake.kernels.simd import BYTES, byte

MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


@inner("int64(int64, int64, int64)")
def days_from_civil(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar; the year before year 1 is year 0."""
    if month <= 2:
        year -= 1
        month += 12
    century_days = year * 365 + year // 4 - year // 100 + year // 400
    return century_days + (153 * (month - 3) + 2) // 5 + day - 719469


@inner("UniTuple(int64, 2)(int64, int64)")
def first_and_last_year(year, precision):
    """The years in which the decade, century or millennium of a year begins and ends."""
    if precision == DECADE:
        if year > 0:
            return max(1, year // 10 * 10), year // 10 * 10 + 9
        return -8 - (1 - year) // 10 * 10, min(0, 1 - (1 - year) // 10 * 10)
    size = 100 if precision == CENTURY else 1000 if precision == MILLENNIUM else 1
    first = (year - 1) // size * size + 1
    return first, first + size - 1


@inner("UniTuple(int64, 3)(int64, int64, int64, int64)")
def period(year, month, day, precision):
    """First day, precision and last day of a period; (MISSING, 0, MISSING) where there is no such day.

    A month or day of 0 lowers the precision. So does 29 February of a year that is a leap year in the Julian calendar
    only: the Gregorian calendar has the month but not the day.
    """
    if month > 12 or day > 31 or precision < 1 or precision > 14:
        return MISSING, 0, MISSING
    precision = min(precision, YEAR if month == 0 else (MONTH if day == 0 else DAY))
    if precision == DAY and day > MONTH_DAYS[month]:
        if month != 2 or day != 29 or year % 4 != 0:
            return MISSING, 0, MISSING
        if year % 100 == 0 and year % 400 != 0:
            precision = MONTH  # a leap day of the Julian calendar alone
    if precision == DAY:
        exactly = days_from_civil(year, month, day)
        return exactly, DAY, exactly
    if precision == MONTH:
        return days_from_civil(year, month, 1), MONTH, days_from_civil(year + month // 12, month % 12 + 1, 1) - 1
    first, last = first_and_last_year(year, precision)
    return days_from_civil(first, 1, 1), precision, days_from_civil(last + 1, 1, 1) - 1


@inner(types.int64(BYTES, types.int64))
def two_digits(data, p):
    """The number of two digits at p; 99 where they are none."""
    tens, units = byte(data, p) - ZERO, byte(data, p + 1) - ZERO
    return tens * 10 + units if 0 <= tens <= 9 and 0 <= units <= 9 else 99


@inner(types.UniTuple(types.int64, 3)(BYTES, types.int64, types.int64))
def read_time(data, p, precision):
    """Read `+1961-08-04T00:00:00Z` at p, as `period` returns it."""
    sign = byte(data, p)
    if sign != 43 and sign != 45:  # + -
        return MISSING, 0, MISSING
    p += 1
    year, start = 0, p
    while ZERO <= byte(data, p) <= ZERO + 9:
        year = min(year * 10 + byte(data, p) - ZERO, LAST_YEAR + 1)
        p += 1
    if p == start or year == 0 or year > LAST_YEAR:
        return MISSING, 0, MISSING
    for dash in (0, 3):
        if byte(data, p + dash) != 45:
            return MISSING, 0, MISSING
        if two_digits(data, p + dash + 1) == 99:
            return MISSING, 0, MISSING
    if byte(data, p + 6) != 84:  # T
        return MISSING, 0, MISSING
    return period(year if sign == 43 else 1 - year, two_digits(data, p + 1), two_digits(data, p + 4), precision)
