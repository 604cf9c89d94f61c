"""The uses of the words of names, against dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_expected as oracle
from namesake.kernels.hash import slot_of
from namesake.kernels.names.expected import count_words
from oracle_tokens import marked
from test_tokens import cut_all, token_key

pytestmark = pytest.mark.kernel

WORDS = ["Ann", "ann", "Baker", "baker", "1999", "the", "The", "O'Neil", "."]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
USES = st.dictionaries(
    st.sampled_from(["ann", "baker", "oneil", "the"]), st.builds(oracle.Uses, *[st.integers(0, 3)] * 2)
)


@given(st.lists(TEXT, max_size=4), USES, st.data())
def test_counts_are_those_of_dictionaries(texts, uses, data):
    found = cut_all(texts)
    keys = np.zeros(16, np.uint64)
    columns = [np.zeros(16, np.int32) for _ in range(2)]
    for word, counts in uses.items():
        at = slot_of(keys, np.uint64(token_key(word)))
        keys[at] = token_key(word)
        for column, count in zip(columns, counts, strict=True):
            column[at] = count
    spans, wanted = [], []
    for number, text in enumerate(texts):
        tokens, base = marked(text), int(found.indptr[number])
        for _ in range(data.draw(st.integers(0, 3)) if tokens else 0):
            first = data.draw(st.integers(0, len(tokens) - 1))
            end = data.draw(st.integers(first + 1, len(tokens)))
            spans.append((base + first, base + end))
            wanted.append(oracle.word_counts(tokens, first, end, uses))
    first, end = (np.array([span[side] for span in spans], np.int64) for side in (0, 1))
    counts = count_words(found.hashes, first, end, keys, *columns)
    assert list(zip(*(column.tolist() for column in counts), strict=True)) == wanted
