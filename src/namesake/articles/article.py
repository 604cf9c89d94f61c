"""Articles and the names in them, one by one, as readers find them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def occurrences(name: str, text: str) -> Iterator[Span]:
    """Where a name stands in a text, from left to right without overlaps; an empty one stands nowhere."""
    at = text.find(name) if name else -1
    while at >= 0:
        yield at, at + len(name)
        at = text.find(name, at + len(name))
