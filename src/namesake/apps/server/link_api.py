"""`POST /link`, `POST /explain`, `GET /entity/{qid}` and `GET /search`."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Meta
from starlette.requests import Request

from namesake.apps.server import schema
from namesake.apps.server.endpoint import BAD_BODY, Endpoint, RequestError, too_large
from namesake.apps.server.limits import Limits
from namesake.apps.server.pool import LinkOptions, Links, Pool
from namesake.apps.server.schema import ExplainRequest, GivenArticle, LinkRequest, LinkResponse
from namesake.articles.builder import ArticleBuilder
from namesake.explain import EXPLANATION, Row, explanation_rows, mentions_called
from namesake.kb.records import Entity, Found
from namesake.linker import Linker

ROWS = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}}


class EntityParameters(msgspec.Struct, frozen=True):
    """The parameters of `/entity`."""

    qid: schema.Qid


class SearchParameters(msgspec.Struct, frozen=True):
    """The parameters of `/search`."""

    name: schema.Name
    limit: Annotated[int, Meta(ge=1, le=100, description="the largest number of results")] = 20


class SearchResponse(msgspec.Struct, frozen=True):
    """The entities with a name, those with the most sitelinks first."""

    name: str
    results: list[Found]


def endpoints(pool: Pool) -> list[Endpoint]:
    """The endpoints of this module."""
    kb = pool.linker.kb

    async def entity(request: Request, asked: EntityParameters) -> bytes:
        found = await pool.json(lambda: kb.entity(asked.qid))
        if found == b"null":
            raise RequestError(404, f"the KB has no {asked.qid}", "search by name: /search?name=…")
        return found

    async def search(request: Request, asked: SearchParameters) -> bytes:
        return await pool.json(lambda: SearchResponse(asked.name, kb.search(asked.name, asked.limit)))

    linked = "Link the names in a text, or in articles, to Wikidata."
    explained = "Explain links: one row per candidate and part of its score, including NIL."
    stored = "Everything that the KB stores about an entity."
    named = "The entities with a name, those with the most sitelinks first."
    return [
        Endpoint("POST", "/link", partial(link, pool), linked, LinkRequest, LinkResponse, errors=BAD_BODY),
        Endpoint("POST", "/explain", partial(explain, pool), explained, ExplainRequest, ROWS, errors=BAD_BODY),
        Endpoint("GET", "/entity/{qid}", entity, stored, EntityParameters, Entity, errors=(400, 404, 422)),
        Endpoint("GET", "/search", search, named, SearchParameters, SearchResponse, errors=(400, 422)),
    ]


async def link(pool: Pool, request: Request, asked: LinkRequest) -> bytes:
    """The links of a text or of articles."""
    given = _given(asked, pool.limits)
    ids = None if asked.articles is None else [one.id or str(number) for number, one in enumerate(given)]
    options = LinkOptions(asked.threshold, asked.candidates or asked.parts, asked.parts, asked.limit)
    if options.candidates:
        schema.check_explained(given, pool.limits)
    pool.at(options.threshold)  # an unknown threshold is an error of this request alone
    return await pool.link_articles(given, partial(_rendered, ids), options, ids is not None)


def _given(asked: LinkRequest, limits: Limits) -> Sequence[GivenArticle]:
    """The articles of a request. A text is one article."""
    if (asked.text is None) == (asked.articles is None):
        raise RequestError(422, "a request has either `text` or `articles`", "send one of them")
    if asked.articles is None:
        return [GivenArticle(asked.text or "", title=asked.title, date=asked.date, mentions=asked.mentions)]
    if asked.title is not None or asked.date is not None or asked.mentions is not None:
        raise RequestError(422, "`title`, `date` and `mentions` belong to a text", "put them into each of the articles")
    if len(asked.articles) > limits.articles:
        raise too_large("the list of articles", limits.articles, "articles")
    return asked.articles


def _rendered(ids: list[str] | None, links: Links) -> bytes:
    if ids is None:
        return msgspec.json.encode(LinkResponse(links=links[0]))
    articles = [schema.ArticleAnswer(*pair) for pair in zip(ids, links, strict=True)]
    return msgspec.json.encode(LinkResponse(articles=articles))


async def explain(pool: Pool, request: Request, asked: ExplainRequest) -> bytes:
    """The rows of an explanation."""
    given = GivenArticle(asked.text, title=asked.title, date=asked.date, mentions=asked.mentions)
    schema.check_explained([given], pool.limits)
    schema.check_given([given], pool.limits)
    linker = pool.at(asked.threshold)
    return await pool.json(lambda: {"rows": _explained(linker, given, asked, pool.limits)}, large=True)


def _explained(linker: Linker, given: GivenArticle, asked: ExplainRequest, limits: Limits) -> list[Row]:
    builder = ArticleBuilder()
    builder.add(*schema.articles_of([given], limits, several=False))
    scored = linker.scored(builder.table())
    candidates = np.diff(scored.batch.offsets)[mentions_called(scored, asked.name)]
    if np.minimum(candidates, asked.limit).sum() > limits.explanations:
        error = f"the request asks for explanations of more than {limits.explanations:,} candidates"
        raise RequestError(413, error, "give one name with `name`, or ask for fewer candidates with `limit`")
    rows = _bounded(explanation_rows(scored, asked.name, asked.limit), limits.listed)
    found: list[Row] = pa.Table.from_pylist(list(rows), EXPLANATION).drop_columns("article_id").to_pylist()
    return found


def _bounded(rows: Iterable[Row], most: int) -> Iterator[Row]:
    """The rows of an explanation; an error as soon as they list more than `most` rows, places, matches and sources."""
    listed = 0
    for row in rows:
        matches = row.get("matches", ())
        listed += 1 + len(row["spans"]) + len(matches)
        listed += sum(len(match["spans"]) + len(match["sources"]) for match in matches)
        if listed > most:
            error = f"the explanation would list more than {most:,} places, matches and sources"
            advice = "give one name with `name`, ask for fewer candidates with `limit`, or send a shorter text"
            raise RequestError(413, error, advice)
        yield row
