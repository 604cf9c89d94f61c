"""Dates: nobody is in the news before birth, few long after death, and offices have their years."""

from __future__ import annotations

import numpy as np

from namesake.batch import UNDATED, Batch
from namesake.kb.store import KB
from namesake.scorers import Scores, scorer

YEAR = 365.25
PERIODS = {11: 1, 10: 31, 9: 366, 8: 3653, 7: 36525}
"""Days in the period that a date of some precision stands for; coarser dates are not used."""


@scorer("Born")
def born(batch: Batch, kb: KB) -> Scores:
    """-1 where the whole of the stated birth date lies after the article's date, else 0."""
    days, known = _dates(batch, kb.birth, kb.birth_precision)
    return -(known & (days > _article_days(batch))).astype(np.float64)


@scorer("Dead")
def dead(batch: Batch, kb: KB) -> Scores:
    """-log2(1 + years since death) where the article comes after the whole of the stated date of death, else 0."""
    days, known = _dates(batch, kb.death, kb.death_precision)
    precision = _by_row(kb.death_precision, batch)
    period = np.select([precision == p for p in PERIODS], list(PERIODS.values()), 0)
    years = (_article_days(batch) - days - period) / YEAR
    gone: Scores = -np.log2(1 + np.where(known, np.maximum(years, 0), 0))
    return gone


@scorer("Tenure")
def tenure(batch: Batch, kb: KB) -> Scores:
    """How many of the entity's dated statements (offices, teams, employers) are in force at the article's date."""
    at = _article_days(batch)
    first = np.searchsorted(kb.tenure_entity, batch.rows, "left")
    last = np.where(batch.rows >= 0, np.searchsorted(kb.tenure_entity, batch.rows, "right"), first)
    size = last - first
    candidate = np.repeat(np.arange(len(size)), size)
    statement = np.repeat(first, size) + np.arange(len(candidate)) - np.repeat(np.cumsum(size) - size, size)
    day = at[candidate]
    holds = (kb.tenure_start[statement] <= day) & (day <= kb.tenure_end[statement]) & (day != UNDATED)
    return np.bincount(candidate, holds, len(size)).astype(np.float64)


def _article_days(batch: Batch) -> np.ndarray:
    """The day of each candidate's article, UNDATED where it has none."""
    return np.repeat(batch.days[batch.article], np.diff(batch.offsets)).astype(np.int64)


def _dates(batch: Batch, column: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First day of each candidate's stated period, and whether it and the article's date are known."""
    known = np.isin(_by_row(precision, batch), list(PERIODS)) & (_article_days(batch) != UNDATED)
    return _by_row(column, batch).astype(np.int64), known


def _by_row(column: np.ndarray, batch: Batch) -> np.ndarray:
    if not len(column):
        return np.zeros(len(batch.rows), column.dtype)
    return np.where(batch.rows >= 0, column[batch.rows], 0)
