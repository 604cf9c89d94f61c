"""Endpoints: what each one takes and returns, answers within the limits, errors for clients, the OpenAPI document."""

import asyncio
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from namesake import __version__
from namesake.apps.server.limits import Limits
from namesake.drawing.theme import render

T = TypeVar("T")

JSON, HTML, TURTLE, FORM = "application/json", "text/html", "text/turtle", "application/x-www-form-urlencoded"
GZIP = ("gzip", "x-gzip")
MOST_FIELDS = 100  # parameters of a query string or a form
REFERENCE = "#/components/schemas/{name}"
ERRORS = {"GET": (400, 422), "POST": (400, 408, 413, 415, 422, 429, 503)}
"""Error statuses of endpoints that take something, by their method."""
CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Problem(msgspec.Struct, frozen=True):
    """The body of every answer that reports an error."""

    error: str
    what_to_do: str


class RequestError(Exception):
    """A request that is refused. Other requests are not affected."""

    def __init__(self, status: int, error: str, what_to_do: str, **headers: str) -> None:
        super().__init__(error)
        self.status = status
        self.problem = Problem(error, what_to_do)
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def body(self) -> bytes:
        """The problem as JSON."""
        return msgspec.json.encode(self.problem)


def check_size(what: str, size: int, most: int, unit: str) -> None:
    """Raise 413 if something exceeds its limit."""
    if size > most:
        raise RequestError(413, f"{what} is larger than {most:,} {unit}", "send less at a time, in several requests")


def busy(why: str) -> RequestError:
    """503: the server has reached one of its limits."""
    return RequestError(503, why, "try again in a moment", retry_after="1")


@dataclass(frozen=True)
class Endpoint:
    """An operation: `answer` gets the request and what `takes`, or `query`, describes; its docstring is the summary."""

    method: str
    path: str
    answer: Callable[[Request, Any], Awaitable[bytes | Response]]
    takes: Any = None  # the struct or the JSON schema of the body
    returns: Any = None  # the struct or the JSON schema of the answer
    reads: tuple[str, ...] = (JSON,)  # content types of the body
    sends: tuple[str, ...] = (JSON,)  # content types of the answer; the first is used where `answer` returns bytes
    errors: tuple[int, ...] = ()  # statuses that the answer may have besides 200 and `ERRORS`
    always: bool = False  # whether it is answered however busy the server is
    query: Any = None  # the struct of the parameters of the URL; for POST, `answer` reads them by `url_parameters`

    def decoded(self, body: bytes) -> Any:
        """The body as `takes` describes it."""
        if JSON in self.reads:
            return decoded(self.takes, body, "the body")
        return decoded(self.takes, fields(body, "the form"), "the form") if FORM in self.reads else body

    def check_content_type(self, request: Request) -> None:
        """Refuse a body of another content type, or in another encoding than UTF-8."""
        given = request.headers.get("content-type", "").lower()
        charset = given.partition("charset=")[2].split(";")[0].strip(" \"'")
        if content_type(request) not in self.reads or charset not in ("", "utf-8", "utf8", "us-ascii"):
            shown = f"{given[:100]!r}" if given else "missing"
            raise RequestError(415, f"the content type is {shown}", f"send {' or '.join(self.reads)} in UTF-8")


def url_parameters(request: Request, kind: type[T]) -> T:
    """The parameters of the path and the query string as a value of a type."""
    given = fields(request.scope["query_string"], "the URL") | request.path_params
    return decoded(kind, given, "the parameters of the URL")


def content_type(request: Request) -> str:
    """The content type of a request without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def decoded(kind: type[T], given: bytes | str | dict[str, str], what: str) -> T:
    """JSON, or the fields of a form, as a value of a type; or an error that states where it does not fit."""
    try:
        if isinstance(given, dict):
            return msgspec.convert(given, kind, strict=False)
        return msgspec.json.decode(given, type=kind)
    except msgspec.ValidationError as problem:
        raise RequestError(422, f"{what} is not valid: {problem}", "see /docs for the format") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as problem:
        raise RequestError(400, f"{what} is not JSON in UTF-8: {problem}", "send one JSON value, in UTF-8") from None


def fields(encoded: bytes, what: str) -> dict[str, str]:
    """The fields of a form or a query string; of a repeated one the last counts."""
    try:
        text = encoded.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:  # too many fields, or bytes that are not UTF-8
        advice = f"send at most {MOST_FIELDS}, in UTF-8, percent-encoded"
        raise RequestError(400, f"the parameters of {what} cannot be read", advice) from None


# answers within the limits
@dataclass(eq=False)
class Workload:
    """All requests of a server process."""

    limits: Limits
    check: Callable[[], None]  # called before each request; it raises an error if the server can no longer answer
    requests: int = 0
    size: int = 0  # bytes of all bodies
    clients: Counter[str] = field(default_factory=Counter)  # the number of requests by client address

    async def answer(self, endpoints: dict[str, Endpoint], request: Request) -> Response:
        """The answer of one of the endpoints, by the method. A body counts against the limits until it is answered."""
        endpoint = endpoints["GET" if request.method == "HEAD" else request.method]
        client, held = request.client.host if request.client else "", 0

        def hold(size: int) -> None:
            nonlocal held
            held += size
            self.size += size
            check_size("the body", held, self.limits.body, "bytes")
            if self.size > self.limits.held:
                raise busy("the requests of all clients together have too many bytes")

        self.requests += 1
        self.clients[client] += 1
        try:
            self.check()
            if not endpoint.always and self.requests > self.limits.requests:
                raise busy("too many requests at a time")
            if not endpoint.always and self.clients[client] > (most := self.limits.per_client):
                raise RequestError(429, f"more than {most} requests at a time", "wait for answers", retry_after="1")
            if request.method == "POST":
                endpoint.check_content_type(request)
                asked = endpoint.decoded(await _body(request, self.limits, hold))
            else:
                asked = None if endpoint.query is None else url_parameters(request, endpoint.query)
            answer = await endpoint.answer(request, asked)
            return answer if isinstance(answer, Response) else Response(answer, media_type=endpoint.sends[0])
        finally:
            self.requests -= 1
            self.size -= held
            self.clients[client] -= 1
            if not self.clients[client]:
                del self.clients[client]


async def _body(request: Request, limits: Limits, hold: Callable[[int], None]) -> bytes:
    """The body of a request, unpacked; an error if it is too large or too slow. `hold` counts its bytes."""
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", *GZIP):
        advice = "send it uncompressed or compressed with gzip"
        raise RequestError(415, "the body has an unknown encoding", advice, accept_encoding="gzip")
    declared = request.headers.get("content-length", "")
    check_size("the body", int(declared) if declared.isdecimal() else 0, limits.body, "bytes")
    parts = []
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                hold(len(part))
                parts.append(part)
    except TimeoutError:
        error = f"the body did not arrive within {limits.seconds:g} seconds"
        raise RequestError(408, error, "send it faster", connection="close") from None
    body = b"".join(parts)
    if encoding in GZIP:  # the content counts against the limits instead of the packed bytes
        hold(-len(body))
        try:
            body = await asyncio.to_thread(gzip.GzipFile(fileobj=io.BytesIO(body)).read, limits.body + 1)
        except (OSError, EOFError, zlib.error):
            raise RequestError(400, "the body is not gzip, or is cut off", "pack the whole body with gzip") from None
        hold(len(body))
    return body


# the document
def with_document(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """The endpoints, and those of the document about all of them."""

    async def as_json(request: Request, _: None) -> bytes:
        """This document."""
        return encoded

    async def as_page(request: Request, _: None) -> Response:
        """This document as a page."""
        return Response(page, headers={"content-security-policy": CSP}, media_type=HTML)

    own = Endpoint("GET", "/openapi.json", as_json, returns={"type": "object"})
    every = [*endpoints, own, Endpoint("GET", "/docs", as_page, returns={"type": "string"}, sends=(HTML,))]
    described = document(every)
    encoded, page = msgspec.json.encode(described), render("apps/server/docs.html", about=described)
    return every


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The OpenAPI 3.1 document of some endpoints."""
    structs = [kind for one in endpoints for kind in (one.takes, one.query, one.returns) if isinstance(kind, type)]
    _, schemas = msgspec.json.schema_components([*structs, Problem], ref_template=REFERENCE)
    bodies = [one.takes for one in endpoints]
    parameters = {one.query.__name__ for one in endpoints if one.query and one.query not in bodies}
    paths: dict[str, Any] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Namesake", "version": __version__, "description": "Links names in text to Wikidata."},
        "paths": paths,
        "components": {"schemas": {name: schemas[name] for name in schemas if name not in parameters}},
    }


def _operation(one: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    def content(kinds: Sequence[str], what: Any) -> dict[str, Any]:
        schema = {"$ref": REFERENCE.format(name=what.__name__)} if isinstance(what, type) else what or {}
        return {kind: {"schema": schema} for kind in kinds}

    problem = content([JSON], Problem)
    statuses = sorted({*one.errors, *(ERRORS[one.method] if one.takes or one.query else ())})
    errors = {str(status): {"description": HTTPStatus(status).phrase, "content": problem} for status in statuses}
    operation: dict[str, Any] = {
        "summary": getattr(one.answer, "func", one.answer).__doc__,
        "operationId": one.method.lower() + re.sub(r"\W+", "_", one.path),
        "responses": {"200": {"description": "the answer", "content": content(one.sends, one.returns)}} | errors,
    }
    if one.query:
        struct = schemas[one.query.__name__]
        operation["parameters"] = [
            {
                "name": name,
                "in": "path" if f"{{{name}}}" in one.path else "query",
                "required": name in struct.get("required", ()),
                "description": schema.get("description", ""),
                "schema": schema,
            }
            for name, schema in struct["properties"].items()
        ]
    if one.takes:
        operation["requestBody"] = {"required": True, "content": content(one.reads, one.takes)}
    return operation
