"""Quotebank articles as the paper's authors store them: a JSON list, or JSON lines, of article-centric records.

`{"articleID", "content", "title"?, "date"?, "names": [{"name", "ids", "offsets", "gold"?, "split"?,
"difficulty"?}]}`: `offsets` are spans of whitespace tokens, `gold` is an index into `ids`, or null where none of
them is right. A name without `gold` has no truth here; it may come from a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from namesake.articles.article import Article, Mention, Span
from namesake.articles.rejects import Rejects
from namesake.datasets.labelled import Labelled, Truth, check_gold
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of, read_whole


class Name(msgspec.Struct):
    """A name with its candidates, called `ids` or `candidates`."""

    name: str
    offsets: list[Span] = []
    ids: list[str] | None = None
    candidates: list[str] | None = None
    gold: int | str | msgspec.UnsetType | None = msgspec.UNSET
    split: str | None = None
    difficulty: str | None = None

    @property
    def answers(self) -> list[str] | None:
        """The candidates, by either name."""
        return self.candidates if self.ids is None else self.ids

    @property
    def columns(self) -> dict[str, str | None]:
        """What slices a data set."""
        return {"split": self.split, "difficulty": self.difficulty}


class Record(msgspec.Struct):
    """An article as the authors have it."""

    articleID: str | int  # noqa: N815 - the authors' spelling
    content: str
    names: list[Name]
    title: str | None = None
    date: str | None = None

    def article(self, mentions: list[Mention]) -> Article:
        """The same in our words."""
        return Article(str(self.articleID), self.content, self.title, self.date, mentions)


def read_nelight(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """Articles with their names as mentions, each name with all its spans."""
    for where, record in records(path):
        tokens = token_spans(record.content)
        mentions, truths = [], []
        seen: set[str] = set()
        for name in record.names:
            if name.name in seen:
                raise NamesakeError(f"{where}: two names {name.name!r}; a mention is one name in one article")
            seen.add(name.name)
            spans = [characters(span, tokens, name.name, where) for span in name.offsets]
            mentions.append(Mention(name.name, spans, name.answers))
            if name.gold is not msgspec.UNSET:
                check_gold(name.gold, name.answers, name.name, where)
                truths.append(Truth(name.name, name.name, name.gold, None, name.columns))
        yield Labelled(record.article(mentions), truths)


def records(path: Path) -> Iterator[tuple[str, Record]]:
    """Each article with the place it stands at, from a JSON list or from JSON lines."""
    number = 0
    with open_lines(path) as stream:
        while stream.peek(1)[:1].isspace():
            stream.read(1)
        if stream.peek(1)[:1] == b"[":
            parts = _list(read_whole(stream, path), path)
        else:
            parts = (line for _, line in lines_of(stream, path) if line.strip())
        for number, raw in enumerate(parts, 1):
            yield _record(raw, f"{path} article {number}")
    if not number:
        raise NamesakeError(f"{path}: no articles")


def _list(data: bytes, path: Path) -> Iterator[bytes]:
    try:
        return iter(bytes(raw) for raw in msgspec.json.decode(data, type=list[msgspec.Raw]))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise NamesakeError(f"{path}: not a JSON list of articles ({problem})") from None


def _record(raw: bytes, where: str) -> tuple[str, Record]:
    try:
        record = msgspec.json.decode(raw, type=Record)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise NamesakeError(f"{where}: not an article ({problem})") from None
    return f"{where} ({record.articleID})", record


def token_spans(text: str) -> list[Span]:
    """The spans of the whitespace tokens of a text, in characters."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def characters(span: Span, tokens: list[Span], name: str, where: str) -> Span:
    """A span of tokens as a span of characters."""
    start, end = span
    if not 0 <= start < end <= len(tokens):
        raise NamesakeError(f"{where}: offsets [{start}, {end}] of {name!r} do not fit a text of {len(tokens)} tokens")
    return tokens[start][0], tokens[end - 1][1]
