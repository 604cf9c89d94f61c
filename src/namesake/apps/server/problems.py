"""What clients are told when something is wrong: a status, what it was, and what to do."""

from __future__ import annotations

import msgspec


class Trouble(msgspec.Struct, frozen=True):
    """The body of every answer that is no success."""

    error: str
    """What was wrong."""
    what_to_do: str
    """How to mend it."""


class RequestError(Exception):
    """A request that is refused; the rest of the server is not concerned."""

    def __init__(self, status: int, error: str, what_to_do: str, **headers: str) -> None:
        super().__init__(error)
        self.status = status
        self.trouble = Trouble(error, what_to_do)
        self.headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]

    def body(self) -> bytes:
        """The answer as JSON."""
        return msgspec.json.encode(self.trouble)


class GoneError(Exception):
    """The client went away before its request was whole: nobody is left to answer."""


def too_large(what: str, most: int, unit: str) -> RequestError:
    """413: something is beyond its limit."""
    return RequestError(413, f"{what} is larger than {most:,} {unit}", "send less at a time, in several requests")


def busy(why: str) -> RequestError:
    """503: the server has as much to do as it may hold."""
    return RequestError(503, why, "try again in a moment", retry_after="1")
