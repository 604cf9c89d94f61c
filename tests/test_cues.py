"""Firms and places with a person's name, against Python's own string methods."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.kernels.cues import all_followed, word_hash

pytestmark = pytest.mark.kernel
CUES = ("stadium", "inc", "university")


def verdict(text: str, spans: list[tuple[int, int]]) -> bool:
    data = np.frombuffer(text.encode() + b"\0", np.uint8)
    with np.errstate(over="ignore"):
        raw = [np.frombuffer(cue.encode(), np.uint8) for cue in CUES]
        cues = np.sort(np.array([word_hash(cue, 0, len(cue)) for cue in raw], np.uint64))
        found = all_followed(
            data, np.array([0, len(text.encode())], np.int64), np.zeros(1, np.int64),
            np.array([0, len(spans)], np.int64), np.array(spans, np.int32).reshape(-1, 2), cues,
        )  # fmt: skip
    return bool(found[0])


def occurrences(text: str, name: str) -> list[tuple[int, int]]:
    return [(i, i + len(name)) for i in range(len(text)) if text.startswith(name, i)]


@given(
    st.lists(
        st.sampled_from(["Ann Lee", "Lee", "Stadium", "stadium", "inc", "Inc.", "said", "at", "University"]), max_size=8
    )
)
def test_a_name_is_nobodys_if_a_cue_follows_it_throughout(words):
    text = " ".join(words)
    got = verdict(text, occurrences(text, "Ann Lee") + occurrences(text, "Lee"))
    behind = [words[i + 1] if i + 1 < len(words) else "" for i, word in enumerate(words) if word == "Ann Lee"]
    want = bool(behind) and all(w.rstrip(".").lower() in CUES and w[0].isupper() for w in behind)
    assert got == want


def test_lower_case_names_take_lower_case_cues():
    assert verdict("the ann lee stadium", [(4, 11)])
    assert not verdict("the Ann Lee stadium", [(4, 11)])
    assert not verdict("", [])
