"""Link one shard: read its articles, write their links to a part, and its rejected records to a file beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from namesake.articles.rejects import Reject, Rejects
from namesake.engines.described import described
from namesake.engines.files import with_dates
from namesake.engines.local import link_table
from namesake.engines.parts import REJECTS, digest, part_path
from namesake.engines.run_journal import Done
from namesake.engines.shards import Shard
from namesake.files.lines import Block
from namesake.files.outputs import sync
from namesake.formats import read_articles
from namesake.formats.fields import Reading
from namesake.formats.jsonl import Places, read_blocks
from namesake.formats.links import LinkWriter
from namesake.formats.parquet import read_row_groups
from namesake.linker import Linker


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
        return described(self.linker.kb, self.linker.nothing(self.scores))

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The metadata of the links, the same for all shards."""
        return self.linker.metadata

    def link(self, shard: Shard, lines: Block | None) -> Done:
        """Link a shard. Its part is on the disk when this returns; its name in the folder may not be yet."""
        part = part_path(self.out, shard)
        articles = linked = 0
        with _Rejects(part_path(self.out, shard, REJECTS), shard.path) as rejects:
            with LinkWriter(part, self.metadata, tidy=False) as writer:
                writer.write(self.nothing)
                for table in with_dates(self._tables(shard, lines, rejects), rejects, self.date):
                    done = link_table(self.linker, table, self.scores, rejects)
                    writer.write(described(self.linker.kb, done.links))
                    articles += done.articles
                    linked += done.linked
            sync(part)
        return Done(
            file=shard.file,
            number=shard.number,
            digest=digest(self.out, shard),
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
            return read_row_groups(
                path, rejects, groups=range(*shard.groups), before=shard.before, reading=self.reading
            )
        return read_articles(path, rejects, most_line=self.most_line, reading=self.reading)


class _Rejects(Rejects):
    """Rejects of one file, with the line of an article that could be read but not linked."""

    def __init__(self, path: Path, file: str) -> None:
        super().__init__(path, tidy=False)
        self.file = file
        self.places = Places()

    def add(self, reject: Reject) -> None:
        """Add one record, with its file and line."""
        if reject.file is None:
            reject = replace(reject, file=self.file, line=self.places.line_of(reject.article_id or ""))
        super().add(reject)
