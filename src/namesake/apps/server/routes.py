"""The application put together: all routes on one linker."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from namesake import __version__
from namesake.apps.server.app import App
from namesake.apps.server.http import JSON, Call, Reply, Route
from namesake.apps.server.kb_api import KbApi
from namesake.apps.server.limits import Limits
from namesake.apps.server.link_api import LinkApi
from namesake.apps.server.metrics import Metrics
from namesake.apps.server.nif_api import NifApi
from namesake.apps.server.openapi import Document
from namesake.apps.server.page_api import PageApi
from namesake.apps.server.pool import Pool
from namesake.apps.server.reconcile_api import ReconcileApi
from namesake.apps.server.rel_api import RelApi
from namesake.linker import Linker


class Health(msgspec.Struct, frozen=True):
    """That the server is well, and what it serves."""

    status: str
    version: str
    entities: int
    recipe: str


def application(
    linker: Linker, limits: Limits | None = None, origins: Sequence[str] = (), public: str | None = None
) -> App:
    """The ASGI application of a linker; pages of `origins` may ask it, `public` is the address it is known by."""
    limits = limits or Limits()
    pool, metrics = Pool(linker, limits), Metrics()

    async def health(call: Call) -> Reply:
        return Reply(msgspec.json.encode(Health("ok", __version__, len(linker.kb), linker.recipe.name)))

    async def measure(call: Call) -> Reply:
        return Reply(metrics.text(pool, call.held).encode(), "text/plain; version=0.0.4; charset=utf-8")

    routes = [
        *LinkApi(pool).routes(),
        *KbApi(pool).routes(),
        *ReconcileApi(pool, public).routes(),
        *NifApi(pool).routes(),
        *RelApi(pool).routes(),
        *PageApi(pool).routes(),
        Route("GET", "/health", health, "Whether the server is well.", gives={JSON: Health}),
        Route("GET", "/metrics", measure, "For Prometheus.", gives={"text/plain": {"type": "string"}}),
    ]
    return App(Document(routes).routes, limits, metrics, pool.close, origins, linker.kb.check_unchanged)
