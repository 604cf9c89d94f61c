"""Firms and places with a person's name, against Python's own string methods."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.kernels.link.cues import all_followed, word_hash

pytestmark = pytest.mark.kernel
CUES = ("stadium", "inc", "university")
BEFORE = ("state", "national")


def verdict(text: str, spans: list[tuple[int, int]]) -> bool:
    data = np.frombuffer(text.encode() + b"\0", np.uint8)
    with np.errstate(over="ignore"):
        cues, before = (
            np.sort(np.array([word_hash(np.frombuffer(w.encode(), np.uint8), 0, len(w)) for w in words], np.uint64))
            for words in (CUES, BEFORE)
        )
        found = all_followed(
            data, np.array([0, len(text.encode())], np.int64), np.zeros(1, np.int64),
            np.array([0, len(spans)], np.int64), np.array(spans, np.int32).reshape(-1, 2), cues, before,
        )  # fmt: skip
    return bool(found[0])


def occurrences(text: str, name: str) -> list[tuple[int, int]]:
    return [(i, i + len(name)) for i in range(len(text)) if text.startswith(name, i)]


@given(
    st.lists(
        st.sampled_from(["Ann Lee", "Lee", "Stadium", "stadium", "Inc.", "said", "State", "National", "state"]),
        max_size=8,
    )
)
def test_a_name_is_nobodys_if_a_cue_follows_it_throughout(words):
    text = " ".join(words)
    got = verdict(text, occurrences(text, "Ann Lee") + occurrences(text, "Lee"))
    behind = [" ".join(words[i + 1 : i + 4]) for i, word in enumerate(words) if word == "Ann Lee"]
    want = bool(behind) and all(re.match(r"((State|National) ){0,2}(Stadium|Inc)\b", after) for after in behind)
    assert got == want


def test_lower_case_names_take_lower_case_cues():
    assert verdict("the ann lee stadium", [(4, 11)])
    assert not verdict("the Ann Lee stadium", [(4, 11)])
    assert not verdict("", [])
