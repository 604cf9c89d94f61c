"""Seeded mutation of bytes and lines: small accidents, and tokens that parsers trip over."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

TOKENS = (
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b"\\", b'"', b"'", b"{", b"}", b"["),
    *(b"]", b",", b":", b"null", b"true", b"NaN", b"-0", b"1e999", b"9" * 40, b"-9223372036854775809", b"0x10"),
    *(b"4294967296", b"Q0", b"Q99999999999999999999", b"P31", b"\t", b"\r", b" ", b"[/red]", b"\x1b[2J", b"<script>"),
)


def mutate(data: bytes, rng: random.Random, most: int = 4) -> bytes:
    """The data after one to `most` accidents."""
    for _ in range(rng.randint(1, most)):
        data = rng.choice(ACCIDENTS)(data, rng)
    return data


def mutants(seeds: list[bytes], rng: random.Random, count: int) -> Iterator[bytes]:
    """So many mutants of the seeds."""
    for _ in range(count):
        yield mutate(rng.choice(seeds), rng)


def one_line(data: bytes) -> bytes:
    """The data without line ends: one line stays one line."""
    return data.replace(b"\n", b" ").replace(b"\r", b" ")


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _flip(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _delete(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at + rng.choice((1, 1, 1, 2, 8, 64)) :]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start = _place(data, rng)
    end = start + rng.choice((1, 4, 16, 64))
    return data[:end] + data[start:end] * rng.choice((1, 1, 2, 50)) + data[end:]


def _swap(data: bytes, rng: random.Random) -> bytes:
    first, second, third = sorted(_place(data, rng) for _ in range(3))
    return data[:first] + data[second:third] + data[first:second] + data[third:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


ACCIDENTS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip,
    _flip,
    _delete,
    _insert,
    _insert,
    _repeat,
    _swap,
    _cut,
)
