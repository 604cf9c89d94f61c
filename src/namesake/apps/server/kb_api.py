"""`GET /entity/{qid}` and `GET /search`: entities of the KB."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from namesake.apps.server.endpoint import Endpoint, RequestError
from namesake.apps.server.pool import Pool
from namesake.apps.server.schema import Name, Qid
from namesake.kb.records import Entity, Found


class EntityParameters(msgspec.Struct, frozen=True):
    """The parameters of `/entity`."""

    qid: Qid


class SearchParameters(msgspec.Struct, frozen=True):
    """The parameters of `/search`."""

    name: Name
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

    named = "The entities with a name, those with the most sitelinks first."
    stored = "Everything that the KB stores about an entity."
    return [
        Endpoint("GET", "/entity/{qid}", entity, stored, EntityParameters, Entity, errors=(400, 404, 422)),
        Endpoint("GET", "/search", search, named, SearchParameters, SearchResponse, errors=(400, 422)),
    ]
