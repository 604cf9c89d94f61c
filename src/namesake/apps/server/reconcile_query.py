"""The queries of a batch to `/reconcile`. Each query is read on its own, so a bad one does not spoil the others."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from namesake.apps.server.http import decoded
from namesake.apps.server.problems import RequestError
from namesake.reconciling import Query

LIMIT = 5
LONGEST = 1000
"""Characters of a name: a longer one has no candidates. Of a value, only so many are read."""

Text = Annotated[str, Meta(max_length=LONGEST)]
Limit = Annotated[int, Meta(ge=1)] | Annotated[float, Meta(ge=1)]


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
    limit: Limit = LIMIT
    properties: Annotated[list[GivenProperty], Meta(max_length=100)] = []
    type_strict: Literal["any", "should", "all"] = "any"

    @property
    def types(self) -> tuple[str, ...]:
        """The types that are asked for, as QIDs."""
        given = [self.type] if isinstance(self.type, str) else self.type or []
        return tuple(one.rpartition("/")[2] for one in given if one)

    @property
    def as_row(self) -> Query:
        """The query as a row of a table; a name that is none, or too long, is empty."""
        name = self.query if isinstance(self.query, str) and len(self.query) <= LONGEST else ""
        return Query(name, values=_values(self.properties), types=self.types)


_batch = msgspec.json.Decoder(dict[str, msgspec.Raw])
_query = msgspec.json.Decoder(GivenQuery)


def read_queries(given: str) -> dict[str, GivenQuery | str]:
    """The queries of a batch by their keys; instead of a query that does not fit, what is wrong with it."""
    return {key: _read(raw) for key, raw in decoded(_batch, given, "`queries`").items()}


def _read(raw: msgspec.Raw) -> GivenQuery | str:
    try:
        query = decoded(_query, bytes(raw), "the query")
    except RequestError as problem:
        return problem.trouble.error
    return "the query has neither `query` nor `properties`" if query.query is UNSET and not query.properties else query


def _values(properties: list[GivenProperty]) -> tuple[tuple[str, str], ...]:
    """Property and value as the rows of tables have them; an entity is known by its QID."""
    values = []
    for given in properties:
        for value in given.v if isinstance(given.v, list) else [given.v]:
            text = (value.id or value.name) if isinstance(value, Item) else str(value)
            if value is not None and text.strip():
                values.append((given.pid.rpartition("/")[2], text[:LONGEST]))
    return tuple(values)
