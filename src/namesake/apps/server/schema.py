"""What requests and answers hold, as structs: they check what comes in, and the OpenAPI document is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import RequestError, too_large
from namesake.articles.article import Article, Mention, occurrences
from namesake.articles.days import UNDATED, day_number

Place = Annotated[int, Meta(ge=0, lt=2**31)]
Qid = Annotated[str, Meta(pattern=r"^Q[1-9][0-9]{0,15}$", description="a Wikidata item, such as Q76")]
Name = Annotated[str, Meta(min_length=1, max_length=1000)]
Threshold = (
    Annotated[float, Meta(ge=0, le=1)]
    | Annotated[str, Meta(pattern=r"^p[0-9]{1,2}$", description="a calibrated one, such as p95")]
)
Date = Annotated[str, Meta(max_length=40, description="ISO, as precise as known: 2016-12-26, 2016-12 or 2016")]
SHOWN, MOST_SHOWN = 10, 100
"""Candidates of a name that are given, and that may be asked for."""
Limit = Annotated[int, Meta(ge=1, le=MOST_SHOWN)]
Spans = list[tuple[int, int]]
NAME_WEIGHT = 50
"""Characters of text that take as long as a name that is given."""


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
    """Also give the best candidates with their scores."""
    parts: bool = False
    """Also give the parts of each score, and the doubts; candidates come with them."""
    limit: Limit = SHOWN
    """How many candidates of each name, the best first."""


class ExplainRequest(Taken, frozen=True):
    """A text, and the name in it that is to be explained; without `name` all are."""

    text: str
    name: Name | None = None
    title: str | None = None
    date: Date | None = None
    mentions: list[Name | GivenMention] | None = None
    threshold: Threshold | None = None
    limit: Limit = SHOWN
    """How many candidates of each name, the best first."""


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


def check_given(articles: Sequence[GivenArticle], limits: Limits) -> None:
    """Refuse articles that are too much, by their lengths alone: quick enough for the event loop."""
    for number, one in enumerate(articles):
        if len(one.text) + len(one.title or "") > limits.text:
            where = "the text" if len(articles) == 1 else f"text {number}, counted from 0,"
            raise too_large(where, limits.text, "characters")
    if sum(len(one.mentions or ()) for one in articles) > limits.mentions:
        raise too_large("the list of mentions", limits.mentions, "names")
    if sum(len(one.text) * sum(map(_is_searched, one.mentions or ())) for one in articles) > limits.searched:
        raise too_large("the text, once for each name given without spans,", limits.searched, "characters")
    if sum(len(spans_of(mention)) for one in articles for mention in one.mentions or ()) > limits.places:
        raise too_large("the list of spans", limits.places, "places of names")


def weight(articles: Iterable[GivenArticle]) -> int:
    """How long articles take to link, in characters of text."""
    return sum(
        len(one.text)
        + len(one.title or "")
        + sum(NAME_WEIGHT + len(() if isinstance(each, str) else each.candidates or ()) for each in one.mentions or ())
        for one in articles
    )


def spans_of(given: str | GivenMention) -> Sequence[tuple[int, int]]:
    """The places that were given."""
    return () if isinstance(given, str) else given.spans or ()


def _is_searched(given: str | GivenMention) -> bool:
    return isinstance(given, str) or given.spans is None


def articles_of(given: Sequence[GivenArticle], limits: Limits, several: bool = True) -> list[Article]:
    """Given articles in our words, called by their numbers; what does not fit is refused with where it stands.

    Names without places are looked for: this takes its time, and is done in a thread.
    """
    left = limits.places
    articles = []
    for number, one in enumerate(given):
        where = f"articles[{number}]" if several else "the request"
        article = _article(one, number, where, left)
        left -= sum(len(mention.spans) for mention in article.mentions or ())
        if left < 0:
            raise too_large("the list of places at which the given names stand", limits.places, "places")
        articles.append(article)
    return articles


def check_date(date: str | None, where: str = "the request") -> None:
    """Refuse a date that cannot be read."""
    if date is not None and day_number(date) == UNDATED:
        raise RequestError(422, f"the date of {where} cannot be read", "write it as 2016-12-26, 2016-12 or 2016")


def _article(given: GivenArticle, number: int, where: str, most: int) -> Article:
    """A given article; names are found at `most` places altogether, and one more to tell that there are too many."""
    check_date(given.date, where)
    if given.mentions is None:
        return Article(str(number), given.text, given.title, given.date)
    mentions = []
    for one in given.mentions:
        mention = _mention(one, given.text, where, most)
        mentions.append(mention)
        most -= len(mention.spans)
        if most < 0:
            break
    return Article(str(number), given.text, given.title, given.date, mentions)


def _mention(given: str | GivenMention, text: str, where: str, most: int) -> Mention:
    """A given mention; a name alone is meant wherever it stands in the text."""
    if isinstance(given, str):
        given = GivenMention(given)
    if given.spans is None:
        return Mention(given.name, list(islice(occurrences(given.name, text), most + 1)), given.candidates)
    for start, end in given.spans:
        if not start < end <= len(text):
            raise RequestError(
                422,
                f"span [{start}, {end}] of a mention of {where} does not fit its text of {len(text)} characters",
                "give start and end in characters, the end behind the last one",
            )
    return Mention(given.name, given.spans, given.candidates)
