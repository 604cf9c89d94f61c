"""Stream dumps in constant memory: chunks of whole lines from plain or compressed files, or from standard input."""

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.files import STDIN, open_unpacked
from namesake.files.lines import BROKEN, Unpacked, reason
from namesake.kernels.simd import LANES

CHUNK = 8 << 20
PIECE = 1 << 18  # bytes read at a time, small enough to stay in the processor's cache until they are copied
LONGEST_LINE = 256 << 20


@dataclass(frozen=True)
class Chunk:
    """Some whole lines of a dump."""

    file: str
    first_line: int
    """Number of its first line in the file, from 1."""
    lines: int
    text: bytearray
    """The lines, then at least 64 zero bytes, because the scanner reads ahead."""
    size: int
    """Bytes of the lines."""
    done: float | None = None
    """The part of all dumps that has been read with this chunk; None if unknown."""
    problem: str = ""
    """Why a line that is too long for a chunk is rejected; the chunk is then empty."""


def read_chunks(paths: Sequence[Path | str], workers: int, chunk_bytes: int = CHUNK) -> Iterator[Chunk]:
    """The lines of dumps, about `chunk_bytes` at a time; NamesakeError for a damaged file, or one without an entity."""
    sizes = [_size(path) for path in paths]
    total = sum(size or 0 for size in sizes) if None not in sizes else 0
    before = 0
    for path, size in zip(paths, sizes, strict=True):
        with open_unpacked(path, workers) as source:
            for chunk in _chunks(source, chunk_bytes):
                yield replace(chunk, done=min(1.0, (before + source.position()) / total)) if total else chunk
        before += size or 0


def _size(path: Path | str) -> int | None:
    """Bytes of a regular file; None for a stream."""
    if str(path) == STDIN:
        return None
    try:
        status = Path(path).stat()
    except OSError as problem:
        raise NamesakeError(f"{path}: {problem.strerror}; give a Wikidata dump, or - for standard input") from None
    if stat.S_ISDIR(status.st_mode):
        raise NamesakeError(f"{path} is a folder; give the dump file in it")
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _chunks(source: Unpacked, chunk_bytes: int) -> Iterator[Chunk]:
    """Cut a stream after the last newline of each full buffer; the buffer grows if a line does not fit."""
    buffer, filled, line = bytearray(chunk_bytes + LANES), 0, 1
    ended = holds_entity = False
    while not ended:
        filled, ended = _fill(source, buffer, filled, line)
        cut = filled if ended else buffer.rfind(b"\n", 0, filled) + 1
        if cut:
            rest = buffer[cut:filled]
            buffer[cut : cut + LANES] = bytes(LANES)
            lines = buffer.count(b"\n", 0, cut) + (not buffer.endswith(b"\n", 0, cut))
            holds_entity = holds_entity or buffer.rfind(b"{", 0, cut) >= 0
            yield Chunk(source.name, line, lines, buffer, cut)
            line += lines
            buffer, filled = bytearray(max(chunk_bytes, len(rest)) + LANES), len(rest)
            buffer[:filled] = rest
        elif filled >= LONGEST_LINE:
            filled = _skip_line(source, buffer, line)
            yield Chunk(source.name, line, 1, bytearray(LANES), 0, problem=f"longer than {LONGEST_LINE >> 20} MB")
            line += 1
        elif not ended:
            buffer = buffer + bytes(len(buffer))
    if not holds_entity:
        empty = "is empty and " if line == 1 and not filled else ""
        raise NamesakeError(f"{source.name} {empty}contains no entity; is it a Wikidata JSON dump?")


def _fill(source: Unpacked, buffer: bytearray, filled: int, line: int) -> tuple[int, bool]:
    """Fill the buffer except for its margin: returns the number of bytes, and whether the stream has ended."""
    room = memoryview(buffer)[: len(buffer) - LANES]
    try:
        while filled < len(room):
            count = source.stream.readinto(room[filled : filled + PIECE])
            if not count:
                return filled, True
            filled += count
    except BROKEN as problem:
        reached = line + buffer.count(b"\n", 0, filled)
        raise NamesakeError(
            f"{source.name} is truncated or damaged at line {reached:,} ({reason(problem)}); download it again"
        ) from None
    return filled, False


def _skip_line(source: Unpacked, buffer: bytearray, line: int) -> int:
    """Skip the rest of the line, which ends after the buffer; returns how many bytes after it the buffer has."""
    while True:
        filled, ended = _fill(source, buffer, 0, line)
        end = buffer.find(b"\n", 0, filled) + 1
        if end or ended:
            rest = buffer[end:filled] if end else b""
            buffer[: len(rest)] = rest
            return len(rest)
