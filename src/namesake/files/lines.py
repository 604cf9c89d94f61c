"""Lines of files, none longer than memory allows; JSON lines, typed, with a message that names a bad one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from namesake.errors import NamesakeError
from namesake.files.compressed import open_lines

R = TypeVar("R")

MOST_LINE = 256 << 20
"""How many bytes a line may have, unless the user says otherwise."""
MOST_WHOLE = 1 << 30
"""How many bytes a file may have, unpacked, that can only be read whole."""
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
