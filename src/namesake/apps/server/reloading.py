"""Takes up a new generation of the KB while requests are answered.

Every generation has an application of its own. New requests go to the latest one; an older one ends when its last
request is answered, so no request is dropped. SIGHUP, or a change of the KB's manifest with `watch`, starts a reload.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from namesake.articles.builder import text_table
from namesake.errors import NamesakeError
from namesake.kb.manifest import MANIFEST
from namesake.linker import Linker
from namesake.printable import one_line

HEADER = "namesake-generation"
LOOKS_APART = 1.0
"""Seconds between two looks at the manifest."""
WARM_UP = "Barack Obama met Michael Jordan in Chicago."


def warm(linker: Linker) -> Linker:
    """The linker, after it has loaded every kernel and its tables, so that the first client does not wait."""
    for mentions in (None, ["Michael Jordan"]):
        table = text_table(WARM_UP, mentions, "2016-12-26", "Michael Jordan")
        linker.link(table, scores=True)
        linker.explain(table)
    linker.kb.names.lookup("Barack Obama")
    return linker


class Generation:
    """One generation of the KB: its linker and its application, and the number of requests that it is answering."""

    def __init__(self, linker: Linker, app: Starlette) -> None:
        self.linker, self.app, self.requests = linker, app, 0
        self.lifespan = app.router.lifespan_context(app)


class Reloading:
    """The ASGI application of the latest generation; `application` makes that of a linker."""

    def __init__(self, linker: Linker, application: Callable[[Linker], Starlette], watch: bool) -> None:
        self.application, self.watch = application, watch
        self.current = Generation(warm(linker), application(linker))
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the latest generation, which is named in a header of the answer."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        generation = self.current
        generation.requests += 1

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = generation.linker.kb.generation
            await send(message)

        try:
            await generation.app(scope, receive, named)
        finally:
            generation.requests -= 1
            await self._retire(generation)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        await self.current.lifespan.__aenter__()
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, lambda: self._spawn(self.reload()))
        if self.watch:
            self._spawn(self._watch())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in self._tasks:
            task.cancel()
        await self.current.lifespan.__aexit__(None, None, None)
        await send({"type": "lifespan.shutdown.complete"})

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _retire(self, generation: Generation) -> None:
        """End a generation that is not the latest and has no requests."""
        if generation is not self.current and not generation.requests:
            generation.requests = -1  # only once
            await generation.lifespan.__aexit__(None, None, None)

    async def reload(self) -> None:
        """Take up the KB that is in the folder now. If it cannot be opened, the old one is still served."""
        async with self._lock:
            old, served = self.current, self.current.linker.kb.generation
            try:
                linker = await asyncio.to_thread(lambda: warm(old.linker.reopened()))
            except (NamesakeError, OSError) as problem:
                say(f"the KB was not reloaded, and generation {served} is served: {problem}")
                return
            if linker.kb.generation == served:
                say(f"the KB was not reloaded: generation {served} is the same")
                return
            new = Generation(linker, self.application(linker))
            await new.lifespan.__aenter__()
            self.current = new
            say(f"generation {linker.kb.generation} of the KB is served ({len(linker.kb):,} entities)")
            await self._retire(old)

    async def _watch(self) -> None:
        """Reload whenever the manifest of the KB is another file."""
        seen = self._manifest()
        while True:
            await asyncio.sleep(LOOKS_APART)
            now = self._manifest()
            if now is not None and now != seen:
                seen = now
                await self.reload()

    def _manifest(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            status = (self.current.linker.kb.path / MANIFEST).stat()
            return status.st_ino, status.st_mtime_ns
        return None


def say(line: str) -> None:
    """Print a message on standard error."""
    print(one_line(line), file=sys.stderr, flush=True)
