"""A sentence with a name in it: plain text with the name between « and », which pages draw as a mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from namesake.printable import one_line

AROUND = 120
"""Characters that are shown on either side of the name."""

Span = tuple[int, int]


class Excerpt(str):
    """A text on one line, the name in it between « and »; it stores which part is the name."""

    __slots__ = ("parts",)
    parts: tuple[str, str, str]
    """The text before the name, the name, and the text after it."""

    def __new__(cls, before: str, name: str, after: str) -> Excerpt:
        """A text of three parts."""
        self = super().__new__(cls, f"{before}«{name}»{after}")
        self.parts = (before, name, after)
        return self

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]  # a copy is made of its parts
        return self.parts

    @property
    def html(self) -> str:
        """The text with the name as a mark."""
        before, name, after = (escape(one_line(part)) for part in self.parts)
        return f'{before}<b class="name sure">{name}</b>{after}'


def excerpt(text: str, span: Sequence[int], sentences: Sequence[Span]) -> Excerpt:
    """The sentence around a name on one line, cut if it is long."""
    start, end = span
    first, last = next(((a, b) for a, b in sentences if a <= start < b), (start, end))
    before, after = text[first:start], text[end : max(last, end)]
    before = f"…{before[-AROUND:]}" if len(before) > AROUND else before
    after = f"{after[:AROUND]}…" if len(after) > AROUND else after
    flat = [re.sub(r"\s+", " ", part) for part in (before, text[start:end], after)]
    return Excerpt(flat[0].lstrip(), flat[1], flat[2].rstrip())
