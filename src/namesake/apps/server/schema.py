"""The structs of requests and answers. They check requests, and the OpenAPI document is made from them."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from namesake.apps.server.endpoint import RequestError, check_size
from namesake.apps.server.limits import Limits
from namesake.articles.article import Article, Mention, Span, all_occurrences
from namesake.articles.days import UNDATED, day_number

Place = Annotated[int, Meta(ge=0, lt=2**31)]
Qid = Annotated[
    str,
    Meta(
        pattern=r"^(Q[1-9][0-9]{0,15}|[A-Za-z][A-Za-z0-9_.-]{0,63}:[^\s]{1,200})$",
        description="a Wikidata item, such as Q76, or the id of an own entity, such as acme:jane-doe",
    ),
]
Name = Annotated[str, Meta(min_length=1, max_length=1000)]
Threshold = (
    Annotated[float, Meta(ge=0, le=1)]
    | Annotated[str, Meta(pattern=r"^p[0-9]{1,2}$", description="a calibrated threshold, such as p95")]
)
KindList = Annotated[str, Meta(max_length=1000, description="kinds of entities, such as people,places; by default all")]
Kinds = KindList | Annotated[list[str], Meta(min_length=1, max_length=100)]
Date = Annotated[str, Meta(max_length=40, description="ISO, as precise as known: 2016-12-26, 2016-12 or 2016")]
SHOWN, MOST_SHOWN = 10, 100  # candidates per name: the default, and the largest number that a request may ask for
Limit = Annotated[int, Meta(ge=1, le=MOST_SHOWN)]
Spans = list[tuple[int, int]]
NAME_WEIGHT = 50  # linking a given name takes as long as so many characters of text


class StrictStruct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a request. Unknown fields are refused."""


class GivenMention(StrictStruct, frozen=True):
    """A name to link.

    `spans` are [start, end) in characters; without them, all places of the name in the text. `candidates` are QIDs;
    without them, all entities with the name.
    """

    name: Name
    spans: list[tuple[Place, Place]] | None = None
    candidates: Annotated[list[Qid], Meta(max_length=10_000)] | None = None


class AboutText(StrictStruct, frozen=True, kw_only=True):
    """What requests give besides a text. Without `mentions`, the detector finds the names in it."""

    title: str | None = None
    date: Date | None = None
    mentions: list[Name | GivenMention] | None = None


class GivenArticle(AboutText, frozen=True):
    """An article. Without `mentions`, the detector finds the names in it."""

    text: str
    id: Annotated[str, Meta(max_length=1000)] | None = None

    @property
    def length(self) -> int:
        """Characters of the text with its title."""
        return len(self.text) + len(self.title or "")

    @property
    def given(self) -> list[GivenMention]:
        """The mentions; a bare name is one without spans."""
        return [GivenMention(one) if isinstance(one, str) else one for one in self.mentions or ()]

    @property
    def to_find(self) -> list[str]:
        """The names that are given without spans."""
        return [one.name for one in self.given if one.spans is None]


class LinkRequest(AboutText, frozen=True):
    """Either a `text`, with an optional title, date and mentions, or a list of `articles`; and options."""

    text: str | None = None
    articles: list[GivenArticle] | None = None
    threshold: Threshold | None = None  # the lowest confidence of an answer
    kinds: Kinds | None = None  # the kinds of entities to link to; names of other kinds are NIL
    candidates: bool = False  # whether to return the best candidates with their scores
    parts: bool = False  # whether to return the candidates with parts of scores, and the evidence for NIL as `doubts`
    limit: Limit = SHOWN  # the number of candidates per name, best first


class ExplainRequest(AboutText, frozen=True):
    """A text, and the name to explain; without `name`, all names."""

    text: str
    name: Name | None = None
    threshold: Threshold | None = None
    kinds: Kinds | None = None
    limit: Limit = SHOWN  # the number of candidates per name, best first


class CandidateAnswer(msgspec.Struct, frozen=True):
    """An entity that a name may refer to."""

    qid: str
    label: str | None
    description: str | None
    url: str
    kind: str | None
    score: float
    parts: dict[str, float] | UnsetType = UNSET


class LinkAnswer(msgspec.Struct, frozen=True):
    """One name and its entity. For NIL, `qid` is null and `reason` says why."""

    name: str
    spans: Spans
    title_spans: Spans
    qid: str | None
    kind: str | None
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
    """The links of one article. Its id is its number if it was sent without one."""

    id: str
    links: list[LinkAnswer]


class LinkResponse(msgspec.Struct, frozen=True):
    """The `links` of a text, or `articles` with their links, in the order of the request."""

    links: list[LinkAnswer] | UnsetType = UNSET
    articles: list[ArticleAnswer] | UnsetType = UNSET


def check_explained(articles: Iterable[GivenArticle], limits: Limits) -> None:
    """Refuse texts that are too long to be explained: the answer is many times as long."""
    check_size("the text to be explained", sum(one.length for one in articles), limits.explained, "characters")


def check_given(articles: Sequence[GivenArticle], limits: Limits) -> None:
    """Refuse articles that are too large. This looks at lengths only and is fast enough for the event loop."""
    for number, one in enumerate(articles):
        where = "the text" if len(articles) == 1 else f"text {number}, counted from 0,"
        check_size(where, one.length, limits.text, "characters")
    check_size("the list of mentions", sum(len(one.mentions or ()) for one in articles), limits.mentions, "names")
    searched = sum(len(one.text) * len(one.to_find) for one in articles)
    check_size("the text, once for each name given without spans,", searched, limits.searched, "characters")
    places = sum(len(mention.spans or ()) for one in articles for mention in one.given)
    check_size("the list of spans", places, limits.places, "places of names")


def weight(articles: Iterable[GivenArticle]) -> int:
    """The time that linking takes, in characters of text."""
    return sum(one.length + sum(NAME_WEIGHT + len(each.candidates or ()) for each in one.given) for one in articles)


def check_date(date: str | None, where: str = "the request") -> None:
    """Refuse a date that cannot be read."""
    if date is not None and day_number(date) == UNDATED:
        raise RequestError(422, f"the date of {where} cannot be read", "write it as 2016-12-26, 2016-12 or 2016")


def articles_of(given: Sequence[GivenArticle], limits: Limits, several: bool = True) -> list[Article]:
    """The articles of a request, with their numbers as ids. It searches texts for names: call it in a thread."""
    articles, places = list[Article](), 0
    for number, one in enumerate(given):
        where = f"articles[{number}]" if several else "the request"
        check_date(one.date, where)
        mentions = None if one.mentions is None else _mentions(one, where, places, limits)
        places += sum(len(mention.spans) for mention in mentions or ())
        articles.append(Article(str(number), one.text, one.title, one.date, mentions))
    return articles


def _mentions(article: GivenArticle, where: str, places: int, limits: Limits) -> list[Mention]:
    """The mentions of an article; those of the articles before it have this number of `places`."""
    text, names, what = article.text, article.to_find, "the list of places of the given names"
    if places + sum(len(text) // len(name) for name in names) > limits.places:
        check_size(what, places + sum(map(text.count, names)), limits.places, "places")
    found = all_occurrences(names, text)
    mentions = []
    for given in article.given:
        spans: Sequence[Span] = found[given.name] if given.spans is None else given.spans
        if wrong := next((span for span in spans if not span[0] < span[1] <= len(text)), None):
            error = f"span {[*wrong]} of a mention of {where} exceeds its text of {len(text)} characters"
            advice = "give start and end in characters; the end is the position after the last character"
            raise RequestError(422, error, advice)
        mentions.append(Mention(given.name, spans, given.candidates))
        places += len(spans)
    check_size(what, places, limits.places, "places")
    return mentions
