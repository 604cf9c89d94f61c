"""Decisions against the definition of the softmax, mention by mention."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.decide import ANSWERED, NO_CANDIDATES, NONE_FITS, NOT_A_PERSON, TOO_CLOSE, decide, probabilities
from namesake.recipe import Decide

MENTIONS = st.lists(st.lists(st.floats(-30, 800), max_size=4), max_size=4)


def flat(mentions):
    offsets = np.cumsum([0, *map(len, mentions)]).astype(np.int64)
    return np.array([s for m in mentions for s in m], np.float64), offsets


@given(MENTIONS, st.floats(-10, 20), st.none() | st.floats(-10, 20))
def test_probabilities_are_the_softmax_with_nobody_in_it(mentions, many, alone):
    total, offsets = flat(mentions)
    probability, none = probabilities(total, offsets, Decide(many, alone))
    for m, scores in enumerate(mentions):
        nil = alone if len(scores) == 1 and alone is not None else many
        top = max([nil, *scores])
        weights = [math.exp(s - top) for s in [*scores, nil]]
        want = [w / sum(weights) for w in weights]
        assert [*probability[offsets[m] : offsets[m + 1]], none[m]] == pytest.approx(want)


@given(MENTIONS, st.floats(-10, 20), st.floats(0, 1))
def test_answers_are_those_at_or_above_the_threshold(mentions, nil, threshold):
    total, offsets = flat(mentions)
    first = np.array([offsets[m] + int(np.argmax(s)) if s else -1 for m, s in enumerate(mentions)], np.int64)
    decision = decide(total, offsets, first, Decide(nil, threshold=threshold), np.zeros(len(first), bool))
    probability, none = probabilities(total, offsets, Decide(nil))
    for m, scores in enumerate(mentions):
        if not scores:
            assert decision.reason[m] == NO_CANDIDATES
            assert decision.confidence[m] == 0
        else:
            assert decision.confidence[m] == probability[first[m]]
            assert decision.known[m] == pytest.approx(1 - none[m])
            assert (decision.reason[m] == ANSWERED) == (probability[first[m]] >= threshold)


def test_a_likely_candidate_below_a_high_threshold_is_close_not_unfit():
    total, offsets = flat([[9.0], [1.0], [6.0, 5.5]])
    decision = decide(total, offsets, np.array([0, 1, 2]), Decide(nil=5.0, threshold=0.999), np.zeros(3, bool))
    assert decision.reason.tolist() == [TOO_CLOSE, NONE_FITS, TOO_CLOSE]


def test_reasons_tell_a_stranger_from_a_dead_heat():
    total, offsets = flat([[0.0, 0.0], [9.0, 9.0], [9.0, 0.0]])
    first = np.array([0, 2, 4])
    people = np.zeros(3, bool)
    decision = decide(total, offsets, first, Decide(nil=5.0, threshold=0.6), people)
    assert decision.reason.tolist() == [NONE_FITS, TOO_CLOSE, ANSWERED]
    firms = decide(total, offsets, first, Decide(nil=5.0, threshold=0.6), ~people)
    assert firms.reason.tolist() == [NOT_A_PERSON] * 3
    assert firms.confidence.tolist() == [0.0] * 3
    always = decide(total, offsets, first, None, people)
    assert always.reason.tolist() == [ANSWERED] * 3
    assert np.isnan(always.confidence).all()
