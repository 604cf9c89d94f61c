"""HTTP as far as we need it, on ASGI: a request that is read within limits, a reply, the table of routes.

No framework stands between: each refusal, and when it happens, is ours to decide.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from namesake.apps.server.limits import Limits
from namesake.apps.server.problems import GoneError, RequestError, busy, too_large

T = TypeVar("T")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON, HTML, TURTLE, FORM = "application/json", "text/html", "text/turtle", "application/x-www-form-urlencoded"
GZIP = ("gzip", "x-gzip")
MOST_FIELDS = 100
"""Parameters of a query string or a form."""


@dataclass(frozen=True)
class Reply:
    """What a client gets."""

    body: bytes
    kind: str = JSON
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass
class Held:
    """What the server has in hand: requests, by client as well, and the bytes of their bodies."""

    requests: int = 0
    size: int = 0
    clients: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Call:
    """A request while it is answered."""

    scope: Message
    receive: Receive
    limits: Limits
    held: Held
    parameter: str = ""
    """What stands in the place of the route's `{…}`."""
    size: int = 0
    """Bytes of its body that are held."""

    def header(self, name: bytes) -> str:
        """The value of a header, empty where there is none."""
        return next((value.decode("latin-1") for key, value in self.scope["headers"] if key == name), "")

    @property
    def kind(self) -> str:
        """The content type, without its parameters."""
        return self.header(b"content-type").partition(";")[0].strip().lower()

    def query(self) -> dict[str, str]:
        """The parameters of the address."""
        return fields(self.scope["query_string"], "the address")

    async def body(self) -> bytes:
        """The whole body, if it is within the limits and comes in time; one that is packed with gzip is unpacked."""
        encoding = self.header(b"content-encoding").strip().lower()
        if encoding not in ("", "identity", *GZIP):
            raise RequestError(
                415,
                "the body has an unknown encoding",
                "send it uncompressed or compressed with gzip",
                accept_encoding="gzip",
            )
        body = await self._received()
        return await self._unpacked(body) if encoding in GZIP else body

    async def _unpacked(self, packed: bytes) -> bytes:
        """A body that came packed: what it unpacks to counts against the limits instead, and no more is unpacked."""
        self._hold(-len(packed))
        try:
            body = await asyncio.to_thread(_unpack, packed, self.limits.body + 1)
        except (OSError, EOFError, zlib.error):
            raise RequestError(400, "the body is not gzip, or is cut off", "pack the whole body with gzip") from None
        self._hold(len(body))
        return body

    async def _received(self) -> bytes:
        """The whole body as it was sent."""
        declared = self.header(b"content-length")
        if declared.isdecimal() and int(declared) > self.limits.body:
            raise too_large("the body", self.limits.body, "bytes")
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self.limits.seconds):
                while True:
                    message = await self.receive()
                    if message["type"] == "http.disconnect":
                        raise GoneError
                    parts.append(message.get("body", b""))
                    self._hold(len(parts[-1]))
                    if not message.get("more_body", False):
                        return parts[0] if len(parts) == 1 else b"".join(parts)
        except TimeoutError:
            raise RequestError(
                408,
                f"the body did not come within {self.limits.seconds:g} seconds",
                "send it faster",
                connection="close",
            ) from None

    def _hold(self, size: int) -> None:
        self.size += size
        self.held.size += size
        if self.size > self.limits.body:
            raise too_large("the body", self.limits.body, "bytes")
        if self.held.size > self.limits.held:
            raise busy("the server holds as many bytes of requests as it may")

    async def json(self, decoder: msgspec.json.Decoder[T]) -> T:
        """The body, which must be JSON of the decoder's type."""
        self.must_be(JSON)
        return decoded(decoder, await self.body(), "the body")

    def must_be(self, *kinds: str) -> None:
        """Refuse a body of another content type, or in another encoding than UTF-8."""
        given = self.header(b"content-type").lower()
        charset = given.partition("charset=")[2].split(";")[0].strip(" \"'")
        if self.kind not in kinds or charset not in ("", "utf-8", "utf8", "us-ascii"):
            said = f"{given[:100]!r}" if given else "not given"
            raise RequestError(415, f"the content type is {said}", f"send {' or '.join(kinds)} in UTF-8")


def _unpack(packed: bytes, most: int) -> bytes:
    """What gzip unpacks to, at most so many bytes of it."""
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
        return stream.read(most)


def decoded(decoder: msgspec.json.Decoder[T], data: bytes | str, what: str) -> T:
    """JSON as the decoder's type, or a refusal that says where it is none."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as problem:
        raise RequestError(422, f"{what} does not fit: {problem}", "see /docs for what it may hold") from None
    except msgspec.DecodeError as problem:
        raise RequestError(400, f"{what} is not JSON: {problem}", "send one JSON value, in UTF-8") from None
    except UnicodeError:
        raise RequestError(400, f"{what} is not UTF-8", "send JSON in UTF-8") from None
    except RecursionError:
        raise RequestError(400, f"{what} is nested too deeply", "see /docs for what it may hold") from None


def fields(encoded: bytes, what: str) -> dict[str, str]:
    """The fields of a form or a query string; of one that comes again the last counts."""
    try:
        text = encoded.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:  # too many fields, or bytes that are not UTF-8
        raise RequestError(
            400, f"the parameters of {what} cannot be read", f"send at most {MOST_FIELDS}, in UTF-8, percent-encoded"
        ) from None


Handle = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an address, as the OpenAPI document tells of it."""

    name: str
    what: str
    schema: dict[str, Any]
    required: bool = False
    place: str = "query"


@dataclass(frozen=True)
class Route:
    """One thing that clients may ask for. `path` may end in `{name}`."""

    method: str
    path: str
    handle: Handle
    what: str
    takes: dict[str, Any] = field(default_factory=dict)
    """By content type: the struct of the body, or an OpenAPI schema."""
    gives: dict[str, Any] = field(default_factory=dict)
    """The same for the answer."""
    parameters: tuple[Parameter, ...] = ()
    fails: tuple[int, ...] = ()
    """Statuses beyond 200 that it may have, each with a `Trouble`."""
    open: bool = False
    """Whether pages of other origins may ask."""
