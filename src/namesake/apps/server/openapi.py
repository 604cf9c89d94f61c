"""The OpenAPI document, and the same for people as a page: both are made of the table of routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

from namesake import __version__
from namesake.apps.server.http import HTML, JSON, Call, Reply, Route
from namesake.apps.server.problems import Trouble

WHY = {
    400: "the request cannot be read",
    404: "there is no such thing",
    405: "another method is wanted",
    408: "the request took too long to come",
    413: "something is larger than its limit",
    415: "another content type is wanted",
    422: "something in the request does not fit",
    429: "too many requests at a time from one address",
    503: "the server has as much to do as it may hold",
}
CSP = b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:auto;padding:1rem}code,pre{font-size:.9em}
pre{overflow:auto;background:#8881;padding:.7rem;border-radius:.4rem}h2{margin-top:2.5rem;font-size:1.1rem}
:root{color-scheme:light dark}"""


class Document:
    """What the server tells of itself."""

    def __init__(self, routes: Sequence[Route]) -> None:
        own = [
            Route("GET", "/openapi.json", self.json, "This document.", gives={JSON: {"type": "object"}}),
            Route("GET", "/docs", self.page, "The same for people.", gives={HTML: {"type": "string"}}),
        ]
        self.routes = [*routes, *own]
        self._json = msgspec.json.encode(document(self.routes))
        self._page = page(self.routes).encode()

    async def json(self, call: Call) -> Reply:
        """The document."""
        return Reply(self._json)

    async def page(self, call: Call) -> Reply:
        """The page: nothing on it comes from elsewhere, and nothing on it runs."""
        return Reply(self._page, HTML, headers=((b"content-security-policy", CSP),))


def document(routes: Sequence[Route]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of some routes."""
    structs = [
        kind
        for route in routes
        for kind in (*route.takes.values(), *route.gives.values())
        if not isinstance(kind, dict)
    ]
    distinct = list({repr(kind): kind for kind in [*structs, Trouble]}.values())
    schemas, components = msgspec.json.schema_components(distinct, ref_template="#/components/schemas/{name}")
    by_kind = {repr(kind): schema for kind, schema in zip(distinct, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_kind)
    about = {"title": "Namesake", "version": __version__, "description": "Which John Smith? Names to Wikidata."}
    return {"openapi": "3.1.0", "info": about, "paths": paths, "components": {"schemas": components}}


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    def content(kinds: dict[str, Any]) -> dict[str, Any]:
        return {
            kind: {"schema": schema if isinstance(schema, dict) else schemas[repr(schema)]}
            for kind, schema in kinds.items()
        }

    trouble = {JSON: {"schema": schemas[repr(Trouble)]}}
    answers: dict[str, Any] = {"200": {"description": "what was asked for", "content": content(route.gives)}}
    answers |= {str(status): {"description": WHY[status], "content": trouble} for status in route.fails}
    operation: dict[str, Any] = {
        "summary": route.what,
        "operationId": route.method.lower() + re.sub(r"\W+", "_", route.path),
        "responses": answers,
    }
    if route.takes:
        operation["requestBody"] = {"required": True, "content": content(route.takes)}
    if route.parameters:
        operation["parameters"] = [
            {"name": one.name, "in": one.place, "required": one.required, "description": one.what, "schema": one.schema}
            for one in route.parameters
        ]
    return operation


def page(routes: Sequence[Route]) -> str:
    """The document as HTML, without anything that a browser would have to fetch or to run."""
    told = document(routes)
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Namesake: the API</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>Namesake: the API</h1><p>For programs: <a href='openapi.json'>openapi.json</a>.</p>"
    ]
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>")
            parts.extend(_parameters(operation))
            parts.append(
                f"<p>Takes: {_kinds(operation.get('requestBody', {}))}</p>" if "requestBody" in operation else ""
            )
            parts.append(f"<p>Gives: {_kinds(operation['responses']['200'])}</p>")
    parts.append("<h1>What they hold</h1>")
    for name, schema in told["components"]["schemas"].items():
        shown = msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
        parts.append(f"<h2 id='{escape(name)}'><code>{escape(name)}</code></h2><pre>{escape(shown)}</pre>")
    return "".join([*parts, "</body></html>"])


def _parameters(operation: dict[str, Any]) -> list[str]:
    return [
        f"<p><code>{escape(one['name'])}</code> ({one['in']}{'' if one['required'] else ', may be left out'}): "
        f"{escape(one['description'])}</p>"
        for one in operation.get("parameters", [])
    ]


def _kinds(part: dict[str, Any]) -> str:
    def kind(name: str, schema: dict[str, Any]) -> str:
        reference = str(schema.get("$ref", "")).rpartition("/")[2]
        link = f" <a href='#{escape(reference)}'>{escape(reference)}</a>" if reference else ""
        return f"<code>{escape(name)}</code>{link}"

    return ", ".join(kind(name, one["schema"]) for name, one in part.get("content", {}).items())
