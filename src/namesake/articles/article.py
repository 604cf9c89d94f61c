"""Articles and the names in them as Python objects, and the search for names in a text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

Span = tuple[int, int]
"""The first character of a part of a text, and the character after its last one."""
Place = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]  # in a text

FEW_NAMES = 200  # for at most this many names, one search of the text per name is fastest
PREFIXES, MOST_LENGTHS = (3, 6, 12), 32
"""Lengths of the prefixes that group names; a group with more different lengths than this gets a longer prefix."""


@dataclass(frozen=True)
class Mention:
    """A name with all its spans in an article. Plain JSON lines store mentions in this form."""

    name: str
    spans: Sequence[tuple[Place, Place]] = ()
    candidates: Sequence[str] | None = None
    """QIDs; None: all entities of the KB with this name."""


@dataclass(frozen=True)
class Article:
    """One article."""

    id: str
    text: str
    title: str | None = None
    date: str | None = None  # ISO format, as precise as known
    mentions: Sequence[Mention] | None = None
    """None: the linker finds the names in the text and the title."""
    extra: str | None = None
    """The article's other fields as a JSON object. They are copied to the links."""
    token_spans: bool = False  # spans count whitespace tokens instead of characters


def occurrences(name: str, text: str) -> Iterator[Span]:
    """The spans of a name in a text, from left to right without overlaps; none for an empty name."""
    at = text.find(name) if name else -1
    while at >= 0:
        yield at, at + len(name)
        at = text.find(name, at + len(name))


def all_occurrences(names: Iterable[str], text: str) -> dict[str, list[Span]]:
    """The `occurrences` of each name. Many names are found in one pass over the text, grouped by their prefixes."""
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


def located(text: str, given: Sequence[str | Mention]) -> list[Mention]:
    """The given mentions; a name alone becomes a mention with all its occurrences in the text."""
    places = all_occurrences((one for one in given if not isinstance(one, Mention)), text)
    return [one if isinstance(one, Mention) else Mention(one, places[one]) for one in given]
