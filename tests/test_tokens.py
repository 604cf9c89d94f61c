"""The tokens of raw text: places, hashes, gaps, capitals, starts of sentences, against loops over characters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import oracle_tokens as oracle
from namesake.kb.columns.column_files import Strings
from namesake.kernels.hash import hash_bytes
from namesake.kernels.names import tokens as t
from namesake.kernels.names.cut import cut
from namesake.kernels.names.lattice import Texts, cut_texts
from namesake.kernels.names.tokens import room_for_tokens
from namesake.language import English
from namesake.names.tables import tables

pytestmark = pytest.mark.kernel

WORDS = ["Ann", "bob", "J", "R", "a", "I", "Mr", "Jr", "St", "McDONALD", "iPhone", "x1", "3", "2016", "d'Estaing"]
WORDS += ["internationalisation", "A" * 70, "O'Neil", "Bob's", "don't", "É", "Zoë", "naïve", "l’été", "l’Est", "Kim’s"]
SIGNS = ["'s ", "``", "''", "--", ',"', ",”", "<b>", "</p>", *"“”—…•‘‑<&'’\""]
GAPS = [*[" "] * 9, "  ", "\n", "\n\n", "\t", ". ", ", ", ": ", "; ", "! ", ") ", *".-?*|(/王"]
TEXT = st.lists(st.sampled_from([*WORDS, *SIGNS, *GAPS]), max_size=120).map("".join)


JOINTS = ("&", " & ", "'s ", "’s ", "'S ", "’S ")
"""What names reach across."""


def token_key(word: str) -> int:
    """The hash of a normalised token."""
    data = np.frombuffer(word.encode(), np.uint8)
    return int(hash_bytes(data, 0, len(data)))


def cut_into(text: str, most: int, behind: str) -> list[tuple[int, ...]]:
    """The tokens of a text by the kernel: place, hash, gap and bits. `behind` is the text that follows in memory."""
    column, tokens = Strings.of([text, behind]), room_for_tokens(most)
    count = cut(column.data, 0, column.offsets[1], tables(English), tokens, 0, most)
    columns = tokens.starts, tokens.ends, tokens.hashes, tokens.gaps, tokens.bits
    return [tuple(map(int, row)) for row in zip(*(column[:count] for column in columns), strict=True)]


def cut_all(texts: list[str], heads: list[int] | None = None) -> Texts:
    """The tokens of texts; `heads` are the bytes of their titles."""
    column = Strings.of(texts)
    return cut_texts(column.data, column.offsets, np.array(heads or [0] * len(texts), np.int64), tables(English))


@given(TEXT, st.integers(1, 40))
def test_a_text_is_cut_as_loops_over_characters_cut_it(text: str, most: int) -> None:
    starts = np.cumsum([0, *(len(character.encode()) for character in text)])
    wanted = [
        (
            *(starts[token.start], starts[token.end], token_key(token.text), token.gap),
            token.capital | 2 * token.initials | 4 * token.upper | 8 * token.dotted | 16 * token.number,
        )
        for token in oracle.Tokeniser(text).run()
    ]
    found = cut_into(text, len(text) + 2, 20 * "Zz 'zz")
    assert [(*token[:4], token[4] & 31) for token in found] == wanted
    assert cut_into(text, len(text) + 2, "") == found
    assert cut_into(text, most, "")[: most - 1] == found[: most - 1]


@given(st.lists(TEXT, max_size=3))
@example(["“Yes,” he said. He left", "l’Est U.S. Mr. Bob"])
@example(["Bob's\nAnn", "Bob’s\tAnn", "A &\tB"])
def test_texts_are_cut_one_by_one(texts: list[str]) -> None:
    """Gaps, marks, classes of words, lines and the style of several texts."""
    found = cut_all(texts)
    for number, text in enumerate(texts):
        some = slice(*found.indptr[number : number + 2])
        tokens = oracle.marked(text)
        assert found.gaps[some].tolist() == [token.gap for token in tokens]
        assert [bool(mark & t.HAS_CAPITAL) for mark in found.marks[some]] == [token.has_capital for token in tokens]
        assert [bool(mark & t.AT_START) for mark in found.marks[some]] == [token.at_start for token in tokens]
        assert [bool(mark & t.AFTER_HYPHEN) for mark in found.marks[some]] == [token.after_hyphen for token in tokens]
        assert [bool(one & t.FUNCTION) for one in found.classes[some]] == [
            token.text in English.function_words for token in tokens
        ]
        lines = [text[: token.start].count("\n") for token in tokens]
        assert [bool(mark & t.STARTS_LINE) for mark in found.marks[some]] == [
            place == 0 or line > lines[place - 1] for place, line in enumerate(lines)
        ]
        assert [bool(mark & t.IS_JOINED) for mark in found.marks[some]] == [
            place > 0 and text[tokens[place - 1].end : token.start] in JOINTS for place, token in enumerate(tokens)
        ]
        assert found.styles[number] == oracle.style_of(tokens)


def test_a_class_of_words_has_a_bit_of_its_own() -> None:
    words = {
        t.HONORIFIC: "mr",
        t.FUNCTION: "the",
        t.FIRM: "inc",
        t.PARTICLE: "van",
        t.IN_PLACE: "near",
        t.DATE: "monday",
        t.OTHER: "other",
    }
    found = cut_all([" ".join(words.values())])
    for bit, one in zip(words, found.classes, strict=True):
        assert one & bit
        assert all(not one & other for other in words if other not in (bit, t.FUNCTION))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Barack Obama met him.", t.CASED),
        ("barack obama met him.", t.LOWER),
        ("BARACK OBAMA MET HIM", t.ALL_CAPITALS),
        ("", t.CASED),
        ("1999 2000", t.CASED),
    ],
)
def test_capitals_decide_how_a_text_is_read(text: str, wanted: int) -> None:
    assert cut_all([text]).styles.tolist() == [wanted]


def test_a_title_does_not_decide_the_style() -> None:
    title, text = "BARACK OBAMA MET HIM", "barack obama met him"
    assert cut_all([f"{title}\n\n{text}"], [len(title) + 2]).styles.tolist() == [t.LOWER]
    assert cut_all([f"{title}\n\n"], [len(title) + 2]).styles.tolist() == [t.ALL_CAPITALS]
