"""The requests that the server is answering: limits on their number and the bytes of their bodies, and metrics."""

import asyncio
import gzip
import io
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from namesake.apps.server.endpoint import Endpoint, RequestError, busy, too_large, url_parameters
from namesake.apps.server.limits import Limits
from namesake.apps.server.pool import Pool
from namesake.kb.columns.large import held as memory

GZIP = ("gzip", "x-gzip")
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram's buckets, in seconds."""
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Workload:
    """All requests of a server process."""

    def __init__(self, limits: Limits, check: Callable[[], None]) -> None:
        """`check` is called before each request and raises an error if the server can no longer answer."""
        self.limits, self.check = limits, check
        self.requests = 0
        self.size = 0
        """Bytes of all bodies."""
        self.clients: Counter[str] = Counter()
        """The number of requests by client address."""

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """The answer of an endpoint to a request."""
        client = request.client.host if request.client else ""
        body = Body(self, request)
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
                asked = endpoint.decoded(await body.read())
            else:
                asked = None if endpoint.takes is None else url_parameters(request, endpoint.takes)
            answer = await endpoint.answer(request, asked)
            return answer if isinstance(answer, Response) else Response(answer, media_type=endpoint.sends[0])
        finally:
            self.requests -= 1
            self.size -= body.size
            self.clients[client] -= 1
            if not self.clients[client]:
                del self.clients[client]


class Body:
    """The body of one request. Its bytes count against the limits until the request is answered."""

    def __init__(self, load: Workload, request: Request) -> None:
        self.load, self.limits, self.headers, self.stream = load, load.limits, request.headers, request.stream
        self.size = 0

    async def read(self) -> bytes:
        """The whole body, unpacked if it is packed with gzip; an error if it is too large or too slow."""
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", *GZIP):
            advice = "send it uncompressed or compressed with gzip"
            raise RequestError(415, "the body has an unknown encoding", advice, accept_encoding="gzip")
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self.limits.body:
            raise too_large("the body", self.limits.body, "bytes")
        parts = []
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in self.stream():
                    self._hold(len(part))
                    parts.append(part)
        except TimeoutError:
            error = f"the body did not arrive within {self.limits.seconds:g} seconds"
            raise RequestError(408, error, "send it faster", connection="close") from None
        body = b"".join(parts)
        if encoding in GZIP:  # the content counts against the limits instead of the packed bytes
            self._hold(-len(body))
            try:
                body = await asyncio.to_thread(gzip.GzipFile(fileobj=io.BytesIO(body)).read, self.limits.body + 1)
            except (OSError, EOFError, zlib.error):
                advice = "pack the whole body with gzip"
                raise RequestError(400, "the body is not gzip, or is cut off", advice) from None
            self._hold(len(body))
        return body

    def _hold(self, size: int) -> None:
        self.size += size
        self.load.size += size
        if self.size > self.limits.body:
            raise too_large("the body", self.limits.body, "bytes")
        if self.load.size > self.limits.held:
            raise busy("the requests of all clients together have too many bytes")


# metrics
class RequestMetrics:
    """Middleware that counts answers by route, method and status, and measures their time by route."""

    def __init__(self, app: ASGIApp, registry: prometheus.CollectorRegistry) -> None:
        self.app = app
        labels, text = ("route", "method", "status"), "Answers by route, method and status."
        self.requests = cache(prometheus.Counter("namesake_requests", text, labels, registry=registry).labels)
        text = "Time from the head of a request to its answer."
        seconds = prometheus.Histogram("namesake_request_seconds", text, labels[:1], buckets=BUCKETS, registry=registry)
        self.seconds = cache(seconds.labels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, observed)
        finally:
            route = scope["route"].path if "route" in scope else "none"
            method = scope["method"] if scope["method"] in METHODS else "other"
            self.requests(route, method, str(status)).inc()
            self.seconds(route).observe(time.perf_counter() - began)


class ServerCollector(Collector):
    """Reads the numbers of the pool and of the workload when they are asked for."""

    def __init__(self, pool: Pool, load: Workload) -> None:
        self.pool, self.load = pool, load

    def collect(self) -> Iterator[Metric]:
        """The current numbers."""
        pool, load, linked = self.pool, self.load, self.pool.counts
        for kind, name, text, value in (
            (CounterMetricFamily, "articles", "Articles linked.", linked["articles"]),
            (CounterMetricFamily, "batches", "Batches in which they were linked.", linked["batches"]),
            (CounterMetricFamily, "links", "Names found or given.", linked["links"]),
            (CounterMetricFamily, "links_answered", "Names linked to an entity.", linked["links_answered"]),
            (GaugeMetricFamily, "waiting_requests", "Requests that wait to be linked.", pool.waiting),
            (GaugeMetricFamily, "busy_threads", "Threads that link.", pool.small.busy + pool.large.busy),
            (GaugeMetricFamily, "open_requests", "Requests that are being answered.", load.requests),
            (GaugeMetricFamily, "held_bytes", "Bytes of their bodies.", load.size),
            (GaugeMetricFamily, "kb_entities", "Entities in the KB.", len(pool.linker.kb)),
            (GaugeMetricFamily, "process_resident_bytes", "Memory, including pages of the KB.", memory()[0]),
        ):
            yield kind(f"namesake_{name}", text, value)


def registry_of(pool: Pool, load: Workload) -> prometheus.CollectorRegistry:
    """The metrics of one server process."""
    prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = prometheus.CollectorRegistry()
    registry.register(ServerCollector(pool, load))
    prometheus.ProcessCollector(namespace="namesake", registry=registry)
    return registry
