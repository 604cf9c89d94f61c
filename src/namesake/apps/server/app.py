"""The application: all endpoints of a linker as routes of Starlette, with CORS, compression, metrics and errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from namesake import __version__
from namesake.apps.server import kb_api, link_api, nif_api, openapi, page_api, reconcile_api, rel_api
from namesake.apps.server.endpoint import JSON, Endpoint
from namesake.apps.server.limits import Limits
from namesake.apps.server.metrics import RequestMetrics, registry_of
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError
from namesake.apps.server.workload import Workload
from namesake.errors import NamesakeError
from namesake.kb.store import KBChangedError
from namesake.linker import Linker

PACKED_FROM = 1 << 10
"""Bytes from which an answer is compressed for clients that accept gzip."""


class Health(msgspec.Struct, frozen=True):
    """The state of the server, and what it serves."""

    status: str
    version: str
    entities: int
    recipe: str


def application(
    linker: Linker,
    limits: Limits,
    origins: Sequence[str] = (),
    public: str | None = None,
    stop: Callable[[], None] = lambda: None,
) -> Starlette:
    """The ASGI application of a linker.

    Pages of `origins` may read its answers, `public` is the address that it announces, and `stop` ends the server.
    """
    pool = Pool(linker, limits)
    load = Workload(limits, linker.kb.check_unchanged)
    registry = registry_of(pool, load)

    gzip = partial(GZipMiddleware, minimum_size=PACKED_FROM, compresslevel=1)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        pool.close()

    return Starlette(
        routes=_routes(openapi.with_document(_endpoints(pool, registry, public)), load),
        middleware=[
            Middleware(RequestMetrics, registry),
            Middleware(ForHeader, b"origin", partial(Cors, origins=origins)),
            Middleware(ForHeader, b"accept-encoding", gzip),
        ],
        exception_handlers=_error_handlers(stop),
        lifespan=lifespan,
    )


def _endpoints(pool: Pool, registry: CollectorRegistry, public: str | None) -> list[Endpoint]:
    linker = pool.linker

    async def health(request: Request, _: None) -> bytes:
        return msgspec.json.encode(Health("ok", __version__, len(linker.kb), linker.recipe.name))

    async def metrics(request: Request, _: None) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    text = {"type": "string"}
    return [
        *link_api.endpoints(pool),
        *kb_api.endpoints(pool),
        *rel_api.endpoints(pool),
        *nif_api.endpoints(pool),
        *reconcile_api.endpoints(pool, public),
        *page_api.endpoints(pool),
        Endpoint("GET", "/health", health, "The state of the server.", returns=Health, always=True),
        Endpoint("GET", "/metrics", metrics, "Metrics for Prometheus.", None, text, sends=("text/plain",), always=True),
    ]


def _routes(endpoints: Iterable[Endpoint], load: Workload) -> list[Route]:
    """One route per path."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint

    def route(path: str, methods: dict[str, Endpoint]) -> Route:
        async def answer(request: Request) -> Response:
            return await load.answer(methods["GET" if request.method == "HEAD" else request.method], request)

        return Route(path, answer, methods=list(methods))

    return [route(path, methods) for path, methods in by_path.items()]


class ForHeader:
    """Middleware that applies another one to requests with a header, and so costs other requests next to nothing."""

    def __init__(self, app: ASGIApp, header: bytes, middleware: Callable[[ASGIApp], ASGIApp]) -> None:
        self.app, self.header, self.applied = app, header, middleware(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        given = scope["type"] == "http" and any(name == self.header for name, _ in scope["headers"])
        await (self.applied if given else self.app)(scope, receive, send)


class Cors:
    """Middleware that lets pages of other origins read answers: those listed everywhere, any page at `/reconcile`."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self.listed = CORSMiddleware(app, allow_origins=origins, allow_methods=("GET", "POST"))
        self.any = CORSMiddleware(app, allow_origins=("*",), allow_methods=("GET", "POST"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        await (self.any if scope["path"].startswith("/reconcile") else self.listed)(scope, receive, send)


def _error_handlers(stop: Callable[[], None]) -> dict[Any, Any]:
    """What a client gets for each kind of error. Starlette logs unexpected ones with their traceback."""

    async def refused(request: Request, problem: RequestError) -> Response:
        return Response(problem.body(), problem.status, problem.headers, JSON)

    async def not_routed(request: Request, problem: HTTPException) -> Response:
        if problem.status_code == 404:
            return await refused(request, RequestError(404, "there is nothing at this address", "see /docs"))
        allowed = ", ".join(sorted({*(problem.headers or {})["Allow"].split(", "), "OPTIONS"}))
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"allow": allowed})
        error = f"this address does not support {request.method}"
        return await refused(request, RequestError(405, error, f"use {allowed}", allow=allowed))

    async def not_valid(request: Request, problem: NamesakeError) -> Response:
        return await refused(request, RequestError(422, str(problem), "correct the request"))

    async def kb_changed(request: Request, problem: KBChangedError) -> Response:
        stop()
        error, advice = "the files of the knowledge base have changed", "send the request again in some seconds"
        return await refused(request, RequestError(503, error, advice, retry_after="10"))

    async def client_left(request: Request, problem: ClientDisconnect) -> Response:
        return Response(status_code=400)  # nobody receives it

    async def failed(request: Request, problem: Exception) -> Response:
        return await refused(request, RequestError(500, "the server failed", "report this; the server's log says why"))

    return {
        RequestError: refused,
        HTTPException: not_routed,
        NamesakeError: not_valid,
        KBChangedError: kb_changed,
        ClientDisconnect: client_left,
        Exception: failed,
    }
