"""Decisions against the definition of the softmax, mention by mention."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.decide import ANSWERED, NO_CANDIDATES, NONE_FITS, NOT_A_PERSON, NOT_SURE, TOO_CLOSE, decide, probabilities
from namesake.recipe import Decide, DoubtPart

MENTIONS = st.lists(st.lists(st.floats(-30, 800), max_size=4), max_size=4)


def flat(mentions):
    offsets = np.cumsum([0, *map(len, mentions)]).astype(np.int64)
    return np.array([s for m in mentions for s in m], np.float64), offsets


def nobody(rule, offsets, doubts=None):
    """The score of "none of them" of each mention."""
    return rule.nil_score(doubts or {}, offsets)


@given(MENTIONS, st.floats(-3, 3), st.floats(-3, 3))
def test_doubts_take_the_place_of_the_constants(mentions, one, other):
    offsets = flat(mentions)[1]
    rule = Decide(9.0, 8.0, parts=(DoubtPart("OtherEntityFame", one, "log1p"), DoubtPart("ArticleLength", other)))
    things = np.array([len(scores) * 1.5 for scores in mentions])
    lengths = np.array([sum(scores[:1]) % 3 for scores in mentions])
    both = nobody(rule, offsets, {"OtherEntityFame": things, "ArticleLength": lengths})
    assert both == pytest.approx([one * math.log1p(t) + other * n for t, n in zip(things, lengths, strict=True)])
    assert nobody(rule, offsets, {"ArticleLength": lengths}) == pytest.approx(
        other * lengths
    )  # the other one is absent
    assert nobody(rule, offsets).tolist() == [8.0 if len(scores) == 1 else 9.0 for scores in mentions]


@given(MENTIONS, st.floats(-10, 20), st.none() | st.floats(-10, 20))
def test_probabilities_are_the_softmax_with_nobody_in_it(mentions, many, alone):
    total, offsets = flat(mentions)
    probability, none = probabilities(total, offsets, nobody(Decide(many, alone), offsets))
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
    rule = Decide(nil, threshold=threshold)
    decision = decide(total, nobody(rule, offsets), offsets, first, rule, np.zeros(len(first), bool))
    probability, none = probabilities(total, offsets, nobody(rule, offsets))
    for m, scores in enumerate(mentions):
        if not scores:
            assert decision.reason[m] == NO_CANDIDATES
            assert decision.confidence[m] == 0
        else:
            assert decision.confidence[m] == probability[first[m]]
            assert decision.probability_known[m] == pytest.approx(1 - none[m])
            assert (decision.reason[m] == ANSWERED) == (probability[first[m]] >= threshold)


def test_below_a_threshold_it_is_close_only_where_a_runner_up_is():
    """A single candidate, or one far ahead, is not too close to anybody: it is not sure enough."""
    total, offsets = flat([[9.0], [1.0], [], [6.0, 5.5], [9.0, 6.0], [7.0, 4.0, *[5.0] * 9]])
    rule, first = Decide(nil=5.0, threshold=0.999), np.array([0, 1, -1, 2, 4, 6])
    decision = decide(total, nobody(rule, offsets), offsets, first, rule, np.zeros(6, bool))
    assert decision.reason.tolist() == [NOT_SURE, NONE_FITS, NO_CANDIDATES, TOO_CLOSE, NOT_SURE, NOT_SURE]


def test_reasons_tell_a_stranger_from_a_dead_heat():
    total, offsets = flat([[0.0, 0.0], [9.0, 9.0], [9.0, 0.0]])
    first = np.array([0, 2, 4])
    people = np.zeros(3, bool)
    rule = Decide(nil=5.0, threshold=0.6)
    decision = decide(total, nobody(rule, offsets), offsets, first, rule, people)
    assert decision.reason.tolist() == [NONE_FITS, TOO_CLOSE, ANSWERED]
    firms = decide(total, nobody(rule, offsets), offsets, first, rule, ~people)
    assert firms.reason.tolist() == [NOT_A_PERSON] * 3
    assert firms.confidence.tolist() == [0.0] * 3
    always = decide(total, None, offsets, first, None, people)
    assert always.reason.tolist() == [ANSWERED] * 3
    assert np.isnan(always.confidence).all()
