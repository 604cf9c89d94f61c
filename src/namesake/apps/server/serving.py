"""A server process: its socket, the loading of kernels, and an orderly end."""

import gc
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from namesake.apps.server.limits import Limits
from namesake.articles.builder import text_table
from namesake.errors import NamesakeError, lacking
from namesake.linker import Linker
from namesake.printable import one_line

SWITCH = 0.0005
"""Seconds after which a thread that links lets the event loop run."""
WARM_UP = "Barack Obama met Michael Jordan in Chicago."


def serve(
    linker: Linker,
    host: str,
    port: int,
    limits: Limits,
    origins: Sequence[str] = (),
    public: str | None = None,
    ready: Callable[[str], None] = print,
    watch: bool = False,
    review: tuple[Path, Path] | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C. Requests that have begun are answered first.

    `ready` is called with the address when the server accepts requests; port 0 is a free port. SIGHUP takes up the KB
    that is in the folder now, and with `watch` the server does so whenever the KB is replaced. `review` is a page of a
    review and its file of decisions.
    """
    with bound(host, port) as listening:
        server = server_of(linker, limits, origins, public, watch, review)
        sys.setswitchinterval(SWITCH)
        gc.collect()
        gc.freeze()  # the collector need not look at loaded objects again
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}")
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # uvicorn raises it after an orderly end
            return
        server.config.app.current.linker.kb.check_unchanged(
            at_once=True
        )  # raises the error that ended the server, if the KB has changed


def server_of(
    linker: Linker,
    limits: Limits,
    origins: Sequence[str] = (),
    public: str | None = None,
    watch: bool = False,
    review: tuple[Path, Path] | None = None,
) -> Any:
    """A server of uvicorn that is ready to run."""
    try:
        import uvicorn

        from namesake.apps.server.app import application
        from namesake.apps.server.protocol import configured
        from namesake.apps.server.reloading import Reloading
        from namesake.apps.server.review_api import Review
    except ImportError:
        raise lacking("the server needs", "uvicorn, httptools, starlette and prometheus_client", "web") from None

    def stop() -> None:
        server.should_exit = True

    def load() -> Linker:
        return warm(linker.reopened())

    reviewed = None if review is None else Review(*review)

    def app_of(one: Linker) -> Any:
        return application(one, limits, origins, public, stop, reviewed)

    app = Reloading(warm(linker), app_of, load, watch, say)
    server = uvicorn.Server(configured(app, limits))
    return server


def warm(linker: Linker) -> Linker:
    """The linker, after it has loaded every kernel and its tables, so that the first client does not wait."""
    for mentions in (None, ["Michael Jordan"]):
        table = text_table(WARM_UP, mentions, "2016-12-26", "Michael Jordan")
        linker.link(table, scores=True)
        linker.explain(table)
    linker.kb.names.lookup("Barack Obama")
    return linker


def say(line: str) -> None:
    """Print a message on standard error."""
    print(one_line(line), file=sys.stderr, flush=True)


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
