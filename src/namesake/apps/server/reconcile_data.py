"""What OpenRefine asks for besides candidates: suggestions while somebody types, values of entities, a preview."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from html import escape
from itertools import islice
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from namesake.apps.server.http import HTML, JSON, Call, Handle, Parameter, Reply, Route, decoded
from namesake.apps.server.kb_api import QID
from namesake.apps.server.labels import LabelIndex
from namesake.apps.server.openapi import CSP, STYLE
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.kb.dates import DAY, iso
from namesake.kb.records import about, found, property_label, rows_named

INSTANCE, OCCUPATION, BIRTH, DEATH = 31, 106, 569, 570
SUGGESTED, MOST = 10, 1_000_000
"""Suggestions of one answer, and how many a client may skip."""
PREVIEW_CSP = CSP.replace(b"frame-ancestors 'none'", b"frame-ancestors *")  # OpenRefine shows it in a frame
_PROPERTY = re.compile(r"P[1-9][0-9]{0,8}")


class TypeName(msgspec.Struct, frozen=True):
    """What an entity, a property or a type is called."""

    id: str
    name: str


class Suggestion(msgspec.Struct, frozen=True):
    """Something that may be meant by what has been typed so far."""

    id: str
    name: str
    description: str = ""


class AskedProperty(msgspec.Struct, frozen=True):
    """A property of which values are wanted; `limit` among its settings bounds how many."""

    id: Annotated[str, Meta(max_length=100)]
    settings: dict[str, Any] = {}

    @property
    def most(self) -> int | None:
        """How many values are wanted; None: all."""
        given = str(self.settings.get("limit") or 0)
        return int(given) or None if re.fullmatch(r"[0-9]{1,6}", given, re.ASCII) else None


class Extension(msgspec.Struct, frozen=True):
    """Of which entities which properties are wanted."""

    ids: list[Annotated[str, Meta(max_length=100)]]
    properties: Annotated[list[AskedProperty], Meta(max_length=100)]


Find = Callable[[str, int], list[Suggestion]]
"""The suggestions for a prefix, without the first ones that are skipped."""

HUMAN = TypeName("Q5", "human")
_extension = msgspec.json.Decoder(Extension)


def _route(
    path: str, handle: Handle, what: str, gives: str, *parameters: Parameter, fails: tuple[int, ...] = (400, 422)
) -> Route:
    """Something to be got below `/reconcile`, by pages of any origin."""
    schema = {"type": "object" if gives == JSON else "string"}
    return Route("GET", f"/reconcile/{path}", handle, what, {}, {gives: schema}, parameters, fails, open=True)


class ReconcileData:
    """Entities, properties and types of the KB, as OpenRefine wants them."""

    def __init__(self, pool: Pool) -> None:
        self.pool, self.kb = pool, pool.linker.kb
        self.labels = LabelIndex(self.kb)

    def routes(self) -> list[Route]:
        """What it answers; all of it may be asked by OpenRefine's page."""
        prefix = Parameter("prefix", "what has been typed so far", {"type": "string", "maxLength": 200}, True)
        cursor = Parameter("cursor", "how many suggestions to skip", {"type": "integer", "minimum": 0, "maximum": MOST})
        asked = (prefix, cursor)
        kinds: dict[str, Find] = {
            "entity": self._entities,
            "property": self._properties,
            "type": self._types,
        }
        told = (Parameter("type", "a type", {"type": "string"}), Parameter("limit", "how many", {"type": "string"}))
        one = Parameter("id", "an entity", {"type": "string", "pattern": f"^{QID.pattern}$"}, True)
        return [
            *(
                _route(f"suggest/{kind}", self._suggester(find), f"What begins like this: {kind}.", JSON, *asked)
                for kind, find in kinds.items()
            ),
            _route("properties", self.propose, "The properties that most is stated with.", JSON, *told),
            _route("preview", self.preview, "An entity in short, for a frame.", HTML, one, fails=(400, 404)),
        ]

    # what entities are
    def types(self, row: int) -> list[TypeName]:
        """What an entity is an instance of, as the KB states it; a person is human."""
        named = [TypeName(*self._item(value)) for value in self._values(row, INSTANCE) if value >= 0]
        return named or ([HUMAN] if self.kb.person[row] else [])

    def all_types(self, row: int) -> set[str]:
        """What an entity can be asked for as: its types, and a person's occupations."""
        values = [*self._values(row, INSTANCE), *self._values(row, OCCUPATION)]
        own = {f"Q{self.kb.item_qids[value]}" for value in values if value >= 0}
        return own | ({HUMAN.id} if self.kb.person[row] and not self._values(row, INSTANCE) else set())

    def _values(self, row: int, number: int) -> list[int]:
        pairs = self.kb.statements[row]
        chosen = pairs[self.kb.pair_property[pairs] == number]
        values: list[int] = self.kb.pair_value[chosen].tolist()
        return values

    def _item(self, item: int) -> tuple[str, str]:
        qid = f"Q{self.kb.item_qids[item]}"
        return qid, self.kb.item_labels[item] or qid

    # suggestions
    def _suggester(self, find: Find) -> Handle:
        async def suggest(call: Call) -> Reply:
            query = call.query()
            prefix, cursor = query.get("prefix"), query.get("cursor", "0")
            if prefix is None or len(prefix) > 200:
                raise RequestError(422, "`prefix` is missing or too long", "give the first letters")
            if not re.fullmatch(r"[0-9]{1,9}", cursor, re.ASCII) or int(cursor) > MOST:
                raise RequestError(422, "`cursor` is no number that fits", f"give one from 0 to {MOST:,}")
            wanted, skipped = " ".join(prefix.split()), int(cursor)
            if not wanted:
                return Reply(msgspec.json.encode({"result": []}))
            return Reply(await self.pool.look(lambda: msgspec.json.encode({"result": find(wanted, skipped)})))

        return suggest

    def _entities(self, prefix: str, skipped: int) -> list[Suggestion]:
        """Those called exactly so, then the best known whose label begins so."""
        exact = [self.kb.row(prefix)] if QID.fullmatch(prefix) else rows_named(self.kb, prefix)
        more = self.labels.beginning(prefix, len(exact) + skipped + SUGGESTED)
        rows = dict.fromkeys(row for row in [*exact, *more] if row >= 0)
        chosen = list(rows)[skipped : skipped + SUGGESTED]
        return [Suggestion(f"Q{self.kb.qids[row]}", self.kb.label(row), about(self.kb, row)) for row in chosen]

    def _properties(self, prefix: str, skipped: int) -> list[Suggestion]:
        return _beginning(self._used, prefix, skipped)

    def _types(self, prefix: str, skipped: int) -> list[Suggestion]:
        return _beginning(self._known_types, prefix, skipped)

    @cached_property
    def _used(self) -> list[TypeName]:
        """The properties that the KB states something with, the most frequent first; dates of life among them."""
        numbers, place = np.unique(self.kb.pair_property, return_inverse=True)
        order = np.argsort(-np.bincount(place, self.kb.pair_count, len(numbers)), kind="stable")
        used = dict.fromkeys([BIRTH, DEATH, *numbers[order].tolist()])
        return [TypeName(f"P{number}", property_label(self.kb, number)) for number in used]

    @cached_property
    def _known_types(self) -> list[TypeName]:
        """What entities are instances of or work as, the most frequent first."""
        chosen = np.isin(self.kb.pair_property, [INSTANCE, OCCUPATION]) & (self.kb.pair_value >= 0)
        pairs = np.flatnonzero(chosen)
        pairs = pairs[np.argsort(-self.kb.pair_count[pairs], kind="stable")]
        items = dict.fromkeys(self.kb.pair_value[pairs].tolist())
        return list(dict.fromkeys([HUMAN, *(TypeName(*self._item(item)) for item in items)]))

    # values
    async def propose(self, call: Call) -> Reply:
        """Properties to extend a table with."""
        query = call.query()
        given = query.get("limit", "")
        limit = int(given) if re.fullmatch(r"[1-9][0-9]{0,3}", given, re.ASCII) else 50
        told = {"type": query.get("type", HUMAN.id)[:100], "limit": limit}
        return Reply(await self.pool.look(lambda: msgspec.json.encode({**told, "properties": self._used[:limit]})))

    async def extend(self, given: str) -> Reply:
        """Values of properties of entities."""
        asked = decoded(_extension, given, "`extend`")
        if len(asked.ids) * max(len(asked.properties), 1) > 100 * self.pool.limits.queries:
            raise too_large("the list of ids", 100 * self.pool.limits.queries, "cells")
        return Reply(await self.pool.run(lambda: msgspec.json.encode(self._extended(asked))))

    def _extended(self, asked: Extension) -> dict[str, Any]:
        known = [one for one in asked.properties if _PROPERTY.fullmatch(one.id)]
        meta = [TypeName(one.id, property_label(self.kb, int(one.id[1:]))) for one in known]
        rows: dict[str, Any] = {}
        for qid in dict.fromkeys(asked.ids):
            row = self.kb.row(qid)
            rows[qid] = {one.id: self._cells(row, int(one.id[1:]))[: one.most] if row >= 0 else [] for one in known}
        return {"meta": meta, "rows": rows}

    def _cells(self, row: int, number: int) -> list[dict[str, str]]:
        kb = self.kb
        if number in (BIRTH, DEATH):
            days, precisions = (kb.birth, kb.birth_precision) if number == BIRTH else (kb.death, kb.death_precision)
            date = iso(int(days[row]), int(precisions[row]))
            if date is None:
                return []
            return [{"date": f"{date}T00:00:00+00:00"} if precisions[row] >= DAY else {"str": date}]
        return [
            dict(zip(("id", "name"), self._item(value), strict=True)) if value >= 0 else {"str": kb.strings[~value]}
            for value in self._values(row, number)
        ]

    async def preview(self, call: Call) -> Reply:
        """An entity in short, as a page for a frame."""
        qid = call.query().get("id", "")
        row = self.kb.row(qid)
        if row < 0:
            raise RequestError(404, "the KB has no such entity", "ask for one that was found")
        one = found(self.kb, row)
        years = " – ".join(filter(None, (one.birth or "", one.death or "")))
        body = f"<p><b>{escape(one.label)}</b> ({qid})</p><p>{escape(about(self.kb, row))}</p><p>{escape(years)}</p>"
        head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{qid}</title>'
        html = f"{head}<style>{STYLE}</style></head><body>{body}</body></html>"
        return Reply(html.encode(), HTML, headers=((b"content-security-policy", PREVIEW_CSP),))


def _beginning(known: Iterable[TypeName], prefix: str, skipped: int) -> list[Suggestion]:
    """Some of those whose name begins so, or whose id this is."""
    begun = prefix.casefold()
    fitting = (one for one in known if one.name.casefold().startswith(begun) or one.id.casefold() == begun)
    return [Suggestion(one.id, one.name) for one in islice(fitting, skipped, skipped + SUGGESTED)]
