"""Lines of files, with a maximum length; typed JSON lines, with errors that name the line."""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import msgspec

from namesake.errors import NamesakeError
from namesake.files.compressed import open_lines

R = TypeVar("R")

MOST_LINE = 256 << 20
"""The maximum number of bytes in a line, by default."""
MOST_WHOLE = 1 << 30
"""The maximum number of unpacked bytes of a file that has to be read as a whole."""
SKIPPED_AT_ONCE = 1 << 20
READ_AT_ONCE = 1 << 20  # some decompressors allocate what they are asked for
PADDING = 64


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


class Block(NamedTuple):
    """Whole lines of a file: data[:size]. At least 64 bytes follow, zeros if the last line has no newline.

    Only the last line of a file may lack a newline.
    """

    before: int
    """The number of lines of the file before it."""
    data: bytearray | mmap
    size: int

    @staticmethod
    def of(lines: bytes, before: int = 0) -> Block:
        """A block with a copy of these lines."""
        return Block(before, bytearray(lines) + bytes(PADDING), len(lines))


def cut_lines(stream: Any, size: int, most_line: int, memory: bytearray | None = None) -> Iterator[Block]:
    """The stream in blocks of whole lines, up to `size` bytes each. A block is valid until the next is made.

    A line of more than `most_line` bytes is cut to two bytes more than that, so that it is still too long. `memory` can
    be shared by several calls, one after the other.
    """
    data = bytearray() if memory is None else memory
    held, before, skipping = 0, 0, False  # of a line whose end has not been read
    while True:
        data += bytes(max(held + size + PADDING - len(data), 0))
        read = _fill(stream, data, held, size)
        total, ended = held + read, read < size
        if skipping:
            newline = data.find(b"\n", held, total)
            if newline < 0 and not ended:
                continue
            skipping = False
            kept = total - newline if newline >= 0 else 0
            data[held : held + kept] = data[total - kept : total]
            total = held + kept
        if ended:
            data[total : total + PADDING] = bytes(PADDING)
        end = total if ended else data.rfind(b"\n", held, total) + 1  # the held bytes have no newline
        if end:
            yield Block(before, data, end)
            before += data.count(b"\n", 0, end)
            data[: total - end] = data[end:total]
        if ended:
            return
        held = total - end
        if held > most_line + 2:
            held, skipping = most_line + 2, True


def _fill(stream: Any, data: bytearray, start: int, size: int) -> int:
    """Read `size` bytes into data[start:], fewer at the end of the stream; returns their number."""
    read = 0
    with memoryview(data) as view:
        while read < size:
            count = stream.readinto(view[start + read : start + min(size, read + READ_AT_ONCE)])
            if not count:
                break
            read += count
    return read


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
    """Every record of a file of JSON lines with the number of its line; empty lines are skipped.

    `what` describes a record of the type `kind` in error messages, such as "a JSON object".
    """
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
