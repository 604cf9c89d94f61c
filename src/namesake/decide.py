"""Whether to answer a mention, and how confidently.

In a recipe with a `[decide]` table, scores are log-odds and NIL ("not in the knowledge base") has the score n:

    P(e | m) = exp(s_e) / (exp(n) + Σ exp(s_e'))        P(NIL | m) = exp(n) / (exp(n) + Σ exp(s_e'))

The first is the confidence in a candidate; one minus the second is the probability that the KB has the entity. n is the
weighted sum of the evidence for NIL (`doubts.py`), or a constant.
"""

from typing import NamedTuple

import numpy as np

from namesake.arrays import Bool, Float64, Int8, Int64
from namesake.rank import NOBODY, reduce_mentions
from namesake.recipe import Decide

REASONS = (
    *("no candidates", "none fits", "too close to call", "not sure enough", "not a person", "another kind"),
    "decided by a person",
)
"""Reasons for no answer. With "another kind" there is one, but of a kind that is not asked for (`Linker(kinds=…)`)."""
NO_CANDIDATES, NONE_FITS, TOO_CLOSE, NOT_SURE, NOT_A_PERSON, ANOTHER_KIND, DECIDED = range(len(REASONS))
ANSWERED = -1
CLOSE = 0.5
"""A runner-up is close if its probability is at least this share of the best candidate's."""


class Decision(NamedTuple):
    """For each mention: the confidence in its best candidate, that the KB has the entity, and ANSWERED or a reason."""

    confidence: Float64
    probability_known: Float64
    reason: Int8

    def reason_of(self, mention: int) -> str | None:
        """The reason in words for a mention without an answer; None for an answered one."""
        reason = int(self.reason[mention])
        return None if reason == ANSWERED else REASONS[reason]


def probabilities(total: Float64, offsets: Int64, nil: Float64) -> tuple[Float64, Float64]:
    """P(e | m) of each candidate and P(NIL | m) of each mention; `nil` is the score of NIL."""
    from namesake.kernels.link.candidate_tables import largest_of, shares_of  # load with the first batch

    best = largest_of(offsets, total, nil)
    weight, none = np.exp(total - np.repeat(best, np.diff(offsets))), np.exp(nil - best)
    shares_of(offsets, weight, none)
    return weight, none


def decide(
    total: Float64,
    nil: Float64 | None,
    offsets: Int64,
    first: Int64,
    rule: Decide | None,
    no_person: Bool | None = None,
    known: tuple[Float64, Float64] | None = None,
) -> Decision:
    """The decision for each mention, given its best candidate `first`. Without a rule, that is always the answer.

    Below the threshold the reason is `none fits` if NIL is at least as likely as the best candidate and as all others
    together, else `too close to call` if the runner-up is close. Mentions in `no_person` have no answer. `known` are
    the probabilities, if they have been computed.
    """
    empty = first == NOBODY
    reason = np.where(empty, NO_CANDIDATES, ANSWERED).astype(np.int8)
    if rule is None or nil is None:
        missing = np.full(len(first), np.nan)
        return Decision(missing, missing, reason)
    probability, none = known or probabilities(total, offsets, nil)
    confidence = np.append(probability, 0.0)[first]
    unsure = ~empty & (confidence < rule.threshold)
    others = 1 - none - confidence
    rest = probability.copy()
    rest[first[~empty]] = -1.0
    is_close = reduce_mentions(np.maximum, rest, offsets, -1.0) >= CLOSE * confidence
    doubt = np.where(is_close, TOO_CLOSE, NOT_SURE)
    reason[unsure] = np.where(none >= np.maximum(confidence, others), NONE_FITS, doubt)[unsure]
    in_kb = 1 - none
    if no_person is not None:
        reason[no_person & ~empty] = NOT_A_PERSON
        confidence, in_kb = np.where(no_person, 0.0, confidence), np.where(no_person, 0.0, in_kb)
    return Decision(confidence, in_kb, reason)
