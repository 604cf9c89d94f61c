"""Hypotheses, mentions and the best set of spans, against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_lattice as oracle
from namesake.arrays import text_buffers
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.names import choose, gather, lattice
from namesake.kernels.names.phrases import PHRASE, SHORT_AT, enter
from namesake.language import English
from namesake.names.tables import tables

WORDS = [
    "New",
    "York",
    "Times",
    "The",
    "of",
    "London",
    "Bank",
    "England",
    "american",
    "Football",
    "1984",
    "in",
    "Paris",
]
TEXT = st.lists(st.sampled_from([*WORDS, ",", ".", "\n\n"]), max_size=14).map(" ".join)
RUN = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)

pytestmark = pytest.mark.kernel


def cut(texts: list[str]) -> lattice.Texts:
    """The tokens of texts."""
    data, offsets = text_buffers(pa.array(texts, pa.large_string()))
    return lattice.cut_texts(data, offsets, np.zeros(len(texts), np.int64), tables(English))


def tokens_of(name: str) -> tuple[int, ...]:
    """The hashes of a name's tokens."""
    return tuple(int(one) for one in cut([name]).hashes)


def index(names: set[tuple[int, ...]], shorts: set[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """The table of phrases, and all bits of prefixes set but those of no name."""
    runs = sorted(names | shorts)
    keys = []
    bits = np.zeros(1 << 14, np.uint8)
    for run in runs:
        key = ZERO
        for size, one in enumerate(run, 1):
            key = extend(key, np.uint64(one))
            if size > 1:
                bit = int(key) & (8 * len(bits) - 1)
                bits[bit >> 3] |= np.uint8(1 << (bit & 7))
        keys.append(key)
    packed = [
        np.uint64(number if run in names else 0) | (np.uint64(number if run in shorts else 0) << SHORT_AT)
        for number, run in enumerate(runs, 1)
    ]
    phrases = np.zeros(PHRASE * 256, np.uint64)
    assert enter(np.array(keys, np.uint64), np.array(packed, np.uint64), np.uint64(2**64 - 1), 200, phrases)
    return phrases, bits


@settings(deadline=None)
@given(st.lists(TEXT, max_size=3), st.lists(RUN, max_size=8), st.lists(RUN, max_size=4))
def test_hypotheses_are_those_of_plain_python(texts, names, shorts):
    known, short = ({tokens_of(one) for one in some} - {()} for some in (names, shorts))
    tokens = cut(texts)
    found = lattice.list_hypotheses(tokens, *index(known, short))
    for text in range(len(texts)):
        low, high = found.indptr[text : text + 2]
        pairs = list(zip(found.first[low:high].tolist(), found.end[low:high].tolist(), strict=True))
        assert pairs == oracle.hypotheses(tokens, text, known, short)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 40), max_size=30), max_size=4))
def test_mentions_are_numbered_by_text_and_name(keys):
    offsets = np.cumsum([0, *map(len, keys)]).astype(np.int64)
    flat = np.array([key for some in keys for key in some], np.uint64)
    mention, texts = gather.number_mentions(offsets, flat)
    assert (mention.tolist(), texts.tolist()) == oracle.mentions(offsets, flat)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4), st.integers(-4, 9)), max_size=9))
def test_the_best_set_has_the_largest_sum(drawn):
    spans = sorted(((first, first + size) for first, size, _ in drawn), key=lambda span: (span[1], span[0]))
    scores = [float(score) for _, _, score in drawn]
    ends = np.array([0, len(spans)], np.int64)
    first, end = (np.array([span[side] for span in spans], np.int64) for side in (0, 1))
    chosen = np.flatnonzero(choose.choose(ends, first, end, np.array(scores))).tolist()
    assert sum(scores[k] for k in chosen) == oracle.best_sum(spans, scores)
    assert all(spans[one][1] <= spans[other][0] for one, other in pairwise(chosen))
    assert all(scores[k] > 0 for k in chosen)
