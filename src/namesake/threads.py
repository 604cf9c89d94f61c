"""Work on several threads: ordered results, and bounded memory.

Threads, not processes: the kernels release the GIL, and all threads share one map of the KB.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from namesake.machine import cores

A = TypeVar("A")
B = TypeVar("B")

MOST_FOR_A_CORE = 4


def threads_for(asked: int) -> int:
    """As many threads as requested, or one per core for 0 or less; at most a few per core."""
    return min(asked if asked > 0 else cores(), MOST_FOR_A_CORE * cores())


def in_order(function: Callable[[A], B], items: Iterable[A], threads: int) -> Generator[B, None, None]:
    """The result of `function` for each item, in the order of the items; at most two items per thread are in memory."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[B]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(copy_context().run, function, item))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
