"""The page at `/`, and `POST /draw`, which it uses."""

from __future__ import annotations

from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.page import FILES, draw
from namesake.apps.server.endpoint import BAD_BODY, Endpoint
from namesake.apps.server.pool import Pool
from namesake.apps.server.schema import Date, GivenArticle, StrictStruct, check_date, check_explained, check_given

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"content-security-policy": CSP, "cache-control": "no-cache"}


class DrawRequest(StrictStruct, frozen=True):
    """A text to be shown with its names marked."""

    text: str
    title: str | None = None
    date: Date | None = None
    mention: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """The name to explain, by its number in the text; without it, the text is shown with all its names."""


def endpoints(pool: Pool) -> list[Endpoint]:
    """The files of the page, and `/draw`."""

    def file(path: str, kind: str, body: bytes) -> Endpoint:
        async def answer(request: Request, _: None) -> Response:
            return Response(body, headers=HEADERS, media_type=kind)

        return Endpoint("GET", path, answer, "A file of the page.", sends=(kind.partition(";")[0],))

    async def drawn(request: Request, asked: DrawRequest) -> bytes:
        title, date = asked.title or None, asked.date or None
        given = GivenArticle(asked.text, title=title, date=date)
        check_given([given], pool.limits)
        check_date(date)
        if asked.mention is not None:
            check_explained([given], pool.limits)
        large = given.length > pool.limits.small
        return await pool.json(lambda: draw(pool.linker, asked.text, title, date, asked.mention), large)

    summary = "A text with its names marked, as HTML for the page."
    return [
        *(file(path, kind, body) for path, (kind, body) in FILES.items()),
        Endpoint("POST", "/draw", drawn, summary, DrawRequest, {"type": "object"}, errors=BAD_BODY),
    ]
