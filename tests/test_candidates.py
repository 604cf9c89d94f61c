"""Candidates: exact bearers first, then variants, each with its quality."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_names as oracle
from namesake.kb.columns.column_files import Strings
from namesake.kb.names.index import romans
from namesake.kernels.names import similar as kernels
from namesake.language import English
from namesake.names.candidates import candidates
from test_names import index_of

pytestmark = pytest.mark.kernel

FIRST = ["William", "Bill", "Will", "W.", "Mohammed", "Muhammad", "Volodymyr", "J", "John", "Jack", "J. K.", "Юрий"]
MIDDLE = ["", "", "H.", "Henry", "Jefferson", "J."]
LAST = ["Gates", "Gaits", "Zelensky", "Zelenskyy", "Li", "Lee", "Mueller", "Müller", "Smith", "Smyth", "Гагарин"]
people = st.tuples(*(st.sampled_from(part) for part in (FIRST, MIDDLE, LAST))).map(lambda parts: " ".join(parts))


def found(labels: list[str], name: str, variants: str) -> dict[str, float]:
    index, asked = index_of(labels, [[] for _ in labels]), Strings.of([name])
    _, rows, quality = candidates(index, asked.data, asked.offsets, variants=variants)
    return {labels[row]: round(float(one), 3) for row, one in zip(rows, quality, strict=True)}


@pytest.mark.parametrize(
    ("name", "label", "quality"),
    [
        ("William Gates", "Bill Gates", 0.85),
        ("Bill Gates", "Will Gates", 0.85),
        ("J. Smith", "John Smith", 0.7),
        ("John Smith", "J. Smith", 0.7),
        ("John F. Kennedy", "John Kennedy", 0.9),
        ("John Kennedy", "John Fitzgerald Kennedy", 0.9),
        ("John F. Kennedy", "John Fitzgerald Kennedy", 1.0),
        ("Volodymyr Zelensky", "Volodymyr Zelenskyy", 0.7),
        ("Thomas Mueller", "Thomas Müller", 0.7),
        ("Mohammed Ali", "Muhammad Ali", 0.85),
        ("Ahmed Ali", "Ahmad Ali", 0.8),
        ("Boris Pasternak", "Борис Пастернак", 0.56),
        ("Dr. William Gates", "Bill Gates", 0.85),
    ],
)
def test_variants_are_found_when_wanted(name: str, label: str, quality: float) -> None:
    assert found([label], name, "always") == {label: quality}
    assert found([label], name, "missing") == {label: quality}
    assert found([label], name, "never") == {}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("John Smith", "Mary Smith"),
        ("John Smith", "John Smithers"),
        ("John A. Smith", "John B. Smith"),
        ("George Walker Bush", "George Herbert Bush"),
        ("Li Na", "Lee Na"),
        ("Smith", "John Smith"),
    ],
)
def test_other_people_are_no_variants(name: str, label: str) -> None:
    assert found([label], name, "always") == {}


def test_exact_bearers_come_first_and_keep_variants_out_if_wished() -> None:
    labels = ["John Smith", "J. Smith", "Jack Smith"]
    assert list(found(labels, "J. Smith", "always").items()) == [
        ("J. Smith", 1.0),
        ("John Smith", 0.7),
        ("Jack Smith", 0.7),
    ]
    assert found(labels, "J. Smith", "missing") == {"J. Smith": 1.0}


@given(st.lists(people, max_size=6), st.lists(people | st.just(""), max_size=3))
def test_variants_are_those_of_a_comparison_with_every_name(labels: list[str], names: list[str]) -> None:
    index, asked = index_of(labels, [[] for _ in labels]), Strings.of(names)
    indptr, rows, quality = candidates(index, asked.data, asked.offsets, variants="always")
    for place, name in enumerate(names):
        here = slice(indptr[place], indptr[place + 1])
        assert dict(zip(rows[here].tolist(), quality[here].tolist(), strict=True)) == pytest.approx(
            oracle.variants(labels, name)
        )
        assert (np.diff(quality[here]) <= 0).all()


@given(st.text("abcdefghijklmnopqrstuvwxyzабвгжяюьé", max_size=12))
def test_sounds(token: str) -> None:
    out = np.empty(kernels.MOST_LETTERS, np.uint8)
    data = np.frombuffer(token.encode(), np.uint8)
    size = kernels.sound(data, 0, len(data), romans(English), out)
    assert out[:size].tobytes() == oracle.sound(token)
