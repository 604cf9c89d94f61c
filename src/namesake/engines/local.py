"""Linking on this machine: batches on several threads, results in the order of the input, memory bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa

from namesake.articles.rejects import Rejects
from namesake.linker import Linker
from namesake.machine import threads_for


def link_tables(
    linker: Linker, tables: Iterable[pa.Table], threads: int = 1, scores: bool = False, rejects: Rejects | None = None
) -> Iterator[tuple[int, pa.Table]]:
    """For every table of articles, how many could be linked and their links; at most two per thread wait in memory.

    Threads, not processes: the kernels release the interpreter's lock, and all share one map of the KB.
    """
    threads = threads_for(threads)
    if threads <= 1:
        for table in tables:
            before = rejects.count if rejects else 0
            links = linker.link(table, scores, rejects)
            yield table.num_rows - (rejects.count - before if rejects else 0), links
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="link") as pool:
        waiting: deque[_Task] = deque()
        try:
            for table in tables:
                waiting.append(_Task(linker, table, scores, rejects, pool))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _Task:
    """A table being linked. What it sets aside is handed on with its result, so that no two threads share rejects."""

    def __init__(
        self, linker: Linker, table: pa.Table, scores: bool, rejects: Rejects | None, pool: ThreadPoolExecutor
    ) -> None:
        self.size = table.num_rows
        self.rejects = rejects
        self.own = None if rejects is None else Rejects(most=self.size)
        self.links: Future[pa.Table] = pool.submit(linker.link, table, scores, self.own)

    def result(self) -> tuple[int, pa.Table]:
        links = self.links.result()
        if self.rejects is None or self.own is None:
            return self.size, links
        for reject in self.own.first:
            self.rejects.add(reject)
        self.rejects.unread_dates.update(self.own.unread_dates)
        return self.size - self.own.count, links
