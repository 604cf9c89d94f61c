"""Errors that a client gets: a status, what is wrong, and what to do."""

from __future__ import annotations

import msgspec


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
