"""The ASGI application: finds the route of a request, guards it, and turns whatever goes wrong into an answer."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from namesake.apps.server.http import GZIP, Call, Held, Message, Receive, Reply, Route, Send
from namesake.apps.server.limits import Limits
from namesake.apps.server.metrics import Metrics
from namesake.apps.server.problems import GoneError, RequestError, busy
from namesake.errors import NamesakeError
from namesake.kb.store import KBChangedError

LOG = logging.getLogger("namesake.server")

SAFE = ((b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"))
BARE = {"text/html", "text/plain", "text/turtle"}
PACKED_FROM, PACKED_ASIDE = 1 << 10, 1 << 16
"""Bytes of an answer from which it is packed for clients that take gzip, and from which a thread does it."""
BUSY_UNCHECKED = {"/health", "/metrics"}
"""What is answered however busy the server is."""


class App:
    """All routes behind one door."""

    def __init__(
        self,
        routes: Sequence[Route],
        limits: Limits,
        metrics: Metrics,
        close: Callable[[], None],
        origins: Sequence[str] = (),
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Answer by `routes`, unless `check` raises KBChangedError: then the server ends."""
        self.limits, self.metrics, self.close = limits, metrics, close
        self.origins = frozenset(origins)
        self.check = check
        self.end: Callable[[], None] = lambda: None
        """What makes the server end, once it runs."""
        self.held = Held()
        self.exact: dict[str, dict[str, Route]] = {}
        self.prefixed: dict[str, dict[str, Route]] = {}
        for route in routes:
            place, _, parameter = route.path.partition("{")
            (self.prefixed if parameter else self.exact).setdefault(place, {})[route.method] = route

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or see a server process through its life."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        call = Call(scope, receive, self.limits, self.held)
        client = scope["client"][0] if scope.get("client") else ""
        self.held.requests += 1
        self.held.clients[client] = self.held.clients.get(client, 0) + 1
        place, methods = self._find(call)
        route = methods.get("GET" if scope["method"] == "HEAD" else scope["method"])
        try:
            reply = await self._reply(call, client, place, methods, route)
        except GoneError:
            return
        finally:
            self._release(call, client)
        reply = await packed(reply, call.header(b"accept-encoding"))
        await self._send(scope, send, reply, self._cors(call, methods))
        self.metrics.note(place, scope["method"], reply.status, time.perf_counter() - began)

    def _release(self, call: Call, client: str) -> None:
        self.held.requests -= 1
        self.held.size -= call.size
        self.held.clients[client] -= 1
        if not self.held.clients[client]:
            del self.held.clients[client]

    def _find(self, call: Call) -> tuple[str, dict[str, Route]]:
        """The routes at the address of a request, by method; none where nothing is there."""
        path: str = call.scope["path"]
        if path in self.exact:
            return path, self.exact[path]
        before, slash, last = path.rpartition("/")
        if before + slash in self.prefixed and last:
            call.parameter = last
            return before + slash, self.prefixed[before + slash]
        return "", {}

    async def _reply(
        self, call: Call, client: str, place: str, methods: dict[str, Route], route: Route | None
    ) -> Reply:
        """What the route answers, or what is wrong."""
        try:
            self.check()
            if place not in BUSY_UNCHECKED:
                self._guard(client)
            if not methods:
                raise RequestError(404, "there is nothing at this address", "see /docs for what there is")
            if route is None:
                allowed = ", ".join(sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])}))
                if call.scope["method"] == "OPTIONS":
                    return Reply(b"", "text/plain", 204, ((b"allow", allowed.encode()),))
                raise RequestError(405, "this address takes no such request", f"use {allowed}", allow=allowed)
            return await route.handle(call)
        except RequestError as problem:
            return _refusal(problem)
        except KBChangedError:
            self.end()
            why = "the knowledge base was written to while it was in use"
            return _refusal(
                RequestError(503, why, "send the request again after the server has restarted", retry_after="10")
            )
        except NamesakeError as problem:
            return _refusal(RequestError(422, str(problem), "mend the request"))
        except GoneError:
            raise
        except Exception:
            LOG.exception("a request to %s failed", place)
            return _refusal(
                RequestError(500, "something went wrong here", "this is a fault of ours: the server's log has it")
            )

    def _guard(self, client: str) -> None:
        """Refuse what is too much at a time."""
        if self.held.requests > self.limits.requests:
            raise busy("too many requests at a time")
        if self.held.clients[client] > self.limits.per_client:
            raise RequestError(
                429, f"more than {self.limits.per_client} requests at a time", "wait for answers", retry_after="1"
            )

    def _cors(self, call: Call, methods: dict[str, Route]) -> list[tuple[bytes, bytes]]:
        """What a browser must be told before it lets a page of another origin read the answer."""
        origin = call.header(b"origin")
        if not origin:
            return []
        anybody = any(route.open for route in methods.values()) or "*" in self.origins
        if not anybody and origin not in self.origins:
            return []
        told = [(b"access-control-allow-origin", b"*" if anybody else origin.encode("latin-1")), (b"vary", b"origin")]
        if call.scope["method"] == "OPTIONS":
            told.append((b"access-control-allow-methods", ", ".join(methods).encode()))
            told.append((b"access-control-allow-headers", b"content-type"))
        return told

    async def _send(self, scope: Message, send: Send, reply: Reply, more: list[tuple[bytes, bytes]]) -> None:
        kind = f"{reply.kind}; charset=utf-8" if reply.kind in BARE else reply.kind
        headers = [(b"content-type", kind.encode()), *SAFE, *reply.headers, *more]
        if reply.status != 204:
            headers.append((b"content-length", str(len(reply.body)).encode()))
        body = b"" if scope["method"] == "HEAD" else reply.body
        with contextlib.suppress(OSError, RuntimeError):  # what uvloop says of a connection that was cut meanwhile
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            await send({"type": "http.response.body", "body": body})


async def packed(reply: Reply, accepted: str) -> Reply:
    """The reply, packed where the client takes gzip and it is worth it: quickly rather than tightly."""
    if len(reply.body) < PACKED_FROM:
        return reply
    headers = (*reply.headers, (b"vary", b"accept-encoding"))
    if not takes_gzip(accepted):
        return replace(reply, headers=headers)
    if len(reply.body) < PACKED_ASIDE:
        body = gzip.compress(reply.body, 1, mtime=0)
    else:
        body = await asyncio.to_thread(gzip.compress, reply.body, 1, mtime=0)
    return replace(reply, body=body, headers=(*headers, (b"content-encoding", b"gzip")))


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header names gzip, and not with the weight 0."""
    for one in accepted.lower().split(","):
        name, _, weight = one.replace(" ", "").partition(";")
        if name in GZIP:
            return not re.fullmatch(r"q=0(\.0*)?", weight)
    return False


def _refusal(problem: RequestError) -> Reply:
    return Reply(problem.body(), status=problem.status, headers=tuple(problem.headers))
