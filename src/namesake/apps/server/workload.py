"""The requests that the server is answering: their number and the bytes of their bodies stay within the limits."""

from __future__ import annotations

import asyncio
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.server.endpoint import Endpoint, RequestError, busy, too_large
from namesake.apps.server.limits import Limits

GZIP = ("gzip", "x-gzip")


class Workload:
    """All requests of a server process."""

    def __init__(self, limits: Limits, check: Callable[[], None]) -> None:
        """`check` is called before each request and raises an error if the server can no longer answer."""
        self.limits, self.check = limits, check
        self.requests = 0
        self.size = 0
        """Bytes of all bodies."""
        self.clients: Counter[str] = Counter()
        """The number of requests by client address."""

    async def answer(self, endpoint: Endpoint, request: Request) -> Response:
        """The answer of an endpoint to a request."""
        client = request.client.host if request.client else ""
        body = Body(self, request)
        self.requests += 1
        self.clients[client] += 1
        try:
            self.check()
            if not endpoint.always:
                self._refuse_excess(client)
            if request.method == "POST":
                endpoint.check_content_type(request)
                asked = endpoint.decoded(await body.read())
            else:
                asked = endpoint.parameters(request)
            answer = await endpoint.answer(request, asked)
            return answer if isinstance(answer, Response) else Response(answer, media_type=endpoint.sends[0])
        finally:
            self.requests -= 1
            self.size -= body.size
            self.clients[client] -= 1
            if not self.clients[client]:
                del self.clients[client]

    def _refuse_excess(self, client: str) -> None:
        if self.requests > self.limits.requests:
            raise busy("too many requests at a time")
        most = self.limits.per_client
        if self.clients[client] > most:
            raise RequestError(429, f"more than {most} requests at a time", "wait for answers", retry_after="1")


class Body:
    """The body of one request. Its bytes count against the limits until the request is answered."""

    def __init__(self, load: Workload, request: Request) -> None:
        self.load, self.limits, self.headers, self.stream = load, load.limits, request.headers, request.stream
        self.size = 0

    async def read(self) -> bytes:
        """The whole body, unpacked if it is packed with gzip; an error if it is too large or too slow."""
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", *GZIP):
            advice = "send it uncompressed or compressed with gzip"
            raise RequestError(415, "the body has an unknown encoding", advice, accept_encoding="gzip")
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self.limits.body:
            raise too_large("the body", self.limits.body, "bytes")
        parts = []
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in self.stream():
                    self._hold(len(part))
                    parts.append(part)
        except TimeoutError:
            error = f"the body did not arrive within {self.limits.seconds:g} seconds"
            raise RequestError(408, error, "send it faster", connection="close") from None
        body = b"".join(parts)
        return await self._unpacked(body) if encoding in GZIP else body

    async def _unpacked(self, packed: bytes) -> bytes:
        """The content of a packed body. It counts against the limits instead of the packed bytes."""
        self._hold(-len(packed))
        try:
            body = await asyncio.to_thread(_unpack, packed, self.limits.body + 1)
        except (OSError, EOFError, zlib.error):
            raise RequestError(400, "the body is not gzip, or is cut off", "pack the whole body with gzip") from None
        self._hold(len(body))
        return body

    def _hold(self, size: int) -> None:
        self.size += size
        self.load.size += size
        if self.size > self.limits.body:
            raise too_large("the body", self.limits.body, "bytes")
        if self.load.size > self.limits.held:
            raise busy("the requests of all clients together have too many bytes")


def _unpack(packed: bytes, most: int) -> bytes:
    """The first `most` bytes of packed data."""
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
        return stream.read(most)
