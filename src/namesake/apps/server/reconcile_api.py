"""`/reconcile`: the W3C Reconciliation Service API 0.2. OpenRefine asks from any page; the KB is public."""

import re
from bisect import bisect_left
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pyarrow.compute as pc
from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.server.endpoint import CSP, FORM, HTML, Endpoint, RequestError, check_size, decoded
from namesake.apps.server.pool import Pool
from namesake.arrays import Bool, Int32
from namesake.drawing.theme import render
from namesake.kb.records import about, found, lifetime, property_label, rows_named, values_of
from namesake.kernels.dump.wikidata import INSTANCE_OF, OCCUPATION
from namesake.kinds import Kind, listed
from namesake.reconciling import Candidate, Query, Reconciled, judge
from namesake.scorers.table_rows import ENTITY_TYPE

MOST, LIMIT = 50, 5  # candidates per query: the largest number, and the default
LONGEST = 1000  # characters of a name: a longer one has no candidates. Longer values are cut.
LOOKED_AT = 100  # candidates that are checked for the types of a query
FEW = 16  # queries that count as short work; OpenRefine sends 10 at a time to a service that announces no `batchSize`
PREVIEW_CSP = CSP.replace("frame-ancestors 'none'", "frame-ancestors *")  # OpenRefine shows it in a frame

SUGGESTED = 10  # suggestions at a time
_PROPERTY = re.compile(r"P[1-9][0-9]{0,8}")
Text = Annotated[str, Meta(max_length=LONGEST)]
Prefix = Annotated[str, Meta(max_length=200, description="the text typed so far")]
Cursor = Annotated[int, Meta(ge=0, le=1_000_000, description="the number of suggestions to skip")]
TypeId = Annotated[str, Meta(description="a type, such as Q5 or Q43229; empty for all entities")]
AsJson = Annotated[str, Meta(extra_json_schema={"contentMediaType": "application/json"})]


class Item(msgspec.Struct, frozen=True):
    """A value that is an entity."""

    id: Text
    name: Text = ""


class GivenProperty(msgspec.Struct, frozen=True):
    """A property of a query, with one value or several."""

    pid: Text
    v: Item | str | int | float | bool | list[Item | str | int | float | bool | None] | None


class GivenQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One query: a name, properties, or both. A name that is not a text has no candidates."""

    query: str | int | float | bool | UnsetType | None = UNSET
    type: Text | Annotated[list[Text], Meta(max_length=100)] | None = None
    limit: Annotated[int, Meta(ge=1)] | Annotated[float, Meta(ge=1)] = LIMIT
    properties: Annotated[list[GivenProperty], Meta(max_length=100)] = []
    type_strict: Literal["any", "should", "all"] = "any"

    @property
    def types(self) -> tuple[str, ...]:
        """The QIDs of the types that the query asks for."""
        given = [self.type] if isinstance(self.type, str) else self.type or []
        return tuple(one.rpartition("/")[2] for one in given if one)

    @property
    def as_row(self) -> Query:
        """The query as a row of a table. Without a valid name, the name is empty."""
        name = self.query if isinstance(self.query, str) and len(self.query) <= LONGEST else ""
        values = []
        for given in self.properties:
            for value in given.v if isinstance(given.v, list) else [given.v]:
                text = (value.id or value.name) if isinstance(value, Item) else str(value)
                if value is not None and text.strip():
                    values.append((given.pid.rpartition("/")[2], text[:LONGEST]))
        return Query(name, values=tuple(values), types=self.types)


class Named(msgspec.Struct, frozen=True):
    """The id and the name of an entity, a property or a type."""

    id: str
    name: str


class AskedProperty(msgspec.Struct, frozen=True):
    """A property whose values the client asks for; `limit` among its settings bounds their number."""

    id: Annotated[str, Meta(max_length=100)]
    settings: dict[str, Any] = {}

    @property
    def most(self) -> int | None:
        """The largest number of values; None: all."""
        given = str(self.settings.get("limit") or 0)
        return int(given) or None if re.fullmatch(r"[0-9]{1,6}", given, re.ASCII) else None


class Extension(msgspec.Struct, frozen=True):
    """The entities and the properties of a data extension request."""

    ids: list[Annotated[str, Meta(max_length=100)]]
    properties: Annotated[list[AskedProperty], Meta(max_length=100)]


class ReconcileForm(msgspec.Struct, frozen=True):
    """The parameters of `/reconcile`, in the URL or as a form."""

    queries: AsJson | None = None
    extend: AsJson | None = None


def endpoints(pool: Pool, public: str | None) -> list[Endpoint]:
    """The endpoints of this module. `public` is the address that the manifest announces."""
    api, record, found = ReconcileApi(pool, public), {"type": "object"}, []
    for path in ("/reconcile", "/reconcile/"):
        found.append(Endpoint("GET", path, api.get, returns=record, errors=(413, 429, 503), query=ReconcileForm))
        found.append(Endpoint("POST", path, api.post, ReconcileForm, record, (FORM,)))
    kinds = ("entity", "property", "type")
    return [
        *found,
        *(pool.lookup(f"/reconcile/suggest/{kind}", partial(api.suggest, kind), record) for kind in kinds),
        pool.lookup("/reconcile/properties", api.propose, record),
        pool.lookup("/reconcile/preview", api.preview, {"type": "string"}, sends=(HTML,), errors=(404,)),
    ]


class ReconcileApi:
    """Answers queries for names in the cells of a table."""

    def __init__(self, pool: Pool, public: str | None) -> None:
        self.pool, self.kb, self.public = pool, pool.linker.kb, public and public.rstrip("/")

    async def get(self, request: Request, asked: ReconcileForm) -> bytes:
        """The manifest; with `queries`, candidates for names; with `extend`, values of entities."""
        if asked.queries is not None or asked.extend is not None:
            return await self.post(request, asked)
        host, port = request.scope["server"]  # the Host header, which the client chooses, is not used
        own = f"{request.scope['scheme']}://{f'[{host}]' if ':' in host else host}:{port}"
        return msgspec.json.encode(self._manifest(self.public or own))

    async def post(self, request: Request, asked: ReconcileForm) -> bytes:
        """With `queries`, candidates for names; with `extend`, values of entities."""
        if asked.extend is not None:
            wanted = decoded(Extension, asked.extend, "`extend`")
            cells = len(wanted.ids) * max(len(wanted.properties), 1)
            check_size("the list of ids", cells, 100 * self.pool.limits.queries, "cells")
            return await self.pool.json(lambda: self.extended(wanted), large=True)
        if asked.queries is None:
            raise RequestError(422, "the form has neither `queries` nor `extend`", "send one of them")
        queries = {key: _read(raw) for key, raw in decoded(dict[str, msgspec.Raw], asked.queries, "`queries`").items()}
        check_size("the list of queries", len(queries), self.pool.limits.queries, "queries")
        return await self.pool.json(lambda: self._reconciled(queries), len(queries) > FEW)

    def suggest(self, kind: str, prefix: Prefix, cursor: Cursor = 0) -> dict[str, list[dict[str, str]]]:
        """Entities, properties or types whose name begins with a prefix."""
        prefix, shown = " ".join(prefix.split()), slice(cursor, cursor + SUGGESTED)
        begun, fitting = prefix.casefold(), list[tuple[str, str, str]]()
        if prefix and kind == "entity":  # those with this name, then those whose label begins with it
            exact = [row] if (row := self.kb.row(prefix)) >= 0 else rows_named(self.kb, prefix)
            rows = dict.fromkeys(row for row in [*exact, *self._beginning(prefix, len(exact) + shown.stop)] if row >= 0)
            fitting = [(self.kb.id_of(row), self.kb.label(row), about(self.kb, row)) for row in list(rows)[shown]]
        elif prefix:
            known = self.proposed("") if kind == "property" else self._known_types
            for one in known:
                of = self.kinds.get(one) if kind == "type" else None
                names = (one.name.casefold(), *((*of.spellings, of.name, of.plural) if of else ()))
                if any(name.startswith(begun) for name in names) or one.id.casefold() == begun:
                    fitting.append((one.id, one.name, ""))
            fitting = fitting[shown]
        return {"result": [dict(zip(("id", "name", "description"), one, strict=True)) for one in fitting]}

    def propose(
        self, type: TypeId = "", limit: Annotated[str, Meta(description="the number of properties")] = ""
    ) -> dict[str, Any]:
        """The properties with the most statements of entities with a type."""
        most, type = int(limit) if re.fullmatch("[1-9][0-9]{0,3}", limit) else 50, type[:100]
        return {"type": type, "limit": most, "properties": self.proposed(type.rpartition("/")[2])[:most]}

    def preview(self, id: Annotated[str, Meta(description="the QID of an entity")]) -> Response:
        """An entity in short, for a frame."""
        row = self.kb.row(id)
        if row < 0:
            raise RequestError(404, "the KB has no such entity", "ask for an entity that /reconcile returned")
        page = render("apps/server/preview.html", one=found(self.kb, row))
        return Response(page, headers={"content-security-policy": PREVIEW_CSP}, media_type=HTML)

    def _manifest(self, base: str) -> dict[str, Any]:
        """The description of the service: its types, the addresses of its parts, the number of queries per request."""
        found: dict[str, Any] = msgspec.json.decode(Path(__file__).with_name("manifest.json").read_bytes())
        found |= {"name": f"Namesake ({len(self.kb):,} entities)", "defaultTypes": list(self.kinds)}
        found["batchSize"] = self.pool.limits.queries
        found["preview"]["url"] = f"{base}/reconcile/preview?id={{{{id}}}}"
        if self.kb.ids.own:
            found["view"] = {"url": found["preview"]["url"]}  # Wikidata has no pages of own entities
        for service in (*found["suggest"].values(), found["extend"]["propose_properties"]):
            service["service_url"] = f"{base}/reconcile"
        return found

    def _reconciled(self, asked: dict[str, GivenQuery | str]) -> dict[str, Any]:
        """The candidates of each query. A query without a name has none: the KB is searched by names."""
        results: dict[str, Any] = {key: {"result": [], "error": one} for key, one in asked.items()}
        read = {key: one for key, one in asked.items() if not isinstance(one, str)}
        judged = judge(self.pool.linker, [one.as_row for one in read.values()])
        for number, (key, one) in enumerate(read.items()):
            results[key] = {"result": [self._candidate(each) for each in self._fitting(judged, number, one)]}
        return results

    def _fitting(self, judged: Reconciled, query: int, asked: GivenQuery) -> list[Candidate]:
        """The best candidates with the required types. Only these are described."""
        wanted, limit, fitting = set(asked.types), int(min(asked.limit, MOST)), list[Candidate]()
        strict = bool(wanted) and asked.type_strict != "should"
        answered, typed = judged.reason(query) is None, judged.scored.scores.get(ENTITY_TYPE)
        for place, at in enumerate(judged.best(query, LOOKED_AT if strict else limit)):
            if strict:
                types = {one.id for one in self.types_of(int(judged.scored.batch.rows[at]), OCCUPATION)}
                if not (wanted <= types if asked.type_strict == "all" else wanted & types):
                    continue
            # a candidate that has other types only is not the answer
            matched = answered and place == 0 and (typed is None or bool(typed[at] >= 0))
            fitting.append(judged.who(self.kb, at, matched=matched))
            if len(fitting) == limit:
                break
        return fitting

    def _candidate(self, one: Candidate) -> dict[str, Any]:
        """A candidate of a query; its score is the confidence in percent."""
        return {
            "id": one.qid,
            "name": one.label or one.qid,
            "description": one.description,
            "score": round(100 * one.confidence, 3) if one.confidence is not None else one.score,
            "match": one.matched,
            "type": self.types_of(self.kb.row(one.qid)),
            "features": [{"id": name, "value": value} for name, value in one.parts.items()],
        }

    # types
    @cached_property
    def kinds(self) -> dict[Named, Kind]:
        """The types that stand for kinds: the first class of each kind that the KB has, such as human."""
        return {Named(*kind.root): kind for kind in self.kb.kinds if kind.root}

    def types_of(self, row: int, *more: int) -> list[Named]:
        """The types of an entity: its classes (`instance of`), values of other properties, and the type of its kind."""
        values = values_of(self.kb, row, INSTANCE_OF, *more)
        types = {one.id: one for one in (self._item(value) for value in values if value >= 0)}
        if root := self.kb.kind_of(row).root:
            types.setdefault(root[0], Named(*root))
        return list(types.values())

    def _item(self, item: int) -> Named:
        qid = self.kb.ids.text(int(self.kb.item_qids[item]))
        return Named(qid, self.kb.item_labels[item] or qid)

    # suggestions
    @cached_property
    def _by_label(self) -> Int32:
        """The rows of the entities in the order of their labels' bytes. It is made for the first suggestion."""
        labels = self.kb.item_labels.take(self.kb.entity_item)
        return np.asarray(pc.sort_indices(labels.arrow()), np.int32)

    def _beginning(self, prefix: str, most: int) -> list[int]:
        """The rows whose label begins with a prefix, or with it In Title Case; those with the most sitelinks first."""
        title, labels, items = prefix.title(), self.kb.item_labels, self.kb.entity_item

        def label(row: np.int32) -> bytes:
            return labels.data[labels.offsets[items[row]] : labels.offsets[items[row] + 1]].tobytes()

        found = []
        for start in [prefix] if title.startswith(prefix) else [prefix, title]:
            text = start.encode("utf-8", "replace")  # no byte of UTF-8 is as large as FF
            begin, end = (bisect_left(self._by_label, one, key=label) for one in (text, text + b"\xff"))
            found.append(self._by_label[begin:end])
        rows = np.concatenate(found).astype(np.int64)
        keys = rows - (self.kb.sitelinks[rows].astype(np.int64) << 32)
        best = np.sort(keys if len(keys) <= most else np.partition(keys, most)[:most])
        return [int(key) & 0xFFFFFFFF for key in best]

    @lru_cache(maxsize=64)  # noqa: B019 - one object per server
    def proposed(self, type_: str) -> list[Named]:
        """The properties of entities with a type, or of all if none has it: dates, then the most frequent first."""
        kb, asked = self.kb, np.array([self.kb.ids.number(type_)], np.int64)
        kind = next((kind for one, kind in self.kinds.items() if one.id == type_), None)
        pairs = np.flatnonzero(self._is_type & (kb.pair_value == kb.items(asked)[0]))
        if kind is not None:
            chosen = kb.kind == kind.number
        else:
            at = np.flatnonzero(np.isin(kb.statements.values, pairs)) if len(pairs) else pairs
            chosen = np.zeros(len(kb), np.bool_)
            chosen[np.searchsorted(kb.statements.indptr, at, side="right") - 1] = True
            chosen |= not len(at)
        own = kb.statements.values[np.repeat(chosen, np.diff(kb.statements.indptr))]
        numbers, place = np.unique(kb.pair_property, return_inverse=True)
        often = np.bincount(place[own], minlength=len(numbers))
        order = np.argsort(-often, kind="stable")[: np.count_nonzero(often)]
        there = np.unique(kb.kind[chosen])
        dates = [number for one in listed() if one.number in there for number in (*one.begins[:1], *one.ends[:1])]
        used = dict.fromkeys([*dates, *numbers[order].tolist()])
        return [Named(f"P{number}", property_label(kb, number)) for number in used]

    @cached_property
    def _is_type(self) -> Bool:
        """Which pairs state a type of an entity, or an occupation."""
        return np.isin(self.kb.pair_property, [INSTANCE_OF, OCCUPATION]) & (self.kb.pair_value >= 0)

    @cached_property
    def _known_types(self) -> list[Named]:
        """The types of the kinds, then the classes and the occupations of entities, the most frequent first."""
        pairs = np.flatnonzero(self._is_type)
        pairs = pairs[np.argsort(-self.kb.pair_count[pairs], kind="stable")]
        items = dict.fromkeys(self.kb.pair_value[pairs].tolist())
        return list({one.id: one for one in (*self.kinds, *map(self._item, items))}.values())

    # values
    def extended(self, asked: Extension) -> dict[str, Any]:
        """The values of properties of entities."""
        known = [one for one in asked.properties if _PROPERTY.fullmatch(one.id)]
        meta = [Named(one.id, property_label(self.kb, int(one.id[1:]))) for one in known]
        rows: dict[str, Any] = {}
        for qid in dict.fromkeys(asked.ids):
            row = self.kb.row(qid)
            rows[qid] = {one.id: self._cells(row, int(one.id[1:]))[: one.most] if row >= 0 else [] for one in known}
        return {"meta": meta, "rows": rows}

    def _cells(self, row: int, number: int) -> list[Any]:
        kb, kind = self.kb, self.kb.kind_of(row)
        if number in (*kind.begins, *kind.ends):
            date = lifetime(kb, row)[number not in kind.begins]
            if date is None:
                return []
            return [{"date": f"{date}T00:00:00+00:00"} if date.count("-", 1) == 2 else {"str": date}]
        values = values_of(kb, row, number)
        return [self._item(value) if value >= 0 else {"str": kb.strings[~value]} for value in values]


def _read(raw: msgspec.Raw) -> GivenQuery | str:
    """A query, or what is wrong with it: a query that is not valid does not affect the others of its batch."""
    try:
        query = decoded(GivenQuery, bytes(raw), "the query")
    except RequestError as problem:
        return problem.problem.error
    return "the query has neither `query` nor `properties`" if query.query is UNSET and not query.properties else query
