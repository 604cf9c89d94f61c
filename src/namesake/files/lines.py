"""Lines of files, none longer than memory allows; JSON lines, typed, with a message that names a bad one."""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

import msgspec

from namesake.errors import NamesakeError
from namesake.files.compressed import Stream, open_lines

R = TypeVar("R")

MOST_LINE = 256 << 20
"""How many bytes a line may have, unless the user says otherwise."""
MOST_WHOLE = 1 << 30
"""How many bytes a file may have, unpacked, that can only be read whole."""
SKIPPED_AT_ONCE = 1 << 20
READ_AT_ONCE = 1 << 20  # some decompressors make a new string of what they are asked for
PADDING = 64


def bounded_lines(stream: BinaryIO, most: int = MOST_LINE) -> Iterator[tuple[int, bytes | None]]:
    """Every line with its number, from 1 on; None for one of more than `most` bytes, which is passed over."""
    number = 0
    while line := stream.readline(most + 1):
        number += 1
        if len(line) <= most or line.endswith(b"\n"):
            yield number, line
            continue
        del line  # it may be half of the memory there is
        while (rest := stream.readline(SKIPPED_AT_ONCE)) and not rest.endswith(b"\n"):
            pass
        yield number, None


class Block(NamedTuple):
    """Whole lines of a file: data[:size]. 64 bytes or more follow them, zeros where the last line has no newline.

    Only the last line of a file may have none.
    """

    before: int
    """How many lines of the file come before."""
    data: bytearray | mmap
    size: int

    @staticmethod
    def of(lines: bytes, before: int = 0) -> Block:
        """Some lines, copied."""
        return Block(before, bytearray(lines) + bytes(PADDING), len(lines))


def cut_lines(stream: Stream, size: int, most_line: int, memory: bytearray | None = None) -> Iterator[Block]:
    """The stream in blocks of the whole lines that end within each `size` bytes. A block lives until the next is made.

    A line of more than `most_line` bytes is cut to so many and two more: enough to tell that it is too long. Whoever
    cuts many streams gives the `memory` to use for all of them.
    """
    data = bytearray() if memory is None else memory
    held, before, skipping = 0, 0, False  # of a line whose end is still to come
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
        end = total if ended else data.rfind(b"\n", held, total) + 1  # what is held has no newline
        if end:
            yield Block(before, data, end)
            before += data.count(b"\n", 0, end)
            data[: total - end] = data[end:total]
        if ended:
            return
        held = total - end
        if held > most_line + 2:
            held, skipping = most_line + 2, True


def _fill(stream: Stream, data: bytearray, start: int, size: int) -> int:
    """Read `size` bytes into data[start:], fewer at the end alone; returns how many."""
    read = 0
    with memoryview(data) as view:
        while read < size:
            count = stream.readinto(view[start + read : start + min(size, read + READ_AT_ONCE)])
            if not count:
                break
            read += count
    return read


def too_long(most: int) -> str:
    """What is wrong with a line, or a text, of more than `most` bytes."""
    return f"longer than {most >> 20:,} MB" if most >= 1 << 20 else f"longer than {most:,} bytes"


def lines_of(stream: BinaryIO, path: Path, most: int = MOST_LINE) -> Iterator[tuple[int, bytes]]:
    """Every line of the file `path`, opened as `stream`, with its number; one of more than `most` bytes is refused."""
    for number, line in bounded_lines(stream, most):
        if line is None:
            raise NamesakeError(f"{path} line {number}: {too_long(most)}")
        yield number, line


def read_whole(stream: BinaryIO, path: Path, most: int = MOST_WHOLE) -> bytes:
    """All of the file `path`, opened as `stream`; one of more than `most` bytes is refused."""
    data = stream.read(most + 1)
    if len(data) > most:
        raise NamesakeError(f"{path}: {too_long(most)} unpacked, and has to be read whole; cut it into several files")
    return data


def json_lines(path: Path, kind: type[R], what: str) -> Iterator[tuple[int, R]]:
    """Every record of a file of JSON lines with the number of its line; empty lines are passed over.

    Args:
        path: the file, plain or compressed.
        kind: the type of a record.
        what: what a record ought to be, for the message that refuses a line, such as "a JSON object".
    """
    decoder = msgspec.json.Decoder(kind)
    with open_lines(path) as stream:
        for number, line in bounded_lines(stream):
            if line is None:
                raise NamesakeError(f"{path} line {number}: not {what} ({too_long(MOST_LINE)})")
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
                raise NamesakeError(f"{path} line {number}: not {what} ({problem})") from None
            yield number, record
