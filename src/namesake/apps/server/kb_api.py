"""`GET /entity/{qid}` and `GET /search`: what the KB knows."""

from __future__ import annotations

import re

import msgspec

from namesake.apps.server.http import JSON, Call, Parameter, Reply, Route
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError
from namesake.kb.records import Entity, Found

MOST_FOUND, FOUND = 100, 20
LONGEST_NAME = 1000
QID = re.compile(r"Q[1-9][0-9]{0,15}")


class SearchResponse(msgspec.Struct, frozen=True):
    """Who bears a name, the best known first."""

    name: str
    results: list[Found]


class KbApi:
    """Entities of the KB, by QID and by name."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.kb = pool, pool.linker.kb

    def routes(self) -> list[Route]:
        """What it answers."""
        qid = Parameter("qid", "a Wikidata item", {"type": "string", "pattern": f"^{QID.pattern}$"}, True, "path")
        name = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
        limit = {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": FOUND}
        return [
            Route(
                "GET",
                "/entity/{qid}",
                self.entity,
                "All that the KB knows of an entity.",
                gives={JSON: Entity},
                parameters=(qid,),
                fails=(404, 422),
            ),
            Route(
                "GET",
                "/search",
                self.search,
                "Who bears a name, the best known first.",
                gives={JSON: SearchResponse},
                parameters=(Parameter("name", "a name", name, True), Parameter("limit", "how many", limit)),
                fails=(400, 422),
            ),
        ]

    async def entity(self, call: Call) -> Reply:
        """One entity."""
        if not QID.fullmatch(call.parameter):
            raise RequestError(422, "this is not a QID", "ask for one such as /entity/Q76")
        found = await self.pool.look(lambda: msgspec.json.encode(self.kb.entity(call.parameter)))
        if found == b"null":
            raise RequestError(404, f"the KB has no {call.parameter}", "search by name: /search?name=…")
        return Reply(found)

    async def search(self, call: Call) -> Reply:
        """Entities by name."""
        query = call.query()
        name, limit = query.get("name", ""), query.get("limit", str(FOUND))
        if not 0 < len(name) <= LONGEST_NAME:
            raise RequestError(422, "`name` is missing, empty or too long", "ask for /search?name=Barack%20Obama")
        if not re.fullmatch(r"[0-9]{1,3}", limit, re.ASCII) or not 0 < int(limit) <= MOST_FOUND:
            raise RequestError(422, "`limit` is no number that fits", f"give one from 1 to {MOST_FOUND}")
        return Reply(await self.pool.look(lambda: msgspec.json.encode(self._search(name, int(limit)))))

    def _search(self, name: str, limit: int) -> SearchResponse:
        return SearchResponse(name, self.kb.search(name, limit))
