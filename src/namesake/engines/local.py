"""Linking on this machine: batches on several threads, results in the order of the input, memory bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa

from namesake.formats.rejects import Rejects
from namesake.linker import Linker


def link_tables(
    linker: Linker, tables: Iterable[pa.Table], threads: int = 1, scores: bool = False, rejects: Rejects | None = None
) -> Iterator[tuple[int, pa.Table]]:
    """For every table of articles, how many it holds and their links; at most two tables a thread wait in memory.

    Threads, not processes: the kernels release the interpreter's lock, and all share one map of the KB.
    """
    if threads <= 1:
        for table in tables:
            yield table.num_rows, linker.link(table, scores, rejects)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="link") as pool:
        waiting: deque[tuple[int, Future[pa.Table]]] = deque()
        try:
            for table in tables:
                waiting.append((table.num_rows, pool.submit(linker.link, table, scores, rejects)))
                if len(waiting) > 2 * threads:
                    size, links = waiting.popleft()
                    yield size, links.result()
            while waiting:
                size, links = waiting.popleft()
                yield size, links.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
