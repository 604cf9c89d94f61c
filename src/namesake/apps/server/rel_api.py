"""`POST /rel`: requests and answers of REL's server, for programs that were written for it.

`{"text", "spans": [[start, length], …]}` gives rows `[start, length, mention, entity, conf_ed, conf_md, tag]`. A span
may also be `{"start", "length"}`. Without spans, the detector finds names. The entity is a QID where REL has a
Wikipedia title. Mentions that are linked to NIL have no row.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from namesake.apps.server.endpoint import BAD_BODY, Endpoint
from namesake.apps.server.limits import Limits
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.schema import (
    NAME_WEIGHT,
    GivenArticle,
    GivenMention,
    Place,
    StrictStruct,
    articles_of,
    check_given,
    weight,
)
from namesake.apps.server.work import Job, Links
from namesake.articles.article import Article

PERSON = "PER"
ROWS = {"type": "array", "items": {"type": "array", "minItems": 7, "maxItems": 7}}


class RelSpan(StrictStruct, frozen=True):
    """The place of a name, in characters."""

    start: Place
    length: Place


class RelRequest(StrictStruct, frozen=True):
    """A text and the places of its names: [start, length] in characters. Without places, the detector finds names."""

    text: str
    spans: Annotated[list[tuple[Place, Place] | RelSpan], Meta(max_length=100_000)] = msgspec.field(
        default_factory=list
    )


def endpoints(pool: Pool) -> list[Endpoint]:
    """The endpoint of this module."""
    summary = "Links in the format of REL: rows of start, length, mention, entity, conf_ed, conf_md, tag."
    return [Endpoint("POST", "/rel", partial(link, pool), summary, RelRequest, ROWS, errors=BAD_BODY)]


async def link(pool: Pool, request: Request, asked: RelRequest) -> bytes:
    """The rows of a text."""
    limits = pool.limits
    check_given([GivenArticle(asked.text)], limits)
    if len(asked.spans) > limits.mentions:
        raise too_large("the list of spans", limits.mentions, "names")
    size = weight([GivenArticle(asked.text)]) + NAME_WEIGHT * len(asked.spans)
    return await pool.link(Job(1, size, partial(_read, asked, limits), _rows))


def _read(asked: RelRequest, limits: Limits) -> list[Article]:
    """The article of a request with its names."""
    places = [(one.start, one.length) if isinstance(one, RelSpan) else one for one in asked.spans]
    for start, length in places:
        if not 0 < length <= len(asked.text) - start:
            error = f"span [{start}, {length}] does not fit the text of {len(asked.text)} characters"
            raise RequestError(422, error, "give start and length in characters")
    spans = [(start, start + length) for start, length in places]
    mentions = by_surface(asked.text, spans, limits) if spans else None
    return articles_of([GivenArticle(asked.text, mentions=mentions)], limits, several=False)


def by_surface(text: str, spans: list[tuple[int, int]], limits: Limits) -> list[str | GivenMention]:
    """Mentions at some places of a text. Places with the same text are one mention."""
    for start, end in spans:
        if end - start > limits.longest:
            error = f"the name at {start} has more than {limits.longest:,} characters"
            raise RequestError(422, error, "give the places of names")
    read = sorted((text[start:end], start, end) for start, end in set(spans))
    return [
        GivenMention(surface, [(start, end) for _, start, end in places])
        for surface, places in groupby(read, key=lambda one: one[0])
    ]


def _rows(links: Links) -> bytes:
    rows = sorted(
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
