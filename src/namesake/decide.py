"""The one place that decides whether to answer.

A recipe with a `[decide]` table gives scores that are log-odds, and to "none of them" of each mention the score n:

    P(e | m) = exp(s_e) / (exp(n) + Σ exp(s_e'))        P(none | m) = exp(n) / (exp(n) + Σ exp(s_e'))

The first is the confidence in a candidate, one minus the second the probability that any candidate is right. n is the
sum of what a recipe makes of its doubts (`doubts/`), or a constant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from namesake.rank import NOBODY, FloatArray, IntArray
from namesake.recipe import Decide

REASONS = ("no candidates", "none fits", "too close to call", "not sure enough", "not a person")
"""Why there is no answer."""
NO_CANDIDATES, NONE_FITS, TOO_CLOSE, NOT_SURE, NOT_A_PERSON = range(len(REASONS))
ANSWERED = -1
CLOSE = 0.5
"""A runner-up is close that is at least so likely as this share of the best."""


class Decision(NamedTuple):
    """For each mention: the confidence in its best candidate, in any candidate, and ANSWERED or why not."""

    confidence: FloatArray
    known: FloatArray
    reason: npt.NDArray[np.int8]


def probabilities(total: FloatArray, offsets: IntArray, nil: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(e | m) of each candidate and P(none | m) of each mention; `nil` is what "none of them" scores there."""
    size = np.diff(offsets)
    best = np.maximum(nil, _of_each(np.maximum, total, offsets, -np.inf))
    weight = np.exp(total - np.repeat(best, size))
    none = np.exp(nil - best)
    every = none + _of_each(np.add, weight, offsets, 0.0)
    return weight / np.repeat(every, size), none / every


def decide(
    total: FloatArray,
    nil: FloatArray | None,
    offsets: IntArray,
    first: IntArray,
    rule: Decide | None,
    no_person: npt.NDArray[np.bool_] | None = None,
) -> Decision:
    """What to answer, given each mention's best candidate; without a rule the best candidate is always the answer.

    `total` and `nil` are the scores of the candidates and of "none of them": see `recipe.Combined`.
    Below the threshold the reason is `none fits` where "none of them" is at least as likely as the best candidate and
    as all others together, else `too close to call` where the runner-up is close, else `not sure enough`. What the text
    makes no person is nobody, whatever the scores.
    """
    empty = first == NOBODY
    reason = np.where(empty, NO_CANDIDATES, ANSWERED).astype(np.int8)
    if rule is None or nil is None:
        missing = np.full(len(first), np.nan)
        return Decision(missing, missing, reason)
    probability, none = probabilities(total, offsets, nil)
    confidence = np.append(probability, 0.0)[first]
    unsure = ~empty & (confidence < rule.threshold)
    others = 1 - none - confidence
    doubt = np.where(_runner_up(probability, offsets, first) >= CLOSE * confidence, TOO_CLOSE, NOT_SURE)
    reason[unsure] = np.where(none >= np.maximum(confidence, others), NONE_FITS, doubt)[unsure]
    known = 1 - none
    if no_person is not None:
        reason[no_person & ~empty] = NOT_A_PERSON
        confidence, known = np.where(no_person, 0.0, confidence), np.where(no_person, 0.0, known)
    return Decision(confidence, known, reason)


def _runner_up(probability: FloatArray, offsets: IntArray, first: IntArray) -> FloatArray:
    """The probability of each mention's second candidate; -1 where there is none."""
    rest = probability.copy()
    rest[first[first != NOBODY]] = -1.0
    return _of_each(np.maximum, rest, offsets, -1.0)


def _of_each(ufunc: np.ufunc, values: FloatArray, offsets: IntArray, nobody: float) -> FloatArray:
    """The values of each mention's candidates reduced to one; `nobody` where it has no candidates."""
    filled = offsets[:-1] < offsets[1:]
    reduced = ufunc.reduceat(values, offsets[:-1][filled]) if len(values) else values
    if filled.all():
        return np.asarray(reduced, np.float64)
    each = np.full(len(filled), nobody)
    each[filled] = reduced
    return each
