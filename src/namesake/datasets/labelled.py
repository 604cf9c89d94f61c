"""Articles with the truth about their mentions: what every reader of a data set gives.

In these data sets a mention is one occurrence of a name; ours is a name in an article, known by it. So that
occurrences stay apart, a name that comes again is numbered: `Japan`, then `Japan #2`. The number stands alone as
a word that starts with no letter, so the words of the name stay what they are; the plain name is the gold column
`surface`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import unquote

from namesake.articles.article import Article, Mention, Span
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.files.lines import json_lines

R = TypeVar("R")
Gold = int | str | None


@dataclass(frozen=True)
class Truth:
    """Who a mention is: a candidate's index or a QID, a Wikipedia title until a KB turns it into one, or nobody."""

    name: str
    surface: str
    gold: Gold
    title: str | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """`entity`, `nil` (the data set says nobody) or `unresolved` (a title that no KB has turned into a QID)."""
        if self.gold is not None:
            return "entity"
        return "unresolved" if self.title is not None else "nil"


@dataclass(frozen=True)
class Labelled:
    """An article and the truth about its mentions, in the order of the mentions."""

    article: Article
    truths: Sequence[Truth]


class Reader(Protocol):
    """Reads a file of a data set."""

    def __call__(self, path: Path, rejects: Rejects) -> Iterator[Labelled]:
        """Its articles with their truth.

        What cannot be read is refused; annotations that are not to be scored are set aside in `rejects`.
        """
        ...


@dataclass(frozen=True)
class Occurrence:
    """One annotation as a data set has it: at least one span, and who it is."""

    spans: Sequence[Span]
    gold: Gold = None
    title: str | None = None
    candidates: Sequence[str] | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)


def read_records(path: Path, kind: type[R], what: str) -> Iterator[tuple[int, R]]:
    """Every record of a file of JSON lines, of which there must be some, with the number of its line."""
    number = 0
    for number, record in json_lines(path, kind, what):
        yield number, record
    if not number:
        raise NamesakeError(f"{path}: no articles")


def label(article: Article, occurrences: Iterable[Occurrence], where: str) -> Labelled:
    """The article with its occurrences as mentions with names of their own; messages begin with `where`."""
    names = UnusedNames()
    mentions, truths = [], []
    for occurrence in occurrences:
        for span in occurrence.spans:
            check_span(span, article.text, where)
        surface = covered(article.text, occurrence.spans)
        name = names.take(surface)
        check_gold(occurrence.gold, occurrence.candidates, name, where)
        mentions.append(Mention(name, occurrence.spans, occurrence.candidates))
        truths.append(Truth(name, surface, occurrence.gold, occurrence.title, occurrence.columns))
    whole = Article(article.id, article.text, article.title, article.date, mentions, article.extra)
    return Labelled(whole, truths)


def covered(text: str, spans: Sequence[Span]) -> str:
    """What the first span covers."""
    start, end = spans[0]
    return text[start:end]


class UnusedNames:
    """Gives each occurrence a name of its own: its surface, numbered from 2 on until nobody has the name."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, surface: str) -> str:
        """A name for an occurrence of this surface. Lower numbers are taken and stay so: none is tried twice."""
        number = self._next.get(surface, 1)
        name = surface if number == 1 else f"{surface} #{number}"
        while name in self._taken:
            number += 1
            name = f"{surface} #{number}"
        self._taken.add(name)
        self._next[surface] = number + 1
        return name


def check_span(span: Span, text: str, where: str) -> None:
    """Refuse a span that is empty, reversed or past the text."""
    start, end = span
    if not 0 <= start < end <= len(text):
        raise NamesakeError(f"{where}: span [{start}, {end}] does not fit the text of {len(text)} characters")


def check_gold(gold: Gold, candidates: Sequence[str] | None, name: str, where: str) -> None:
    """Refuse an index that points past the candidates, and a text that is no QID."""
    if isinstance(gold, str) and not re.fullmatch(r"Q\d+", gold):
        raise NamesakeError(f"{where}: gold of {name!r} is {gold!r}, not an index, a QID or null")
    if isinstance(gold, int) and not 0 <= gold < len(candidates or ()):
        raise NamesakeError(
            f"{where}: gold of {name!r} is candidate {gold}, but it has {len(candidates or ())} candidates"
        )


def page_title(address: str) -> str:
    """A Wikipedia page's title as Wikidata spells it, from a title or the last part of an address.

    `Michael_Collins_%28astronaut%29#Career` is `Michael Collins (astronaut)`.
    """
    title = " ".join(unquote(address.partition("#")[0]).replace("_", " ").split())
    return title[:1].upper() + title[1:]
