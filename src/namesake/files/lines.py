"""Lines of files that are plain or compressed with gzip, bzip2 or zstandard, and of standard input.

The first bytes of a file show how it is compressed. ISA-L unpacks gzip on one core faster than several cores parse it.
bzip2 is thirty times as slow, so a bzip2 file is unpacked on all cores. Lines have a maximum length.
"""

import bz2
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

import msgspec
import pyarrow as pa
from isal import isal_zlib

from namesake.errors import NamesakeError
from namesake.machine import cores


class Meter:
    """Measures, inside its `with` block, how much of the files `paths`, read one after another, has been read."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._sizes = {str(path): Path(path).stat().st_size if Path(path).is_file() else None for path in paths}
        self._whole = None if None in self._sizes.values() else sum(size or 0 for size in self._sizes.values())
        self._unopened, self._begun, self._size = dict(self._sizes), 0, 0
        self._position: Callable[[], int] = lambda: 0

    def __enter__(self) -> Self:
        _meters.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _meters.remove(self)

    def watch(self, path: str, position: Callable[[], int]) -> None:
        """Call `position` for the number of bytes read of a file; it may fail when the file is closed."""
        if path in self._sizes:
            self._begun += self._unopened.pop(path, 0) or 0  # it may be read again
            self._size, self._position = self._sizes[path] or 0, position

    def fraction(self) -> float | None:
        """The share of all bytes that have been read; None if a size is unknown, as that of standard input."""
        if not self._whole:
            return None
        try:
            read = min(self._position(), self._size)
        except (OSError, RuntimeError, ValueError):  # it is closed
            read = self._size
        return (self._begun - self._size + read) / self._whole


_meters: list[Meter] = []


def watch(path: str | Path, position: Callable[[], int]) -> None:
    """Add a file that has been opened to all meters at work."""
    for meter in _meters:
        meter.watch(str(path), position)


STDIN = "-"
BUFFER = 1 << 20
READ_AT_ONCE = 1 << 18  # some decompressors allocate what they are asked for; this stays in the cache
COMPRESSED = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstandard"}
ONE_BLOCK = 128 << 10  # bytes of bzip2 that are little more than one block, which one core unpacks
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstandard"}
OTHER_FORMATS = {b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BROKEN: Any = (EOFError, OSError, zlib.error, isal_zlib.error, pa.ArrowException, RuntimeError, ValueError)
"""Errors of decompressors for truncated or damaged input."""


class Unpacked(io.RawIOBase):
    """A file that is being read and unpacked; its errors name the file."""

    def __init__(self, name: str, raw: Any, stream: Any) -> None:
        """Read `stream`, a decompressor or the file `raw` itself; `name` is the path, or `stdin`."""
        self.name, self.raw, self.stream = name, raw, stream

    def position(self) -> int:
        """How many packed bytes have been read; OSError or ValueError if it is closed, or not a regular file."""
        read: int = self.raw.tell()
        return int(self.stream.tell_compressed()) // 8 if hasattr(self.stream, "tell_compressed") else read

    def readable(self) -> bool:
        """Always True."""
        return True

    def readinto(self, buffer: Any, /) -> Any:
        """Fill a buffer with the next bytes."""
        try:
            return self.stream.readinto(memoryview(buffer)[:READ_AT_ONCE])
        except BROKEN as problem:
            # rapidgzip has no words for a truncated file
            why = "truncated" if isinstance(problem, EOFError) or "std::exception" in str(problem) else problem
            raise NamesakeError(f"{self.name} cannot be read to its end ({why}): is it whole?") from None


def kind(path: Path) -> str:
    """The suffix of the format of `path`, without compression: `.jsonl` for `news.jsonl.gz`."""
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


@contextmanager
def open_lines(path: Path, keep_mark: bool = False) -> "Iterator[io.BufferedReader[Any]]":
    """The file `path` (`-` is standard input) opened for reading lines; as `open_unpacked`, on all cores."""
    with open_unpacked(path, cores(), keep_mark) as unpacked:
        if unpacked.name == "stdin" and isinstance(unpacked.stream, io.BufferedReader):
            yield unpacked.stream  # a second buffer would wait until it is full
        else:
            yield io.BufferedReader(unpacked, BUFFER)


@contextmanager
def open_unpacked(path: Path | str, workers: int = 1, keep_mark: bool = False) -> Iterator[Unpacked]:
    """The file `path` (`-` is standard input), unpacked according to its first bytes, bzip2 on `workers` cores.

    The byte order mark of UTF-8 is skipped, unless `keep_mark`. Damage raises NamesakeError, which names the file.
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
        with closing(unpacked.stream):  # it may have threads
            yield unpacked


def _unpack(name: str, raw: "io.BufferedReader[Any]", file: Path | None, workers: int, keep_mark: bool) -> Unpacked:
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
    if start.startswith(BYTE_ORDER_MARK) and not keep_mark:
        raw.read(len(BYTE_ORDER_MARK))
    stream: Any = raw
    if packed == "gzip":
        from isal import igzip  # which takes a while

        stream = igzip.open(raw, "rb")  # type: ignore[no-untyped-call]
    elif packed == "bzip2" and file and workers > 1 and file.stat().st_size > ONE_BLOCK:
        from rapidgzip import IndexedBzip2File  # slow to load, and bzip2 is rare

        stream = IndexedBzip2File(str(file), parallelization=workers)
    elif packed == "bzip2":
        stream = bz2.BZ2File(raw)
    elif packed == "zstandard":
        stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    return Unpacked(name, raw, stream)


R = TypeVar("R")

MOST_LINE = 256 << 20  # bytes in a line, by default
MOST_WHOLE = 1 << 30
"""The maximum number of unpacked bytes of a file that has to be read as a whole."""
SKIPPED_AT_ONCE = 1 << 20


def bounded_lines(stream: BinaryIO, most: int = MOST_LINE) -> Iterator[tuple[int, bytes | None]]:
    """Every line with its number, from 1; None for a line of more than `most` bytes, which is skipped."""
    number = 0
    while line := stream.readline(most + 1):
        number += 1
        if len(line) <= most or line.endswith(b"\n"):
            yield number, line
            continue
        del line  # it may be large
        while (rest := stream.readline(SKIPPED_AT_ONCE)) and not rest.endswith(b"\n"):
            pass
        yield number, None


def cut_lines(stream: "io.BufferedReader[Any]", size: int, most_line: int, margin: bytes = b"") -> Iterator[bytes]:
    """The stream in blocks of whole lines, about `size` bytes each, then `margin`; lines over `most_line` are cut."""
    buffer, rest, skipping = bytearray(size), b"", False  # of a line whose end has not been read
    while True:
        start, read = 0, stream.readinto(buffer)
        ended = read < size
        if skipping:
            start = buffer.find(b"\n", 0, read)
            if start < 0 and not ended:
                continue
            skipping, start = False, start if start >= 0 else read
        end = read if ended else buffer.rfind(b"\n", start) + 1
        if end > start or (ended and rest):
            yield b"".join((rest, memoryview(buffer)[start:end], margin))
            rest = b""
        if ended:
            return
        rest += buffer[end:]
        if len(rest) > most_line + 2:  # cut, so that it is still too long
            rest, skipping = rest[: most_line + 2], True


def too_long(most: int) -> str:
    """The reason to reject a line, or a text, of more than `most` bytes."""
    return f"longer than {most >> 20:,} MB" if most >= 1 << 20 else f"longer than {most:,} bytes"


def lines_of(stream: BinaryIO, path: Path, most: int = MOST_LINE) -> Iterator[tuple[int, bytes]]:
    """Every line of the file `path`, opened as `stream`, with its number; more than `most` bytes are an error."""
    for number, line in bounded_lines(stream, most):
        if line is None:
            raise NamesakeError(f"{path} line {number}: {too_long(most)}")
        yield number, line


def read_whole(stream: BinaryIO, path: Path, most: int = MOST_WHOLE) -> bytes:
    """All of the file `path`, opened as `stream`; more than `most` bytes are an error."""
    data = stream.read(most + 1)
    if len(data) > most:
        raise NamesakeError(f"{path}: {too_long(most)} unpacked, but is read as a whole; split it into several files")
    return data


def json_lines(path: Path, kind: type[R], what: str) -> Iterator[tuple[int, R]]:
    """Every record of a file of JSON lines that are not empty, with its line; `what` is a record in error messages."""
    decoder = msgspec.json.Decoder(kind)
    with open_lines(path) as stream:
        for number, line in lines_of(stream, path):
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
                raise NamesakeError(f"{path} line {number}: not {what} ({problem})") from None
            yield number, record
