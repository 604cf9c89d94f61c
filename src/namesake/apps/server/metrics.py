"""Metrics for Prometheus: counts and times of requests, the work of the pool, and the process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from namesake.apps.server.pool import Pool
from namesake.apps.server.workload import Workload
from namesake.kb.columns.large import held as memory

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram's buckets, in seconds."""
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestMetrics:
    """Middleware that counts answers by route, method and status, and measures their time by route."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self.app = app
        labels, text = ("route", "method", "status"), "Answers by route, method and status."
        self.requests = cache(Counter("namesake_requests", text, labels, registry=registry).labels)
        text = "Time from the head of a request to its answer."
        seconds = Histogram("namesake_request_seconds", text, labels[:1], buckets=BUCKETS, registry=registry)
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


def registry_of(pool: Pool, load: Workload) -> CollectorRegistry:
    """The metrics of one server process."""
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    registry.register(ServerCollector(pool, load))
    ProcessCollector(namespace="namesake", registry=registry)
    return registry
