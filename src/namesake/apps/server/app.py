"""The application: all endpoints of a linker as routes of Starlette, with CORS, compression, metrics and errors."""

import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import prometheus_client as prometheus
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipResponder
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from namesake import __version__
from namesake.apps.server import link_api, page_api, reconcile_api
from namesake.apps.server.endpoint import JSON, Endpoint, RequestError, Workload, with_document
from namesake.apps.server.limits import Limits
from namesake.apps.server.pool import Pool
from namesake.errors import NamesakeError
from namesake.kb.columns.large import held as memory
from namesake.kb.store import KBChangedError
from namesake.linker import Linker

PACKED_FROM = 1 << 10  # bytes from which an answer is compressed for clients that accept gzip
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram's buckets, in seconds."""
METHODS = ("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")


class Health(msgspec.Struct, frozen=True):
    """The state of the server, and what it serves."""

    status: str
    version: str
    entities: int
    recipe: str
    generation: str  # the generation of the KB: the beginning of the digest of its manifest


def application(
    linker: Linker,
    limits: Limits,
    origins: Sequence[str] = (),
    public: str | None = None,
    stop: Callable[[], None] = lambda: None,
    review: tuple[Path, Path] | None = None,
) -> Starlette:
    """The ASGI application of a linker; pages of `origins` may read its answers, and `stop` ends the server."""
    pool = Pool(linker, limits)
    load = Workload(limits, linker.kb.check_unchanged)
    registry = registry_of(pool, load)

    async def health(request: Request, _: None) -> bytes:
        """The state of the server."""
        return msgspec.json.encode(Health("ok", __version__, len(linker.kb), linker.recipe.name, linker.kb.generation))

    async def metrics(request: Request, _: None) -> Response:
        """Metrics for Prometheus."""
        return Response(prometheus.generate_latest(registry), media_type=prometheus.CONTENT_TYPE_LATEST)

    endpoints = [
        *link_api.endpoints(pool),
        *reconcile_api.endpoints(pool, public),
        *page_api.endpoints(pool),
        *(page_api.review_endpoints(pool, *review) if review is not None else ()),
        Endpoint("GET", "/health", health, returns=Health, always=True),
        Endpoint("GET", "/metrics", metrics, returns={"type": "string"}, sends=("text/plain",), always=True),
    ]
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in with_document(endpoints):
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint

    app = Starlette(
        routes=[Route(path, partial(load.answer, some), methods=list(some)) for path, some in by_path.items()],
        middleware=[Middleware(request_metrics, registry), Middleware(cors, origins), Middleware(gzip)],
        exception_handlers=_error_handlers(stop),
    )
    app.state.pool, app.state.load = pool, load
    return app


# middleware
def gzip(app: ASGIApp) -> ASGIApp:
    """Compress answers for clients that accept gzip: Starlette's own middleware ignores `q=0` and `GZIP`."""

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        accepted = dict(scope.get("headers", ())).get(b"accept-encoding", b"").lower().replace(b" ", b"")
        codings = dict(one.partition(b";q=")[::2] for one in accepted.split(b","))
        weight = codings.get(b"gzip", b"0")
        packs = not weight or bool(weight.strip(b"0."))
        await (GZipResponder(app, PACKED_FROM, compresslevel=1) if packs else app)(scope, receive, send)

    return chosen


def cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Let pages of other origins read answers: those listed everywhere, any page at `/reconcile`."""
    listed, every = (CORSMiddleware(app, allow_origins=some, allow_methods=METHODS[:2]) for some in (origins, ("*",)))

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        await (every if scope.get("path", "").startswith("/reconcile") else listed)(scope, receive, send)

    return chosen


def request_metrics(app: ASGIApp, registry: prometheus.CollectorRegistry) -> ASGIApp:
    """Count answers by route, method and status, and measure their time by route."""
    labels, text = ("route", "method", "status"), "Answers by route, method and status."
    requests = cache(prometheus.Counter("namesake_requests", text, labels, registry=registry).labels)
    text = "Time from the head of a request to its answer."
    times = prometheus.Histogram("namesake_request_seconds", text, labels[:1], buckets=BUCKETS, registry=registry)
    seconds = cache(times.labels)

    async def counted(scope: Scope, receive: Receive, send: Send) -> None:
        began, status = time.perf_counter(), 500

        async def observed(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await app(scope, receive, observed)
        finally:
            route = scope["route"].path if "route" in scope else "none"
            method = scope["method"] if scope["method"] in METHODS else "other"
            requests(route, method, str(status)).inc()
            seconds(route).observe(time.perf_counter() - began)

    return counted


def _error_handlers(stop: Callable[[], None]) -> dict[Any, Any]:
    """What a client gets for each kind of error. Starlette logs unexpected ones with their traceback."""

    async def refused(request: Request, problem: Exception) -> Response:
        match problem:
            case RequestError():
                answer = problem
            case HTTPException(status_code=404):
                answer = RequestError(404, "there is nothing at this address", "see /docs")
            case HTTPException():
                allowed = ", ".join(sorted({*(problem.headers or {})["Allow"].split(", "), "OPTIONS"}))
                if request.method == "OPTIONS":
                    return Response(status_code=204, headers={"allow": allowed})
                error = f"this address does not support {request.method}"
                answer = RequestError(405, error, f"use {allowed}", allow=allowed)
            case ClientDisconnect():
                answer = RequestError(400, "the client has disconnected", "")  # no client receives it
            case KBChangedError():
                stop()
                error, advice = "the files of the knowledge base have changed", "send the request again in some seconds"
                answer = RequestError(503, error, advice, retry_after="10")
            case NamesakeError():
                answer = RequestError(422, str(problem), "correct the request")
            case _:
                answer = RequestError(500, "the server failed", "report this; the server's log has the reason")
        return Response(answer.body(), answer.status, answer.headers, JSON)

    kinds = (RequestError, HTTPException, NamesakeError, KBChangedError, ClientDisconnect, Exception)
    return dict.fromkeys(kinds, refused)


# metrics
def registry_of(pool: Pool, load: Workload) -> prometheus.CollectorRegistry:
    """The metrics of one server process: what the pool counts, and numbers that are read when they are asked for."""
    prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = prometheus.CollectorRegistry()
    for counter in pool.counts.values():
        registry.register(counter)
    current: dict[str, tuple[str, Callable[[], float]]] = {
        "waiting_requests": ("Requests that wait to be linked.", lambda: pool.waiting),
        "busy_threads": ("Threads that link.", lambda: len(pool.small.workers) + len(pool.large.workers)),
        "open_requests": ("Requests that are being answered.", lambda: load.requests),
        "held_bytes": ("Bytes of their bodies.", lambda: load.size),
        "kb_entities": ("Entities in the KB.", lambda: len(pool.linker.kb)),
        "process_resident_bytes": ("Memory, including pages of the KB.", lambda: memory()[0]),
    }
    for name, (text, value) in current.items():
        prometheus.Gauge(f"namesake_{name}", text, registry=registry).set_function(value)
    prometheus.ProcessCollector(namespace="namesake", registry=registry)
    return registry
