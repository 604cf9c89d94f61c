"""Articles from JSON lines: our plain layout, and Quotebank's article-centric one, told apart by their fields.

Plain: `{"id", "text", "title"?, "date"?, "mentions"?: [{"name", "spans": [[start, end]], "candidates"?: [qid]}]}`
with spans in characters. Quotebank: `{"articleID", "content", "title", "date", "names": [{"name", "ids",
"offsets"}]}` with offsets in whitespace tokens. Fields we do not know are carried through as `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from namesake.articles.builder import Article, ArticleBuilder, Mention
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines

Fields = dict[str, msgspec.Raw]
Place = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class PlainMention(msgspec.Struct):
    """A mention as plain JSON has it."""

    name: str
    spans: list[tuple[Place, Place]] = []
    candidates: list[str] | None = None


class QuotebankName(msgspec.Struct):
    """A speaker candidate as Quotebank has it."""

    name: str
    offsets: list[tuple[Place, Place]] = []
    ids: list[str] | None = None


_fields = msgspec.json.Decoder(Fields)
_text = msgspec.json.Decoder(str)
_optional = msgspec.json.Decoder(str | None)
_id = msgspec.json.Decoder(str | int)
_mentions = msgspec.json.Decoder(list[PlainMention] | None)
_names = msgspec.json.Decoder(list[QuotebankName] | None)
_null = msgspec.Raw(b"null")
BOM = b"\xef\xbb\xbf"  # what some editors write before the first line


def read_jsonl(path: Path, rejects: Rejects, builder: ArticleBuilder) -> Iterator[Any]:
    """Tables of articles from a file of JSON lines; a line that is no article is set aside."""
    with open_lines(path) as lines:
        for number, line in enumerate(lines, 1):
            record = line.strip() if number > 1 else line.removeprefix(BOM).strip()
            if not record:
                continue
            try:
                builder.add(read_article(record))
            except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as problem:
                reason = f"no `{problem.args[0]}`" if isinstance(problem, KeyError) else f"not an article: {problem}"
                rejects.add(Reject(reason, str(path), number, _id_of(record)))
            if builder.full:
                yield builder.table()
    if builder.articles:
        yield builder.table()


def read_article(line: bytes) -> Article:
    """One article from one line of JSON."""
    try:
        fields = _fields.decode(line)
        return _layout(fields)(fields)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        if isinstance(problem, msgspec.ValidationError):
            raise
        mended = _without_surrogates(line)
        if mended is None:
            raise
        fields = _fields.decode(mended)
        return _layout(fields)(fields)


def _id_of(line: bytes) -> str | None:
    """The id of a line that is no article, where it has one."""
    try:
        fields = _fields.decode(line)
        return str(_id.decode(fields["articleID" if "articleID" in fields else "id"]))
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError):
        return None


def _layout(fields: Fields) -> Callable[[Fields], Article]:
    return _quotebank if "articleID" in fields else _plain


def _plain(fields: Fields) -> Article:
    mentions = _decode(_mentions, fields, "mentions")
    return Article(
        id=str(_decode(_id, fields, "id", required=True)),
        text=_decode(_text, fields, "text", required=True),
        title=_decode(_optional, fields, "title"),
        date=_decode(_optional, fields, "date"),
        mentions=None if mentions is None else [Mention(m.name, m.spans, m.candidates) for m in mentions],
        extra=_extra(fields),
    )


def _quotebank(fields: Fields) -> Article:
    names = _decode(_names, fields, "names")
    return Article(
        id=str(_decode(_id, fields, "articleID", required=True)),
        text=_decode(_text, fields, "content", required=True),
        title=_decode(_optional, fields, "title"),
        date=_decode(_optional, fields, "date"),
        mentions=None if names is None else [Mention(n.name, n.offsets, n.ids) for n in names],
        extra=_extra(fields),
        token_spans=True,
    )


def _decode(decoder: msgspec.json.Decoder[Any], fields: Fields, name: str, required: bool = False) -> Any:
    """One field, taken out of `fields`, so that what remains is what we do not know."""
    raw = fields.pop(name) if required else fields.pop(name, _null)
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as problem:
        raise msgspec.ValidationError(f"`{name}`: {problem}") from None


def _extra(fields: Fields) -> str | None:
    return msgspec.json.encode(fields).decode() if fields else None


def _without_surrogates(line: bytes) -> bytes | None:
    """The line with lone surrogates and bytes that are no UTF-8 replaced, or None if it is no JSON even so."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
