"""Files of articles cut into shards, which are linked, written and recorded one by one.

The cuts depend on the files alone, not on workers or time. JSON lines are cut at line ends, by the bytes of their
unpacked text; Parquet files between row groups. A text or CSV file is one shard, and so are JSON lines with custom
field names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from namesake.files import kind, open_unpacked
from namesake.files.compressed import Named
from namesake.files.lines import Block, cut_lines
from namesake.formats.parquet import open_parquet
from namesake.machine import cores

SHARD_BYTES = 32 << 20
"""Bytes of text: five thousand articles, half a second of work."""


class Shard(msgspec.Struct, frozen=True):
    """A piece of a file."""

    file: int
    """The number of the file in the run, from 0."""
    number: int
    """The number of the piece in the file, from 0."""
    path: str
    before: int = 0
    """The number of lines, or rows, of the file before it."""
    groups: tuple[int, int] | None = None
    """Of a Parquet file: its first row group, and the one after the last."""

    @property
    def name(self) -> str:
        """The name of its part, without the suffix."""
        return part_name(self.file, self.number)


def part_name(file: int, number: int) -> str:
    """The name of the part of a shard, without the suffix; names are in the order of the articles."""
    return f"part-{file:05}-{number:05}"


class Piece(NamedTuple):
    """A shard with its lines, if it consists of lines, and the position of its end in the packed file.

    The lines are valid until the next piece is made.
    """

    shard: Shard
    lines: Block | None
    position: int


def pieces_of(
    file: int, path: Path, size: int, most_line: int, memory: bytearray, whole: bool = False
) -> Iterator[Piece]:
    """The shards of a file, about `size` bytes of text each; lines of more than `most_line` bytes are truncated.

    `memory` holds the lines. With `whole`, the file is one shard.
    """
    if kind(path) == ".parquet":
        yield from _parquet(file, path, size)
    elif whole or kind(path) == ".txt":
        yield Piece(Shard(file, 0, str(path)), None, path.stat().st_size if path.is_file() else 0)
    else:
        with open_unpacked(path, cores()) as unpacked:
            for number, lines in enumerate(cut_lines(Named(unpacked), size, most_line, memory)):
                yield Piece(Shard(file, number, str(path), lines.before), lines, _position(unpacked.position))


def _position(position: Callable[[], int]) -> int:
    try:
        return position()
    except (OSError, ValueError):  # a stream may be closed at its end
        return 0


def _parquet(file: int, path: Path, size: int) -> Iterator[Piece]:
    with open_parquet(path) as opened:
        groups = [opened.metadata.row_group(index) for index in range(opened.metadata.num_row_groups)]
    begin = before = held = rows = number = position = 0
    for end, group in enumerate(groups, start=1):
        held += group.total_byte_size
        rows += group.num_rows
        position += sum(group.column(at).total_compressed_size for at in range(group.num_columns))
        if held >= size or end == len(groups):
            yield Piece(Shard(file, number, str(path), before, (begin, end)), None, position)
            begin, before, held, number = end, rows, 0, number + 1
