"""`/reconcile`: the W3C Reconciliation Service API 0.2, which OpenRefine speaks: manifest and queries.

Pages of any origin may ask here, and here alone: OpenRefine's own page does. They get what the KB knows, which is
public, and nothing else of the server. What is suggested and looked up stands in `reconcile_data.py`.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from namesake.apps.server.http import FORM, JSON, Call, Parameter, Reply, Route, decoded, fields
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.reconcile_data import HUMAN, ReconcileData, TypeName
from namesake.kb.address import WIKIDATA
from namesake.linker import Linker
from namesake.reconciling import Candidate, Query
from namesake.reconciling.reconcile import AT_ONCE, Reconciled, judge

ENTITIES, PROPERTIES = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
LIMIT, MOST = 5, 50
LOOKED_AT = 100
"""Candidates that are looked at where a type rules some of them out."""

FEW = 16
"""Queries that keep nobody waiting; OpenRefine sends 10 at a time."""
LONGEST = 1000
"""Characters of a name, beyond which it is nobody's, and of a value, beyond which it is not read."""

Text = Annotated[str, Meta(max_length=LONGEST)]


class Item(msgspec.Struct, frozen=True):
    """A value that is an entity."""

    id: Text
    name: Text = ""


class Told(msgspec.Struct, frozen=True):
    """A property of a query, with one value or several."""

    pid: Text
    v: Item | str | int | float | bool | list[Item | str | int | float | bool | None] | None


class AskedName(msgspec.Struct, frozen=True):
    """One query."""

    query: Annotated[str, Meta(min_length=1)]
    type: Text | list[Text] | None = None
    limit: Annotated[int, Meta(ge=1)] = LIMIT
    properties: Annotated[list[Told], Meta(max_length=100)] = []
    type_strict: str = "any"

    @property
    def types(self) -> list[str]:
        """The types that candidates must have; none where they only should."""
        given = [self.type] if isinstance(self.type, str) else self.type or []
        return [] if self.type_strict == "should" else [one.rpartition("/")[2] for one in given if one]


class Feature(msgspec.Struct, frozen=True):
    """A part of a candidate's score."""

    id: str
    value: float


class ReconcileCandidate(msgspec.Struct, frozen=True):
    """Somebody who may be meant; the score is the confidence in percent."""

    id: str
    name: str
    description: str
    score: float
    match: bool
    type: list[TypeName]
    features: list[Feature]


class Result(msgspec.Struct, frozen=True):
    """Who may be meant by one query, best first."""

    result: list[ReconcileCandidate]


_queries = msgspec.json.Decoder(dict[str, AskedName])


class ReconcileApi:
    """Names in the cells of a table, one query for each."""

    def __init__(self, pool: Pool, public: str | None) -> None:
        self.pool, self.public = pool, public and public.rstrip("/")
        self.data = ReconcileData(pool)

    def routes(self) -> list[Route]:
        """What it answers."""
        asked = tuple(
            Parameter(name, what, {"type": "string", "contentMediaType": JSON})
            for name, what in (("queries", "queries by key, as JSON"), ("extend", "ids and properties, as JSON"))
        )
        form = {
            "type": "object",
            "properties": {one.name: one.schema for one in asked},
            "minProperties": 1,
            "additionalProperties": False,
        }
        told = "For OpenRefine: the manifest; with `queries` who may be meant, with `extend` what is known of entities."
        gives = {JSON: {"type": "object"}}
        fails = (400, 413, 415, 422, 429, 503)
        own = [
            Route("GET", "/reconcile", self.get, told, {}, gives, asked, fails, open=True),
            Route("POST", "/reconcile", self.post, told, {FORM: form}, gives, (), (*fails, 408), open=True),
        ]
        return [*own, *self.data.routes()]

    async def get(self, call: Call) -> Reply:
        """The manifest, or what the address asks for."""
        given = call.query()
        return await self._answer(given) if given.keys() & {"queries", "extend"} else Reply(self._manifest(call))

    async def post(self, call: Call) -> Reply:
        """What a form asks for."""
        call.must_be(FORM)
        given = fields(await call.body(), "the form")
        if not given.keys() & {"queries", "extend"}:
            raise RequestError(422, "the form has neither `queries` nor `extend`", "send one of them")
        return await self._answer(given)

    async def _answer(self, given: dict[str, str]) -> Reply:
        if "extend" in given:
            return await self.data.extend(given["extend"])
        asked = decoded(_queries, given["queries"], "`queries`")
        if len(asked) > self.pool.limits.queries:
            raise too_large("the list of queries", self.pool.limits.queries, "queries")
        run = self.pool.look if len(asked) <= FEW else self.pool.run
        return Reply(await run(lambda: msgspec.json.encode(self._reconciled(asked))))

    def _reconciled(self, asked: dict[str, AskedName]) -> dict[str, Result]:
        """Who may be meant by each query; by a name that is too long for one, nobody."""
        results = {key: Result([]) for key in asked}
        read = [(key, one) for key, one in asked.items() if len(one.query) <= LONGEST]
        for begin in range(0, len(read), AT_ONCE):
            part = read[begin : begin + AT_ONCE]
            judged = judge(self.pool.linker, [Query(one.query, values=_values(one.properties)) for _, one in part])
            for number, (key, one) in enumerate(part):
                results[key] = Result([self._candidate(each) for each in self._fitting(judged, number, one)])
        return results

    def _fitting(self, judged: Reconciled, query: int, asked: AskedName) -> list[Candidate]:
        """The best candidates with the types that are asked for; who they are is read of these alone."""
        wanted, limit = set(asked.types), min(asked.limit, MOST)
        answered = judged.reason(query) is None
        enough = wanted.issubset if asked.type_strict == "all" else lambda types: bool(wanted & types)
        best = enumerate(judged.best(query, LOOKED_AT if wanted else limit))
        rows = judged.scored.batch.rows
        fitting = ((place, at) for place, at in best if not wanted or enough(self.data.all_types(int(rows[at]))))
        kb = self.pool.linker.kb
        return [judged.who(kb, at, matched=answered and place == 0) for place, at in islice(fitting, limit)]

    def _candidate(self, one: Candidate) -> ReconcileCandidate:
        return ReconcileCandidate(
            one.qid,
            one.label or one.qid,
            one.description,
            round(100 * one.confidence, 3) if one.confidence is not None else one.score,
            one.matched,
            self.data.types(self.pool.linker.kb.row(one.qid)),
            [Feature(name, value) for name, value in one.parts.items()],
        )

    def _manifest(self, call: Call) -> bytes:
        return msgspec.json.encode(manifest(self.pool.linker, self.public or address(call)))


def _values(properties: list[Told]) -> tuple[tuple[str, str], ...]:
    """Property and value as the rows of tables have them; an entity is known by its QID."""
    values = []
    for told in properties:
        for value in told.v if isinstance(told.v, list) else [told.v]:
            text = (value.id or value.name) if isinstance(value, Item) else str(value)
            if value is not None and text.strip():
                values.append((told.pid.rpartition("/")[2], text[:LONGEST]))
    return tuple(values)


def address(call: Call) -> str:
    """Where the client finds this server: what it calls it, if that could be an address."""
    host = call.header(b"host")
    if not re.fullmatch(r"[A-Za-z0-9._-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?", host, re.ASCII):
        name, port = call.scope["server"]
        host = f"{name}:{port}"
    return f"{call.scope['scheme']}://{host}"


def manifest(linker: Linker, base: str) -> dict[str, Any]:
    """What the service is and where its parts are."""
    at = f"{base}/reconcile"
    suggest = {what: {"service_url": at, "service_path": f"/suggest/{what}"} for what in ("entity", "property", "type")}
    limit = {
        "name": "limit",
        "label": "Limit",
        "type": "number",
        "default": 0,
        "help_text": "how many values of each entity; 0: all",
    }
    return {
        "versions": ["0.2"],
        "name": f"Namesake ({len(linker.kb):,} entities)",
        "identifierSpace": ENTITIES,
        "schemaSpace": PROPERTIES,
        "defaultTypes": [msgspec.to_builtins(HUMAN)],
        "view": {"url": WIKIDATA + "{{id}}"},
        "preview": {"url": at + "/preview?id={{id}}", "width": 420, "height": 180},
        "suggest": suggest,
        "extend": {
            "propose_properties": {"service_url": at, "service_path": "/properties"},
            "property_settings": [limit],
        },
    }
