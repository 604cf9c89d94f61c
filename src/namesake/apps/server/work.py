"""The work of a thread on a batch of requests: it reads their articles, links them, and renders each answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import RequestError
from namesake.apps.server.schema import SHOWN, CandidateAnswer, LinkAnswer
from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Rejects
from namesake.kb import WIKIDATA
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.linker import Linker

T = TypeVar("T")
Links = list[list[LinkAnswer]]
"""The links of each article."""

REMEMBERED = 1 << 16
"""Entities whose labels are kept in memory."""
COPIED = ("name", "qid", "confidence", "known", "reason", "best", "score", "margin", "tie_break")
"""Fields of a link that an answer copies."""


@dataclass(frozen=True)
class LinkOptions:
    """Options of a request. Only requests with the same options are linked together."""

    threshold: float | str | None = None
    candidates: bool = False
    parts: bool = False
    limit: int = SHOWN
    """The number of candidates per name."""


@dataclass(eq=False)
class Job:
    """The articles of one request. Jobs are created on the event loop."""

    count: int
    """The number of articles."""
    weight: int
    """Their size, as `schema.weight` measures it."""
    read: Callable[[], Sequence[Article]]
    """Makes the articles; called by a thread."""
    render: Callable[[Links], bytes]
    """Makes the answer from the links; called by a thread."""
    options: LinkOptions = LinkOptions()
    done: asyncio.Future[bytes] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


def work(
    linker: Linker, answers: Answers, limits: Limits, jobs: Sequence[Job]
) -> tuple[list[bytes | Exception], dict[str, int]]:
    """The answer to each job, or its error, and counts for the metrics.

    All jobs have the same options. An error of one job affects no other.
    """
    options = jobs[0].options
    read = [_attempt(job.read) for job in jobs]
    ends = np.cumsum([0 if isinstance(articles, Exception) else len(articles) for articles in read]).tolist()
    parts = list(zip([0, *ends[:-1]], ends, strict=True))
    builder = ArticleBuilder()
    for article in (article for articles in read if not isinstance(articles, Exception) for article in articles):
        builder.add(replace(article, id=str(len(builder.articles))))
    count = len(builder.articles)
    rejects = Rejects(most=count)
    links = linker.link(builder.table(), options.candidates, rejects, options.limit if options.candidates else None)
    faults = {int(reject.article_id or 0): reject.reason for reject in rejects.first}
    problems = [
        articles if isinstance(articles, Exception) else _first_fault(faults, *part)
        for articles, part in zip(read, parts, strict=True)
    ]
    if options.candidates:
        links = _without_excess(links, limits, parts, problems)
    by_article = answers.by_article(links, count, options.parts)
    results = [
        _attempt(job.render, by_article[begin:end]) if problem is None else problem
        for job, problem, (begin, end) in zip(jobs, problems, parts, strict=True)
    ]
    answered = links.num_rows - links.column("qid").null_count
    return results, {"batches": 1, "articles": count, "links": links.num_rows, "links_answered": answered}


def _attempt(function: Callable[..., T], *arguments: Any) -> T | Exception:
    """The result of a function, or its error."""
    try:
        return function(*arguments)
    except Exception as problem:
        return problem


def _first_fault(faults: dict[int, str], begin: int, end: int) -> Exception | None:
    """The error of the first article in a range that could not be linked."""
    wrong = next((number for number in range(begin, end) if number in faults), None)
    if wrong is None:
        return None
    error = f"article {wrong - begin} cannot be linked: {faults[wrong]}"
    return RequestError(422, error, "correct it; articles are counted from 0")


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
            problems[number] = RequestError(
                413,
                f"the answer would have more than {limits.candidates:,} candidates",
                "ask for fewer candidates per name with `limit`, or send less at a time",
            )
    return links if kept.all() else links.filter(pa.array(kept[article]))


class Answers:
    """Makes answers from links. It remembers the labels of entities."""

    def __init__(self, kb: KB) -> None:
        self.kb = kb
        self.about = lru_cache(maxsize=REMEMBERED)(self._about)

    def _about(self, qid: str) -> tuple[str | None, str | None, str]:
        """The label, the description and the address of an entity."""
        row = self.kb.row(qid)
        if row < 0:
            return None, None, WIKIDATA + qid
        return self.kb.label(row) or None, about(self.kb, row) or None, WIKIDATA + qid

    def by_article(self, links: pa.Table, count: int, parts: bool) -> Links:
        """The links of each of `count` articles, whose ids are their numbers."""
        answers: Links = [[] for _ in range(count)]
        for row in links.drop_columns("extra").to_pylist():
            fields = {name: row[name] for name in COPIED}
            fields |= {"spans": row["spans"] or [], "title_spans": row["title_spans"] or []}
            label, description, url = (None, None, None) if row["qid"] is None else self.about(row["qid"])
            if "candidates" in row:
                fields["candidates"] = [self._candidate(one, parts) for one in row["candidates"]]
                fields["doubts"] = row.get("doubts", UNSET) if parts else UNSET
            answers[int(row["article_id"])].append(LinkAnswer(label=label, description=description, url=url, **fields))
        return answers

    def _candidate(self, given: dict[str, Any], parts: bool) -> CandidateAnswer:
        shown = given["parts"] if parts else UNSET
        return CandidateAnswer(given["qid"], *self.about(given["qid"]), given["score"], shown)
