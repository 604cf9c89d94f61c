"""A whole page in one file: it needs nothing else, neither styles nor pictures from elsewhere."""

from __future__ import annotations

from html import escape

from namesake.drawing.style import style_sheet


def document(title: str, body: str, style: str = "") -> str:
    """A page of its own with our colours and what is drawn with them; `body` is HTML, `style` CSS of its own."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style_sheet()}{style}</style></head>"
        f"<body>{body}</body></html>\n"
    )
