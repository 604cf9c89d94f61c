"""The pool of threads that link: small requests together, large requests alone (docs/server-design.md, "Batches")."""

import asyncio
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from inspect import signature
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET
from prometheus_client import Counter
from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.server import schema
from namesake.apps.server.endpoint import Endpoint, RequestError, busy
from namesake.apps.server.limits import Limits
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Rejects
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.kinds import all_kinds, parse_kinds
from namesake.linker import Linker

T = TypeVar("T")
Links = list[list[schema.LinkAnswer]]
About = Callable[[str], tuple[str | None, str | None, str, str | None]]

LINKERS = 32  # linkers with other thresholds or kinds that are kept
REMEMBERED = 1 << 16  # entities whose labels are kept in memory
COUNTED = {"articles": "Articles linked.", "batches": "Batches in which they were linked."}  # what the metrics count
COUNTED |= {"links": "Names found or given.", "links_answered": "Names linked to an entity."}


@dataclass(frozen=True)
class LinkOptions:
    """Options of a request. Only requests with the same options are linked together."""

    threshold: float | str | None = None
    kinds: str | None = None  # the kinds in their one spelling (`Pool.kinds`)
    candidates: bool = False
    parts: bool = False
    limit: int = schema.SHOWN


@dataclass(eq=False)
class Job:
    """The articles of one request. Jobs are created on the event loop."""

    given: Sequence[schema.GivenArticle]
    render: Callable[[Links], bytes]  # makes the answer from the links; called by a thread
    options: LinkOptions = LinkOptions()
    several: bool = True  # whether the request has a list of articles, which its errors count
    done: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


@dataclass(eq=False)
class Lane:
    """Some threads, and the jobs that wait for them."""

    threads: ThreadPoolExecutor
    batch: int
    waiting: list[Job] = field(default_factory=list)
    expected: int = 1  # jobs when the last batch was done, including its own: as many are likely to arrive again
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    workers: set[asyncio.Task[None]] = field(default_factory=set)  # one per busy thread, as long as jobs wait


class Pool:
    """Links the articles of requests in its threads. Its methods are called from one event loop."""

    def __init__(self, linker: Linker, limits: Limits) -> None:
        self.linker, self.limits = linker, limits
        self.about = lru_cache(REMEMBERED)(partial(_about, linker.kb))
        self.counts = {name: Counter(f"namesake_{name}", text, registry=None) for name, text in COUNTED.items()}
        own: dict[str, Any] = {"mentions": linker.mentions, "decisions": linker.decisions or ()}
        self._at = lru_cache(LINKERS)(partial(Linker, linker.kb, linker.recipe, **own))
        names = ("link-small", "link-large", "link-short")
        small, large, self.short = (ThreadPoolExecutor(limits.threads, thread_name_prefix=name) for name in names)
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

    async def link(self, job: Job) -> bytes:
        """The answer to a job, whose articles must be within the limits."""
        schema.check_given(job.given, self.limits)
        if self.waiting >= self.limits.requests:
            raise busy("too many requests wait to be linked")
        lane = self.small if schema.weight(job.given) <= self.limits.small else self.large
        lane.waiting.append(job)
        lane.arrived.set()
        if len(lane.workers) < self.limits.threads:
            lane.workers.add(asyncio.create_task(self._work_off(lane)))
        return await job.done

    async def run(self, work: Callable[[], T], large: bool = False) -> T:
        """The result of other work than linking. `large` work uses the threads of large requests."""
        threads = self.large.threads if large else self.short
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    async def json(self, work: Callable[[], object], large: bool = False) -> bytes:
        """The result of other work than linking, as JSON."""
        return await self.run(lambda: msgspec.json.encode(work()), large)

    def lookup(self, path: str, function: Callable[..., Any], returns: Any, **more: Any) -> Endpoint:
        """An endpoint for GET that calls a function in a thread, with the parameters of the URL that it declares."""
        declared = signature(function).parameters.values()
        fields = [(one.name, one.annotation, *(() if one.default is one.empty else (one.default,))) for one in declared]
        query = msgspec.defstruct(re.sub(r"\W", "_", path), fields) if fields else None

        def work(asked: Any) -> bytes | Response:
            answer = function(**(msgspec.structs.asdict(asked) if fields else {}))
            return answer if isinstance(answer, Response) else msgspec.json.encode(answer)

        async def answer(request: Request, asked: Any) -> bytes | Response:
            return await self.run(partial(work, asked))

        answer.__doc__ = getattr(function, "func", function).__doc__
        return Endpoint("GET", path, answer, returns=returns, query=query, **more)

    def close(self) -> None:
        """End the threads after their current work."""
        for threads in (self.small.threads, self.large.threads, self.short):
            threads.shutdown()

    async def _work_off(self, lane: Lane) -> None:
        """Link the waiting jobs of a lane, batch by batch. A batch waits a moment if more jobs are expected."""
        while lane.waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.linger):
                    while len(lane.waiting) < min(lane.expected, lane.batch):
                        lane.arrived.clear()
                        await lane.arrived.wait()
            if jobs := _next_batch(lane):  # unless another thread has taken them
                results: Sequence[bytes | BaseException]
                try:
                    results = await asyncio.get_running_loop().run_in_executor(lane.threads, self._answers, jobs)
                except Exception as problem:
                    results = [problem] * len(jobs)
                for job, result in zip(jobs, results, strict=True):
                    if job.done.done():
                        continue  # the server was stopped without waiting
                    if isinstance(result, BaseException):
                        job.done.set_exception(result)
                    else:
                        job.done.set_result(result)
                lane.expected = len(jobs) + len(lane.waiting)
        lane.workers -= {asyncio.current_task()}  # at once: the next job needs another worker

    def _answers(self, jobs: Sequence[Job]) -> Sequence[bytes | BaseException]:
        """The answer to each job, or its error, which affects no other. All jobs have the same options."""
        options, limits = jobs[0].options, self.limits
        read = [_attempt(schema.articles_of, job.given, limits, job.several) for job in jobs]
        builder, ends = ArticleBuilder(), [0]
        for articles in read:
            for article in () if isinstance(articles, Exception) else articles:
                builder.add(replace(article, id=str(len(builder.articles))))
            ends.append(len(builder.articles))
        rejects, most = Rejects(most=ends[-1]), options.limit if options.candidates else None
        linker = self.at(options.threshold, options.kinds)
        links = linker.link(builder.table(), options.candidates, rejects, most).drop_columns("extra")
        faults = {int(reject.article_id or 0): reject.reason for reject in rejects.first}
        rows = None if options.candidates else links.to_pylist()
        places = np.searchsorted(links.column("article_id").cast(pa.int64()).to_numpy(), ends)
        answered = links.num_rows - links.column("qid").null_count
        for counter, count in zip(self.counts.values(), (ends[-1], 1, links.num_rows, answered), strict=True):
            counter.inc(count)

        def answer(number: int) -> bytes:
            articles, first, (begin, end) = read[number], ends[number], places[number : number + 2]
            if isinstance(articles, Exception):
                raise articles
            for at in range(len(articles)):
                if first + at in faults:
                    error = f"article {at} cannot be linked: {faults[first + at]}"
                    raise RequestError(422, error, "correct it; articles are counted from 0")
            own = links.slice(begin, end - begin)
            listed = pc.sum(pc.list_value_length(own["candidates"])).as_py() if options.candidates else 0
            if (listed or 0) > limits.candidates:
                error = f"the answer would have more than {limits.candidates:,} candidates"
                raise RequestError(413, error, "ask for fewer candidates per name with `limit`, or send less at a time")
            answers: Links = [[] for _ in articles]
            for row in own.to_pylist() if rows is None else rows[begin:end]:
                answers[int(row["article_id"]) - first].append(_link_answer(row, options.parts, self.about))
            return jobs[number].render(answers)

        return [_attempt(answer, number) for number in range(len(jobs))]


def _about(kb: KB, qid: str) -> tuple[str | None, str | None, str, str | None]:
    """The label, the description, the address and the kind of an entity."""
    row, url = kb.row(qid), kb.ids.iri(qid)
    if row < 0:
        return None, None, url, None
    return kb.label(row) or None, about(kb, row) or None, url, kb.kind_of(row).name


def _next_batch(lane: Lane) -> list[Job]:
    """The first waiting job and others with the same options, as many as fit into a batch."""
    jobs, left, later = list[Job](), lane.batch, list[Job]()
    for job in lane.waiting:
        if left > 0 and (not jobs or (job.options == jobs[0].options and len(job.given) <= left)):
            jobs.append(job)
            left -= max(len(job.given), 1)
        else:
            later.append(job)
    lane.waiting = later
    return jobs


def _attempt(function: Callable[..., T], *arguments: Any) -> T | Exception:
    try:
        return function(*arguments)
    except Exception as problem:
        return problem


def _link_answer(row: dict[str, Any], parts: bool, about: About) -> schema.LinkAnswer:
    label, description, url = (None, None, None) if row["qid"] is None else about(row["qid"])[:3]
    row |= {"label": label, "description": description, "url": url, "title_spans": row["title_spans"] or []}
    if "candidates" in row:
        row["candidates"] = [
            schema.CandidateAnswer(one["qid"], *about(one["qid"]), one["score"], one["parts"] if parts else UNSET)
            for one in row["candidates"]
        ]
    if not parts:
        row.pop("doubts", None)
    return msgspec.convert(row, schema.LinkAnswer)
