"""Ways to damage one file of a KB."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
SEED = 7


def _largest(array: Array) -> Any:
    return np.finfo(array.dtype).max if array.dtype.kind == "f" else np.iinfo(array.dtype).max


def huge(array: Array, rng: np.random.Generator) -> Array:
    """Every third value far out of range."""
    changed = array.copy()
    changed[::3] = True if array.dtype.kind == "b" else _largest(array) // 2
    return changed


def largest(array: Array, rng: np.random.Generator) -> Array:
    """Every second value the largest there is: one more is the smallest."""
    changed = array.copy()
    changed[::2] = True if array.dtype.kind == "b" else np.inf if array.dtype.kind == "f" else _largest(array)
    return changed


def negative(array: Array, rng: np.random.Generator) -> Array:
    """Every value below zero; of unsigned ones, their complement."""
    return ~array if array.dtype.kind in "ub" else (-array - 7).astype(array.dtype)


def next_door(array: Array, rng: np.random.Generator) -> Array:
    """The last value one more than it should be: the smallest step out of range."""
    changed = array.copy()
    changed[-1:] += np.ones(1, array.dtype)[0]
    return changed


def noise(array: Array, rng: np.random.Generator) -> Array:
    """Random bits."""
    return np.frombuffer(rng.bytes(array.nbytes), np.uint8 if array.dtype.kind == "b" else array.dtype).copy()


def small_noise(array: Array, rng: np.random.Generator) -> Array:
    """Random values up to a million: they look like rows."""
    top = 2 if array.dtype.kind == "b" else min(_largest(array), 10**6)
    return rng.integers(0, top, array.shape).astype(array.dtype)


def backwards(array: Array, rng: np.random.Generator) -> Array:
    """What ascended descends."""
    return array[::-1]


def short(array: Array, rng: np.random.Generator) -> Array:
    """Half of the values."""
    return array[: len(array) // 2]


def long(array: Array, rng: np.random.Generator) -> Array:
    """All of the values twice."""
    return np.concatenate((array, array))


def none(array: Array, rng: np.random.Generator) -> Array:
    """No value at all."""
    return array[:0]


def other_type(array: Array, rng: np.random.Generator) -> Array:
    """The same values in another type."""
    return array.astype(np.float32 if array.dtype.kind in "iu" else np.int16)


def two_dimensions(array: Array, rng: np.random.Generator) -> Array:
    """One column of a matrix."""
    return array.reshape(-1, 1)


VALUES: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    function.__name__: function
    for function in (
        *(huge, largest, negative, next_door, noise, small_noise, backwards),
        *(short, long, none, other_type, two_dimensions),
    )
}
"""Damages that leave a well-formed array."""


def empty(data: bytes, rng: np.random.Generator) -> bytes:
    """No byte at all."""
    return b""


def truncated(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut off a little before the end."""
    return data[:-3]


def headless(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut off within the header."""
    return data[:40]


def flipped_header(data: bytes, rng: np.random.Generator) -> bytes:
    """One byte among the first 128 is another."""
    return _flipped(data, int(rng.integers(0, min(len(data), 128))), rng) if data else b"?"


def flipped_body(data: bytes, rng: np.random.Generator) -> bytes:
    """One byte anywhere is another."""
    return _flipped(data, int(rng.integers(0, len(data))), rng) if data else b"?"


def text(data: bytes, rng: np.random.Generator) -> bytes:
    """Something else altogether."""
    return b"this is no column\n" * 20


def _flipped(data: bytes, at: int, rng: np.random.Generator) -> bytes:
    return data[:at] + bytes([data[at] ^ int(rng.integers(1, 256))]) + data[at + 1 :]


BYTES: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {
    function.__name__: function for function in (empty, truncated, headless, flipped_header, flipped_body, text)
}
"""Damages of the file itself."""


def copied(kb: Path, to: Path) -> Path:
    """A copy of a KB; its files are links, so replace them, never write into them."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(kb, to, copy_function=os.link)
    return to


def damage(kb: Path, file: str, how: str, seed: int = SEED) -> bool:
    """Damage one file of a copied KB; False where this way leaves it as it was."""
    path = kb / file
    before = path.read_bytes()
    rng = np.random.default_rng([seed, *file.encode(), *how.encode()])
    if how in BYTES:
        after = BYTES[how](before, rng)
    else:
        stream = io.BytesIO()
        np.save(stream, VALUES[how](np.load(io.BytesIO(before)), rng))
        after = stream.getvalue()
    path.unlink()
    path.write_bytes(after)
    return after != before


def ways(file: str) -> Iterator[str]:
    """The ways to damage a file: values only where it is an array."""
    if file.endswith(".npy"):
        yield from VALUES
    yield from BYTES
