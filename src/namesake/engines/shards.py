"""Files of articles cut into shards: pieces that are linked, written and journalled each on its own.

Where the cuts lie depends on the files alone, neither on workers nor on time. JSON lines are cut by the bytes of their
unpacked text, at line ends; Parquet files between groups of rows; a text or CSV file is one shard, and so are JSON
lines whose fields are not called as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from namesake.files import open_unpacked
from namesake.files.compressed import Named
from namesake.files.lines import Block, cut_lines
from namesake.formats import Cut
from namesake.formats.parquet_articles import open_parquet
from namesake.machine import cores

SHARD_BYTES = 32 << 20
"""Of text: five thousand articles, half a second of work."""


class Shard(msgspec.Struct, frozen=True):
    """A piece of a file."""

    file: int
    """Which of the run's files, from 0."""
    number: int
    """Which piece of it, from 0."""
    path: str
    before: int = 0
    """How many lines, or rows, of the file come before it."""
    groups: tuple[int, int] | None = None
    """Of a Parquet file: the first of its groups of rows, and the one after the last."""

    @property
    def name(self) -> str:
        """What its part is called, suffix apart."""
        return part_name(self.file, self.number)


def part_name(file: int, number: int) -> str:
    """What the part of a shard is called, suffix apart; names are in the order of the articles."""
    return f"part-{file:05}-{number:05}"


class Piece(NamedTuple):
    """A shard with its lines, if it is one of lines, and how many bytes of its file are read up to its end.

    The lines live until the next piece is made.
    """

    shard: Shard
    lines: Block | None
    position: int


def pieces_of(file: int, path: Path, size: int, most_line: int, memory: bytearray, cut: Cut | None) -> Iterator[Piece]:
    """The shards of a file, about `size` bytes of text each; lines of more than `most_line` bytes are cut short.

    `memory` holds the lines. `cut` is that of `formats.cut_of`: without it, the file is one shard.
    """
    if cut == "row groups":
        yield from _parquet(file, path, size)
    elif cut is None:
        yield Piece(Shard(file, 0, str(path)), None, path.stat().st_size if path.is_file() else 0)
    else:
        with open_unpacked(path, cores()) as unpacked:
            for number, lines in enumerate(cut_lines(Named(unpacked), size, most_line, memory)):
                yield Piece(Shard(file, number, str(path), lines.before), lines, _position(unpacked.position))


def _position(position: Callable[[], int]) -> int:
    try:
        return position()
    except (OSError, ValueError):  # a stream that is at its end may be closed
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
