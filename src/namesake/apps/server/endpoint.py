"""Endpoints: what each one takes and returns, and the errors that clients get.

Routes, the OpenAPI document and `/docs` are made from the endpoints.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request
from starlette.responses import Response

T = TypeVar("T")

JSON, HTML, TURTLE, FORM = "application/json", "text/html", "text/turtle", "application/x-www-form-urlencoded"
MOST_FIELDS = 100
"""Parameters of a query string or a form."""
BAD_BODY = (400, 408, 413, 415, 422, 429, 503)
"""Error statuses of endpoints that read a body."""


class Problem(msgspec.Struct, frozen=True):
    """The body of every answer that reports an error."""

    error: str
    """What is wrong."""
    what_to_do: str
    """How to correct it."""


class RequestError(Exception):
    """A request that is refused. Other requests are not affected."""

    def __init__(self, status: int, error: str, what_to_do: str, **headers: str) -> None:
        super().__init__(error)
        self.status = status
        self.problem = Problem(error, what_to_do)
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def body(self) -> bytes:
        """The problem as JSON."""
        return msgspec.json.encode(self.problem)


def too_large(what: str, most: int, unit: str) -> RequestError:
    """413: something exceeds its limit."""
    return RequestError(413, f"{what} is larger than {most:,} {unit}", "send less at a time, in several requests")


def busy(why: str) -> RequestError:
    """503: the server has reached one of its limits."""
    return RequestError(503, why, "try again in a moment", retry_after="1")


@dataclass(frozen=True)
class Endpoint:
    """One operation of the API.

    `answer` gets the request and what `takes` describes: the parameters of a GET request, or the body of a POST
    request. Bodies of types other than JSON and forms are passed on as bytes.
    """

    method: str
    path: str
    answer: Callable[[Request, Any], Awaitable[bytes | Response]]
    summary: str
    takes: Any = None
    """The struct of parameters or body, or the JSON schema of the body."""
    returns: Any = None
    """The struct or the JSON schema of the answer."""
    reads: tuple[str, ...] = (JSON,)
    """Content types of the body."""
    sends: tuple[str, ...] = (JSON,)
    """Content types of the answer; the first is used where `answer` returns bytes."""
    errors: tuple[int, ...] = ()
    """Statuses other than 200 that the answer may have."""
    always: bool = False
    """Whether it is answered however busy the server is."""

    def parameters(self, request: Request) -> Any:
        """The parameters of the path and the query string."""
        if self.takes is None:
            return None
        given = fields(request.scope["query_string"], "the URL") | request.path_params
        return converted(given, self.takes, "the parameters of the URL")

    def decoded(self, body: bytes) -> Any:
        """The body as `takes` describes it."""
        if JSON in self.reads:
            return decoded(self.takes, body, "the body")
        return converted(fields(body, "the form"), self.takes, "the form") if FORM in self.reads else body

    def check_content_type(self, request: Request) -> None:
        """Refuse a body of another content type, or in another encoding than UTF-8."""
        given = request.headers.get("content-type", "").lower()
        charset = given.partition("charset=")[2].split(";")[0].strip(" \"'")
        if content_type(request) not in self.reads or charset not in ("", "utf-8", "utf8", "us-ascii"):
            shown = f"{given[:100]!r}" if given else "missing"
            raise RequestError(415, f"the content type is {shown}", f"send {' or '.join(self.reads)} in UTF-8")


def content_type(request: Request) -> str:
    """The content type of a request without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def decoded(kind: type[T], data: bytes | str, what: str) -> T:
    """JSON as a value of a type, or a refusal that says where it does not fit."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as problem:
        raise _does_not_fit(what, problem) from None
    except msgspec.DecodeError as problem:
        raise RequestError(400, f"{what} is not JSON: {problem}", "send one JSON value, in UTF-8") from None
    except UnicodeError:
        raise RequestError(400, f"{what} is not UTF-8", "send JSON in UTF-8") from None
    except RecursionError:
        raise RequestError(400, f"{what} is nested too deeply", "see /docs for the format") from None


def converted(given: dict[str, str], kind: type[T], what: str) -> T:
    """Fields as a value of a type, or a refusal that says which field does not fit."""
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as problem:
        raise _does_not_fit(what, problem) from None


def _does_not_fit(what: str, problem: Exception) -> RequestError:
    return RequestError(422, f"{what} is not valid: {problem}", "see /docs for the format")


def fields(encoded: bytes, what: str) -> dict[str, str]:
    """The fields of a form or a query string; of a repeated one the last counts."""
    try:
        text = encoded.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:  # too many fields, or bytes that are not UTF-8
        raise RequestError(
            400, f"the parameters of {what} cannot be read", f"send at most {MOST_FIELDS}, in UTF-8, percent-encoded"
        ) from None
