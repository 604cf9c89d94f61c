"""The pool of threads that link. Small requests are linked together.

One call of the linker takes milliseconds however little it links, and a fraction of one for each further article. So
the requests that arrive while a thread is busy are its next batch. Large requests, and short look-ups, have threads of
their own, so that nothing waits for a large request. The linker gives a request the same links in any batch.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from namesake.apps.server import schema
from namesake.apps.server.endpoint import RequestError, busy
from namesake.apps.server.limits import Limits
from namesake.apps.server.schema import SHOWN, CandidateAnswer, GivenArticle, LinkAnswer
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Rejects
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.kinds import all_kinds, parse_kinds
from namesake.linker import Linker

T = TypeVar("T")
Links = list[list[LinkAnswer]]
About = Callable[[str], tuple[str | None, str | None, str, str | None]]
Worked = tuple[Sequence[bytes | BaseException], dict[str, int]]

LINKERS = 32
"""Linkers with other thresholds or kinds that are kept."""
REMEMBERED = 1 << 16
"""Entities whose labels are kept in memory."""
COPIED = ("name", "qid", "kind", "confidence", "known", "reason", "best", "score", "margin", "tie_break")
"""Fields of a link that an answer copies."""


@dataclass(frozen=True)
class LinkOptions:
    """Options of a request. Only requests with the same options are linked together."""

    threshold: float | str | None = None
    kinds: str | None = None
    """The kinds in their one spelling (`Pool.kinds`)."""
    candidates: bool = False
    parts: bool = False
    limit: int = SHOWN


@dataclass(eq=False)
class Job:
    """The articles of one request. Jobs are created on the event loop."""

    given: Sequence[GivenArticle]
    render: Callable[[Links], bytes]
    """Makes the answer from the links; called by a thread."""
    options: LinkOptions
    several: bool
    """Whether the request has a list of articles, which its errors count."""
    done: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(eq=False)
class Lane:
    """Some threads, and the jobs that wait for them."""

    threads: ThreadPoolExecutor
    batch: int
    waiting: deque[Job] = field(default_factory=deque)
    busy: int = 0
    expected: int = 1
    """The number of jobs when the last batch was done, including its own: as many are likely to arrive again."""
    timer: asyncio.TimerHandle | None = None


class Pool:
    """Links the articles of requests in its threads. Its methods are called from one event loop."""

    def __init__(self, linker: Linker, limits: Limits) -> None:
        self.linker, self.limits = linker, limits
        self.about = lru_cache(REMEMBERED)(partial(_about, linker.kb))
        self.counts = Counter(batches=0, articles=0, links=0, links_answered=0)
        """What has been linked, for the metrics."""
        own: dict[str, Any] = {"mentions": linker.mentions, "decisions": linker.decisions or ()}
        self._at = lru_cache(LINKERS)(partial(Linker, linker.kb, linker.recipe, **own))
        small, large, self.short = (
            ThreadPoolExecutor(limits.threads, thread_name_prefix=f"link-{name}")
            for name in ("small", "large", "short")
        )
        self.small, self.large = Lane(small, limits.batch), Lane(large, 1)

    def at(self, threshold: float | str | None, kinds: str | None = None) -> Linker:
        """The linker with this threshold and these kinds; None: those of the server's linker."""
        if threshold is None and kinds is None:
            return self.linker
        return self._at(threshold=threshold, kinds=kinds or self.linker.kind_names)

    def kinds(self, given: schema.Kinds | None) -> str | None:
        """The kinds that a request names, in their one spelling. One that the KB does not have is an error."""
        if given is None:
            return None
        asked, there = [all_kinds()[number] for number in parse_kinds(given)], self.linker.kb.kinds
        if not any(kind in there for kind in asked):
            error = f"the KB has no {' and no '.join(kind.plural for kind in asked)}"
            raise RequestError(422, error, f"its kinds are {', '.join(kind.plural for kind in there)}")
        return ",".join(kind.plural for kind in asked)

    @property
    def waiting(self) -> int:
        """The number of jobs that no thread has taken yet."""
        return len(self.small.waiting) + len(self.large.waiting)

    async def link_articles(
        self,
        given: Sequence[GivenArticle],
        render: Callable[[Links], bytes],
        options: LinkOptions | None = None,
        several: bool = True,
    ) -> bytes:
        """The answer to a request with these articles, which must be within the limits."""
        schema.check_given(given, self.limits)
        if self.waiting >= self.limits.requests:
            raise busy("too many requests wait to be linked")
        job = Job(given, render, options or LinkOptions(), several)
        lane = self.small if schema.weight(given) <= self.limits.small else self.large
        lane.waiting.append(job)
        self._start(lane)
        return await job.done

    async def run(self, work: Callable[[], T], large: bool = False) -> T:
        """The result of other work than linking. `large` work uses the threads of large requests."""
        threads = self.large.threads if large else self.short
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    async def json(self, work: Callable[[], object], large: bool = False) -> bytes:
        """The result of other work than linking, as JSON."""
        return await self.run(lambda: msgspec.json.encode(work()), large)

    def close(self) -> None:
        """End the threads after their current work."""
        for threads in (self.small.threads, self.large.threads, self.short):
            threads.shutdown()

    def _start(self, lane: Lane) -> None:
        """Start a batch if a thread is free: at once, or after a moment if more jobs are expected."""
        if lane.busy >= self.limits.threads or not lane.waiting:
            return
        if len(lane.waiting) >= min(lane.expected, lane.batch):
            self._take(lane)
        elif lane.timer is None:
            lane.timer = asyncio.get_running_loop().call_later(self.limits.linger, self._take, lane)

    def _take(self, lane: Lane) -> None:
        if lane.timer is not None:
            lane.timer.cancel()
            lane.timer = None
        jobs = _next_batch(lane)
        if not jobs:
            return
        lane.busy += 1
        linker = self.at(jobs[0].options.threshold, jobs[0].options.kinds)
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(lane.threads, _work, linker, self.about, self.limits, jobs)
        running.add_done_callback(lambda done: self._done(lane, jobs, done))
        self._start(lane)

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


def _about(kb: KB, qid: str) -> tuple[str | None, str | None, str, str | None]:
    """The label, the description, the address and the kind of an entity."""
    row, url = kb.row(qid), kb.ids.iri(qid)
    if row < 0:
        return None, None, url, None
    return kb.label(row) or None, about(kb, row) or None, url, kb.kind_of(row).name


def _next_batch(lane: Lane) -> list[Job]:
    """The first waiting job and others with the same options, as many as fit into a batch."""
    jobs: list[Job] = []
    left = lane.batch
    later: deque[Job] = deque()
    while lane.waiting and left > 0:
        job = lane.waiting.popleft()
        if jobs and (job.options != jobs[0].options or len(job.given) > left):
            later.append(job)
            continue
        jobs.append(job)
        left -= max(len(job.given), 1)
    lane.waiting.extendleft(reversed(later))
    return jobs


def _work(linker: Linker, about: About, limits: Limits, jobs: Sequence[Job]) -> Worked:
    """The answer to each job, or its error, and counts for the metrics.

    All jobs have the same options. An error of one job affects no other.
    """
    options = jobs[0].options
    read = [_attempt(schema.articles_of, job.given, limits, job.several) for job in jobs]
    builder, ends = ArticleBuilder(), [0]
    for articles in read:
        for article in () if isinstance(articles, Exception) else articles:
            builder.add(replace(article, id=str(len(builder.articles))))
        ends.append(len(builder.articles))
    parts, count = list(pairwise(ends)), ends[-1]
    rejects = Rejects(most=count)
    links = linker.link(builder.table(), options.candidates, rejects, options.limit if options.candidates else None)
    faults = {int(reject.article_id or 0): reject.reason for reject in rejects.first}
    problems: list[Exception | None] = []
    for articles, (begin, end) in zip(read, parts, strict=True):
        wrong = (f"article {at - begin} cannot be linked: {faults[at]}" for at in range(begin, end) if at in faults)
        refused = (RequestError(422, error, "correct it; articles are counted from 0") for error in wrong)
        problems.append(articles if isinstance(articles, Exception) else next(refused, None))
    if options.candidates:
        links = _without_excess(links, limits, parts, problems)
    by_article = _answers(links, count, options.parts, about)
    results: list[bytes | BaseException] = [
        _attempt(job.render, by_article[begin:end]) if problem is None else problem
        for job, problem, (begin, end) in zip(jobs, problems, parts, strict=True)
    ]
    answered = links.num_rows - links.column("qid").null_count
    return results, {"batches": 1, "articles": count, "links": links.num_rows, "links_answered": answered}


def _attempt(function: Callable[..., T], *arguments: Any) -> T | Exception:
    try:
        return function(*arguments)
    except Exception as problem:
        return problem


def _without_excess(
    links: pa.Table, limits: Limits, parts: Sequence[tuple[int, int]], problems: list[Exception | None]
) -> pa.Table:
    """The links without those of jobs with too many candidates for one answer, for which `problems` gets an error."""
    article = links.column("article_id").cast(pa.int64()).to_numpy()
    shown = np.bincount(article, pc.list_value_length(links.column("candidates")).to_numpy(), parts[-1][1])
    kept = np.ones(len(shown), np.bool_)
    for number, (begin, end) in enumerate(parts):
        if shown[begin:end].sum() > limits.candidates:
            kept[begin:end] = False
            error = f"the answer would have more than {limits.candidates:,} candidates"
            advice = "ask for fewer candidates per name with `limit`, or send less at a time"
            problems[number] = RequestError(413, error, advice)
    return links if kept.all() else links.filter(pa.array(kept[article]))


def _answers(links: pa.Table, count: int, parts: bool, about: About) -> Links:
    """The links of each of `count` articles, whose ids are their numbers."""
    answers: Links = [[] for _ in range(count)]
    for row in links.drop_columns("extra").to_pylist():
        fields = {name: row[name] for name in COPIED}
        fields |= {"spans": row["spans"] or [], "title_spans": row["title_spans"] or []}
        label, description, url = (None, None, None) if row["qid"] is None else about(row["qid"])[:3]
        if "candidates" in row:
            fields["candidates"] = [
                CandidateAnswer(one["qid"], *about(one["qid"]), one["score"], one["parts"] if parts else UNSET)
                for one in row["candidates"]
            ]
            fields["doubts"] = row.get("doubts", UNSET) if parts else UNSET
        answers[int(row["article_id"])].append(LinkAnswer(label=label, description=description, url=url, **fields))
    return answers
