"""Files of articles cut into shards, which are linked, written and recorded one by one.

The cuts depend on the files alone, not on workers or time. JSON lines are cut at line ends, by the bytes of their
unpacked text; Parquet files between row groups. A text or CSV file is one shard, and so are JSON lines with custom
field names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa

from namesake.articles.rejects import Reject, Rejects
from namesake.engines.article_files import with_dates
from namesake.engines.link_descriptions import described
from namesake.engines.run_journal import REJECTS, Done, digest, part_name, part_path
from namesake.files import open_unpacked
from namesake.files.compressed import Named
from namesake.files.lines import Block, cut_lines
from namesake.files.outputs import sync
from namesake.formats import Cut, read_articles
from namesake.formats.arrow_articles import open_parquet, read_row_groups
from namesake.formats.field_names import Reading
from namesake.formats.json_articles import Places, read_blocks
from namesake.formats.link_writers import LinkWriter
from namesake.linker import Linker
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


class Piece(NamedTuple):
    """A shard with its lines, if it consists of lines, and the position of its end in the packed file.

    The lines are valid until the next piece is made.
    """

    shard: Shard
    lines: Block | None
    position: int


def pieces_of(file: int, path: Path, size: int, most_line: int, memory: bytearray, cut: Cut | None) -> Iterator[Piece]:
    """The shards of a file, about `size` bytes of text each; lines of more than `most_line` bytes are truncated.

    `memory` holds the lines. `cut` is that of `formats.cut_of`: without it, the file is one shard.
    """
    if cut == "row groups":
        yield from _parquet(file, path, size)
    elif cut is None:
        yield Piece(Shard(file, 0, str(path)), None, path.stat().st_size if path.is_file() else 0)
    else:
        with open_unpacked(path, cores()) as unpacked:
            for number, lines in enumerate(cut_lines(Named(unpacked), size, most_line, memory)):
                position = 0
                with suppress(OSError, ValueError):  # a stream may be closed at its end
                    position = unpacked.position()
                yield Piece(Shard(file, number, str(path), lines.before), lines, position)


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


@dataclass(frozen=True)
class ShardLinker:
    """Links shards into the folder `out`."""

    linker: Linker
    out: Path
    scores: bool
    date: str | None
    most_line: int
    reading: Reading = field(default_factory=Reading)

    @cached_property
    def nothing(self) -> pa.Table:
        """An empty table with the columns of links, made once for all shards."""
        return described(self.linker.kb, self.linker.empty_links(self.scores))

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The metadata of the links, the same for all shards."""
        return self.linker.metadata

    def link(self, shard: Shard, lines: Block | None) -> Done:
        """Link a shard. Its part is on the disk when this returns; its name in the folder may not be yet."""
        part = part_path(self.out, shard.name)
        articles = linked = 0
        with _Rejects(part_path(self.out, shard.name, REJECTS), shard.path) as rejects:
            with LinkWriter(part, self.metadata, tidy=False) as writer:
                writer.write(self.nothing)
                for table in with_dates(self._tables(shard, lines, rejects), rejects, self.date):
                    found = self.linker.link_counted(table, self.scores, rejects)
                    writer.write(described(self.linker.kb, found.links))
                    articles += found.articles
                    linked += found.linked
            sync(part)
        return Done(
            file=shard.file,
            number=shard.number,
            digest=digest(self.out, shard.name),
            articles=articles,
            mentions=writer.rows,
            linked=linked,
            rejects=rejects.count,
            undated=rejects.unread_dates.total(),
            unread_date=next((text[:60] for text in rejects.unread_dates), None),
        )

    def _tables(self, shard: Shard, lines: Block | None, rejects: _Rejects) -> Iterator[pa.Table]:
        path = Path(shard.path)
        if lines is not None:
            return read_blocks([lines], path, rejects, most_line=self.most_line, places=rejects.places)
        if shard.groups is not None:
            return read_row_groups(path, rejects, range(*shard.groups), shard.before, self.reading)
        return read_articles(path, rejects, most_line=self.most_line, reading=self.reading)


class _Rejects(Rejects):
    """Rejects of one file, with the line of an article that could be read but not linked."""

    def __init__(self, path: Path, file: str) -> None:
        super().__init__(path, tidy=False)
        self.file, self.places = file, Places()

    def add(self, reject: Reject) -> None:
        """Add one record, with its file and line."""
        if reject.file is None:
            reject = replace(reject, file=self.file, line=self.places.line_of(reject.article_id or ""))
        super().add(reject)
