"""Read files that are plain or compressed with gzip, bzip2 or zstandard, and standard input.

The first bytes of a file show how it is compressed. ISA-L unpacks gzip on one core faster than several cores parse it.
bzip2 is thirty times as slow, so a bzip2 file is unpacked on all cores.
"""

from __future__ import annotations

import bz2
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from isal import isal_zlib

from namesake.errors import NamesakeError
from namesake.machine import cores

_meters: list[Meter] = []


class Meter:
    """Measures, inside its `with` block, how much of the files `paths` has been read."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._sizes = {str(path): Path(path).stat().st_size if Path(path).is_file() else None for path in paths}
        self._whole = None if None in self._sizes.values() else sum(size or 0 for size in self._sizes.values())
        self._positions: dict[str, Callable[[], int]] = {}
        """Of the files that are being read."""
        self._ended: set[str] = set()
        self._ended_bytes = 0

    def __enter__(self) -> Meter:
        _meters.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _meters.remove(self)

    def watch(self, path: str, position: Callable[[], int]) -> None:
        """Call `position` for the number of bytes read of a file; it may fail when the file is closed."""
        if path in self._sizes:
            self._positions[path] = position
            if path in self._ended:  # it is read again
                self._ended.remove(path)
                self._ended_bytes -= self._sizes[path] or 0

    def fraction(self) -> float | None:
        """The share of all bytes that have been read; None if a size is unknown, as that of standard input."""
        if not self._whole:
            return None
        reading = sum(self._read(path) for path in list(self._positions))
        return min((self._ended_bytes + reading) / self._whole, 1.0)

    def _read(self, path: str) -> int:
        """The bytes read of a file. A closed file counts as read to its end, and is not asked again."""
        size = self._sizes[path] or 0
        try:
            return min(self._positions[path](), size)
        except (OSError, RuntimeError, ValueError):
            del self._positions[path]
            self._ended.add(path)
            self._ended_bytes += size
            return 0


def watch(path: str | Path, position: Callable[[], int]) -> None:
    """Add a file that has been opened to all meters at work."""
    for meter in _meters:
        meter.watch(str(path), position)


STDIN = "-"
BUFFER = 1 << 20
COMPRESSED = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstandard"}
ONE_BLOCK = 128 << 10
"""Bytes of bzip2 that are little more than one block, which one core unpacks."""
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstandard"}
OTHER_FORMATS = {b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BROKEN: Any = (EOFError, OSError, zlib.error, isal_zlib.error, pa.ArrowException, RuntimeError, ValueError)
"""Errors of decompressors for truncated or damaged input."""


@dataclass(frozen=True)
class Unpacked:
    """A file that is being read and unpacked."""

    name: str
    """The path, or `stdin`."""
    stream: Any
    """A decompressor, or the file itself; has `readinto`."""
    position: Callable[[], int]
    """The number of bytes of the packed file that have been read; 0 for standard input."""
    close: Callable[[], None] = lambda: None
    """Stops the threads that unpack it."""


def kind(path: Path) -> str:
    """The suffix of the format of `path`, without compression: `.jsonl` for `news.jsonl.gz`."""
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


@contextmanager
def open_lines(path: Path, keep_mark: bool = False) -> Iterator[io.BufferedReader[Any]]:
    """The file `path` (`-` is standard input) opened for reading lines, unpacked on all cores if that helps.

    The byte order mark of UTF-8 is skipped, unless `keep_mark`. Damage raises NamesakeError, which names the file.
    """
    with open_unpacked(path, cores(), keep_mark) as unpacked:
        if unpacked.name == "stdin" and isinstance(unpacked.stream, io.BufferedReader):
            yield unpacked.stream  # a second buffer would wait until it is full
        else:
            yield io.BufferedReader(Named(unpacked), BUFFER)


class Named(io.RawIOBase):
    """A stream whose errors name its file."""

    def __init__(self, unpacked: Unpacked) -> None:
        self.unpacked = unpacked

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any, /) -> Any:
        """Fill a buffer with the next bytes."""
        try:
            return self.unpacked.stream.readinto(buffer)
        except BROKEN as problem:
            raise NamesakeError(
                f"{self.unpacked.name} cannot be read to its end ({reason(problem)}): is it whole?"
            ) from None


def reason(problem: Exception) -> str:
    """The error of a decompressor in words; rapidgzip has none for a truncated file."""
    return "truncated" if isinstance(problem, EOFError) or "std::exception" in str(problem) else str(problem)


@contextmanager
def open_unpacked(path: Path | str, workers: int = 1, keep_mark: bool = False) -> Iterator[Unpacked]:
    """The file `path` (`-` is standard input), unpacked according to its first bytes, bzip2 on `workers` cores.

    Raises NamesakeError if there is no such file, if its compression is not supported, or if its name has the suffix of
    a compression that it does not have.
    """
    if str(path) == STDIN:
        if sys.stdin is None:
            raise NamesakeError("stdin is closed; pipe a file into it")
        stream: Any = sys.stdin.buffer  # any stream, if a program has replaced it
        raw = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)
        yield _unpack("stdin", raw, None, workers, keep_mark)
        return
    path = Path(path)
    if path.is_dir():
        raise NamesakeError(f"{path} is a folder; name the files in it")
    try:
        raw = io.BufferedReader(path.open("rb", buffering=0), BUFFER)
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except OSError as problem:
        raise NamesakeError(f"{path} cannot be read: {problem.strerror}") from None
    with raw:
        unpacked = _unpack(str(path), raw, path if raw.seekable() else None, workers, keep_mark)
        watch(path, unpacked.position)
        try:
            yield unpacked
        finally:
            unpacked.close()


def _unpack(name: str, raw: io.BufferedReader[Any], file: Path | None, workers: int, keep_mark: bool) -> Unpacked:
    """The content of `raw`; `file` is its path if it can be opened once more."""
    try:
        start = raw.peek(8)[:8]
    except OSError as problem:
        raise NamesakeError(f"{name} cannot be read: {problem.strerror}") from None
    for magic, other in OTHER_FORMATS.items():
        if start.startswith(magic):
            raise NamesakeError(f"{name} is packed with {other}; unpack it and pipe it in, with - for its name")
    packed = next((packed for magic, packed in MAGIC.items() if start.startswith(magic)), None)
    promised = COMPRESSED.get(Path(name).suffix)
    if promised and not packed:
        what = "is empty" if not start else "its first bytes do not fit its suffix"
        raise NamesakeError(f"{name} cannot be read as {promised} ({what}): is it whole?")
    if packed == "bzip2" and file and workers > 1 and file.stat().st_size > ONE_BLOCK:
        return _parallel_bzip2(name, file, workers)
    if start.startswith(BYTE_ORDER_MARK) and not keep_mark:
        raw.read(len(BYTE_ORDER_MARK))
    return Unpacked(name, _decompressor(raw, packed), raw.tell if file else lambda: 0)


def _decompressor(raw: io.BufferedReader[Any], packed: str | None) -> Any:
    if packed == "gzip":
        from isal import igzip

        return igzip.open(raw, "rb")  # type: ignore[no-untyped-call]
    if packed == "bzip2":
        return bz2.BZ2File(raw)
    if packed == "zstandard":
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    return raw


def _parallel_bzip2(name: str, file: Path, workers: int) -> Unpacked:
    from rapidgzip import IndexedBzip2File  # slow to load, and bzip2 is rare

    stream = IndexedBzip2File(str(file), parallelization=workers)

    def position() -> int:
        if stream.closed:
            raise ValueError(f"{name} is closed")
        return int(stream.tell_compressed()) // 8

    return Unpacked(name, stream, position, stream.close)
