"""Articles from JSON lines: our plain layout, and Quotebank's article-centric one, told apart by their fields.

Plain: `{"id", "text", "title"?, "date"?, "mentions"?: [{"name", "spans": [[start, end]], "candidates"?: [qid]}]}`
with spans in characters. Quotebank: `{"articleID", "content", "title", "date", "names": [{"name", "ids",
"offsets"}]}` with offsets in whitespace tokens. Fields we do not know are carried through as `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
import pyarrow as pa

from namesake.articles.article import Article, Mention
from namesake.articles.builder import MOST_ARTICLES, ArticleBuilder
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.lines import MOST_LINE, bounded_lines, too_long

Fields = dict[str, msgspec.Raw]
Place = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class PlainMention(msgspec.Struct):
    """A mention as plain JSON has it."""

    name: str
    spans: list[tuple[Place, Place]] = []
    candidates: list[str] | None = None


class QuotebankName(msgspec.Struct, rename={"spans": "offsets", "candidates": "ids"}):
    """A speaker candidate as Quotebank has it."""

    name: str
    spans: list[tuple[Place, Place]] = []
    candidates: list[str] | None = None


@dataclass(frozen=True)
class Layout:
    """What an article's fields are called, and how its mentions are written."""

    id: str
    text: str
    mentions: str
    decoder: msgspec.json.Decoder[Any]
    """Reads the field of mentions."""
    token_spans: bool = False
    """Spans count whitespace tokens, not characters."""


LAYOUTS = {
    "articleID": Layout(
        "articleID", "content", "names", msgspec.json.Decoder(list[QuotebankName] | None), token_spans=True
    ),
    "id": Layout("id", "text", "mentions", msgspec.json.Decoder(list[PlainMention] | None)),
}
"""The layouts by the field that holds the id; a line with none of these fields is told what plain JSON lacks."""

_fields = msgspec.json.Decoder(Fields)
_text = msgspec.json.Decoder(str)
_optional = msgspec.json.Decoder(str | None)
_id = msgspec.json.Decoder(str | int)
_null = msgspec.Raw(b"null")
BOM = b"\xef\xbb\xbf"  # what some editors write before the first line


def read_jsonl(path: Path, rejects: Rejects, most_articles: int, most_line: int) -> Iterator[pa.Table]:
    """Tables of articles from a file of JSON lines; a line that is no article, or too long, is set aside."""
    with open_lines(path) as stream:
        yield from read_lines(stream, path, rejects, most_articles, most_line)


def read_lines(
    stream: BinaryIO,
    path: Path,
    rejects: Rejects,
    most_articles: int = MOST_ARTICLES,
    most_line: int = MOST_LINE,
    *,
    before: int = 0,
    places: dict[str, int] | None = None,
) -> Iterator[pa.Table]:
    """Tables of articles from an open stream of JSON lines.

    Args:
        stream: the lines.
        path: the file that they come from.
        rejects: takes the lines that are no articles.
        most_articles: the size of a table; those with long articles are smaller.
        most_line: how many bytes a line may have.
        before: how many lines of the file come before the stream's first.
        places: told the line of every article, by its id.
    """
    builder = ArticleBuilder(most_articles)
    for number, line in bounded_lines(stream, most_line):
        place = before + number
        if line is None:
            rejects.add(Reject(f"not an article: {too_long(most_line)}", str(path), place))
            continue
        record = line.strip() if place > 1 else line.removeprefix(BOM).strip()
        if not record:
            continue
        try:
            article = read_article(record)
            builder.add(article)
            if places is not None:
                places[article.id] = place
        except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as problem:
            reason = f"no `{problem.args[0]}`" if isinstance(problem, KeyError) else f"not an article: {problem}"
            rejects.add(Reject(reason, str(path), place, _id_of(record)))
        if builder.full:
            yield builder.table()
    if builder.articles:
        yield builder.table()


def read_article(line: bytes) -> Article:
    """One article from one line of JSON."""
    try:
        return _article(_fields.decode(line))
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        if isinstance(problem, msgspec.ValidationError):
            raise
        mended = _without_surrogates(line)
        if mended is None:
            raise
        return _article(_fields.decode(mended))


def _id_of(line: bytes) -> str | None:
    """The id of a line that is no article, where it has one."""
    try:
        fields = _fields.decode(line)
        return str(_id.decode(fields[_layout(fields).id]))
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError):
        return None


def _layout(fields: Fields) -> Layout:
    return next((layout for field, layout in LAYOUTS.items() if field in fields), LAYOUTS["id"])


def _article(fields: Fields) -> Article:
    """The article of a line; fields that its layout does not know are carried along."""
    layout = _layout(fields)
    mentions = _decode(layout.decoder, fields, layout.mentions)
    return Article(
        id=str(_decode(_id, fields, layout.id, required=True)),
        text=_decode(_text, fields, layout.text, required=True),
        title=_decode(_optional, fields, "title"),
        date=_decode(_optional, fields, "date"),
        mentions=None if mentions is None else [Mention(m.name, m.spans, m.candidates) for m in mentions],
        extra=msgspec.json.encode(fields).decode() if fields else None,
        token_spans=layout.token_spans,
    )


def _decode(decoder: msgspec.json.Decoder[Any], fields: Fields, name: str, required: bool = False) -> Any:
    """One field, taken out of `fields`, so that what remains is what we do not know."""
    raw = fields.pop(name) if required else fields.pop(name, _null)
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as problem:
        raise msgspec.ValidationError(f"`{name}`: {problem}") from None


def _without_surrogates(line: bytes) -> bytes | None:
    """The line with lone surrogates and bytes that are no UTF-8 replaced, or None if it is no JSON even so."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
