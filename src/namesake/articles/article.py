"""Articles and the names in them, one by one, as readers find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Span = tuple[int, int]
"""Where something stands in a text: its first character, and the one after its last."""


@dataclass(frozen=True)
class Mention:
    """A name with all its spans in an article, and its candidates where they are given."""

    name: str
    spans: Sequence[Span] = ()
    candidates: Sequence[str] | None = None
    """QIDs; None: those of the KB who bear the name."""


@dataclass(frozen=True)
class Article:
    """One article as a reader found it."""

    id: str
    text: str
    title: str | None = None
    date: str | None = None
    """ISO, as precise as known."""
    mentions: Sequence[Mention] | None = None
    """None: names are to be found in the text and its title."""
    extra: str | None = None
    """Fields that we do not know, as a JSON object, to be carried through to the links."""
    token_spans: bool = False
    """Spans count whitespace tokens instead of characters."""
