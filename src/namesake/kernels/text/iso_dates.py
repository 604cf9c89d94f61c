"""Dates that are written in the plain way, 2016-12-26, as numbers."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.text.year_signs import ZERO, is_digit
from namesake.kernels.types import I64, U8

SIZE, DASH = 10, 0x2D
ERA, ERA_YEARS, ERA_DAYS = 400, 365, 146097
BEFORE_1970 = 719468  # days from the first of March of the year 0


@inlined(types.int64(types.int64, types.int64, types.int64))
def day_number(year, month, day):
    """Days from 1970-01-01. Years are counted from March on, so that a leap day is the last of its year."""
    year -= month <= 2
    of_era = year % ERA
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return year // ERA * ERA_DAYS + of_era * ERA_YEARS + of_era // 4 - of_era // 100 + of_year - BEFORE_1970


@inlined(types.int64(types.int64, types.int64))
def month_days(year, month):
    """How many days a month has."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


@inlined(types.int64(U8, types.int64, types.int64))
def number(data, begin, end):
    """The number that the digits data[begin:end] make; -1 if there is something else among them."""
    value = np.int64(0)
    for at in range(begin, end):
        if not is_digit(data[at]):
            return np.int64(-1)
        value = 10 * value + np.int64(data[at]) - ZERO
    return value


@kernel(types.int32[::1](U8, I64, types.int64, types.int64))
def days_of(data, offsets, none, unread):
    """Days from 1970-01-01 to the date that each text begins with; `none` for an empty text.

    `unread` where it is no date of four, two and two digits, or a digit, or a sign beyond ASCII, stands behind it.
    """
    days = np.empty(len(offsets) - 1, np.int32)
    for row in range(len(days)):
        begin, end = offsets[row], offsets[row + 1]
        days[row] = none if begin == end else unread
        if end - begin < SIZE or data[begin + 4] != DASH or data[begin + 7] != DASH:
            continue
        if end - begin > SIZE and (is_digit(data[begin + SIZE]) or data[begin + SIZE] >= 0x80):
            continue
        year, month = number(data, begin, begin + 4), number(data, begin + 5, begin + 7)
        day = number(data, begin + 8, begin + SIZE)
        if year >= 1 and month >= 1 and month <= 12 and day >= 1 and day <= month_days(year, month):
            days[row] = day_number(year, month, day)
    return days
