"""The page at `/` and what it asks for."""

from __future__ import annotations

from typing import Annotated

import msgspec

from namesake.apps.page import FILES, draw
from namesake.apps.server.http import JSON, Call, Handle, Reply, Route
from namesake.apps.server.link_api import BAD_BODY
from namesake.apps.server.pool import Pool
from namesake.apps.server.schema import Date, GivenArticle, Taken, check_date, check_explained, check_given, weight

CSP = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class DrawRequest(Taken, frozen=True):
    """A text to be shown with its names marked."""

    text: str
    title: str | None = None
    date: Date | None = None
    mention: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """The name to explain, by its place among those of the text; without it, the text is shown with all its names."""


_decoder = msgspec.json.Decoder(DrawRequest)


class PageApi:
    """The page, whose files are served as they are."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def routes(self) -> list[Route]:
        """What it answers."""
        files = [
            Route("GET", path, _file(kind, body), "A file of the page.", gives={kind.partition(";")[0]: {}})
            for path, (kind, body) in FILES.items()
        ]
        told = "A text with its names marked, as HTML for the page."
        drawn = Route("POST", "/draw", self.draw, told, {JSON: DrawRequest}, {JSON: {"type": "object"}}, fails=BAD_BODY)
        return [*files, drawn]

    async def draw(self, call: Call) -> Reply:
        """The drawing of a text."""
        asked = await call.json(_decoder)
        title, date = asked.title or None, asked.date or None
        given = GivenArticle(asked.text, title=title, date=date)
        linker, limits = self.pool.linker, self.pool.limits
        check_given([given], limits)
        check_date(date)
        if asked.mention is not None:
            check_explained([given], limits)
        run = self.pool.look if weight([given]) <= limits.small else self.pool.run
        return Reply(await run(lambda: msgspec.json.encode(draw(linker, asked.text, title, date, asked.mention))))


def _file(kind: str, body: bytes) -> Handle:
    async def answer(call: Call) -> Reply:
        return Reply(body, kind, headers=((b"content-security-policy", CSP), (b"cache-control", b"no-cache")))

    return answer
