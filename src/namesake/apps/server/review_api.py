"""The page of a review at `/review`, which saves each decision when it is made."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.server.endpoint import HTML, JSON, Endpoint, RequestError
from namesake.decisions.records import Decision, append
from namesake.errors import NamesakeError
from namesake.files import check_place

LINES = "application/x-ndjson"
HEADERS = {"cache-control": "no-cache", "content-security-policy": "frame-ancestors 'none'"}
MOST_DECISIONS = 100_000


@dataclass(frozen=True)
class Review:
    """A page that `namesake review` wrote, and the file of decisions that it adds to."""

    page: Path
    decisions: Path

    def __post_init__(self) -> None:
        """Raise an error for a page that cannot be read, or a file that cannot be written."""
        if not self.page.is_file() or b'id="data"' not in self.page.read_bytes():
            raise NamesakeError(f"{self.page} is not a page of a review: write one with `namesake review`")
        check_place(self.decisions)


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decisions to save."""

    decisions: Annotated[list[Decision], msgspec.Meta(max_length=MOST_DECISIONS)]


class Count(msgspec.Struct, frozen=True):
    """How many decisions were saved."""

    saved: int


def endpoints(review: Review) -> list[Endpoint]:
    """The page, the decisions so far, and the place to save more."""

    async def page(request: Request, _: None) -> Response:
        """The page on which people decide uncertain names."""
        return Response(await run_in_threadpool(review.page.read_bytes), headers=HEADERS, media_type=HTML)

    async def known(request: Request, _: None) -> Response:
        """The decisions that have been saved, one per line."""
        exists = review.decisions.exists()
        lines = await run_in_threadpool(review.decisions.read_bytes) if exists else b""
        return Response(lines, headers=HEADERS, media_type=LINES)

    async def save(request: Request, given: Saved) -> bytes:
        """Add decisions to the file of the review. Several reviewers may do so at the same time."""
        try:
            await run_in_threadpool(append, review.decisions, given.decisions)
        except OSError as problem:
            raise RequestError(
                503, f"the decisions cannot be written ({problem.strerror})", "try again later"
            ) from None
        return msgspec.json.encode(Count(len(given.decisions)))

    return [
        Endpoint("GET", "/review", page, returns={"type": "string"}, sends=(HTML,)),
        Endpoint("GET", "/review/decisions", known, returns={"type": "string"}, sends=(LINES,)),
        Endpoint("POST", "/review", save, Saved, Count, reads=(JSON,)),
    ]
