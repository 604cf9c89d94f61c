"""The OpenAPI document and the same as a page, both made from the endpoints.

Starlette has no OpenAPI generator for msgspec, which writes the JSON schemas of the structs itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from namesake import __version__
from namesake.apps.server.endpoint import HTML, JSON, Endpoint, Problem
from namesake.drawing.theme import render

STATUSES = {
    400: "the request cannot be read",
    404: "not found",
    408: "the request did not arrive in time",
    413: "something is larger than its limit",
    415: "the content type or the encoding is not supported",
    422: "a value in the request is not valid",
    429: "too many requests at a time from one address",
    503: "the server has reached one of its limits",
}
CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def with_document(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """The endpoints, and those of the document about all of them."""

    async def as_json(request: Request, _: None) -> bytes:
        return encoded

    async def as_page(request: Request, _: None) -> Response:
        return Response(page, headers={"content-security-policy": CSP}, media_type=HTML)

    text = {"type": "string"}
    every = [
        *endpoints,
        Endpoint("GET", "/openapi.json", as_json, "This document.", returns={"type": "object"}),
        Endpoint("GET", "/docs", as_page, "This document as a page.", returns=text, sends=(HTML,)),
    ]
    about = document(every)
    encoded, page = msgspec.json.encode(about), render("apps/server/docs.html", about=about)
    return every


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of some endpoints."""
    kinds = [kind for one in endpoints for kind in (one.takes, one.returns) if isinstance(kind, type)]
    structs = list(dict.fromkeys([*kinds, Problem]))
    references, schemas = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    by_struct = dict(zip(structs, references, strict=True))
    parameters = {one.takes.__name__ for one in endpoints if one.method == "GET" and one.takes}
    paths: dict[str, Any] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, by_struct, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Namesake", "version": __version__, "description": "Links names in text to Wikidata."},
        "paths": paths,
        "components": {"schemas": {name: schemas[name] for name in schemas if name not in parameters}},
    }


def _operation(one: Endpoint, by_struct: dict[type, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    def content(kinds: Sequence[str], what: Any) -> dict[str, Any]:
        schema = by_struct[what] if isinstance(what, type) else what or {}
        return {kind: {"schema": schema} for kind in kinds}

    problem = content([JSON], Problem)
    errors = {str(status): {"description": STATUSES[status], "content": problem} for status in one.errors}
    operation: dict[str, Any] = {
        "summary": one.summary,
        "operationId": one.method.lower() + re.sub(r"\W+", "_", one.path),
        "responses": {"200": {"description": "the answer", "content": content(one.sends, one.returns)}} | errors,
    }
    if one.takes and one.method == "GET":
        operation["parameters"] = _parameters(one, schemas[one.takes.__name__])
    elif one.takes:
        operation["requestBody"] = {"required": True, "content": content(one.reads, one.takes)}
    return operation


def _parameters(one: Endpoint, struct: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of a struct as parameters of the path or the query string."""
    return [
        {
            "name": name,
            "in": "path" if f"{{{name}}}" in one.path else "query",
            "required": name in struct["required"],
            "description": schema.get("description", ""),
            "schema": schema,
        }
        for name, schema in struct["properties"].items()
    ]
