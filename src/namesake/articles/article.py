"""Articles and the names in them, one by one, as readers find them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]
"""Where something stands in a text: its first character, and the one after its last."""

FEW_NAMES = 200
"""Up to so many names, one search of the text for each name is the fastest way to find them."""
PREFIXES, MOST_LENGTHS = (3, 6, 12), 32
"""Names are grouped by so many first characters; more of them are taken where a group has too many lengths."""


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


def all_occurrences(names: Iterable[str], text: str) -> dict[str, list[Span]]:
    """The `occurrences` of each name, in one pass over the text: at each place, only names that begin so are tried."""
    found: dict[str, list[Span]] = {name: [] for name in names}
    left = list(found)
    for size in PREFIXES:
        if len(left) <= FEW_NAMES:
            break
        groups: dict[str, set[int]] = {}
        for name in left:
            groups.setdefault(name[:size], set()).add(len(name))
        lengths = {start: some for start, some in groups.items() if len(start) == size and len(some) <= MOST_LENGTHS}
        left = [name for name in left if name[:size] not in lengths]
        for at in range(len(text)):
            for length in lengths.get(text[at : at + size], ()):
                places = found.get(text[at : at + length])
                if places is not None and (not places or places[-1][1] <= at):
                    places.append((at, at + length))
    for name in left:
        found[name] = list(occurrences(name, text))
    return found
