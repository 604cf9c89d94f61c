"""Where linking is done: a bounded pool of threads, in which small requests are linked together.

One call of the linker costs milliseconds however little it links, and a fraction of one for each further article. So
what has come in while a thread was busy is its next batch. Large requests have threads of their own, and so have short
look-ups and the page: nobody waits for large ones. What a request gets does not depend on its company: the linker
promises that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from namesake.apps.server.answers import Answers
from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import busy
from namesake.apps.server.work import Job, Render, Texts, Wish, Worked, work
from namesake.linker import Linker

T = TypeVar("T")

THRESHOLDS = 32
"""Linkers that are kept for thresholds that clients ask for."""


@dataclass
class Counts:
    """What the pool has done, for the metrics."""

    batches: int = 0
    articles: int = 0
    links: int = 0
    answered: int = 0

    def add(self, worked: Worked) -> None:
        """Count a batch."""
        self.batches += 1
        self.articles += worked.articles
        self.links += worked.links
        self.answered += worked.answered


@dataclass(eq=False)
class Lane:
    """Jobs that wait for some threads, and how many of these are busy."""

    threads: ThreadPoolExecutor
    most_busy: int
    batch: int
    waiting: deque[Job] = field(default_factory=deque)
    busy: int = 0
    company: int = 1
    """How many jobs there were when the last batch was done, its own included: as many may soon be there again."""
    timer: asyncio.TimerHandle | None = None


class Pool:
    """Links the articles of requests in threads of its own. Its methods are called from one event loop."""

    def __init__(self, linker: Linker, limits: Limits) -> None:
        self.linker, self.limits = linker, limits
        self.answers = Answers(linker.kb)
        self.counts = Counts()
        self._at = lru_cache(maxsize=THRESHOLDS)(self._linker_at)
        names = ("small", "large", "short")
        lanes = [ThreadPoolExecutor(limits.threads, thread_name_prefix=f"link-{name}") for name in names]
        self.short = lanes[2]
        self.small = Lane(lanes[0], limits.threads, limits.batch)
        self.large = Lane(lanes[1], limits.threads, 1)

    def _linker_at(self, threshold: float | str) -> Linker:
        return Linker(self.linker.kb, self.linker.recipe.at(threshold), None, self.linker.mentions)

    def at(self, threshold: float | str | None) -> Linker:
        """The linker with another threshold than its recipe's."""
        return self.linker if threshold is None else self._at(threshold)

    @property
    def waiting(self) -> int:
        """Jobs that no thread has taken yet."""
        return len(self.small.waiting) + len(self.large.waiting)

    async def link(self, texts: Texts, wish: Wish, render: Render) -> bytes:
        """What `render` makes of the links of the articles."""
        if self.waiting >= self.limits.requests:
            raise busy("too many requests wait to be linked")
        job = Job(texts, wish, render, asyncio.get_running_loop().create_future())
        lane = self.small if texts.weight <= self.limits.small else self.large
        lane.waiting.append(job)
        self._start(lane)
        return await job.done

    async def run(self, work: Callable[[], T]) -> T:
        """The result of other work than linking, done by a thread for large requests."""
        return await asyncio.get_running_loop().run_in_executor(self.large.threads, work)

    async def look(self, work: Callable[[], T]) -> T:
        """The result of short work, such as a look-up, done by a thread that no large request keeps busy."""
        return await asyncio.get_running_loop().run_in_executor(self.short, work)

    def close(self) -> None:
        """End the threads once they have done what they were given."""
        for threads in (self.small.threads, self.large.threads, self.short):
            threads.shutdown()

    def _work(self, jobs: list[Job]) -> Worked:
        return work(self.at(jobs[0].wish.threshold), self.answers, self.limits, jobs)

    # from waiting to linked
    def _start(self, lane: Lane) -> None:
        """Have a free thread take what waits: at once, or in a moment where others seem to be on their way."""
        if lane.busy >= lane.most_busy or not lane.waiting:
            return
        if len(lane.waiting) >= min(lane.company, lane.batch):
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
        loop = asyncio.get_running_loop()
        loop.run_in_executor(lane.threads, self._work, jobs).add_done_callback(
            lambda done: self._done(lane, jobs, done)
        )
        self._start(lane)

    def _next(self, lane: Lane) -> list[Job]:
        """The first job that waits and others with the same wish, as far as they fit into a batch."""
        jobs: list[Job] = []
        room = lane.batch
        later: deque[Job] = deque()
        while lane.waiting and room > 0:
            job = lane.waiting.popleft()
            if jobs and (job.wish != jobs[0].wish or job.texts.count > room):
                later.append(job)
                continue
            jobs.append(job)
            room -= max(job.texts.count, 1)
        lane.waiting.extendleft(reversed(later))
        return jobs

    def _done(self, lane: Lane, jobs: list[Job], done: asyncio.Future[Worked]) -> None:
        lane.busy -= 1
        problem = done.exception()
        results: Sequence[bytes | BaseException]
        if problem is None:
            self.counts.add(done.result())
            results = done.result().results
        else:
            results = [problem] * len(jobs)
        for job, result in zip(jobs, results, strict=True):
            if job.done.done():
                continue  # the server was made to end at once
            if isinstance(result, BaseException):
                job.done.set_exception(result)
            else:
                job.done.set_result(result)
        lane.company = len(jobs) + len(lane.waiting)
        self._start(lane)
