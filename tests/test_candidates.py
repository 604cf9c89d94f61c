"""Candidates: exact bearers first, then variants, each with its quality."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_names as oracle
from few_people import SmallKB
from namesake.kb.columns.column_files import Strings
from namesake.kb.names.index import NameIndex, romans
from namesake.kernels.names import sounds as kernels
from namesake.language import English
from namesake.names.candidates import candidates, variant_candidates

pytestmark = pytest.mark.kernel

FIRST = ["William", "Bill", "Will", "W.", "Mohammed", "Muhammad", "Volodymyr", "J", "John", "Jack", "J. K.", "Юрий"]
MIDDLE = ["", "", "H.", "Henry", "Jefferson", "J."]
LAST = ["Gates", "Gaits", "Zelensky", "Zelenskyy", "Li", "Lee", "Mueller", "Müller", "Smith", "Smyth", "Гагарин"]
people = st.tuples(*(st.sampled_from(part) for part in (FIRST, MIDDLE, LAST))).map(lambda parts: " ".join(parts))


def index_of(labels: list[str], fame: float) -> NameIndex:
    return SmallKB({label: (fame, []) for label in labels}).names


def found(labels: list[str], name: str, variants: str, fame: float = 0) -> dict[str, float]:
    index, asked = index_of(labels, fame), Strings.of([name])
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
        ("Thomas Mueller", "Thomas Müller", 0.95),
        ("Thomas Müller", "Thomas Mueller", 0.95),
        ("Mohammed Ali", "Muhammad Ali", 0.85),
        ("Ahmed Ali", "Ahmad Ali", 0.8),
        ("Boris Pasternak", "Борис Пастернак", 0.56),
        ("Dr. William Gates", "Bill Gates", 0.85),
        ("Frank Anthony Wilczek", "Frank Wilczek", 0.9),
        ('James D. "Jim" Farley, Jr.', "Jim Farley", 0.765),
        ('Earvin "Magic" Jones', "Magic Jones", 0.6),
        ("Obama Barack", "Barack Obama", 0.9),
    ],
)
def test_variants_are_found_when_wanted(name: str, label: str, quality: float) -> None:
    assert found([label], name, "always") == {label: quality}
    assert found([label], name, "missing") == {label: quality}
    assert found([label], name, "never") == {}


@pytest.mark.parametrize(
    ("name", "label", "quality"),
    [
        ("Barack Obma", "Barack Obama", 0.6),
        ("Barack Obdama", "Barack Obama", 0.6),
        ("Barack Odama", "Barack Obama", 0.6),
        ("Barack Oabma", "Barack Obama", 0.6),
        ("Barrack Hussein Obama", "Barack Obama", 0.72),  # sounds alike
        ("Batack H. Obama", "Barack Hussein Obama", 0.6),
        ("Batack Hussein Obama", "Barack Obama", 0.54),
        ("President Barack Obma", "Barack Obama", 0.6),
        ("Юрий Гагаирн", "Юрий Гагарин", 0.6),
        ("Юрий Гагирин", "Юрий Гагарин", 0.6),
        ("Юрий Ггарин", "Юрий Гагарин", 0.6),
    ],
)
def test_misspellings_of_well_known_names_are_found(name: str, label: str, quality: float) -> None:
    assert found([label], name, "missing", 12) == {label: quality}
    assert found([label], name, "never", 12) == {}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Barack Bama", "Barack Obama"),
        ("Barack Ombaa", "Barack Obama"),
        ("Batack Odama", "Barack Obama"),
        ("Odama Barack", "Barack Obama"),
        ("Elon Muks", "Elon Musk"),
        ("Batack J. Obama", "Barack Hussein Obama"),
    ],
)
def test_two_letters_a_first_letter_and_short_words_are_no_misspellings(name: str, label: str) -> None:
    assert found([label], name, "always", 12) == {}


def test_a_usual_name_is_no_misspelling() -> None:
    others = [f"{first} Kelty" for first in ("Ann", "Bob", "Carl", "Dora")]
    assert found(["John Kelly", *others[1:]], "John Kelty", "missing", 12) == {"John Kelly": 0.6}
    assert found(["John Kelly", *others], "John Kelty", "missing", 12) == {}


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


@st.composite
def changed(draw: st.DrawFn, name: str) -> str:
    """A name with a letter dropped, added, replaced or exchanged with the next one, or with its words reordered."""
    at, letter = draw(st.integers(0, len(name))), draw(st.sampled_from("aeouг "))
    rest, words = name[at:], name.split()
    tails = rest[1:], letter + rest, letter + rest[1:], rest[1:2] + rest[:1] + rest[2:], rest
    return draw(st.sampled_from([*(name[:at] + tail for tail in tails), " ".join(words[::-1]), f"Eve {name}"]))


@given(st.data(), st.lists(people, max_size=6, unique=True), st.sampled_from([0, 12]))
def test_variants_are_those_of_a_comparison_with_every_name(data: st.DataObject, labels: list[str], fame: int) -> None:
    names = data.draw(st.lists((st.sampled_from(labels) if labels else st.just("")) | people | st.just(""), max_size=3))
    names = [data.draw(changed(name)) for name in names]
    index, asked = index_of(labels, fame), Strings.of(names)
    indptr, rows, quality = candidates(index, asked.data, asked.offsets, variants="always")
    for place, name in enumerate(names):
        here = slice(indptr[place], indptr[place + 1])
        assert dict(zip(rows[here].tolist(), quality[here].tolist(), strict=True)) == pytest.approx(
            oracle.variants(labels, name, fame > 0)
        )
        assert (np.diff(quality[here]) <= 0).all()


def test_each_entity_is_found_once_per_query() -> None:
    index = index_of(["Barack Obama", "Barack Hussein Obama"], 12)
    query, rows, quality = variant_candidates(index, Strings.of(["barack ombaa", "", "barack odama", "batack obama"]))
    assert list(zip(query.tolist(), rows.tolist(), quality.round(2).tolist(), strict=True)) == [
        (2, 0, 0.6),
        (2, 1, 0.54),
        (3, 0, 0.6),
        (3, 1, 0.54),
    ]


@given(st.text("abcdefghijklmnopqrstuvwxyzабвгжяюьé", max_size=12))
def test_sounds(token: str) -> None:
    out = np.empty(kernels.MOST_LETTERS, np.uint8)
    data = np.frombuffer(token.encode(), np.uint8)
    size = kernels.sound(data, 0, len(data), romans(English), out, out[:0])
    assert out[:size].tobytes() == oracle.sound(token)
