"""The pool of threads that link. Small requests are linked together.

One call of the linker takes milliseconds however little it links, and a fraction of one for each further article. So
the requests that arrive while a thread is busy are its next batch. Large requests, and short look-ups, have threads of
their own, so that nothing waits for a large request. The linker gives a request the same links in any batch.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import busy
from namesake.apps.server.work import Answers, Job, work
from namesake.linker import Linker

T = TypeVar("T")
Worked = tuple[Sequence[bytes | BaseException], dict[str, int]]

THRESHOLDS = 32
"""Linkers with other thresholds that are kept."""


@dataclass(eq=False)
class Lane:
    """Some threads, and the jobs that wait for them."""

    threads: ThreadPoolExecutor
    most_busy: int
    batch: int
    """Articles per batch."""
    waiting: deque[Job] = field(default_factory=deque)
    busy: int = 0
    expected: int = 1
    """The number of jobs when the last batch was done, including its own: as many are likely to arrive again."""
    timer: asyncio.TimerHandle | None = None


class Pool:
    """Links the articles of requests in its threads. Its methods are called from one event loop."""

    def __init__(self, linker: Linker, limits: Limits) -> None:
        self.linker, self.limits = linker, limits
        self.answers = Answers(linker.kb)
        self.counts = Counter(batches=0, articles=0, links=0, links_answered=0)
        """What has been linked, for the metrics."""
        self._at = lru_cache(maxsize=THRESHOLDS)(self._linker_at)
        small, large, self.short = (
            ThreadPoolExecutor(limits.threads, thread_name_prefix=f"link-{name}")
            for name in ("small", "large", "short")
        )
        self.small = Lane(small, limits.threads, limits.batch)
        self.large = Lane(large, limits.threads, 1)

    def _linker_at(self, threshold: float | str) -> Linker:
        return Linker(self.linker.kb, self.linker.recipe.at(threshold), None, self.linker.mentions)

    def at(self, threshold: float | str | None) -> Linker:
        """The linker with this threshold; None: the recipe's own."""
        return self.linker if threshold is None else self._at(threshold)

    @property
    def waiting(self) -> int:
        """The number of jobs that no thread has taken yet."""
        return len(self.small.waiting) + len(self.large.waiting)

    async def link(self, job: Job) -> bytes:
        """The answer to a job."""
        if self.waiting >= self.limits.requests:
            raise busy("too many requests wait to be linked")
        lane = self.small if job.weight <= self.limits.small else self.large
        lane.waiting.append(job)
        self._start(lane)
        return await job.done

    async def run(self, work: Callable[[], T], large: bool = False) -> T:
        """The result of other work than linking. `large` work uses the threads of large requests."""
        threads = self.large.threads if large else self.short
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def close(self) -> None:
        """End the threads after their current work."""
        for threads in (self.small.threads, self.large.threads, self.short):
            threads.shutdown()

    def _start(self, lane: Lane) -> None:
        """Start a batch if a thread is free: at once, or after a moment if more jobs are expected."""
        if lane.busy >= lane.most_busy or not lane.waiting:
            return
        if len(lane.waiting) >= min(lane.expected, lane.batch):
            self._take(lane)
        elif lane.timer is None:
            lane.timer = asyncio.get_running_loop().call_later(self.limits.linger, self._take, lane)

    def _take(self, lane: Lane) -> None:
        if lane.timer is not None:
            lane.timer.cancel()
            lane.timer = None
        jobs = self._next(lane)
        if not jobs:
            return
        lane.busy += 1
        running = asyncio.get_running_loop().run_in_executor(lane.threads, self._work, jobs)
        running.add_done_callback(lambda done: self._done(lane, jobs, done))
        self._start(lane)

    def _next(self, lane: Lane) -> list[Job]:
        """The first waiting job and others with the same options, as many as fit into a batch."""
        jobs: list[Job] = []
        room = lane.batch
        later: deque[Job] = deque()
        while lane.waiting and room > 0:
            job = lane.waiting.popleft()
            if jobs and (job.options != jobs[0].options or job.count > room):
                later.append(job)
                continue
            jobs.append(job)
            room -= max(job.count, 1)
        lane.waiting.extendleft(reversed(later))
        return jobs

    def _work(self, jobs: list[Job]) -> Worked:
        return work(self.at(jobs[0].options.threshold), self.answers, self.limits, jobs)

    def _done(self, lane: Lane, jobs: list[Job], done: asyncio.Future[Worked]) -> None:
        lane.busy -= 1
        problem = done.exception()
        results, counts = ([problem] * len(jobs), {}) if problem is not None else done.result()
        self.counts.update(counts)
        for job, result in zip(jobs, results, strict=True):
            if job.done.done():
                continue  # the server was stopped without waiting
            if isinstance(result, BaseException):
                job.done.set_exception(result)
            else:
                job.done.set_result(result)
        lane.expected = len(jobs) + len(lane.waiting)
        self._start(lane)
