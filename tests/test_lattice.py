"""Hypotheses, mentions, candidates and the best set of spans: the kernels against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import oracle_choose
import oracle_gather
import oracle_lattice as oracle
from namesake.kb.columns.column_files import Strings
from namesake.kernels.hash import ZERO, extend, table_of
from namesake.kernels.names import choose, gather, lattice
from namesake.kernels.names import tokens as t
from namesake.kernels.names.phrases import FAME_AT, PHRASE, SHORT_AT, enter
from namesake.language import English
from namesake.names.tables import tables
from test_tokens import token_key

pytestmark = pytest.mark.kernel

WORDS = ["New", "York", "Times", "The", "of", "London", "Bank", "England", "american", "Football", "1984", "in", "US"]
WORDS += ["U.S.", "AT", "T", "People", "Republic", "al", "Qaeda", "Ann", "van", "der", "Dijk", "Mr.", "Jr.", "iPhone"]
WORDS += ["President", "Stadium", "s", "and", "And"]
GAPS = [*[" "] * 9, ", ", ". ", "-", "\n\n", "&", " & ", "'s ", "’s ", "'S ", " – "]
TEXT = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=14).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)
TEXT = TEXT | TEXT.map(str.lower) | TEXT.map(str.upper)
RUN = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
RUNS = st.lists(RUN, max_size=8)


def cut(texts: list[str]) -> lattice.Texts:
    """The tokens of texts."""
    column = Strings.of(texts)
    return lattice.cut_texts(column.data, column.offsets, np.zeros(len(texts), np.int64), tables(English))


def names_of(texts: list[str]) -> frozenset[oracle.Name]:
    """The tokens of names."""
    return frozenset(tuple(token.text for token in oracle.Page(text).tokens) for text in texts) - {()}


def index(known: oracle.Known) -> tuple[np.ndarray, ...]:
    """The table of phrases, the bits of the beginnings of names, and common words."""
    keys, packed, bits = [], [], np.zeros(1 << 14, np.uint8)
    for number, run in enumerate(sorted(known.names | known.shorts | known.others), 1):
        key = ZERO
        for size, token in enumerate(run, 1):
            key = extend(key, np.uint64(token_key(token)))
            if size > 1:
                bit = int(key) & (8 * len(bits) - 1)
                bits[bit >> 3] |= np.uint8(1 << (bit & 7))
        keys.append(key)
        is_name, is_short, is_other = (run in some for some in (known.names, known.shorts, known.others))
        packed.append(number * is_name | number * is_short << int(SHORT_AT) | 7 * is_other << int(FAME_AT))
    phrases = np.zeros(PHRASE * 256, np.uint64)
    assert enter(np.array(keys, np.uint64), np.array(packed, np.uint64), np.uint64(2**64 - 1), 200, phrases)
    common, _ = table_of(np.array([token_key(word) for word in sorted(known.common)], np.uint64))
    return phrases, bits, common


def spans_in(found: lattice.Hypotheses, tokens: lattice.Texts, text: int) -> list[tuple[int, int]]:
    """First token and end of the hypotheses of a text, counted in the text."""
    some, base = slice(*found.indptr[text : text + 2]), int(tokens.indptr[text])
    return [(int(first) - base, int(end) - base) for first, end in zip(found.first[some], found.end[some], strict=True)]


@given(st.lists(TEXT, max_size=3), RUNS, RUNS, RUNS, st.just(["bank", "england"]))
@example(["AT&T of the People's Republic"], ["AT T", "People Republic"], [], [], [])
@example(["PEOPLE'S REPUBLIC"], ["People Republic"], [], [], [])
@example(["The New York Times, in New York"], ["New York"], [], ["New York Times"], [])
@example(["In New York. The US won"], ["In New", "New York", "US"], ["York"], [], [])
@example(["al Qaeda in london"], ["al Qaeda", "Qaeda"], ["london"], [], ["london"])
@example(["the bank of england, london"], ["Bank", "Bank of England", "London"], ["England"], [], ["bank", "england"])
@example(["1984 Football and York, England"], ["1984 Football", "York", "Football and York"], ["Football"], [], [])
@example(["Ann van der Dijk saw van der Dijk. Ann Dijk"], [], ["van der Dijk", "Dijk", "Ann Dijk"], [], [])
def test_hypotheses_are_those_of_plain_python(texts, names, shorts, others, common):
    known = oracle.Known(*map(names_of, (names, shorts, others)), frozenset(common))
    tokens = cut(texts)
    found = lattice.list_hypotheses(tokens, *index(known))
    every = lattice.add_unknown(tokens, found)
    for number, text in enumerate(texts):
        page = oracle.Page(text)
        assert spans_in(found, tokens, number) == page.hypotheses(known)
        assert spans_in(every, tokens, number) == sorted([*page.hypotheses(known), *page.unknown(known)])
    assert every.known[every.known > 0].tolist() == found.known.tolist()
    assert every.key[every.known > 0].tolist() == found.key.tolist()


def test_a_text_has_any_number_of_hypotheses():
    known = oracle.Known(names_of(["London", "York", "London York"]))
    text = "London, York, " * 400
    tokens = cut([text, text])
    found = lattice.list_hypotheses(tokens, *index(known))
    assert found.indptr.tolist() == [0, 800, 1600]
    tokens = cut(["Ann Lee, " * 400])
    found = lattice.list_hypotheses(tokens, *index(oracle.Known(frozenset())))
    assert lattice.add_unknown(tokens, found).indptr.tolist() == [0, 400]


@given(st.lists(st.lists(st.integers(1, 40), max_size=30), max_size=4))
def test_mentions_are_numbered_by_text_and_name(keys):
    offsets = np.cumsum([0, *map(len, keys)]).astype(np.int64)
    flat = np.array([key for some in keys for key in some], np.uint64)
    texts, end = cut(["Ann. " * len(some) for some in keys]), np.arange(1, len(flat) + 1)
    found = gather.group_hypotheses(texts, lattice.Hypotheses(offsets, end - 1, end, flat, flat))
    mention, of_text = oracle_gather.number(keys)
    assert found.indptr.tolist() == of_text
    assert found.order.tolist() == sorted(range(len(flat)), key=lambda place: mention[place])
    assert found.spans.tolist() == np.cumsum([0, *np.bincount(mention, minlength=of_text[-1])]).tolist()
    assert not (found.is_other | found.is_said).any()


# candidates
FAME = [0.0, 0.0, 0.3, 1.0, 1.0, 5.0, 9.0, 80.0, *range(100, 130)]
OWN = len(FAME) - 3
"""The first row of own entities."""
ROWS = st.integers(0, len(FAME) - 1)
NAMED = st.dictionaries(ROWS, st.integers(0, 3), min_size=1, max_size=30).map(lambda some: sorted(some.items()))
SHORT = st.dictionaries(ROWS, st.integers(0, 21), min_size=1, max_size=9).map(lambda some: sorted(some.items()))
VARIANTS = st.dictionaries(ROWS, st.sampled_from([0.5, 0.7, 0.95]), max_size=4).map(lambda some: sorted(some.items()))
MENTION = st.builds(
    oracle_gather.Mention,
    st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple),
    st.none() | NAMED,
    st.just([]) | SHORT,
    VARIANTS,
)


@given(st.lists(st.lists(MENTION, max_size=8), max_size=3), st.booleans())
@example([[oracle_gather.Mention((1, 2), [(0, 0), (1, 0)]), oracle_gather.Mention((2,))]], False)
def test_candidates_are_those_of_plain_python(texts, is_lower):
    mentions = [mention for text in texts for mention in text]
    names = [mention.named for mention in mentions if mention.named is not None]
    shorts = [mention.short for mention in mentions if mention.short]

    def ragged(lists: list[list[tuple[int, float]]], kind: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        flat = [entry for some in lists for entry in some]
        ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
        return ends, np.array([row for row, _ in flat], np.int32), np.array([of for _, of in flat], kind)

    known = np.zeros(len(mentions), np.uint64)
    name = short = 0
    for m, mention in enumerate(mentions):
        name, short = name + (mention.named is not None), short + bool(mention.short)
        known[m] = name * (mention.named is not None) | short * bool(mention.short) << int(SHORT_AT)
    tokens = np.array([token for mention in mentions for token in mention.tokens], np.uint64)
    places, none, number = np.arange(len(tokens), dtype=np.int32), np.zeros(len(tokens), np.uint8), len(mentions)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    ends = np.cumsum([0, *(len(mention.tokens) for mention in mentions)]).astype(np.int64)
    found = gather.gather_candidates(
        lattice.Texts(
            *(ends[offsets], np.full(len(texts), t.LOWER if is_lower else t.CASED, np.uint8), tokens, places),
            *(places + 1, none, none.astype(np.uint32), none, none),
        ),
        lattice.Hypotheses(offsets, ends[:-1], ends[1:], known, known),
        gather.Mentions(offsets, np.arange(number + 1), np.arange(number), known > 0, known > 1),
        gather.Index(*ragged(names, np.int8), *ragged(shorts, np.int8), np.array(FAME, np.float32), OWN),
        gather.Variants(*ragged([mention.variants for mention in mentions], np.float64)),
    )
    least = gather.LEAST_IN_LOWER_CASE if is_lower else 0.0
    wanted = [some for text in texts for some in oracle_gather.candidates(text, np.float32(FAME).tolist(), OWN, least)]
    kept = np.array(list(map(bool, wanted)), np.bool_)
    assert found.indptr.tolist() == [int(kept[:end].sum()) for end in offsets]
    assert np.diff(found.offsets).tolist() == [len(some) for some in wanted if some]
    flat = [candidate for some in wanted for candidate in some]
    namesakes = np.array([len(mention.named or []) for mention in mentions], np.int64)
    listed = np.array([len([*(m.named or []), *m.short, *m.variants]) for m in mentions], np.int64)
    assert found.namesakes.tolist() == namesakes[kept].tolist()
    assert found.listed.tolist() == listed[kept].tolist()
    columns = found.rows, found.forms, found.quality, found.in_text
    assert [column.tolist() for column in columns] == [[one[k] for one in flat] for k in range(4)]
    assert found.span_indptr.tolist() == list(range(kept.sum() + 1))
    assert [found.first.tolist(), found.end.tolist()] == found.byte_spans.T.tolist()
    assert [found.first.tolist(), found.end.tolist()] == [ends[:-1][kept].tolist(), ends[1:][kept].tolist()]
    assert found.known.tolist() == known[kept].tolist()
    assert [found.is_other.tolist(), found.is_said.tolist()] == [(known > one)[kept].tolist() for one in (0, 1)]


# the best set
@given(st.lists(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4), st.integers(-4, 9)), max_size=9), max_size=3))
def test_the_best_set_has_the_largest_sum(drawn):
    texts, scores = [], []
    for text in drawn:
        ordered = sorted(text, key=lambda one: (one[0] + one[1], one[0]))
        texts.append([(first, first + size) for first, size, _ in ordered])
        scores.append([float(score) for _, _, score in ordered])
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    first, end = (
        np.array([20 * k + span[side] for k, text in enumerate(texts) for span in text], np.int64) for side in (0, 1)
    )
    chosen = choose.choose(ends, first, end, np.array([score for some in scores for score in some], np.float64))
    for spans, some, (low, high) in zip(texts, scores, pairwise(ends), strict=True):
        here = np.flatnonzero(chosen[low:high]).tolist()
        assert sum(some[k] for k in here) == oracle_choose.best_sum(spans, some)
        assert all(spans[one][1] <= spans[other][0] for one, other in pairwise(here))
        assert all(some[k] > 0 for k in here)
