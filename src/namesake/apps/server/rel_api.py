"""`POST /rel`: requests and answers as REL's server has them, for programs that were written for it.

`{"text", "spans": [[start, length], …]}` gives rows `[start, length, mention, entity, conf_ed, conf_md, tag]`. A span
may also be `{"start", "length"}`. Without spans names are found. The entity is a QID where REL has a Wikipedia title;
spans that nobody fits have no row.
"""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

import msgspec
from msgspec import Meta

from namesake.apps.server.http import JSON, Call, Reply, Route
from namesake.apps.server.limits import Limits
from namesake.apps.server.link_api import BAD_BODY
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.schema import (
    NAME_WEIGHT,
    GivenArticle,
    GivenMention,
    Place,
    Taken,
    articles_of,
    check_given,
    weight,
)
from namesake.apps.server.work import Links, Texts, Wish
from namesake.articles.article import Article

PERSON = "PER"
Row = tuple[int, int, str, str, float, float, str]


class RelSpan(Taken, frozen=True):
    """The place of a name, in characters."""

    start: Place
    length: Place


class RelRequest(Taken, frozen=True):
    """A text, and where its names stand: [start, length] in characters; none given: they are found."""

    text: str
    spans: Annotated[list[tuple[Place, Place] | RelSpan], Meta(max_length=100_000)] = msgspec.field(
        default_factory=list
    )

    @property
    def places(self) -> list[tuple[int, int]]:
        """Start and length of each span."""
        return [(one.start, one.length) if isinstance(one, RelSpan) else one for one in self.spans]


_decoder = msgspec.json.Decoder(RelRequest)


class RelApi:
    """What REL's clients ask."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def routes(self) -> list[Route]:
        """What it answers."""
        told = "As REL's server: rows of start, length, mention, entity, conf_ed, conf_md, tag."
        rows = {"type": "array", "items": {"type": "array", "minItems": 7, "maxItems": 7}}
        return [Route("POST", "/rel", self.link, told, {JSON: RelRequest}, {JSON: rows}, fails=BAD_BODY)]

    async def link(self, call: Call) -> Reply:
        """Rows for a text."""
        asked = await call.json(_decoder)
        limits = self.pool.limits
        check_given([GivenArticle(asked.text)], limits)
        if len(asked.spans) > limits.mentions:
            raise too_large("the list of spans", limits.mentions, "names")
        size = weight([GivenArticle(asked.text)]) + NAME_WEIGHT * len(asked.spans)
        return Reply(await self.pool.link(Texts(1, size, lambda: _read(asked, limits)), Wish(), _rows))


def _read(asked: RelRequest, limits: Limits) -> list[Article]:
    """The article of a request, with the names that it gives."""
    places = asked.places
    for start, length in places:
        if not 0 < length <= len(asked.text) - start:
            raise RequestError(
                422,
                f"span [{start}, {length}] does not fit the text of {len(asked.text)} characters",
                "give start and length in characters",
            )
    spans = [(start, start + length) for start, length in places]
    mentions = by_surface(asked.text, spans, limits) if spans else None
    return articles_of([GivenArticle(asked.text, mentions=mentions)], limits, several=False)


def by_surface(text: str, spans: list[tuple[int, int]], limits: Limits) -> list[str | GivenMention]:
    """Mentions of some places of a text: those that read the same are one name, as in all our articles."""
    for start, end in spans:
        if end - start > limits.longest:
            raise RequestError(
                422, f"the name at {start} has more than {limits.longest:,} characters", "give the places of names"
            )
    read = sorted((text[start:end], start, end) for start, end in set(spans))
    return [
        GivenMention(surface, [(start, end) for _, start, end in places])
        for surface, places in groupby(read, key=lambda one: one[0])
    ]


def _rows(links: Links) -> bytes:
    rows: list[Row] = sorted(
        (
            start,
            end - start,
            link.name,
            link.qid,
            1.0 if link.confidence is None else link.confidence,
            1.0 if link.known is None else link.known,
            PERSON,
        )
        for link in links[0]
        if link.qid is not None
        for start, end in link.spans
    )
    return msgspec.json.encode(rows)
