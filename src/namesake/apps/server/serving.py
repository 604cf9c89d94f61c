"""A server process from its first moment to its last: the socket, the warm-up, the end in order."""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from namesake.apps.server.limits import Limits
from namesake.articles.builder import text_table
from namesake.errors import NamesakeError, lacking
from namesake.linker import Linker

if TYPE_CHECKING:
    import uvicorn

SWITCH = 0.0005
"""Seconds after which a thread that links lets the one that answers clients have its turn."""
WARM_UP = "Barack Obama met Michael Jordan in Chicago."


def serve(
    linker: Linker,
    host: str,
    port: int,
    limits: Limits,
    origins: Sequence[str] = (),
    public: str | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve until SIGTERM or Ctrl-C; what is being answered then is answered first.

    `ready` is told the address once requests are taken; port 0 takes a free one.
    """
    with bound(host, port) as listening:
        server = server_of(linker, limits, origins, public)
        sys.setswitchinterval(SWITCH)
        gc.collect()
        gc.freeze()  # what is loaded stays: the collector need not look at it again
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}")
        app: Any = server.config.app
        app.end = lambda: setattr(server, "should_exit", True)
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # uvicorn has ended in order, and says by this what made it end
            return
        linker.kb.check_unchanged(at_once=True)  # says so where this made it end


def server_of(linker: Linker, limits: Limits, origins: Sequence[str] = (), public: str | None = None) -> uvicorn.Server:
    """A server that is ready to run."""
    try:
        import httptools  # noqa: F401 - uvicorn's protocol needs it
        import uvicorn
    except ImportError:
        raise lacking("the server needs", "uvicorn and httptools", "web") from None
    from namesake.apps.server.protocol import configured
    from namesake.apps.server.routes import application

    warm_up(linker)
    return uvicorn.Server(configured(application(linker, limits, origins, public), limits))


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; taken before anything else, so that a port in use is told at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except (OSError, OverflowError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise NamesakeError(
            f"cannot listen at {host} port {port} ({reason}): choose another --port or --host"
        ) from None
    listening.listen(1024)
    return listening


def warm_up(linker: Linker) -> None:
    """Load every kernel that requests need, so that the first client does not wait for them."""
    for mentions in (None, ["Michael Jordan"]):
        table = text_table(WARM_UP, mentions, "2016-12-26", "Michael Jordan")
        linker.link(table, scores=True)
        linker.explain(table)
    linker.kb.names.lookup("Barack Obama")
