"""Lifetimes of candidates compared with the dates of their articles."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.search import first_at_least
from namesake.kernels.simd import pointer, prefetch
from namesake.kernels.types import F64, I8, I32, I64, record

ADULT, POSTHUMOUS, LIFE, OLD = 12, 2, 95, 75
"""Years of the lifetime that counts: it begins at 12 and ends two years after death; a birth alone stands for 95
years, a death alone for 75."""
SOON = 24  # candidates
DAYS, PRECISIONS = types.CPointer(types.int32), types.CPointer(types.int8)
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)


class Lives(NamedTuple):
    """Dates of birth and death in days from 1970-01-01, with their precisions; columns may be empty.

    Dates of the precision `yearly` or finer count, and a year has `year` days.
    """

    birth: Annotated[Any, I32]
    birth_precision: Annotated[Any, I8]
    death: Annotated[Any, I32]
    death_precision: Annotated[Any, I8]
    yearly: Annotated[Any, types.int64]
    year: Annotated[Any, types.float64]


LIVES = record(Lives)


@inlined(types.float64(DAYS, PRECISIONS, types.int64, types.int64, types.float64))
def known_year(days, precision, row, yearly, year):
    """The year of an entity's date, NaN if it is unknown or less precise than a year."""
    return 1970 + days[row] / year if row >= 0 and precision[row] >= yearly else np.nan


@kernel(types.float64[::1](I64, I64, I64, FLAGS, I64, F64, F64, LIVES, types.float64))
def years_apart(article, offsets, rows, counted, indptr, years, dated, lives, now):
    """Years between each candidate's lifetime and the nearest year of its article; 0 for mentions not in `counted`.

    The years of article a are those in its text, `years[indptr[a]:indptr[a + 1]]`, and that of its date `dated[a]` (NaN
    without one), or `now` if it has neither.
    """
    gap = np.zeros(len(rows))
    birth, birth_precision = pointer(lives.birth), pointer(lives.birth_precision)
    death, death_precision = pointer(lives.death), pointer(lives.death_precision)
    has_births, has_deaths, year_at = len(lives.birth) > 0, len(lives.death) > 0, pointer(years)
    yearly, year = lives.yearly, lives.year
    for m in range(len(article)):
        for k in range(offsets[m], offsets[m + 1]):
            soon = rows[min(k + SOON, len(rows) - 1)]
            prefetch(birth, soon)
            prefetch(birth_precision, soon)
            prefetch(death, soon)
            prefetch(death_precision, soon)
        if not counted[m]:
            continue
        a = article[m]
        begin, end = indptr[a], indptr[a + 1]
        for k in range(offsets[m], offsets[m + 1]):
            born = known_year(birth, birth_precision, rows[k] if has_births else -1, yearly, year)
            died = known_year(death, death_precision, rows[k] if has_deaths else -1, yearly, year)
            if np.isnan(born) and np.isnan(died):
                continue
            low = died - OLD if np.isnan(born) else born + ADULT
            high = born + LIFE if np.isnan(died) else died + POSTHUMOUS
            nearest = np.inf
            if not np.isnan(dated[a]):
                nearest = max(0.0, dated[a] - high, low - dated[a])
            after = first_at_least(year_at, begin, end, low)
            if after < end:
                nearest = min(nearest, max(0.0, years[after] - high))
            if after > begin:
                nearest = min(nearest, low - years[after - 1])
            gap[k] = nearest if nearest < np.inf else max(0.0, now - high, low - now)
    return gap


@kernel(types.boolean[::1](I64, I64, I64, I32, I32, I8, types.int64, types.int64, types.int64))
def dated_later(article, offsets, rows, days, dates, precision, undated, coarsest, finest):
    """Whether the date of each candidate has a precision in the given range and is after the day of its article."""
    later = np.zeros(len(rows), np.bool_)
    for m in range(len(article) if len(dates) > 0 else 0):
        day = days[article[m]]
        for k in range(offsets[m], offsets[m + 1]):
            row = rows[k]
            if row >= 0 and day != undated:
                later[k] = (dates[row] > day) & (precision[row] >= coarsest) & (precision[row] <= finest)
    return later
