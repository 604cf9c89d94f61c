"""A server process: its socket, an orderly end, the generations of the KB, and the connections of its clients.

Every generation has an application of its own. New requests go to the latest one; an older one ends when its last
request is answered, so no request is dropped.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from namesake.apps.server.app import application
from namesake.apps.server.endpoint import RequestError, busy
from namesake.apps.server.limits import Limits
from namesake.apps.server.page_api import check_review
from namesake.articles.builder import text_table
from namesake.errors import NamesakeError
from namesake.kb.manifest import MANIFEST
from namesake.linker import Linker
from namesake.printable import one_line

HEADER = "namesake-generation"
LOOKS_APART = 1.0  # seconds between two looks at the manifest
WARM_UP = "Barack Obama met Michael Jordan in Chicago."
SWITCH = 0.0005  # seconds after which a thread that links lets the event loop run
MINUTE, MOST_LINES = 60.0, 10  # lines of the log about malformed requests per minute


def serve(linker: Linker, host: str, port: int, **settings: Any) -> None:
    """Serve until SIGTERM or Ctrl-C; `settings` are those of `server_of`."""
    with bound(host, port) as listening:
        server = server_of(linker, **settings)
        sys.setswitchinterval(SWITCH)
        gc.collect()
        gc.freeze()  # the collector need not look at loaded objects again
        address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        what = f"{len(linker.kb):,} entities of {linker.kb.path.name}"
        say(f"{what} at {address} (API: {address}/docs); press Ctrl-C to stop")
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # uvicorn raises it after an orderly end
            return
        server.config.app.linker.kb.check_unchanged(at_once=True)  # raises the error that ended the server


def server_of(
    linker: Linker,
    limits: Limits,
    origins: Sequence[str] = (),
    public: str | None = None,
    watch: bool = False,
    review: tuple[Path, Path] | None = None,
) -> Any:
    """A server of uvicorn that is ready to run; `public` is its address, `review` a page and its file of decisions."""
    if review is not None:
        check_review(*review)

    def application_of(one: Linker) -> Starlette:
        return application(one, limits, origins, public, lambda: setattr(server, "should_exit", True), review)

    config = uvicorn.Config(
        Reloading(linker, application_of, watch),
        http=type("Connection", (LimitedConnection,), {"limits": limits}),
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
    server = uvicorn.Server(config)
    return server


def bound(host: str, port: int) -> socket.socket:
    """A listening socket. It is opened first, so that a port in use is an error at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except (OSError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        where = f"{host} port {port}"
        raise NamesakeError(f"cannot listen at {where} ({reason}): choose another --port or --host") from None
    listening.listen(1024)
    return listening


def say(line: str) -> None:
    """Print a message on standard error."""
    print(one_line(line), file=sys.stderr, flush=True)


# generations of the KB
def warm(linker: Linker) -> Linker:
    """The linker, after it has loaded every kernel and its tables, so that the first client does not wait."""
    for mentions in (None, ["Michael Jordan"]):
        table = text_table(WARM_UP, mentions, "2016-12-26", "Michael Jordan")
        linker.link(table, scores=True)
        linker.explain(table)
    linker.kb.names.lookup("Barack Obama")
    return linker


class Reloading:
    """The ASGI application of the latest generation; `application` makes that of a linker."""

    def __init__(self, linker: Linker, application: Callable[[Linker], Starlette], watch: bool) -> None:
        self.application, self.watch = application, watch
        self.linker, self.current = linker, application(warm(linker))
        self._asked = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the latest generation, which is named in a header of the answer."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        app, generation = self.current, self.linker.kb.generation

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = generation
            await send(message)

        try:
            await app(scope, receive, named)
        finally:
            self._retire(app)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._asked.set)
        reloads = asyncio.create_task(self._reloads())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        reloads.cancel()
        self.current.state.pool.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _retire(self, app: Starlette) -> None:
        """End a generation that is not the latest and has no requests."""
        if app is not self.current and not app.state.load.requests:
            app.state.pool.close()

    async def reload(self) -> None:
        """Take up the KB that is in the folder now. If it cannot be opened, the old one is still served."""
        old, served = self.current, self.linker.kb.generation
        try:
            linker = await asyncio.to_thread(lambda: warm(self.linker.reopened()))
        except Exception as problem:
            say(f"the KB was not reloaded, and generation {served} is served: {problem}")
            return
        if linker.kb.generation == served:
            say(f"the KB was not reloaded: generation {served} is the same")
            return
        self.linker, self.current = linker, self.application(linker)
        say(f"generation {linker.kb.generation} of the KB is served ({len(linker.kb):,} entities)")
        self._retire(old)

    async def _reloads(self) -> None:
        """Reload after SIGHUP, and with `watch` whenever the manifest of the KB is another file."""
        seen = self._manifest()
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), LOOKS_APART if self.watch else None)
            now = self._manifest() or seen
            if self._asked.is_set() or (self.watch and now != seen):
                self._asked.clear()
                seen = now
                await self.reload()

    def _manifest(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            status = (self.linker.kb.path / MANIFEST).stat()
            return status.st_ino, status.st_mtime_ns
        return None


# connections
class LimitedConnection(HttpToolsProtocol):
    """A connection of uvicorn, with limits that uvicorn does not have."""

    limits: Limits

    arriving: asyncio.TimerHandle | None = None
    leaving: asyncio.TimerHandle | None = None
    head = 0  # bytes of a request so far, until its headers are complete

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
        """Check the head before the request is answered; after an error, uvicorn calls `send_400_response`."""
        self.head = -(1 << 62)
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        hosts = sum(name == b"host" for name, _ in self.headers)
        if len(self.url) > self.limits.url:
            raise RequestError(414, "the URL is too long", f"send at most {self.limits.url:,} bytes, or a form")
        if size > self.limits.head:
            raise self._too_long()
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            raise RequestError(400, "a request of HTTP/1.1 must have one Host header", "send one Host header")
        super().on_headers_complete()
        self.headers = deque(maxlen=0)  # type: ignore[assignment] # headers after the body are ignored

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
        """Answer a request whose head the parser, or `on_headers_complete`, refuses; in JSON as all errors."""
        refused = getattr(sys.exception(), "__context__", None)
        unread = RequestError(400, "this is not HTTP", "send a request of HTTP/1.1")
        self._refuse(refused if isinstance(refused, RequestError) else unread)

    def _too_long(self) -> RequestError:
        return RequestError(431, "the headers are too long", f"send at most {self.limits.head:,} bytes of them")

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
