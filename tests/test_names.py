"""The name index: spelling folded as people expect, and found again as a dictionary would."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_names as oracle
from namesake.kb.columns import large
from namesake.kb.columns.column_files import Columns, Ragged, Strings
from namesake.kb.columns.declaration import Made
from namesake.kb.names import index as names
from namesake.kb.names.build_index import EntityNames, build_names, table_of_names
from namesake.kb.names.index import NameIndex
from namesake.kb.names.normalise import normalise, normalise_many
from namesake.kernels.names import index as kernels
from namesake.kernels.names.constants import ALIAS, BARE_ALIAS, BARE_LABEL, LABEL
from namesake.language import English

pytestmark = pytest.mark.kernel

WORDS = ["Dr.", "Sir", "vice", "President", "John", "J.", "K.", "Smith", "smith", "Gaël", "Ph.D.", "Jr.", "III", "Li"]
WORDS += [", 2nd Earl of", "Queen", '"Bill"', "(politician)", "O'Neil", "of", "мир", "李", "Jean-Luc"]
spelled = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
wild = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.text("aÀßŁé'’.- \u0301İǆ½äКй王", max_size=12)


class InMemory(Columns):
    """Columns that were never written."""

    def __init__(self, made: Made) -> None:
        self.arrays = {name: array for column, value in made.items() for name, array in column.arrays(value).items()}

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        return self.arrays[name]


def column_of_lists(lists: list[list[str]]) -> tuple[Ragged, Strings]:
    """Ragged rows and the texts they point to, in an order of their own: last list first."""
    texts = [text for one in reversed(lists) for text in one]
    ends = np.cumsum([0] + [len(one) for one in lists])
    rows = [len(texts) - end + i for one, end in zip(lists, ends[1:], strict=True) for i in range(len(one))]
    return Ragged(ends.astype(np.int64), np.array(rows, np.int32)), Strings.of(texts)


def index_of(labels: list[str], aliases: list[list[str]]) -> NameIndex:
    spelled = EntityNames.of(English, Strings.of(labels), *column_of_lists(aliases))
    return NameIndex(InMemory(build_names(spelled)), English)


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("Barack Obama", "barack obama"),
        ("  BARACK   obama ", "barack obama"),
        ("J.K. Rowling", "jk rowling"),
        ("J. K. Rowling", "jk rowling"),
        ("JK Rowling", "jk rowling"),
        ("George H. W. Bush", "george hw bush"),
        ("Jean-Luc Godard", "jean luc godard"),
        ("Conan O’Brien", "conan obrien"),
        ("Conan O'Brien", "conan obrien"),
        ("Gaël Clichy", "gael clichy"),
        ("Gae\u0308l Clichy", "gael clichy"),
        ("Søren Kierkegaard", "soren kierkegaard"),
        ("Lech Wałęsa", "lech walesa"),
        ("Ngô Đình Diệm", "ngo dinh diem"),
        ("Franz Josef Strauß", "franz josef strauss"),
        ("Ægir Jónsson", "aegir jonsson"),
        ("İlkay Gündoğan", "ilkay gundogan"),
        ("Андрей Рублёв", "андрей рублев"),
        ("А. С. Пушкин", "ас пушкин"),
        ("Ὅμηρος", "ομηροσ"),
        ("王 明", "王 明"),
        ("村上春樹", "村上春樹"),
        ("नरेन्द्र मोदी", "नरेन्द्र मोदी"),
        ("ジョン・レノン", "ジョン レノン"),
        ("50 Cent", "50 cent"),
        ("…", ""),
        ("", ""),
    ],
)
def test_spelling_is_folded(name: str, folded: str) -> None:
    assert normalise(name) == folded
    assert normalise_many(Strings.of([name]))[0] == folded


@given(st.lists(wild | spelled, max_size=5))
def test_the_compiled_normaliser_agrees_with_python(texts: list[str]) -> None:
    column = normalise_many(Strings.of(texts))
    assert [column[row] for row in range(len(column))] == [normalise(text) for text in texts]


@given(wild | spelled)
def test_a_normalised_name_stays_as_it_is_but_for_initials(text: str) -> None:
    once = normalise(text)
    assert once == " ".join(once.split())
    assert once.replace(" ", "") == normalise(once).replace(" ", "")


@given(st.lists(st.tuples(spelled, st.lists(spelled | wild, max_size=2)), max_size=6), spelled)
def test_look_ups_are_those_of_a_dictionary(entities: list[tuple[str, list[str]]], query: str) -> None:
    labels, aliases = [label for label, _ in entities], [others for _, others in entities]
    index, known = index_of(labels, aliases), oracle.index(labels, aliases)
    assert len(index) == len(known)
    assert sorted(index.texts[name] for name in range(len(index))) == sorted(known)
    queries = [query, *labels, *(text for others in aliases for text in others)]
    column = Strings.of(queries)
    indptr, rows, kinds = index.lookup_many(column.data, column.offsets)
    for place, text in enumerate(queries):
        here = slice(indptr[place], indptr[place + 1])
        assert list(zip(rows[here].tolist(), kinds[here].tolist(), strict=True)) == oracle.lookup(known, text)


@given(st.lists(spelled, max_size=6))
def test_every_beginning_of_a_name_has_its_bit(labels: list[str]) -> None:
    index = index_of(labels, [[] for _ in labels])
    bits = np.unpackbits(index.prefixes, bitorder="little")
    for name in oracle.index(labels, [[] for _ in labels]):
        for prefix in oracle.prefixes(name):
            data = np.frombuffer(prefix.encode(), np.uint8)
            assert bits[int(kernels.name_hash(data, 0, len(data))) % len(bits)]


def test_equal_hashes_are_told_apart_by_their_text() -> None:
    texts, asked = Strings.of(["bee", "ann", "cat"]), Strings.of(["ann"])
    key = kernels.name_hash(asked.data, 0, 3)
    keys, slots = np.zeros(4, np.uint64), np.full(4, kernels.NOBODY, np.int32)
    place = [(int(key) + i) % 4 for i in range(4)]
    keys[place[:2]], slots[place[:2]] = key, [0, 2]  # as if all these names had one hash
    found = np.empty(1, np.int32)
    table = kernels.Names(keys, slots, texts.offsets, texts.data)
    kernels.find_names(asked.data, asked.offsets, names.affixes(English), table, found)
    assert found.tolist() == [kernels.NOBODY]
    keys[place[2]], slots[place[2]] = key, 1
    kernels.find_names(asked.data, asked.offsets, names.affixes(English), table, found)
    assert found.tolist() == [1]


def test_titles_suffixes_and_brackets() -> None:
    index = index_of(
        ["Sir Elton John", "Robert Downey Jr.", "Dr. Dre", "Grace Park (actress)", 'William "Bill" Gates III'],
        [["Reginald Dwight"], [], [], [], []],
    )

    def found(name: str) -> list[tuple[int, int]]:
        rows, kinds = index.lookup(name)
        return list(zip(rows.tolist(), kinds.tolist(), strict=True))

    assert found("Sir Elton John") == [(0, LABEL)]
    assert found("Elton John") == [(0, BARE_LABEL)]
    assert found("President Elton John") == [(0, BARE_LABEL)]
    assert found("Lt. Gov. Reginald Dwight, Ph.D.") == [(0, ALIAS)]
    assert found("Robert Downey") == [(1, BARE_LABEL)]
    assert found("Dr Dre") == [(2, LABEL)]
    assert found("Dre") == []
    assert found("Grace Park") == [(3, BARE_LABEL)]
    assert found("Bill Gates") == [(4, BARE_LABEL)]
    assert found("William Gates") == [(4, BARE_LABEL)]
    assert BARE_ALIAS not in index.kinds


def test_a_title_before_a_connector_is_part_of_the_name() -> None:
    index = index_of(["Queen of England"], [[]])
    assert index.lookup("Queen of England")[0].tolist() == [0]
    assert index.lookup("of England")[0].tolist() == []


def test_a_kb_without_names_finds_nobody() -> None:
    index = index_of([], [])
    assert len(index) == 0
    assert len(index.lookup("John Smith")[0]) == 0
    assert len(index_of(["", "!"], [[""], []])) == 0


def test_a_name_of_very_many_tokens_is_found() -> None:
    long = " ".join(f"w{i}" for i in range(kernels.MOST_TOKENS + 10))
    index = index_of([long, f"{long} end"], [[], []])
    assert index.lookup(long)[0].tolist() == [0]
    assert index.lookup(f"{long} end")[0].tolist() == [1]


def test_the_index_opens_from_files(tmp_path: Path) -> None:
    made = InMemory(
        build_names(EntityNames.of(English, Strings.of(["Ada Lovelace"]), *column_of_lists([["Ada Byron"]])))
    )
    for name, array in made.arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    rows, kinds = NameIndex(Columns(tmp_path), English).lookup("ADA BYRON")
    assert (rows.tolist(), kinds.tolist()) == ([0], [ALIAS])


@given(
    slots=st.lists(st.sampled_from([0, 1, 31, 32, 90, 126, 127]) | st.integers(0, 127), max_size=96),
    block=st.sampled_from([16, 64, 256]),
)
def test_a_table_filled_one_range_after_the_other_is_the_same(slots: list[int], block: int) -> None:
    """Names run over from one range into the next, and from the last into the first."""
    hashes = np.array([(row + 1) << 7 | slot for row, slot in enumerate(slots)], np.uint64)
    expected = {}
    for row, slot in enumerate(slots):
        free = next(place % 128 for place in range(slot, 256) if place % 128 not in expected)
        expected[free] = row
    with TemporaryDirectory() as folder, large.Room(block=block, folder=Path(folder)).used():
        keys, names_of = table_of_names(hashes, 128)
    assert {place: row for place, row in enumerate(names_of.tolist()) if row >= 0} == expected
    assert keys.tolist() == [int(hashes[expected[place]]) if place in expected else 0 for place in range(128)]
