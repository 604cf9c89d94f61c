"""Firms and places with a person's name: of given names, as the slow finder decides it for those in raw text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.kernels.names.firms import all_firms
from namesake.language import English
from namesake.names.tables import tables
from oracle_tokens import HARD, SOFT, Tokeniser

pytestmark = pytest.mark.kernel


def verdict(text: str, spans: list[tuple[int, int]]) -> bool:
    """Of one mention with its spans, in characters."""
    data = np.frombuffer(text.encode() + b"\0", np.uint8)
    ends = [[len(text[:end].encode()) for end in span] for span in spans]
    offsets, indptr = np.array([0, len(data) - 1], np.int64), np.array([0, len(spans)], np.int64)
    pairs = np.array(ends, np.int32).reshape(-1, 2)
    found = all_firms(data, offsets, np.zeros(1, np.int64), indptr, pairs, tables(English))
    return bool(found[0])


def slow_verdict(text: str, spans: list[tuple[int, int]]) -> bool:
    full = [(start, end) for start, end in spans if " " in text[start:end]]
    return bool(full) and all(is_firm(text, start, end) for start, end in full)


def is_firm(text: str, start: int, end: int) -> bool:
    """Whether a word behind a name makes it a firm's or a place's, with up to two before it such as "High"."""
    tokens = Tokeniser(text).run()
    behind = [token for token in tokens if token.start >= end][:3]
    if any(token.start < end < token.end for token in tokens):
        return False
    for size, last in enumerate(behind, 1):
        if last.text in English.not_a_person:
            between = all(token.text in English.before_not_a_person for token in behind[: size - 1])
            joined = behind[0].gap != HARD and all(token.gap == SOFT for token in behind[1:size])
            return between and joined and (not "A" <= text[start] <= "Z" or all(t.capital for t in behind[:size]))
    return False


def occurrences(text: str, *names: str) -> list[tuple[int, int]]:
    return [(i, i + len(name)) for name in names for i in range(len(text)) if text.startswith(name, i)]


WORDS = ["Ann Lee", "ann lee", "Lee", "Stadium", "stadium", "Inc.", "said", "High", "School", "é", "L.L.C.", "Jr."]
GAPS = [" "] * 12 + [", ", ". ", "-", "\n", "\n\n", "'s ", "  ", "", "’s ", "é", "2"]
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=10)
texts = texts.map(lambda pairs: "".join(word + gap for word, gap in pairs))


@given(texts)
def test_a_name_is_nobodys_if_a_firm_s_word_follows_it_throughout(text):
    for names in (["Ann Lee", "Lee"], ["ann lee"]):
        spans = occurrences(text, *names)
        assert verdict(text, spans) == slow_verdict(text, spans)


@pytest.mark.parametrize(
    ("text", "name", "firm"),
    [
        ("at the Ann Lee Stadium", "Ann Lee", True),
        ("at the Ann Lee stadium", "Ann Lee", False),
        ("at the ann lee stadium", "ann lee", True),
        ("Ann Lee High School", "Ann Lee", True),
        ("Ann Lee Performing Arts Center", "Ann Lee", True),
        ("Ann Lee High said", "Ann Lee", False),
        ("Ann Lee, Inc.", "Ann Lee", True),
        ("Ann Lee. Inc.", "Ann Lee", False),
        ("Ann Lee's School", "Ann Lee", False),
        ("Ann Leeds Stadium", "Ann Lee", False),
        ("Lee Stadium", "Lee", False),
        ("Ann Lee Stadium, where Ann Lee sang", "Ann Lee", False),
        ("Ann Lee", "Ann Lee", False),
    ],
)
def test_what_a_reader_takes_for_a_firm(text: str, name: str, firm: bool) -> None:
    assert verdict(text, occurrences(text, name)) is firm


def test_no_mention_is_no_firm() -> None:
    assert not verdict("", [])
