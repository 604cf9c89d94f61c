"""Dates: nobody is in the news before birth, few long after death, and offices have their years."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from namesake.arrays import take_rows, text_buffers
from namesake.articles.days import UNDATED
from namesake.scorers.matches import Candidate, Match, statement_source
from namesake.scorers.registry import Need, Scores, scorer

if TYPE_CHECKING:
    from namesake.arrays import Bool, Int32, Int64
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.kernels.text.year_signs import YearWords
    from namesake.language import Language

POSITION_HELD = 39
YEAR = 365.25
PERIODS = {11: 1, 10: 31, 9: 366, 8: 3653, 7: 36525}
"""Days in the period that a date of some precision, one of those in a row, stands for; coarser dates are not used."""
YEARLY = 9
"""The precision of a date that is known to the year."""
NOW = 2015.0
"""The year of a text that names none and has no date."""

OFFICES = Need("statements with a start or an end", lambda kb: len(kb.tenure_entity) > 0)


@scorer("NotYetBorn")
def born(batch: Batch, kb: KB) -> Scores:
    """-1 where the whole of the stated birth date lies after the article's date, else 0."""
    from namesake.kernels.link.lives import dated_later

    of_articles = (batch.article, batch.offsets, batch.rows, batch.days)
    later: Bool = dated_later(*of_articles, kb.birth, kb.birth_precision, UNDATED, min(PERIODS), max(PERIODS))
    return -later.astype(np.float64)


@scorer("Dead")
def dead(batch: Batch, kb: KB) -> Scores:
    """-log2(1 + years since death) where the article comes after the whole of the stated date of death, else 0."""
    days, at, known = _dates(batch, kb.death, kb.death_precision)
    precision = _by_row(kb.death_precision, batch.rows)
    period = np.select([precision == p for p in PERIODS], list(PERIODS.values()), 0)
    years = (at.astype(np.int64) - days - period) / YEAR
    gone: Scores = -np.log2(1 + np.where(known, np.maximum(years, 0), 0))
    return gone


@scorer("Tenure", needs=OFFICES)
def tenure(batch: Batch, kb: KB) -> Scores:
    """How many of the entity's dated statements (offices, teams, employers) are in force at the article's date."""
    candidate, _ = batch.once(_in_force)
    return np.bincount(candidate, minlength=len(batch.rows)).astype(np.float64)


def offices(candidate: Candidate) -> Iterator[Match]:
    """The positions of the candidate that are in force at the article's date."""
    batch, kb, mention = candidate.reading.batch, candidate.kb, candidate.reading.mention
    if batch.mentions.evidence.title[mention] or batch.mentions.evidence.role[mention]:
        whose, statements = batch.once(_in_force)
        own = slice(*np.searchsorted(whose, [candidate.number, candidate.number + 1]))
        pairs = kb.tenure_pair[statements[own]]
        for pair in np.unique(pairs[kb.pair_property[pairs] == POSITION_HELD]).tolist():
            yield Match(sources=[statement_source(kb, pair)])


@scorer("OfficeHeld", needs=OFFICES, explain=offices)
def office(batch: Batch, kb: KB) -> Scores:
    """1 for a word behind a title or a role (President Bush) where a position is in force at the date, else 0."""
    candidate, statement = batch.once(_in_force)
    held = candidate[kb.pair_property[kb.tenure_pair[statement]] == POSITION_HELD]
    holds = np.bincount(held, minlength=len(batch.rows)) > 0
    in_office: Scores = (holds & np.repeat(_behind_office(batch), np.diff(batch.offsets))).astype(np.float64)
    return in_office


def _in_force(batch: Batch, kb: KB) -> tuple[Int64, Int64]:
    """The dated statements that are in force at their articles' dates: whose (candidates), and which."""
    at, dated = _article_days(batch)
    first = np.searchsorted(kb.tenure_entity, batch.rows, "left")
    last = np.where(batch.rows >= 0, np.searchsorted(kb.tenure_entity, batch.rows, "right"), first)
    size = last - first
    candidate = np.repeat(np.arange(len(size)), size)
    statement = np.repeat(first, size) + np.arange(len(candidate)) - np.repeat(np.cumsum(size) - size, size)
    day = at[candidate]
    holds = (kb.tenure_start[statement] <= day) & (day <= kb.tenure_end[statement]) & dated[candidate]
    return candidate[holds], statement[holds]


@scorer("YearsFromLifetime")
def era(batch: Batch, kb: KB) -> Scores:
    """-log(1 + g / 10), g years between the life and the nearest year that the text names or has; 0 for a lone word.

    A life of which texts tell begins at 12 and ends two years after death; a birth alone stands for 95 years, a death
    alone for 75. Who is known by one word is remembered longer, unless a title or a role stands before it.
    """
    from namesake.kernels.link.lives import Lives, years_apart
    from namesake.kernels.text.years import years_of

    dated = np.where(batch.days != UNDATED, _year(batch.days), np.nan)
    full = (batch.tokens > 1) | (batch.mentions.evidence.tokens > 1)  # a surname for which the text has the full name
    told = full | _behind_office(batch)
    lives = Lives(kb.birth, kb.birth_precision, kb.death, kb.death_precision, YEARLY, YEAR)
    years = years_of(*text_buffers(batch.texts), year_words(kb.language))
    gap: Scores = years_apart(batch.article, batch.offsets, batch.rows, told, *years, dated, lives, NOW)
    return -np.log1p(gap / 10)


@scorer("LifeDatesMatch")
def vital(batch: Batch, kb: KB) -> Scores:
    """1 where the year of birth or death, or the age, that stands behind the name is the candidate's, -1 where not.

    "Michael Stern (born 3 August 1942)", "Freddie Ayer (1910 – 1989)", "John Smith was born in 1940", and in dated
    articles "Ann Jones, 45,". The birth counts before the death, that before the age; 0 where either side is silent.
    """
    from namesake.kernels.text.vitals import AGE, BIRTH, DEATH, vitals
    from namesake.text import pack

    language = kb.language
    some, told = vitals(  # most texts tell nothing of most people
        *(*text_buffers(batch.texts), batch.article, batch.span_indptr, batch.byte_spans),
        *(*pack(sorted(language.born)), *pack(sorted(language.died)), year_words(language)),
    )
    offsets, candidate = take_rows(batch.offsets, some)
    mention, rows = np.repeat(some, np.diff(offsets)), batch.rows[candidate]
    told, days = told[mention], batch.days[batch.article[mention]]
    born = _known_year(rows, kb.birth, kb.birth_precision, _calendar_year)
    died = _known_year(rows, kb.death, kb.death_precision, _calendar_year)
    years = np.where(days != UNDATED, _calendar_year(days), np.nan) - born
    by_birth, by_death = _verdict(born - told[:, BIRTH], 0), _verdict(died - told[:, DEATH], 0)
    by_age = _verdict(years - told[:, AGE], 1)
    scores = np.zeros(len(batch.rows))
    scores[candidate] = np.where(by_birth != 0, by_birth, np.where(by_death != 0, by_death, by_age))
    return scores


@lru_cache(maxsize=4)
def year_words(language: Language) -> YearWords:
    """The words of a language that tell years from other numbers, as kernels read them."""
    from namesake.kernels.hash import hash_each
    from namesake.kernels.tables import table_of
    from namesake.kernels.text import year_signs as signs
    from namesake.text import pack

    lists = {
        signs.MEASURE: language.measures,
        signs.COUNTED: language.counted,
        signs.NUMBERED: language.numbered,
        signs.OPENS: language.before_years | language.dates,
        signs.OWNS: language.before_events | {language.article, language.possessive},
        signs.JOINED: language.joined_to_years,
        signs.FUNCTION: language.function_words | language.stop_words,
    }
    words = sorted(frozenset().union(*lists.values()) - {""})
    keys, place = table_of(hash_each(*pack(words)))
    bits = np.zeros(len(keys), np.uint8)
    bits[place] = [sum(bit for bit, some in lists.items() if word in some) for word in words]
    return signs.YearWords(keys, bits)


def _verdict(off: np.ndarray, most: int) -> Scores:
    """1 where a number is off by 0 to `most`, -1 where by more or less, 0 where it is not known."""
    return np.where(np.isnan(off), 0.0, np.where((off >= 0) & (off <= most), 1.0, -1.0))


def _behind_office(batch: Batch) -> np.ndarray:
    """Whether each mention is a word behind a title or a role: President Bush, striker Messi."""
    evidence = batch.mentions.evidence
    return np.asarray(evidence.title | evidence.role)


def _known_year(rows: Int64, column: np.ndarray, precision: np.ndarray, year: Callable[[np.ndarray], Scores]) -> Scores:
    """The year of each entity's stated date, as `year` counts, NaN where there is none as precise as a year."""
    return np.where(_by_row(precision, rows) >= YEARLY, year(_by_row(column, rows)), np.nan)


def _year(days: np.ndarray) -> Scores:
    """Days since 1970-01-01 as years."""
    years: Scores = 1970 + days.astype(np.float64) / YEAR
    return years


def _calendar_year(days: np.ndarray) -> Scores:
    """The year that a day belongs to."""
    years: Scores = 1970.0 + days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.float64)
    return years


def _article_days(batch: Batch) -> tuple[Int32, np.ndarray]:
    """The day of each candidate's article, and whether it is known."""
    days = np.repeat(batch.days[batch.article], np.diff(batch.offsets))
    return days, days != UNDATED


def _dates(batch: Batch, column: np.ndarray, precision: np.ndarray) -> tuple[Int32, Int32, np.ndarray]:
    """First day of each candidate's stated period, the day of its article, and whether both are known."""
    at, dated = _article_days(batch)
    stated = _by_row(precision, batch.rows)
    return _by_row(column, batch.rows), at, (stated >= min(PERIODS)) & (stated <= max(PERIODS)) & dated


def _by_row(column: np.ndarray, rows: Int64) -> np.ndarray:
    """The column's value for each row, 0 for those that the KB does not have."""
    if not len(column):
        return np.zeros(len(rows), column.dtype)
    return np.where(rows >= 0, column[rows], 0)
