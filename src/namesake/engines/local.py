"""Linking on this machine: tables of articles on several threads, links in the order of the articles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from namesake.articles.rejects import Rejects
from namesake.linker import Linked, Linker
from namesake.threads import in_order, threads_for


def link_tables(
    linker: Linker, tables: Iterable[pa.Table], threads: int = 1, scores: bool = False, rejects: Rejects | None = None
) -> Iterator[Linked]:
    """Link tables of articles, in their order; at most two tables per thread are in memory."""
    threads = threads_for(threads)
    if threads <= 1:
        for table in tables:
            yield linker.link_counted(table, scores, rejects)
        return

    def link(table: pa.Table) -> tuple[Linked, Rejects | None]:
        own = None if rejects is None else Rejects(most=table.num_rows)  # threads do not share rejects
        return linker.link_counted(table, scores, own), own

    for linked, own in in_order(link, tables, threads):
        if rejects is not None and own is not None:
            for reject in own.first:
                rejects.add(reject)
            rejects.unread_dates.update(own.unread_dates)
        yield linked
