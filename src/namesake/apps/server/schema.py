"""What requests and answers hold, as structs: they check what comes in, and the OpenAPI document is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import RequestError, too_large
from namesake.articles.article import Article, Mention
from namesake.batch import UNDATED, day_number

Place = Annotated[int, Meta(ge=0, lt=2**31)]
Qid = Annotated[str, Meta(pattern=r"^Q[1-9][0-9]{0,15}$", description="a Wikidata item, such as Q76")]
Name = Annotated[str, Meta(min_length=1, max_length=1000)]
Threshold = (
    Annotated[float, Meta(ge=0, le=1)]
    | Annotated[str, Meta(pattern=r"^p[0-9]{1,2}$", description="a calibrated one, such as p95")]
)
Date = Annotated[str, Meta(max_length=40, description="ISO, as precise as known: 2016-12-26, 2016-12 or 2016")]
Spans = list[tuple[int, int]]


class Taken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client sends: a field that we do not know is refused, since it would be ignored in silence."""


class GivenMention(Taken, frozen=True):
    """A name to link: at `spans`, [start, end) in characters, or wherever it stands; among `candidates` if given."""

    name: Name
    spans: list[tuple[Place, Place]] | None = None
    candidates: Annotated[list[Qid], Meta(max_length=10_000)] | None = None


class GivenArticle(Taken, frozen=True):
    """An article; without `mentions` the names in it are found."""

    text: str
    id: Annotated[str, Meta(max_length=1000)] | None = None
    title: str | None = None
    date: Date | None = None
    mentions: list[Name | GivenMention] | None = None


class LinkRequest(Taken, frozen=True):
    """A `text`, which may have title, date and mentions, or several `articles`; and what is wanted of them."""

    text: str | None = None
    title: str | None = None
    date: Date | None = None
    mentions: list[Name | GivenMention] | None = None
    articles: list[GivenArticle] | None = None
    threshold: Threshold | None = None
    """Answer only with at least this confidence."""
    candidates: bool = False
    """Also give every candidate with its score."""
    parts: bool = False
    """Also give the parts of each score, and the doubts; candidates come with them."""


class ExplainRequest(Taken, frozen=True):
    """A text, and the name in it that is to be explained; without `name` all are."""

    text: str
    name: Name | None = None
    title: str | None = None
    date: Date | None = None
    mentions: list[Name | GivenMention] | None = None
    threshold: Threshold | None = None


class CandidateAnswer(msgspec.Struct, frozen=True):
    """One of those who may be meant."""

    qid: str
    label: str | None
    description: str | None
    url: str
    score: float
    parts: dict[str, float] | UnsetType = UNSET


class LinkAnswer(msgspec.Struct, frozen=True):
    """One name and whom it means; `qid` is null where nobody fits, and `reason` says why."""

    name: str
    spans: Spans
    title_spans: Spans
    qid: str | None
    label: str | None
    description: str | None
    url: str | None
    confidence: float | None
    known: float | None
    reason: str | None
    best: str | None
    score: float | None
    margin: float | None
    tie_break: str | None
    candidates: list[CandidateAnswer] | UnsetType = UNSET
    doubts: dict[str, float] | UnsetType = UNSET


class ArticleAnswer(msgspec.Struct, frozen=True):
    """The links of one article, by its id, or by its number where it has none."""

    id: str
    links: list[LinkAnswer]


class LinkResponse(msgspec.Struct, frozen=True):
    """`links` of a text, or `articles` with the links of each, in the order they were sent."""

    links: list[LinkAnswer] | UnsetType = UNSET
    articles: list[ArticleAnswer] | UnsetType = UNSET


def check_explained(articles: Iterable[GivenArticle], limits: Limits) -> None:
    """Refuse to take apart what would be a library."""
    if sum(len(article.text) + len(article.title or "") for article in articles) > limits.explained:
        raise too_large("the text to be explained", limits.explained, "characters")


def article_of(given: GivenArticle, number: int, where: str, limits: Limits) -> Article:
    """A given article in our words, called by its number; what does not fit is refused with `where` it stands."""
    if len(given.text) + len(given.title or "") > limits.text:
        raise too_large(f"the text of {where}", limits.text, "characters")
    if given.date is not None and day_number(given.date) == UNDATED:
        raise RequestError(422, f"the date of {where} cannot be read", "write it as 2016-12-26, 2016-12 or 2016")
    mentions = None if given.mentions is None else [_mention(one, given.text, where) for one in given.mentions]
    return Article(str(number), given.text, given.title, given.date, mentions)


def _mention(given: str | GivenMention, text: str, where: str) -> Mention:
    """A given mention; a name alone is meant wherever it stands in the text."""
    if isinstance(given, str):
        return Mention(given, occurrences(given, text))
    if given.spans is None:
        return Mention(given.name, occurrences(given.name, text), given.candidates)
    for start, end in given.spans:
        if not start < end <= len(text):
            raise RequestError(
                422,
                f"span [{start}, {end}] of a mention of {where} does not fit its text of {len(text)} characters",
                "give start and end in characters, the end behind the last one",
            )
    return Mention(given.name, given.spans, given.candidates)


def occurrences(name: str, text: str) -> list[tuple[int, int]]:
    """Where a name stands in a text, from left to right without overlaps."""
    spans, at = [], text.find(name)
    while at >= 0:
        spans.append((at, at + len(name)))
        at = text.find(name, at + len(name))
    return spans
