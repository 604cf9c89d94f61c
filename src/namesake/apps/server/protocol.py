"""The connection of one client: that of uvicorn, with limits that uvicorn does not have.

A request must arrive within some seconds, and the client must receive its answer within as many. Otherwise a client
that sends one byte now and then would keep a connection for ever. Also limited: the size of the URL and of the headers,
the number of connections, and the lines of the log about malformed requests.
"""

import asyncio
import logging
import time
from collections import deque
from http import HTTPStatus

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from namesake.apps.server.endpoint import RequestError, busy
from namesake.apps.server.limits import Limits

MINUTE, MOST_LINES = 60.0, 10
"""Lines of the log about malformed requests per minute."""


class LimitedConnection(HttpToolsProtocol):
    """A connection that keeps the limits."""

    limits: Limits

    arriving: asyncio.TimerHandle | None = None
    leaving: asyncio.TimerHandle | None = None
    head = 0
    """Bytes of a request so far, until its headers are complete."""
    problem: RequestError | None = None
    """Why the head of a request is refused; None: it is not HTTP."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a client unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(busy("too many connections"))
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers of a client that has disconnected."""
        self._cancel("arriving", "leaving")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Start the timer with the first byte of a request, and refuse a head that is too long."""
        if self.arriving is None:
            self._expect()
        self.head += len(data)
        super().data_received(data)
        if self.head > self.limits.head and not self.transport.is_closing():
            self._refuse(self._too_long())

    def on_headers_complete(self) -> None:
        """Check the head before the request is answered. The application counts the bytes of the body."""
        self.head = -(1 << 62)
        self.problem = self._head_problem()
        if self.problem is not None:
            raise self.problem  # the parser stops, and uvicorn calls `send_400_response`
        super().on_headers_complete()
        self.headers = deque(maxlen=0)  # type: ignore[assignment] # headers after the body are ignored

    def _head_problem(self) -> RequestError | None:
        """The error in the head of a request, if there is one."""
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
        """Stop the timer: the request is complete."""
        self.head = 0
        self._cancel("arriving")
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Start a timer for a client that does not receive its answer."""
        super().pause_writing()
        if self.leaving is None:
            self.leaving = self.loop.call_later(self.limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client receives its answer."""
        super().resume_writing()
        self._cancel("leaving")

    def send_400_response(self, msg: str) -> None:
        """Answer a request whose head is refused, in JSON as all errors."""
        self._refuse(self.problem or RequestError(400, "this is not HTTP", "send a request of HTTP/1.1"))

    # timers
    def _expect(self) -> None:
        self.arriving = self.loop.call_later(self.limits.seconds + 1, self._too_slow)

    def _cancel(self, *timers: str) -> None:
        for name in timers:
            if (timer := getattr(self, name)) is not None:
                timer.cancel()
                setattr(self, name, None)

    def _too_slow(self) -> None:
        """Close a connection whose request is not complete in time. For a late body, the application has answered."""
        if self.cycle is None or self.cycle.response_complete:
            error = f"no request arrived within {self.limits.seconds:g} seconds"
            self._refuse(RequestError(408, error, "send it faster"))
        else:
            self.transport.abort()

    def _refuse(self, problem: RequestError) -> None:
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()  # an answer has begun, so no other can be sent
            return
        body = problem.body()
        head = f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\ncontent-type: application/json\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()


class LogLimit(logging.Filter):
    """Lets `MOST_LINES` warnings per minute pass, so that malformed requests cannot fill the log. All errors pass."""

    began, count = -MINUTE, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written. The first line of a minute states how many were omitted before it."""
        if record.levelno >= logging.ERROR:
            return True
        if (now := time.monotonic()) - self.began >= MINUTE:
            if self.count > MOST_LINES:
                record.msg = f"{record.getMessage()} ({self.count - MOST_LINES:,} such lines before were omitted)"
                record.args = ()
            self.began, self.count = now, 0
        self.count += 1
        return self.count <= MOST_LINES


def configured(app: Starlette, keeping: Limits) -> uvicorn.Config:
    """An application and the settings of uvicorn for it."""

    class Connection(LimitedConnection):
        limits = keeping

    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=30,
        headers=[("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer")],
    )
    log = logging.getLogger("uvicorn.error")
    if not any(isinstance(one, LogLimit) for one in log.filters):
        log.addFilter(LogLimit())
    return config
