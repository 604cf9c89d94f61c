"""Lines of files, none longer than memory allows; JSON lines, typed, with a message that names a bad one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from namesake.errors import NamesakeError
from namesake.files.compressed import Stream, open_lines

R = TypeVar("R")

MOST_LINE = 256 << 20
"""How many bytes a line may have, unless the user says otherwise."""
SKIPPED_AT_ONCE = 1 << 20


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


def cut_lines(stream: Stream, size: int, most_line: int) -> Iterator[tuple[int, bytearray]]:
    """The stream in blocks of whole lines that end within each `size` bytes, with how many lines come before.

    A line of more than `most_line` bytes is cut to so many and two more: enough to tell that it is too long.
    """
    rest, before, skipping = bytearray(), 0, False
    while True:
        block = _filled(stream, size)
        ended = len(block) < size
        if skipping:
            end = block.find(b"\n")
            if end < 0 and not ended:
                continue
            del block[: end if end >= 0 else len(block)]
            skipping = False
        block = rest + block if rest else block
        end = len(block) if ended else block.rfind(b"\n") + 1
        rest = block[end:]
        if end:
            del block[end:]
            yield before, block
            before += block.count(b"\n")
        if ended:
            return
        if len(rest) > most_line + 2:
            del rest[most_line + 2 :]
            skipping = True


def _filled(stream: Stream, size: int) -> bytearray:
    """The next `size` bytes, fewer at the end alone."""
    block = bytearray(size)
    view = memoryview(block)
    held = 0
    while held < size and (count := stream.readinto(view[held:])):
        held += count
    view.release()
    del block[held:]
    return block


def too_long(most: int) -> str:
    """What is wrong with a line, or a text, of more than `most` bytes."""
    return f"longer than {most >> 20:,} MB" if most >= 1 << 20 else f"longer than {most:,} bytes"


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
