"""Articles with the truth about their mentions: the output of every reader of a data set.

In these data sets a mention is one occurrence of a name. In Namesake a mention is a name in an article. To keep
occurrences apart, `label` numbers a name that appears again: `Japan`, then `Japan #2`. The number is a token of its
own and starts with no letter, so the words of the name do not change. The gold column `surface` has the plain name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

from namesake.articles.article import Article, Mention, Span
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.files.lines import json_lines

R = TypeVar("R")
Gold = int | str | None
"""The index of a candidate, a QID, or None for NIL."""


@dataclass(frozen=True)
class Truth:
    """The entity of a mention: `gold`, or the title of a Wikipedia page that no KB has resolved to a QID yet."""

    name: str
    surface: str
    gold: Gold
    title: str | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """`entity`, `nil`, or `unresolved` for a title without a QID."""
        if self.gold is not None:
            return "entity"
        return "unresolved" if self.title is not None else "nil"


@dataclass(frozen=True)
class LabelledArticle:
    """An article and the truth about its mentions, in the order of the mentions."""

    article: Article
    truths: Sequence[Truth]

    def pairs(self) -> Iterator[tuple[Mention, Truth | None]]:
        """Each mention with its truth, or None."""
        truths = {truth.name: truth for truth in self.truths}
        return ((mention, truths.get(mention.name)) for mention in self.article.mentions or ())


Reader = Callable[[Path, Rejects], Iterator[LabelledArticle]]
"""Reads one file of a data set. Annotations that are not scored go to `rejects`; an unreadable file is an error."""


@dataclass(frozen=True)
class Occurrence:
    """One annotation of a data set, with at least one span."""

    spans: Sequence[Span]
    gold: Gold = None
    title: str | None = None
    candidates: Sequence[str] | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)


def read_records(path: Path, kind: type[R], what: str) -> Iterator[tuple[str, R]]:
    """Yield every record of a file of JSON lines with its place, for messages; a file without records is an error."""
    number = 0
    for number, record in json_lines(path, kind, what):
        yield f"{path} line {number}", record
    if not number:
        raise NamesakeError(f"{path}: no articles")


def label(article: Article, occurrences: Iterable[Occurrence], where: str) -> LabelledArticle:
    """Return the article with each occurrence as a mention with a unique name; messages begin with `where`."""
    taken: dict[str, int] = {}  # the last number of each name
    mentions, truths = [], []
    for occurrence in occurrences:
        for span in occurrence.spans:
            check_span(span, article.text, where)
        surface = article.text[slice(*occurrence.spans[0])]
        name = surface
        if surface in taken:
            while name in taken:
                taken[surface] += 1
                name = f"{surface} #{taken[surface]}"
        taken[name] = 1
        check_gold(occurrence.gold, occurrence.candidates, name, where)
        mentions.append(Mention(name, occurrence.spans, occurrence.candidates))
        truths.append(Truth(name, surface, occurrence.gold, occurrence.title, occurrence.columns))
    return LabelledArticle(replace(article, mentions=mentions), truths)


def check_span(span: Span, text: str, where: str) -> None:
    """Raise an error for a span that is empty, reversed or outside the text."""
    start, end = span
    if not 0 <= start < end <= len(text):
        raise NamesakeError(f"{where}: span [{start}, {end}] does not fit the text of {len(text)} characters")


def check_gold(gold: Gold, candidates: Sequence[str] | None, name: str, where: str) -> None:
    """Raise an error for an index outside the candidates, or a text that is not a QID."""
    if isinstance(gold, str) and not re.fullmatch(r"Q\d+", gold):
        raise NamesakeError(f"{where}: gold of {name!r} is {gold!r}, not an index, a QID or null")
    count = len(candidates or ())
    if isinstance(gold, int) and not 0 <= gold < count:
        raise NamesakeError(f"{where}: gold of {name!r} is candidate {gold}, but it has {count} candidates")


def page_title(address: str) -> str:
    """Return the title of a Wikipedia page as Wikidata spells it, from a title or the last part of an address.

    `Michael_Collins_%28astronaut%29#Career` is `Michael Collins (astronaut)`.
    """
    title = " ".join(unquote(address.partition("#")[0]).replace("_", " ").split())
    return title[:1].upper() + title[1:]
