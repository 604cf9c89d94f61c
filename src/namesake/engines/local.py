"""Linking on this machine: batches on several threads, results in the order of the input, memory bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa

from namesake.articles.rejects import Rejects
from namesake.linker import Linked, Linker
from namesake.machine import threads_for


def link_tables(
    linker: Linker, tables: Iterable[pa.Table], threads: int = 1, scores: bool = False, rejects: Rejects | None = None
) -> Iterator[Linked]:
    """For every table of articles, how many could be linked and their links; at most two per thread wait in memory.

    Threads, not processes: the kernels release the interpreter's lock, and all share one map of the KB.
    """
    threads = threads_for(threads)
    if threads <= 1:
        for table in tables:
            yield linker.link_counted(table, scores, rejects)
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
        self.rejects = rejects
        self.own = None if rejects is None else Rejects(most=table.num_rows)
        self.linked: Future[Linked] = pool.submit(linker.link_counted, table, scores, self.own)

    def result(self) -> Linked:
        linked = self.linked.result()
        if self.rejects is not None and self.own is not None:
            for reject in self.own.first:
                self.rejects.add(reject)
            self.rejects.unread_dates.update(self.own.unread_dates)
        return linked
