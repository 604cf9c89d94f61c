"""JSON lines: one record per line, typed, with a message that names the line of a bad one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from namesake.errors import NamesakeError
from namesake.files import open_lines

R = TypeVar("R")


def json_lines(path: Path, kind: type[R], what: str) -> Iterator[tuple[int, R]]:
    """Every record of a file of JSON lines with the number of its line; empty lines are passed over.

    Args:
        path: the file, plain or compressed.
        kind: the type of a record.
        what: what a record ought to be, for the message that refuses a line, such as "a JSON object".
    """
    decoder = msgspec.json.Decoder(kind)
    with open_lines(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
                raise NamesakeError(f"{path} line {number}: not {what} ({problem})") from None
            yield number, record
