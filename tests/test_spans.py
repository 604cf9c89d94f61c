"""Span conversions against Python's own str and bytes."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.kernels.text.spans import BAD, characters_to_bytes, is_space, tokens_to_characters

TEXTS = st.lists(
    st.text(st.sampled_from("ab \t\n\x0b\x1c\x85\xa0\u2003\u3000é—😀") | st.characters(codec="utf-8"), max_size=30),
    max_size=4,
)


def packed(texts: list[str], spans: list[tuple[int, int]]):
    """Texts in Arrow's layout, each with all of `spans`."""
    raw = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, raw)]).astype(np.int64)
    indptr = (np.arange(len(texts) + 1) * len(spans)).astype(np.int64)
    array = np.array(spans * len(texts), np.int32).reshape(-1, 2)
    return np.frombuffer(b"".join(raw) or b"\0", np.uint8).copy(), offsets, indptr, array


SPANS = st.lists(st.tuples(st.integers(-2, 12), st.integers(-2, 12)), max_size=5)


@pytest.mark.kernel
def test_is_space_is_what_split_splits_at():
    assert [p for p in range(0x11000) if is_space(p)] == [p for p in range(0x11000) if len(f"a{chr(p)}b".split()) == 2]


@pytest.mark.kernel
@given(TEXTS, SPANS)
def test_token_spans_become_character_spans(texts, spans):
    got = tokens_to_characters(*packed(texts, spans)).tolist()
    want = []
    for text in texts:
        places = [m.span() for m in re.finditer(r"\S+", text)]
        assert [text[a:b] for a, b in places] == text.split()
        for a, b in spans:
            want.append([places[a][0], places[b - 1][1]] if 0 <= a < b <= len(places) else [BAD, BAD])
    assert got == want


@pytest.mark.kernel
def test_character_spans_of_long_texts():
    """Longer than the blocks in which characters are counted."""
    text = "naïve — " * 50
    spans = [(a, a + 7) for a in range(0, 390, 13)]
    got = characters_to_bytes(*packed([text, "x" * 300, text], spans)).tolist()
    ascii_spans = [[a, b] if b <= 300 else [BAD, BAD] for a, b in spans]
    wide = [[len(text[:a].encode()), len(text[:b].encode())] for a, b in spans]
    assert got == [*wide, *ascii_spans, *wide]


@pytest.mark.kernel
@given(TEXTS, SPANS)
def test_character_spans_become_byte_spans(texts, spans):
    got = characters_to_bytes(*packed(texts, spans)).tolist()
    want = [
        [len(text[:a].encode()), len(text[:b].encode())] if 0 <= a < b <= len(text) else [BAD, BAD]
        for text in texts
        for a, b in spans
    ]
    assert got == want


# Pieces of several bytes, so that texts pass the 64 bytes that kernels look at together.
PIECES = [
    "word",
    "a",
    " ",
    "  ",
    "\t",
    "\x0b",
    "\x1c",
    "\x1f",
    "\x08",
    "\x0e",
    "\x1b",
    "\0",
    "é",
    "\u2003",
    "x" * 70,
    " " * 64,
]
LONG_TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), min_size=1, max_size=3)


@pytest.mark.kernel
@given(LONG_TEXTS, st.integers(1, 3))
def test_token_spans_of_long_texts(texts, length):
    spans = [(at, at + length) for at in range(40)]
    got = tokens_to_characters(*packed(texts, spans)).tolist()
    want = []
    for text in texts:
        places = [m.span() for m in re.finditer(r"\S+", text)]
        want += [[places[a][0], places[b - 1][1]] if b <= len(places) else [BAD, BAD] for a, b in spans]
    assert got == want


@pytest.mark.kernel
@given(LONG_TEXTS, st.lists(st.tuples(st.integers(0, 200), st.integers(1, 90)), max_size=5))
def test_byte_spans_of_long_texts(texts, places):
    spans = [(start, start + size) for start, size in places]
    got = characters_to_bytes(*packed(texts, spans)).tolist()
    want = [
        [len(text[:a].encode()), len(text[:b].encode())] if b <= len(text) else [BAD, BAD]
        for text in texts
        for a, b in spans
    ]
    assert got == want
