"""Dates of an entity (birth, death, offices) compared with the date of the article and the years in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from namesake.arrays import Bool, Int64, take_rows, text_buffers
from namesake.articles.days import UNDATED
from namesake.kernels.dump.wikidata import CENTURY, DAY, YEAR
from namesake.kernels.kinds import PERSON
from namesake.kernels.names.constants import NO_YEAR, SHORT
from namesake.scorers.evidence_shown import Candidate, Match, statement_source
from namesake.scorers.registry import DOUBTS, Need, Scores, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.kernels.text.years import YearWords
    from namesake.language import Language

POSITION_HELD = 39
OFFICES = Need("statements with a start or an end", lambda kb: len(kb.tenure_entity) > 0)
YEAR_NUMBER = re.compile(r"(?<!\d)[12]\d{3}(?!\d)", re.ASCII)


@scorer("NotYetBorn", aliases=("Born",))
def not_yet_born(batch: Batch, kb: KB) -> Scores:
    """-1 if the whole of the stated birth date is after the article's date, else 0."""
    if not len(kb.birth):
        return np.zeros(len(batch.rows))
    born, exact = (column.take(batch.rows, mode="clip") for column in (kb.birth, kb.birth_precision))
    day = np.repeat(batch.days[batch.article], np.diff(batch.offsets))
    later: Bool = (born > day) & (day != UNDATED) & (exact >= CENTURY) & (exact <= DAY) & (batch.rows >= 0)
    return -later.astype(np.float64)


def offices(candidate: Candidate) -> Iterator[Match]:
    """The positions of the candidate that are in force at the article's date."""
    batch, kb = candidate.reading.batch, candidate.kb
    if _after_title_or_role(batch)[candidate.reading.mention]:
        whose, pairs = batch.once(_positions_in_force)
        for pair in np.unique(pairs[whose == candidate.number]).tolist():
            yield Match(sources=[statement_source(kb, pair)])


@scorer("OfficeHeld", needs=OFFICES, explain=offices, aliases=("Office",))
def office_held(batch: Batch, kb: KB) -> Scores:
    """1 for a word after a title or a role (President Bush) if the entity holds a position at the date, else 0."""
    holds = np.bincount(batch.once(_positions_in_force)[0], minlength=len(batch.rows)) > 0
    return np.where(holds & _after_title_or_role(batch)[batch.mention], 1.0, 0.0)


def _positions_in_force(batch: Batch, kb: KB) -> tuple[Int64, Int64]:
    """The positions that are held at the articles' dates: the candidate and the statement pair of each."""
    at = batch.days[batch.article][batch.mention]
    first = np.searchsorted(kb.tenure_entity, batch.rows, "left")
    last = np.where(batch.rows >= 0, np.searchsorted(kb.tenure_entity, batch.rows, "right"), first)
    size = last - first
    candidate = np.repeat(np.arange(len(size)), size)
    statement = np.repeat(first, size) + np.arange(len(candidate)) - np.repeat(np.cumsum(size) - size, size)
    day, pair = at[candidate], kb.tenure_pair[statement]
    holds = (kb.tenure_start[statement] <= day) & (day <= kb.tenure_end[statement]) & (day != UNDATED)
    holds &= kb.pair_property[pair] == POSITION_HELD
    return candidate[holds], pair[holds]


@scorer("YearsFromLifetime", aliases=("Era",))
def years_from_lifetime(batch: Batch, kb: KB) -> Scores:
    """-log(1 + g / 10), g years between the lifetime and the nearest year of the article; 0 for a lone word.

    The years of an article are its date and those in its text. A lifetime begins at 12 and ends two years after death;
    a birth alone stands for 95 years, a death alone for 75. One word counts after a title or a role, or if the text
    has the full name. Rows of a table without a date or a year, and entities that are not people, count 0.
    """
    from namesake.kernels.link.candidate_tables import DAYS_PER_YEAR, years_apart

    dated = np.where(batch.days != UNDATED, 1970 + batch.days.astype(np.float64) / DAYS_PER_YEAR, np.nan)
    counted = (batch.tokens > 1) | (batch.full_names > 0) | _after_title_or_role(batch)
    if batch.table_rows is not None:
        has_year = [row.date is not None or YEAR_NUMBER.search(row.context) for row in batch.table_rows]
        counted &= np.array(has_year, np.bool_)[batch.article]
    mentions = batch.article, batch.offsets, batch.rows, counted, *batch.once(_years), dated
    gap: Scores = years_apart(*mentions, kb.birth, kb.birth_precision, kb.death, kb.death_precision)
    return np.where(batch.kinds == PERSON, -np.log1p(gap / 10), 0.0)


@scorer("OutsideLifetime", aliases=("Lifetime",))
def outside_lifetime(batch: Batch, kb: KB) -> Scores:
    """-1 for a surname that several people of the text have, if its sentences name years, none in this life; else 0."""
    scores = np.zeros(len(batch.rows))
    shared = np.flatnonzero((batch.full_names > 1) & (batch.tokens == 1))
    shared = shared[np.diff(batch.once(_years)[0])[batch.article[shared]] > 0]
    if not len(shared):
        return scores
    from namesake.kernels.link.candidate_tables import years_apart

    indptr, years = _sentence_years(batch, kb, shared)
    offsets, candidate = take_rows(batch.offsets, shared)
    undated = np.full(len(shared), np.nan)
    mentions = np.arange(len(shared)), offsets, batch.rows[candidate], np.diff(indptr) > 0, indptr, years, undated
    gap = years_apart(*mentions, kb.birth, kb.birth_precision, kb.death, kb.death_precision)
    scores[candidate] = -(gap > 0).astype(np.float64)
    return scores


def _years(batch: Batch, kb: KB) -> tuple[Int64, Scores]:
    """The years in the text of each article, as ragged rows, ascending."""
    from namesake.kernels.text.years import years_of

    years: tuple[Int64, Scores] = years_of(*text_buffers(batch.texts), year_words(kb.language))
    return years


def _sentence_years(batch: Batch, kb: KB, mentions: Int64) -> tuple[Int64, Scores]:
    """The years in the sentences that contain a span of each of some mentions, as ragged rows, ascending."""
    from namesake.kernels.text.spans import cut_out
    from namesake.kernels.text.years import years_of

    words, (data, texts) = batch.words, text_buffers(batch.texts)
    starts = words.sentence + np.repeat(texts[:-1], np.diff(words.sentence_indptr))
    of_mention, span = take_rows(batch.placed.span_indptr, mentions)
    article = np.repeat(batch.article[mentions], np.diff(of_mention))
    begin, end = (batch.placed.byte_spans[span] + texts[article][:, None]).T
    first = np.maximum(np.searchsorted(starts, begin, side="right") - 1, words.sentence_indptr[article])
    after = np.maximum(np.searchsorted(starts, end - 1, side="right"), first + 1)
    is_last = after == words.sentence_indptr[article + 1]
    ends = np.where(is_last, texts[article + 1], np.append(starts, 0)[after])
    offsets, sentences, _ = cut_out(data, np.column_stack([starts[first], ends]).astype(np.int64))
    indptr, years = years_of(sentences, offsets.astype(np.int64), year_words(kb.language))
    indptr = indptr[of_mention]
    return indptr, years[np.lexsort((years, np.repeat(np.arange(len(mentions)), np.diff(indptr))))]


@scorer("EventYear")
def event_year(batch: Batch, kb: KB) -> Scores:
    """-log(1 + years between the article's date and the year in the label), for a name without that year; else 0."""
    found, scores = batch.mentions.context, np.zeros(len(batch.rows))
    if found is None:
        return scores
    asked = np.flatnonzero(found.forms == SHORT + NO_YEAR)
    days = batch.days[batch.article[np.searchsorted(batch.offsets, asked, side="right") - 1]]
    asked, days = asked[days != UNDATED], days[days != UNDATED]
    gap = np.abs(_calendar_year(days) - [_label_year(kb, row) for row in batch.rows[asked].tolist()])
    scores[asked] = np.where(np.isnan(gap), 0.0, -np.log1p(gap))
    return scores


@lru_cache(maxsize=1 << 16)
def _label_year(kb: KB, row: int) -> float:
    """The year in the label of an entity, NaN without one: 2016 in "2016 Summer Olympics"."""
    year = YEAR_NUMBER.search(kb.label(row))
    return float(year[0]) if year else np.nan


@scorer("LifeDatesMatch", aliases=("Vital",))
def life_dates_match(batch: Batch, kb: KB) -> Scores:
    """1 if the year of birth or death, or the age, that follows the name is the candidate's, -1 if it is another's.

    "Michael Stern (born 3 August 1942)", "Freddie Ayer (1910 – 1989)", "John Smith was born in 1940", and in dated
    articles "Ann Jones, 45,". Birth takes precedence over death, and death over age. 0 if the text or the KB has none.
    """
    from namesake.kernels.text.years import AGE, BIRTH, DEATH, vitals
    from namesake.text import pack

    language = kb.language
    some, stated = vitals(  # few mentions have such data
        *(*text_buffers(batch.texts), batch.article, batch.placed.span_indptr, batch.placed.byte_spans),
        *(*pack(sorted(language.born)), *pack(sorted(language.died)), year_words(language)),
    )
    offsets, candidate = take_rows(batch.offsets, some)
    mention, rows = np.repeat(some, np.diff(offsets)), batch.rows[candidate]
    stated, days = stated[mention], batch.days[batch.article[mention]]
    born = _known_year(rows, kb.birth, kb.birth_precision)
    died = _known_year(rows, kb.death, kb.death_precision)
    years = np.where(days != UNDATED, _calendar_year(days), np.nan) - born
    by_birth, by_death = _verdict(born - stated[:, BIRTH], 0), _verdict(died - stated[:, DEATH], 0)
    by_age = _verdict(years - stated[:, AGE], 1)
    scores = np.zeros(len(batch.rows))
    scores[candidate] = np.where(by_birth != 0, by_birth, np.where(by_death != 0, by_death, by_age))
    return scores


@lru_cache(maxsize=4)
def year_words(language: Language) -> YearWords:
    """The words of a language that distinguish years from other numbers, as a table for kernels."""
    from namesake.kernels.text import years as signs
    from namesake.names.tables import word_table

    lists = {
        signs.MEASURE: language.measures,
        signs.COUNTED: language.counted,
        signs.NUMBERED: language.numbered,
        signs.OPENS: language.before_years | language.dates,
        signs.OWNS: language.before_events | {language.article, language.possessive},
        signs.JOINED: language.joined_to_years,
        signs.FUNCTION: language.function_words | language.stop_words,
    }
    return signs.YearWords(*word_table(lists, np.uint8))


def _verdict(difference: np.ndarray, most: int) -> Scores:
    """1 for a difference from 0 to `most`, -1 for another one, 0 if it is unknown (NaN)."""
    return np.where(np.isnan(difference), 0.0, np.where((difference >= 0) & (difference <= most), 1.0, -1.0))


def _after_title_or_role(batch: Batch) -> np.ndarray:
    """Whether each mention is one word after a title or a role: President Bush, striker Messi."""
    before = DOUBTS["TitleBefore"](batch) + DOUBTS["RoleBefore"](batch)
    return np.asarray((batch.tokens == 1) & (before > 0))


def _known_year(rows: Int64, column: np.ndarray, precision: np.ndarray) -> Scores:
    """The calendar year of each entity's date, NaN if it is less precise than a year or unknown."""
    if not len(column):
        return np.full(len(rows), np.nan)
    known = (rows >= 0) & (precision[rows] >= YEAR)
    return np.where(known, _calendar_year(column[rows]), np.nan)


def _calendar_year(days: np.ndarray) -> Scores:
    """The year of a day since 1970-01-01."""
    years: Scores = 1970.0 + days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.float64)
    return years
