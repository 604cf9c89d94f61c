"""The files of the page: path → (media type, bytes)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from namesake.drawing.style import style_sheet
from namesake.sample import ARTICLES

_HERE = Path(__file__).parent


def _samples() -> bytes:
    """The sample's articles, for those who have no text at hand."""
    articles = [msgspec.json.decode(line) for line in ARTICLES.read_bytes().splitlines()]
    wanted = ("id", "title", "date", "text")
    return msgspec.json.encode([{name: article.get(name) for name in wanted} for article in articles])


FILES: dict[str, tuple[str, bytes]] = {
    "/": ("text/html; charset=utf-8", (_HERE / "index.html").read_bytes()),
    "/page.css": ("text/css; charset=utf-8", style_sheet().encode() + (_HERE / "page.css").read_bytes()),
    "/page.js": ("text/javascript; charset=utf-8", (_HERE / "page.js").read_bytes()),
    "/icon.svg": ("image/svg+xml", (_HERE / "icon.svg").read_bytes()),
    "/samples.json": ("application/json", _samples()),
}
"""What is served as it is."""
