"""The page at `/`, which marks the names of a text and explains each link, with `POST /draw`; a review at `/review`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.server.endpoint import HTML, Endpoint, RequestError
from namesake.apps.server.pool import Pool
from namesake.apps.server.schema import Date, GivenArticle, StrictStruct, check_date, check_explained, check_given
from namesake.decisions.records import Decision, append
from namesake.drawing.evidence import evidence, shown, side_by_side
from namesake.drawing.text import Mark, Row, marked_article, name_marks
from namesake.drawing.theme import GRADES, style_sheet
from namesake.errors import NamesakeError
from namesake.files import check_place
from namesake.kb import WIKIDATA
from namesake.kinds import kind_counts, listed
from namesake.linker import Linker
from namesake.sample import ARTICLES

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"content-security-policy": CSP, "cache-control": "no-cache"}
REVIEW_HEADERS = {"cache-control": "no-cache", "content-security-policy": "frame-ancestors 'none'"}
LINES = "application/x-ndjson"
MOST_DECISIONS = 100_000
FIELDS = ("name", "spans", "title_spans", "qid", "best", "best_label", "description", "confidence", "known", "reason")


def _file(name: str) -> bytes:
    return (Path(__file__).parent / "page" / name).read_bytes()


def samples(kinds: int = 1) -> bytes:
    """Texts to try: for a KB of several kinds, texts that name several; then the articles of the sample."""
    lines = (_file("examples.jsonl") if kinds > 1 else b"") + ARTICLES.read_bytes()
    articles = [msgspec.json.decode(line) for line in lines.splitlines()]
    wanted = ("id", "title", "date", "text")
    return msgspec.json.encode([{name: article.get(name) for name in wanted} for article in articles])


FILES: dict[str, tuple[str, bytes]] = {
    "/": ("text/html; charset=utf-8", _file("index.html")),
    "/page.css": ("text/css; charset=utf-8", style_sheet("colours", "style").encode() + _file("page.css")),
    "/page.js": ("text/javascript; charset=utf-8", _file("page.js")),
    "/icon.svg": ("image/svg+xml", _file("icon.svg")),
    "/samples.json": ("application/json", samples()),
}


class DrawRequest(StrictStruct, frozen=True):
    """A text to be shown with its names marked."""

    text: str
    title: str | None = None
    date: Date | None = None
    mention: Annotated[int, msgspec.Meta(ge=0)] | None = None  # the number of the name to explain; by default none


def endpoints(pool: Pool) -> list[Endpoint]:
    """The files of the page, and `/draw`."""

    async def drawn(request: Request, asked: DrawRequest) -> bytes:
        """A text with its names marked, as HTML for the page."""
        title, date = asked.title or None, asked.date or None
        given = GivenArticle(asked.text, title=title, date=date)
        check_given([given], pool.limits)
        check_date(date)
        if asked.mention is not None:
            check_explained([given], pool.limits)
        large = given.length > pool.limits.small
        return await pool.json(lambda: draw(pool.linker, asked.text, title, date, asked.mention), large)

    def file(path: str, kind: str, body: bytes) -> Endpoint:
        async def answer(request: Request, _: None) -> Response:
            """A file of the page."""
            return Response(body, headers=HEADERS, media_type=kind)

        return Endpoint("GET", path, answer, sends=(kind.partition(";")[0],))

    files = FILES | {"/samples.json": ("application/json", samples(len(pool.linker.kb.kinds)))}
    return [
        *(file(path, *content) for path, content in files.items()),
        Endpoint("POST", "/draw", drawn, DrawRequest, {"type": "object"}),
    ]


def draw(
    linker: Linker, text: str, title: str | None = None, date: str | None = None, mention: int | None = None
) -> dict[str, Any]:
    """A text with its names marked, its links, and what the slider of the page needs; or the panel of one mention."""
    links = linker.link_text(text, date=date or None, title=title or None)
    text, title, rows, kb = links.text, links.title, links.rows, linker.kb
    if mention is None:
        return {
            "html": _drawn(text, title, rows),
            "mentions": [
                {name: link[name] for name in FIELDS} | {"kind": kb.kind_of(best).symbol if best >= 0 else None}
                for link in rows
                for best in [-1 if link["best"] is None else kb.row(link["best"])]  # the slider may make it the answer
            ],
            "threshold": linker.recipe.decide.threshold if linker.recipe.decide else None,
            "wikidata": WIKIDATA,
            "grades": [list(grade) for grade in GRADES],
            "kinds": [(kind.symbol, kind.plural) for kind in listed()],
            "kb": kind_counts(kb.manifest.kinds) if len(kb.kinds) == 1 else f"{len(kb):,} entities",
        }
    if not 0 <= mention < len(rows):
        raise NamesakeError(f"mention {mention}: the text has {len(rows)} names, counted from 0")
    why = linker.explain_text(text, rows[mention]["name"], date or None, title)
    at = next(i for i, link in enumerate(why.links) if link["spans"] == rows[mention]["spans"])
    words = {span for candidate in shown(why.rows[at]) for span in evidence(candidate, text).spans}
    panel = side_by_side(why.rows[at], text, why.people, why.links[at])
    return {"panel": panel, "html": _drawn(text, title, rows, words)}


def _drawn(text: str, title: str | None, links: Sequence[Row], words: Iterable[tuple[int, int]] = ()) -> str:
    """Title and text, with names and matched words marked. A matched word inside a name is not marked."""
    names = name_marks(links, numbered=True)
    named = bytearray(len(text) + 1)
    for mark in names:
        named[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
    outside = [(start, end) for start, end in words if not any(named[start:end])]
    matched = [Mark(start, end, "span", {"class": "word", "data-at": start}) for start, end in outside]
    return marked_article(text, title, [*names, *matched], name_marks(links, "title_spans", numbered=True))


# the review
def check_review(page: Path, decisions: Path) -> None:
    """Raise an error for a page that `namesake review` did not write, or a file that cannot be written."""
    if not page.is_file() or b'id="data"' not in page.read_bytes():
        raise NamesakeError(f"{page} is not a page of a review: write one with `namesake review`")
    check_place(decisions)


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Decisions to save."""

    decisions: Annotated[list[Decision], msgspec.Meta(max_length=MOST_DECISIONS)]


class Count(msgspec.Struct, frozen=True):
    """How many decisions were saved."""

    saved: int


def review_endpoints(pool: Pool, page: Path, decisions: Path) -> list[Endpoint]:
    """The page of a review, the decisions in its file so far, and the place to save more."""

    def shown_page() -> Response:
        """The page on which people decide uncertain names."""
        return Response(page.read_bytes(), headers=REVIEW_HEADERS, media_type=HTML)

    def known() -> Response:
        """The decisions that have been saved, one per line."""
        lines = decisions.read_bytes() if decisions.exists() else b""
        return Response(lines, headers=REVIEW_HEADERS, media_type=LINES)

    async def save(request: Request, given: Saved) -> bytes:
        """Add decisions to the file of the review. Several reviewers may do so at the same time."""
        try:
            await run_in_threadpool(append, decisions, given.decisions)
        except OSError as problem:
            error = f"the decisions cannot be written ({problem.strerror})"
            raise RequestError(503, error, "try again later") from None
        return msgspec.json.encode(Count(len(given.decisions)))

    return [
        pool.lookup("/review", shown_page, {"type": "string"}, sends=(HTML,)),
        pool.lookup("/review/decisions", known, {"type": "string"}, sends=(LINES,)),
        Endpoint("POST", "/review", save, Saved, Count),
    ]
