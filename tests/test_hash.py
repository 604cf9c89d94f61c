"""The hash and the table, against plain integers and a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.kernels.compiled import kernel
from namesake.kernels.hash import (
    AS_IT_IS,
    LOWERED,
    add_byte,
    extend,
    find,
    find_next,
    find_stamped,
    finish,
    hash_ahead,
    hash_bytes,
    hash_each,
    home,
    probe,
    room_for,
    same_bytes,
    slot_of,
)
from namesake.kernels.simd import pointer

pytestmark = pytest.mark.kernel

ALL = (1 << 64) - 1
text = st.binary(max_size=40)


def plain_mix(x: int) -> int:
    low, high = (x & 0xFFFFFFFF) * 0x9E3779B1, (x >> 32) * 0x85EBCA77
    x = low ^ (high << 32 & ALL) ^ (high >> 32)
    return x ^ (x >> 32)


def plain_hash(data: bytes) -> int:
    """The hash by its definition: groups of eight bytes, then the rest with the length in its highest byte."""
    whole = len(data) // 8 * 8
    hashed = 0
    for at in range(0, whole, 8):
        hashed = plain_mix(hashed ^ int.from_bytes(data[at : at + 8], "little"))
    rest = int.from_bytes(data[whole:], "little") ^ (len(data) & 0xFF) << 56
    return plain_mix(hashed ^ rest) or 1


def plain_extend(sequence: int, one: int) -> int:
    return plain_mix((sequence << 25 & ALL | sequence >> 39) ^ one) or 1


@kernel("uint64(uint8[::1], int64, int64, uint64)")
def ahead(data, start, end, bits):
    return hash_ahead(pointer(data), start, end, bits)


@kernel("uint64(uint8[::1])")
def byte_by_byte(data):
    hashed, rest, length = np.uint64(0), np.uint64(0), np.int64(0)
    for one in data:
        hashed, rest, length = add_byte(hashed, rest, length, np.uint64(one))
    return finish(hashed, rest, length)


@kernel("boolean(uint8[::1], int64, uint8[::1], int64, int64)")
def same(one, at, other, place, size):
    return same_bytes(pointer(one), at, pointer(other), place, size)


@kernel("uint64(uint64[::1])")
def hash_sequence(parts):
    sequence = np.uint64(0)
    for one in parts:
        sequence = extend(sequence, one)
    return sequence


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(bytearray(data), np.uint8)


@given(text, text, text)
def test_every_variant_hashes_the_same(before: bytes, data: bytes, after: bytes) -> None:
    start, end = len(before), len(before) + len(data)
    expected = plain_hash(data)
    assert hash_bytes(array(before + data + after), start, end) == expected
    assert hash_bytes(array(before + data), start, end) == expected
    assert ahead(array(before + data + after + bytes(8)), start, end, AS_IT_IS) == expected
    assert byte_by_byte(array(data)) == expected


@given(st.from_regex(r"\A[A-Za-z0-9]*\Z"), text)
def test_capitals_may_be_lowered_on_the_way(word: str, after: bytes) -> None:
    data = array(word.encode() + after + bytes(8))
    assert ahead(data, 0, len(word), LOWERED) == plain_hash(word.lower().encode())


@given(st.lists(text, max_size=6))
def test_a_column_is_hashed_string_by_string(strings: list[bytes]) -> None:
    offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
    assert hash_each(array(b"".join(strings)), offsets).tolist() == [plain_hash(one) for one in strings]


def test_texts_that_differ_in_little_have_hashes_of_their_own() -> None:
    short = [bytes([a, b]) for a in range(256) for b in range(256)]
    padded = [bytes(size) for size in range(200)] + [b"a" * size for size in range(1, 200)]
    strings = list({*short, *padded, *(f"name {number}".encode() for number in range(50_000))})
    offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
    hashes = hash_each(array(b"".join(strings)), offsets)
    assert len(np.unique(hashes)) == len(strings)
    taken = np.bincount((hashes & np.uint64(0xFF)).astype(np.int64), minlength=256)
    assert taken.min() > 0.8 * taken.mean()  # the lowest bits, which choose the slot, are spread
    assert taken.max() < 1.2 * taken.mean()


@given(st.lists(st.integers(0, ALL), max_size=5))
def test_a_sequence_is_hashed_in_its_order(parts: list[int]) -> None:
    expected = 0
    for one in parts:
        expected = plain_extend(expected, one)
    assert hash_sequence(np.array(parts, np.uint64)) == expected


@given(st.lists(text, unique=True, min_size=2, max_size=4))
def test_the_order_of_a_sequence_counts(tokens: list[bytes]) -> None:
    parts = np.array([plain_hash(token) for token in tokens], np.uint64)
    assert hash_sequence(parts) != hash_sequence(parts[::-1].copy())


@given(text, text, text, st.booleans())
def test_bytes_are_compared(before: bytes, data: bytes, other: bytes, equal: bool) -> None:
    other = data if equal else other[: len(data)].ljust(len(data))
    assert same(array(before + data), len(before), array(other), 0, len(data)) == (data == other)


# tables
@kernel("int64[::1](uint64[::1], uint64[::1], int64[::1])")
def count_each(asked, keys, counts):
    """How often each was asked before, by its hash or, if it is small, by the number itself."""
    before = np.empty(len(asked), np.int64)
    mask = len(keys) - 1
    for i in range(len(asked)):
        small = asked[i] < np.uint64(100)
        slot = (
            probe(pointer(keys), mask, asked[i], home(asked[i], mask)) if small else find(pointer(keys), mask, asked[i])
        )
        before[i] = counts[slot]
        keys[slot] = asked[i]
        counts[slot] += 1
    return before


@given(st.lists(st.integers(1, 99) | st.integers(100, 104).map(lambda n: n << 20) | st.integers(100, ALL), max_size=30))
def test_a_table_is_a_dictionary(asked: list[int]) -> None:
    room = room_for(len(set(asked)))
    assert room & (room - 1) == 0
    assert room >= 2 * len(set(asked))
    keys, counts = np.zeros(room, np.uint64), np.zeros(room, np.int64)
    before = count_each(np.array(asked, np.uint64), keys, counts)
    assert before.tolist() == [asked[:i].count(one) for i, one in enumerate(asked)]
    for one in asked:
        assert one < 100 or counts[slot_of(keys, np.uint64(one))] == asked.count(one)


@kernel("int64[::1](uint64[::1], uint64)")
def slots_with(keys, key):
    """All slots of one hash, and the free one behind them."""
    mask, found = len(keys) - 1, []
    slot = find(pointer(keys), mask, key)
    found.append(slot)
    while keys[slot] != np.uint64(0):
        slot = find_next(pointer(keys), mask, key, slot)
        found.append(slot)
    return np.array(found)


def test_equal_hashes_may_be_told_apart() -> None:
    keys = np.array([7, 0, 0, 0, 0, 0, 15, 7], np.uint64)  # 7 begins at slot 7, and goes on at the front
    assert slots_with(keys, np.uint64(7)).tolist() == [7, 0, 1]
    assert slots_with(keys, np.uint64(15)).tolist() == [1]
    assert slots_with(keys, np.uint64(6)).tolist() == [1]
    assert slots_with(keys, np.uint64(2)).tolist() == [2]


@kernel("int64(uint64[::1], uint64, uint64)")
def put_stamped(entries, key, stamp):
    """Add a key; whether it is new."""
    mask = len(entries) - 1
    slot = find_stamped(pointer(entries), mask, key, stamp)
    new = entries[slot] >> np.uint64(32) < stamp
    entries[slot] = stamp << np.uint64(32) | key
    return new


@given(st.lists(st.lists(st.integers(0, 20) | st.integers(0, (1 << 32) - 1), max_size=8), max_size=5))
def test_a_stamped_table_is_emptied_by_the_next_stamp(rounds: list[list[int]]) -> None:
    entries = np.zeros(16, np.uint64)
    for stamp, keys in enumerate(rounds, 1):
        new = [put_stamped(entries, np.uint64(key), np.uint64(stamp)) for key in keys]
        assert new == [key not in keys[:i] for i, key in enumerate(keys)]
