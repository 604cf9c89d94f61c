"""Read dumps and articles alike: gzip, bzip2, zstandard or plain, from a file or from standard input.

What a file is compressed with is told by its first bytes. gzip goes through ISA-L on one core, which outruns several
cores of parsing; bzip2, thirty times as slow, is decompressed on all cores where it comes from a file.
"""

from __future__ import annotations

import bz2
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import pyarrow as pa
from isal import igzip, isal_zlib

from namesake.errors import NamesakeError
from namesake.files.meter import watch
from namesake.machine import cores

STDIN = "-"
BUFFER = 1 << 20
COMPRESSED = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstandard"}
ONE_BLOCK = 128 << 10
"""Bytes of bzip2 that are hardly more than a block, which one core unpacks."""
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstandard"}
OTHER_FORMATS = {b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BROKEN: Any = (EOFError, OSError, zlib.error, isal_zlib.error, pa.ArrowException, RuntimeError, ValueError)
"""What decompressors raise where their input is cut off or damaged."""


class Stream(Protocol):
    """What every decompressor offers."""

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill a buffer with the next bytes; returns how many, 0 at the end."""
        ...


@dataclass(frozen=True)
class Unpacked:
    """A file that is being read and unpacked."""

    name: str
    """The path as it was given, or `stdin`."""
    stream: Stream
    position: Callable[[], int]
    """Bytes of the file itself, packed as it is, that have been read; 0 for standard input."""
    close: Callable[[], None] = lambda: None
    """Ends what unpacks it on threads of its own, whoever still asks for its position."""


def kind(path: Path) -> str:
    """The suffix that names the format of `path`, compression apart: `.jsonl` for `news.jsonl.gz`."""
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


@contextmanager
def open_lines(path: Path, keep_mark: bool = False) -> Iterator[io.BufferedReader[Any]]:
    """The file `path` (`-` is standard input) opened for reading lines, unpacked on all cores where that helps.

    The byte order mark of UTF-8 is left out, unless it is to be kept.
    Damage that shows while it is read raises NamesakeError, which names the file.
    """
    with open_unpacked(path, cores(), keep_mark) as unpacked:
        if unpacked.name == "stdin" and isinstance(unpacked.stream, io.BufferedReader):
            yield unpacked.stream  # lines as they come; a second buffer would wait until it is full
        else:
            yield io.BufferedReader(Named(unpacked), BUFFER)


class Named(io.RawIOBase):
    """A stream that names its file where it breaks."""

    def __init__(self, unpacked: Unpacked) -> None:
        self.unpacked = unpacked

    def readable(self) -> bool:
        """Whether it can be read: it can."""
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill a buffer with the next bytes."""
        try:
            return self.unpacked.stream.readinto(buffer)
        except BROKEN as problem:
            raise NamesakeError(
                f"{self.unpacked.name} cannot be read to its end ({reason(problem)}): is it whole?"
            ) from None


def reason(problem: Exception) -> str:
    """A decompressor's complaint in words; rapidgzip has none where a file ends too early."""
    return "truncated" if isinstance(problem, EOFError) or "std::exception" in str(problem) else str(problem)


@contextmanager
def open_unpacked(path: Path | str, workers: int = 1, keep_mark: bool = False) -> Iterator[Unpacked]:
    """The file `path` (`-` is standard input), unpacked as its first bytes demand, bzip2 on `workers` cores.

    Raises NamesakeError where there is no such file, or it is packed in a way that is not read here, or not packed
    although its name says so.
    """
    if str(path) == STDIN:
        if sys.stdin is None:
            raise NamesakeError("stdin is closed; pipe a file into it")
        yield _unpack("stdin", _peekable(sys.stdin.buffer), None, workers, keep_mark)
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


def _peekable(stream: BinaryIO) -> io.BufferedReader[Any]:
    """Standard input, which may be any stream where a program has replaced it."""
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))


def _unpack(name: str, raw: io.BufferedReader[Any], file: Path | None, workers: int, keep_mark: bool) -> Unpacked:
    """What `raw` holds; `file` is where it can be opened once more, if it can."""
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
        what = "is empty" if not start else "its name promises what its first bytes are not"
        raise NamesakeError(f"{name} cannot be read as {promised} ({what}): is it whole?")
    if packed == "bzip2" and file and workers > 1 and file.stat().st_size > ONE_BLOCK:
        return _parallel_bzip2(name, file, workers)
    if start.startswith(BYTE_ORDER_MARK) and not keep_mark:
        raw.read(len(BYTE_ORDER_MARK))
    return Unpacked(name, _decompressor(raw, packed), raw.tell if file else lambda: 0)


def _decompressor(raw: io.BufferedReader[Any], packed: str | None) -> Stream:
    if packed == "gzip":
        return cast(Stream, igzip.open(raw, "rb"))  # type: ignore[no-untyped-call]
    if packed == "bzip2":
        return bz2.BZ2File(raw)
    if packed == "zstandard":
        return cast(Stream, pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))
    return raw


def _parallel_bzip2(name: str, file: Path, workers: int) -> Unpacked:
    from rapidgzip import IndexedBzip2File  # heavy to load, and bzip2 is the rarer format

    stream = IndexedBzip2File(str(file), parallelization=workers)

    def position() -> int:
        if stream.closed:
            raise ValueError(f"{name} is closed")
        return int(stream.tell_compressed()) // 8

    return Unpacked(name, stream, position, stream.close)
