"""Takes up a new generation of the KB while requests are answered.

Every generation has an application of its own. New requests go to the latest one; an older one ends when its last
request is answered, so no request is dropped. SIGHUP, or a change of the KB's manifest with `watch`, starts a reload.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from namesake.errors import NamesakeError
from namesake.kb.manifest import MANIFEST
from namesake.linker import Linker

HEADER = "namesake-generation"
LOOKS_APART = 1.0
"""Seconds between two looks at the manifest."""
Say = Callable[[str], None]


@dataclass(eq=False)
class Generation:
    """One generation of the KB: its linker and its application, and the number of requests that it is answering."""

    linker: Linker
    app: Starlette
    lifespan: Any = None
    requests: int = 0


class Reloading:
    """The ASGI application of the latest generation."""

    def __init__(
        self,
        linker: Linker,
        application: Callable[[Linker], Starlette],
        load: Callable[[], Linker],
        watch: bool,
        say: Say,
    ) -> None:
        """`load` opens the KB again and returns a linker that is ready; `application` makes the application of one."""
        self.application, self.load, self.watch, self.say = application, load, watch, say
        self.current = Generation(linker, application(linker))
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
        await self._start(self.current)
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

    async def _start(self, generation: Generation) -> None:
        generation.lifespan = generation.app.router.lifespan_context(generation.app)
        await generation.lifespan.__aenter__()

    async def _retire(self, generation: Generation) -> None:
        """End a generation that is not the latest and has no requests."""
        if generation is not self.current and not generation.requests and generation.lifespan is not None:
            lifespan, generation.lifespan = generation.lifespan, None
            await lifespan.__aexit__(None, None, None)

    async def reload(self) -> None:
        """Take up the KB that is in the folder now. If it cannot be opened, the old one is still served."""
        async with self._lock:
            old = self.current
            try:
                linker = await asyncio.to_thread(self.load)
            except (NamesakeError, OSError) as problem:
                self.say(f"the KB was not reloaded, and generation {old.linker.kb.generation} is served: {problem}")
                return
            if linker.kb.generation == old.linker.kb.generation:
                self.say(f"the KB was not reloaded: generation {linker.kb.generation} is the same")
                return
            new = Generation(linker, self.application(linker))
            await self._start(new)
            self.current = new
            self.say(f"generation {linker.kb.generation} of the KB is served ({len(linker.kb):,} entities)")
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
        try:
            status = (self.current.linker.kb.path / MANIFEST).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns
