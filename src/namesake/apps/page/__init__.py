"""The page at `/`, which marks the names of a text and explains each link.

A server that shows it answers `GET` of each path in `FILES` with its media type and bytes. It answers `POST /draw`,
whose body is the JSON object `{"text": …, "title": …, "date": …, "mention": …}` (only the text is required), with
`draw(linker, text, title, date, mention)` as JSON. It turns errors into a status and `{"error": …, "what_to_do": …}`,
which the page shows.

The page needs no other address, and this policy is enough: `default-src 'none'; script-src 'self'; style-src 'self';
img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`.
"""

from pathlib import Path

import msgspec

from namesake.apps.page.draw import draw
from namesake.drawing.theme import page_style
from namesake.sample import ARTICLES

__all__ = ["FILES", "draw"]

_HERE = Path(__file__).parent


def _samples() -> bytes:
    """The articles of the sample, as texts to try."""
    articles = [msgspec.json.decode(line) for line in ARTICLES.read_bytes().splitlines()]
    wanted = ("id", "title", "date", "text")
    return msgspec.json.encode([{name: article.get(name) for name in wanted} for article in articles])


FILES: dict[str, tuple[str, bytes]] = {
    "/": ("text/html; charset=utf-8", (_HERE / "index.html").read_bytes()),
    "/page.css": ("text/css; charset=utf-8", page_style().encode() + (_HERE / "page.css").read_bytes()),
    "/page.js": ("text/javascript; charset=utf-8", (_HERE / "page.js").read_bytes()),
    "/icon.svg": ("image/svg+xml", (_HERE / "icon.svg").read_bytes()),
    "/samples.json": ("application/json", _samples()),
}
"""The files of the page by path: media type and bytes."""
