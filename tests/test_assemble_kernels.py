"""The builder's kernels against Python's own sets, dicts and sorting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.kb.columns.assemble import distinct_keys
from namesake.kb.columns.column_files import Strings
from namesake.kb.dump.wikipedia import _hashes
from namesake.kernels.columns import bitmap
from namesake.kernels.columns import group as assemble
from namesake.kernels.types import Ragged

pytestmark = pytest.mark.kernel
numbers = st.lists(st.integers(0, 300), max_size=40)
rows_of_words = st.lists(st.frozensets(st.integers(0, 20), max_size=5), max_size=6)


def empty_set(limit: int = 301) -> np.ndarray:
    return np.zeros(limit // 64 + 1, np.uint64)


def ragged(rows: list[frozenset[int]]) -> Ragged:
    indptr = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    return Ragged(indptr, np.array([word for row in rows for word in sorted(row)], np.int32))


@settings(deadline=None)
@given(added=numbers, asked=st.lists(st.integers(-5, 500), max_size=40))
def test_a_bitmap_is_a_sorted_set(added: list[int], asked: list[int]) -> None:
    bits = empty_set()
    bitmap.add_all(bits, np.array(added, np.int64))
    before = bitmap.count_before(bits)
    expected = sorted(set(added))
    assert before[-1] == len(expected)
    assert bitmap.members(bits).tolist() == expected
    places = bitmap.find(bits, before, np.array(asked, np.int64))
    assert places.tolist() == [expected.index(number) if number in expected else -1 for number in asked]


@settings(deadline=None)
@given(added=st.lists(st.integers(-50, 300), max_size=40))
def test_negative_numbers_stay_out_of_a_bitmap(added: list[int]) -> None:
    bits = empty_set()
    bitmap.add_all(bits, np.array(added, np.int64))
    members = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
    assert members.tolist() == sorted({number for number in added if number >= 0})


@settings(deadline=None)
@given(texts=st.lists(st.text("abä", max_size=3), max_size=40))
def test_distinct_strings_are_numbered_as_they_come(texts: list[str]) -> None:
    column = Strings.of(texts)
    ids = np.empty(len(texts), np.int32)
    first = assemble.distinct_strings(column.offsets, column.data.copy(), ids)
    distinct = list(dict.fromkeys(texts))
    assert [texts[row] for row in first] == distinct
    assert ids.tolist() == [distinct.index(text) for text in texts]


def test_the_table_of_distinct_strings_grows() -> None:
    texts = [f"text {number}" for number in range(5000)] * 2
    ids = np.empty(len(texts), np.int32)
    column = Strings.of(texts)
    assert assemble.distinct_strings(column.offsets, column.data, ids).tolist() == list(range(5000))
    assert ids.tolist() == [*range(5000), *range(5000)]


@settings(deadline=None)
@given(keys=st.lists(st.integers(1, 2**63 - 1) | st.integers(1, 9), max_size=60))
def test_distinct_keys_are_numbered_as_they_come(keys: list[int]) -> None:
    ids = np.empty(len(keys), np.int32)
    distinct = distinct_keys(np.array(keys, np.uint64), ids)
    expected = list(dict.fromkeys(keys))
    assert distinct.tolist() == expected
    assert ids.tolist() == [expected.index(key) for key in keys]


def test_the_table_of_distinct_keys_grows() -> None:
    keys = np.concatenate([np.arange(1, 5001), np.arange(1, 5001)]).astype(np.int64) * 1024
    ids = np.empty(len(keys), np.int32)
    assert distinct_keys(keys.astype(np.uint64), ids).tolist() == keys[:5000].tolist()
    assert ids.tolist() == [*range(5000), *range(5000)]


@settings(deadline=None)
@given(links=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=40))
def test_groups_hold_each_member_once_in_order(links: list[tuple[int, int]]) -> None:
    group, member = np.array(links, np.int32).reshape(-1, 2).T.copy()
    values = np.empty(len(links), np.int32)
    indptr = assemble.group_unique(group, member, 6, values)
    got = [values[indptr[g] : indptr[g + 1]].tolist() for g in range(6)]
    assert got == [sorted({m for g2, m in links if g2 == g}) for g in range(6)]


@settings(deadline=None)
@given(own=rows_of_words, items=rows_of_words, strings=rows_of_words, data=st.data())
def test_union_of_words_is_a_union_of_sets(
    own: list[frozenset[int]], items: list[frozenset[int]], strings: list[frozenset[int]], data: st.DataObject
) -> None:
    values = [*range(len(items)), *(~row for row in range(len(strings)))]
    chosen = st.frozensets(st.integers(0, len(values) - 1), max_size=6) if values else st.just(frozenset())
    stated = [data.draw(chosen) for _ in own]
    args = (ragged(own), ragged(stated), np.array(values, np.int32), ragged(items), ragged(strings))
    counted = assemble.union_words(*args, np.full(21, -1, np.int32), np.empty(0, np.int32))
    out = np.empty(int(counted[-1]), np.int32)
    indptr = assemble.union_words(*args, np.full(21, -1, np.int32), out)
    assert indptr.tolist() == counted.tolist()
    for row, words in enumerate(own):
        expected = set(words).union(*((items + strings)[pair] for pair in stated[row]))
        assert out[indptr[row] : indptr[row + 1]].tolist() == sorted(expected)


@settings(deadline=None)
@given(titles=st.lists(st.text("ab _é", min_size=1, max_size=4), min_size=1, max_size=20))
def test_titles_hash_alike_when_only_underscores_differ(titles: list[str]) -> None:
    hashes = _hashes(titles).tolist()
    plain = [title.replace("_", " ") for title in titles]
    for i, one in enumerate(plain):
        assert [hashes[i] == other for other in hashes] == [one == other for other in plain]
