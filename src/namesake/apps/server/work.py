"""What a thread does with the requests of a batch: reads their articles, links them together, answers each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.apps.server.answers import Answers
from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import RequestError
from namesake.apps.server.schema import SHOWN, LinkAnswer
from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Rejects
from namesake.linker import Linker

Links = list[list[LinkAnswer]]
Render = Callable[[Links], bytes]


@dataclass(frozen=True)
class Wish:
    """What is wanted of links; requests with the same wish can be linked together."""

    threshold: float | str | None = None
    candidates: bool = False
    parts: bool = False
    limit: int = SHOWN
    """How many candidates of each name."""


@dataclass(frozen=True)
class Texts:
    """Articles that a thread is yet to read: how many, what they weigh (`schema.weight`), and what reads them.

    They must be called by their numbers from 0 on.
    """

    count: int
    weight: int
    read: Callable[[], Sequence[Article]]


@dataclass(eq=False)
class Job:
    """A request's articles, what is made of their links, and who waits for it."""

    texts: Texts
    wish: Wish
    render: Render
    done: asyncio.Future[bytes]


@dataclass(frozen=True)
class Worked:
    """What a thread made of a batch: an answer to each job, or why there is none, and how much it was."""

    results: Sequence[bytes | Exception]
    articles: int
    links: int
    answered: int


def work(linker: Linker, answers: Answers, limits: Limits, jobs: Sequence[Job]) -> Worked:
    """The answer to each job, or why there is none. All have the same wish; what goes wrong with one is its own."""
    wish = jobs[0].wish
    read = [_read(job) for job in jobs]
    ends = np.cumsum([0 if isinstance(articles, Exception) else len(articles) for articles in read]).tolist()
    parts = list(zip([0, *ends[:-1]], ends, strict=True))
    builder = ArticleBuilder()
    for article in (article for articles in read if not isinstance(articles, Exception) for article in articles):
        builder.add(replace(article, id=str(len(builder.articles))))
    count = len(builder.articles)
    rejects = Rejects(most=count)
    links = linker.link(builder.table(), wish.candidates, rejects, wish.limit if wish.candidates else None)
    faults = {int(reject.article_id or 0): reject.reason for reject in rejects.first}
    problems = [
        articles if isinstance(articles, Exception) else _fault(faults, *part)
        for articles, part in zip(read, parts, strict=True)
    ]
    if wish.candidates:
        links = _uncrowded(links, limits, parts, problems)
    by_article = answers.by_article(links, count, wish.parts)
    results = [
        problem or _rendered(job, by_article[begin:end])
        for job, problem, (begin, end) in zip(jobs, problems, parts, strict=True)
    ]
    return Worked(results, count, links.num_rows, links.num_rows - links.column("qid").null_count)


def _read(job: Job) -> Sequence[Article] | Exception:
    """The articles of a job, or what is wrong with them."""
    try:
        return job.texts.read()
    except Exception as problem:
        return problem


def _fault(faults: dict[int, str], begin: int, end: int) -> Exception | None:
    """What is wrong with the first of some articles that could not be linked."""
    wrong = next((number for number in range(begin, end) if number in faults), None)
    if wrong is None:
        return None
    return RequestError(
        422,
        f"article {wrong - begin} cannot be linked: {faults[wrong]}",
        "mend it; articles are counted from 0",
    )


def _uncrowded(
    links: pa.Table, limits: Limits, parts: Sequence[tuple[int, int]], problems: list[Exception | None]
) -> pa.Table:
    """The links without those of jobs whose candidates are too many for an answer, which is told among `problems`."""
    article = links.column("article_id").cast(pa.int64()).to_numpy()
    shown = np.bincount(article, pc.list_value_length(links.column("candidates")).to_numpy(), parts[-1][1])
    kept = np.ones(len(shown), np.bool_)
    for number, (begin, end) in enumerate(parts):
        if shown[begin:end].sum() > limits.candidates:
            kept[begin:end] = False
            problems[number] = RequestError(
                413,
                f"the answer would have more than {limits.candidates:,} candidates",
                "ask for fewer of each name with `limit`, or send less at a time",
            )
    return links if kept.all() else links.filter(pa.array(kept[article]))


def _rendered(job: Job, links: Links) -> bytes | Exception:
    """The answer to a job; what goes wrong with it is its own."""
    try:
        return job.render(links)
    except Exception as problem:
        return problem
