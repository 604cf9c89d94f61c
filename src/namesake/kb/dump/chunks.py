"""Stream dumps in constant memory: chunks of whole lines from plain or compressed files, or from standard input."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from namesake.arrays import UInt8
from namesake.errors import NamesakeError
from namesake.files import STDIN, open_unpacked
from namesake.files.lines import BROKEN, Unpacked, reason
from namesake.kernels.dump.entity import count_newlines, last_byte
from namesake.kernels.simd import LANES

CHUNK = 8 << 20
PIECE = 1 << 18  # bytes read at a time, small enough to stay in the processor's cache until they are copied
LONGEST_LINE = 256 << 20
NEWLINE, BRACE = ord("\n"), ord("{")


@dataclass(frozen=True)
class Chunk:
    """Some whole lines of a dump."""

    file: str
    first_line: int
    """Number of its first line in the file, from 1."""
    lines: int
    buffer: UInt8
    """The lines, then at least 64 zero bytes, because the scanner reads ahead."""
    size: int
    """Bytes of the lines."""
    done: float | None = None
    """The part of all dumps that has been read with this chunk; None if unknown."""
    problem: str = ""
    """Why a line that is too long for a chunk is rejected; the chunk is then empty."""

    @property
    def data(self) -> UInt8:
        """The lines alone."""
        return self.buffer[: self.size]

    def line_at(self, position: int) -> bytes:
        """The line that begins at a position, with its newline."""
        width = 1 << 12
        while True:
            piece = self.buffer[position : min(position + width, self.size)].tobytes()
            end = piece.find(b"\n") + 1
            if end or position + width >= self.size:
                return piece[:end] if end else piece
            width *= 8


def read_chunks(paths: Sequence[Path | str], workers: int, chunk_bytes: int = CHUNK) -> Iterator[Chunk]:
    """The lines of the dumps `paths` (`-` is standard input), in their order, about `chunk_bytes` at a time.

    bzip2 is decompressed on `workers` cores. A file that is missing, empty, truncated, damaged or without any entity
    raises NamesakeError.
    """
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
    buffer, filled, line = np.empty(chunk_bytes + LANES, np.uint8), 0, 1
    ended = holds_entity = False
    while not ended:
        filled, ended = _fill(source, buffer, filled, line)
        cut = filled if ended else last_byte(buffer, NEWLINE, filled) + 1
        if cut:
            rest = buffer[cut:filled].copy()
            buffer[cut : cut + LANES] = 0
            lines = count_newlines(buffer, cut) + int(buffer[cut - 1] != NEWLINE)
            chunk = Chunk(source.name, line, lines, buffer, cut)
            holds_entity = holds_entity or last_byte(buffer, BRACE, cut) >= 0
            yield chunk
            line += chunk.lines
            buffer, filled = np.empty(max(chunk_bytes, len(rest)) + LANES, np.uint8), len(rest)
            buffer[:filled] = rest
        elif filled >= LONGEST_LINE:
            filled = _skip_line(source, buffer, line)
            yield Chunk(source.name, line, 1, buffer[:0], 0, problem=f"longer than {LONGEST_LINE >> 20} MB")
            line += 1
        elif not ended:
            buffer = np.concatenate((buffer, np.empty(len(buffer), np.uint8)))
    if not holds_entity:
        empty = "is empty and " if line == 1 and not filled else ""
        raise NamesakeError(f"{source.name} {empty}contains no entity; is it a Wikidata JSON dump?")


def _fill(source: Unpacked, buffer: UInt8, filled: int, line: int) -> tuple[int, bool]:
    """Fill the buffer except for its margin: returns the number of bytes, and whether the stream has ended."""
    room = buffer.data[: len(buffer) - LANES]
    try:
        while filled < len(room):
            count = source.stream.readinto(room[filled : filled + PIECE])
            if not count:
                return filled, True
            filled += count
    except BROKEN as problem:
        buffer[filled : filled + LANES] = 0
        reached = line + count_newlines(buffer, filled)
        raise NamesakeError(
            f"{source.name} is truncated or damaged at line {reached:,} ({reason(problem)}); download it again"
        ) from None
    return filled, False


def _skip_line(source: Unpacked, buffer: UInt8, line: int) -> int:
    """Skip the rest of the line, which ends after the buffer; returns how many bytes after it the buffer has."""
    while True:
        filled, ended = _fill(source, buffer, 0, line)
        newlines = np.flatnonzero(buffer[:filled] == NEWLINE)
        if len(newlines) or ended:
            rest = buffer[int(newlines[0]) + 1 : filled].copy() if len(newlines) else buffer[:0]
            buffer[: len(rest)] = rest
            return len(rest)
