"""The connection of one client: uvicorn's, less its patience.

A request must arrive whole within some seconds, and what is sent must be taken within as many. Without that a client
that sends a byte now and then would hold a connection for ever. Needs uvicorn and httptools (the extra `web`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import RequestError, busy

if TYPE_CHECKING:
    import uvicorn
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    Connection = HttpToolsProtocol
else:
    Connection = object

PHRASES = {
    400: "Bad Request",
    408: "Request Timeout",
    414: "URI Too Long",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}
MINUTE, MOST_LINES = 60.0, 10
"""Lines of the log about malformed requests per minute."""


class Impatience(Connection):
    """What a connection of uvicorn is given so that it keeps the limits."""

    limits: Limits

    arriving: asyncio.TimerHandle | None = None
    leaving: asyncio.TimerHandle | None = None
    head = 0
    """Bytes of a request so far, while its headers are not complete."""
    problem: RequestError | None = None
    """Why the head of a request is refused; None for what is not HTTP at all."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new client, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(busy("too many connections"))
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for a client that is gone."""
        self._arrived()
        self._left()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a request from its first byte on; refuse a head without end."""
        if self.arriving is None:
            self._expect()
        self.head += len(data)
        super().data_received(data)
        if self.head > self.limits.head and not self.transport.is_closing():
            self._refuse(self._too_long())

    def on_headers_complete(self) -> None:
        """Look at the head before the request is answered. Then count no longer: the application counts the body."""
        self.head = -(1 << 62)  # what follows is the body
        self.problem = self._head_problem()
        if self.problem is not None:
            raise self.problem  # the parser stops, and `send_400_response` is called
        super().on_headers_complete()
        self.headers = deque(maxlen=0)  # type: ignore[assignment] # headers behind a body are not read

    def _head_problem(self) -> RequestError | None:
        """What is wrong with the head of a request, if anything is."""
        size, hosts = len(self.url), 0
        for name, value in self.headers:
            size += len(name) + len(value) + 4
            hosts += name == b"host"
        if len(self.url) > self.limits.url:
            return RequestError(414, "the URL is too long", f"send at most {self.limits.url:,} bytes, or a form")
        if size > self.limits.head:
            return self._too_long()
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            return RequestError(400, "a request of HTTP/1.1 must have one Host header", "send one Host header")
        return None

    def _too_long(self) -> RequestError:
        return RequestError(431, "the headers are too long", f"send at most {self.limits.head:,} bytes of them")

    def on_message_complete(self) -> None:
        """Stop waiting: the request is whole."""
        self._arrived()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Wait for a client that does not take what was sent, and not for ever."""
        super().pause_writing()
        if self.leaving is None:
            self.leaving = self.loop.call_later(self.limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting: it has taken it."""
        super().resume_writing()
        self._left()

    def send_400_response(self, msg: str) -> None:
        """Say in JSON, as all refusals do, what is wrong with a head, or that something is no HTTP."""
        self._refuse(self.problem or RequestError(400, "this is not HTTP", "send a request of HTTP/1.1"))

    # patience
    def _expect(self) -> None:
        self.arriving = self.loop.call_later(self.limits.seconds + 1, self._too_slow)

    def _arrived(self) -> None:
        self.head = 0
        if self.arriving is not None:
            self.arriving.cancel()
            self.arriving = None

    def _left(self) -> None:
        if self.leaving is not None:
            self.leaving.cancel()
            self.leaving = None

    def _too_slow(self) -> None:
        """Close a connection whose request is not whole in time; a body that is late was told so before."""
        if self.cycle is None or self.cycle.response_complete:
            self._refuse(RequestError(408, f"no request came within {self.limits.seconds:g} seconds", "send it faster"))
        else:
            self.transport.abort()

    def _refuse(self, problem: RequestError) -> None:
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()  # in the middle of an answer nothing else can be said
            return
        body = problem.body()
        head = f"HTTP/1.1 {problem.status} {PHRASES[problem.status]}\r\ncontent-type: application/json\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()


class LogLimit(logging.Filter):
    """Lets `MOST_LINES` warnings pass per minute, so that malformed requests cannot fill the log. Errors all pass."""

    began, count = -MINUTE, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written; the first one of a minute says how many were left out before it."""
        if record.levelno >= logging.ERROR:
            return True
        if (now := time.monotonic()) - self.began >= MINUTE:
            if self.count > MOST_LINES:
                record.msg = f"{record.getMessage()} ({self.count - MOST_LINES:,} such lines before were left out)"
                record.args = ()
            self.began, self.count = now, 0
        self.count += 1
        return self.count <= MOST_LINES


def impatient(keeping: Limits) -> type[HttpToolsProtocol]:
    """The class of connections that keep these limits."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Impatient(Impatience, HttpToolsProtocol):
        """One connection."""

        limits = keeping

    return Impatient


def configured(app: Any, limits: Limits) -> uvicorn.Config:
    """An application with how uvicorn is to run it."""
    import uvicorn

    config = uvicorn.Config(app, **settings(limits))
    log = logging.getLogger("uvicorn.error")
    if not any(isinstance(one, LogLimit) for one in log.filters):
        log.addFilter(LogLimit())
    return config


def settings(limits: Limits) -> dict[str, Any]:
    """How uvicorn is to be run."""
    return {
        "http": impatient(limits),
        "ws": "none",
        "lifespan": "on",
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 30,
    }
