"""`/reconcile`: the W3C Reconciliation Service API 0.2, which OpenRefine speaks: manifest and queries.

Pages of any origin may ask here, and here alone: OpenRefine's own page does. They get what the KB knows, which is
public, and nothing else of the server. `reconcile_query.py` reads the queries; `reconcile_data.py` has suggestions,
values and previews.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec

from namesake.apps.server.http import FORM, JSON, Call, Parameter, Reply, Route, fields
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.reconcile_data import HUMAN, ReconcileData, TypeName
from namesake.apps.server.reconcile_query import GivenQuery, read_queries
from namesake.kb import WIKIDATA
from namesake.linker import Linker
from namesake.reconciling import Candidate
from namesake.reconciling.reconcile import AT_ONCE, TYPE, Reconciled, judge

ENTITIES, PROPERTIES = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
MOST = 50
LOOKED_AT = 100
"""Candidates that are looked at where a type rules some of them out."""

FEW = 16
"""Queries that keep nobody waiting; OpenRefine sends 10 at a time to a service that announces no `batchSize`."""


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


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """The candidates of one query, best first; none and an error where the query could not be read."""

    result: list[ReconcileCandidate]
    error: str = ""


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
            route
            for path in ("/reconcile", "/reconcile/")
            for route in (
                Route("GET", path, self.get, told, {}, gives, asked, fails, open=True),
                Route("POST", path, self.post, told, {FORM: form}, gives, (), (*fails, 408), open=True),
            )
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
        asked = read_queries(given["queries"])
        if len(asked) > self.pool.limits.queries:
            raise too_large("the list of queries", self.pool.limits.queries, "queries")
        run = self.pool.look if len(asked) <= FEW else self.pool.run
        return Reply(await run(lambda: msgspec.json.encode(self._reconciled(asked))))

    def _reconciled(self, asked: dict[str, GivenQuery | str]) -> dict[str, Result]:
        """The candidates of each query. A query without a name has none: the KB is searched by names."""
        results = {key: Result([], error=one if isinstance(one, str) else "") for key, one in asked.items()}
        read = [(key, one) for key, one in asked.items() if not isinstance(one, str)]
        for begin in range(0, len(read), AT_ONCE):
            part = read[begin : begin + AT_ONCE]
            judged = judge(self.pool.linker, [one.as_row for _, one in part])
            for number, (key, one) in enumerate(part):
                results[key] = Result([self._candidate(each) for each in self._fitting(judged, number, one)])
        return results

    def _fitting(self, judged: Reconciled, query: int, asked: GivenQuery) -> list[Candidate]:
        """The best candidates with the types that they must have; who they are is read of these alone."""
        wanted, limit = set(asked.types), int(min(asked.limit, MOST))
        answered = judged.reason(query) is None
        strict = bool(wanted) and asked.type_strict != "should"
        enough = wanted.issubset if asked.type_strict == "all" else lambda types: bool(wanted & types)
        best = enumerate(judged.best(query, LOOKED_AT if strict else limit))
        rows = judged.scored.batch.rows
        fitting = ((place, at) for place, at in best if not strict or enough(self.data.all_types(int(rows[at]))))
        kb, typed = self.pool.linker.kb, judged.evidence.get(TYPE)

        def matched(place: int, at: int) -> bool:
            """Whether a candidate is the answer: one that states other types only never is."""
            return answered and place == 0 and (typed is None or bool(typed[at] >= 0))

        return [judged.who(kb, at, matched=matched(place, at)) for place, at in islice(fitting, limit)]

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
        about = manifest(self.pool.linker, self.public or address(call), self.pool.limits.queries)
        return msgspec.json.encode(about)


def address(call: Call) -> str:
    """The address at which the server took this connection. The Host header, which the client chooses, is not used."""
    host, port = call.scope["server"]
    return f"{call.scope['scheme']}://{f'[{host}]' if ':' in host else host}:{port}"


def manifest(linker: Linker, base: str, batch: int) -> dict[str, Any]:
    """What the service is, where its parts are, and how many queries it takes at a time."""
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
        "batchSize": batch,
        "view": {"url": WIKIDATA + "{{id}}"},
        "preview": {"url": at + "/preview?id={{id}}", "width": 420, "height": 180},
        "suggest": suggest,
        "extend": {
            "propose_properties": {"service_url": at, "service_path": "/properties"},
            "property_settings": [limit],
        },
    }
