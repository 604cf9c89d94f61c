"""Linking on this machine: tables of articles on several threads, links in the order of the articles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

from namesake.articles.rejects import Rejects
from namesake.linker import Linker
from namesake.threads import in_order, threads_for


class Linked(NamedTuple):
    """The links of a table of articles, and their counts."""

    articles: int
    """Articles that were linked; the others are in the rejects."""
    links: pa.Table

    @property
    def mentions(self) -> int:
        """The number of links, NIL included."""
        return int(self.links.num_rows)

    @property
    def linked(self) -> int:
        """The number of links that have a QID."""
        return int(self.links.num_rows - self.links.column("qid").null_count)


def link_table(linker: Linker, table: pa.Table, scores: bool = False, rejects: Rejects | None = None) -> Linked:
    """Link one table of articles; without `rejects`, an article that cannot be linked is an error."""
    before = rejects.count if rejects is not None else 0
    links = linker.link(table, scores, rejects)
    rejected = rejects.count - before if rejects is not None else 0
    return Linked(table.num_rows - rejected, links)


def link_tables(
    linker: Linker, tables: Iterable[pa.Table], threads: int = 1, scores: bool = False, rejects: Rejects | None = None
) -> Iterator[Linked]:
    """Link tables of articles, in their order; at most two tables per thread are in memory."""
    threads = threads_for(threads)
    if threads <= 1:
        for table in tables:
            yield link_table(linker, table, scores, rejects)
        return

    def link(table: pa.Table) -> tuple[Linked, Rejects | None]:
        own = None if rejects is None else Rejects(most=table.num_rows)  # threads do not share rejects
        return link_table(linker, table, scores, own), own

    for linked, own in in_order(link, tables, threads):
        if rejects is not None and own is not None:
            for reject in own.first:
                rejects.add(reject)
            rejects.unread_dates.update(own.unread_dates)
        yield linked
