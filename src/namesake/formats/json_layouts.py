"""Articles from JSON objects: our plain layout, Quotebank's article-centric one, and objects with other field names.

Plain: `{"id", "text", "title"?, "date"?, "mentions"?: [{"name", "spans": [[start, end]], "candidates"?: [qid]}]}`
with spans in characters; a mention may also be a name alone, which stands for all its occurrences in the text.
Quotebank: `{"articleID", "content", "title", "date", "names": [{"name", "ids", "offsets"}]}` with offsets in
whitespace tokens. Other fields are copied to `extra`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from namesake.articles.article import Article, Mention, Place, located
from namesake.articles.days import date_text
from namesake.articles.rejects import Reject, Rejects
from namesake.files.lines import too_long
from namesake.formats.field_names import Fields, Reading, choose_fields, id_prefix, shown

BOM = b"\xef\xbb\xbf"  # some editors write it before the first line
BLANKS = b" \t\r\n"  # what JSON allows around a value; Python's white space is more
RawFields = dict[str, msgspec.Raw]
INVALID = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions for JSON that cannot be decoded; UnicodeDecodeError is a ValueError."""


class QuotebankName(msgspec.Struct, rename={"spans": "offsets", "candidates": "ids"}):
    """A speaker candidate as Quotebank stores it."""

    name: str
    spans: list[tuple[Place, Place]] = []
    candidates: list[str] | None = None


@dataclass(frozen=True)
class Layout:
    """The field names of an article, and the form of its mentions."""

    id: str
    text: str
    mentions: str
    decoder: msgspec.json.Decoder[Any]
    """Decodes the field of mentions."""
    token_spans: bool = False
    """Whether spans count whitespace tokens instead of characters."""


LAYOUTS = (
    Layout("articleID", "content", "names", msgspec.json.Decoder(list[QuotebankName] | None), token_spans=True),
    Layout("id", "text", "mentions", msgspec.json.Decoder(list[Mention | str] | None)),
)
"""The known layouts, told apart by their field of ids; an object without such a field is read as the last one."""

_raw_fields = msgspec.json.Decoder(RawFields)
_object = msgspec.json.Decoder(dict[str, Any])
_text = msgspec.json.Decoder(str)
_optional = msgspec.json.Decoder(str | None)
_id = msgspec.json.Decoder(str | int)
_date = msgspec.json.Decoder(str | int | None)
_null = msgspec.Raw(b"null")


class RecordReader:
    """Decodes JSON objects one by one. It is slower than the compiled scanner and reads everything that JSON allows.

    With `reading`, the first valid object tells the field names. Objects of a known layout are read as such, unless the
    user has named fields; if the first object has a known layout, all must have one.
    """

    def __init__(self, path: Path, rejects: Rejects, most_line: int, reading: Reading | None = None) -> None:
        self.where, self.rejects, self.most_line, self.reading = shown(path), rejects, most_line, reading
        self.prefix = "" if reading is None else id_prefix(path, reading)
        self.fields: Fields | None = None
        self._is_first = reading is not None

    def article(self, number: int, record: bytes | None) -> Article | None:
        """The article of the record with this line or place, from 1; None if it is blank, too long (None) or invalid.

        An invalid record is rejected.
        """
        if record is None:
            self.rejects.add(Reject(f"not an article: {too_long(self.most_line)}", self.where, number))
            return None
        record = record.removeprefix(BOM).strip(BLANKS)
        try:
            return self._decoded(record, number) if record else None
        except (*INVALID, KeyError) as problem:
            reason = f"no `{problem.args[0]}`" if isinstance(problem, KeyError) else f"not an article: {problem}"
            self.rejects.add(Reject(reason, self.where, number, None if self.fields else _id_of(record)))
            return None

    def _decoded(self, record: bytes, number: int) -> Article:
        named = {} if self.reading is None else self.reading.named
        if self._is_first and self.reading is not None:
            found = _object.decode(record)
            self._is_first = False
            if named or not has_known_layout(found):
                paths = [path for path in named.values() if _find(found, path)[0]]
                self.fields = choose_fields(list(found), self.reading, self.where, paths)
        if self.fields is None:
            return read_article(record)
        found = _object.decode(record)
        if not named and has_known_layout(found):
            return read_article(record)
        return _article_with(found, self.fields, f"{self.prefix}:{number}")


def object_of(text: bytes) -> dict[str, Any]:
    """The JSON object of a text; empty if it is not an object."""
    try:
        return _object.decode(text.removeprefix(BOM))
    except INVALID:
        return {}


def has_known_layout(record: dict[str, Any]) -> bool:
    """Whether an object has the fields of plain JSON, or of Quotebank."""
    return any(layout.id in record and layout.text in record for layout in LAYOUTS)


def read_article(line: bytes) -> Article:
    """The article of a JSON object in a known layout."""
    try:
        return _article(_raw_fields.decode(line))
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        mended = None if isinstance(problem, msgspec.ValidationError) else _without_surrogates(line)
        if mended is None:
            raise
        return _article(_raw_fields.decode(mended))


def _article(fields: RawFields) -> Article:
    """The article of an object; fields that its layout does not have are copied to `extra`."""
    layout = _layout(fields)
    mentions = _decode(layout.decoder, fields, layout.mentions)
    identifier = str(_decode(_id, fields, layout.id, required=True))
    text = _decode(_text, fields, layout.text, required=True)
    if mentions is not None:
        given = [Mention(m.name, m.spans, m.candidates) if isinstance(m, QuotebankName) else m for m in mentions]
        mentions = located(text, given)
    return Article(
        id=identifier,
        text=text,
        title=_decode(_optional, fields, "title"),
        date=date_text(_decode(_date, fields, "date")),
        mentions=mentions,
        extra=msgspec.json.encode(fields).decode() if fields else None,
        token_spans=layout.token_spans,
    )


def _layout(fields: RawFields) -> Layout:
    return next((layout for layout in LAYOUTS if layout.id in fields), LAYOUTS[-1])


def _decode(decoder: msgspec.json.Decoder[Any], fields: RawFields, name: str, required: bool = False) -> Any:
    """Decode one field and remove it from `fields`."""
    raw = fields.pop(name) if required else fields.pop(name, _null)
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as problem:
        raise msgspec.ValidationError(f"`{name}`: {problem}") from None


def _without_surrogates(line: bytes) -> bytes | None:
    """The line with lone surrogates and invalid UTF-8 replaced; None if it is not JSON even so."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _id_of(line: bytes) -> str | None:
    """The id of an invalid article, if it has one."""
    try:
        fields = _raw_fields.decode(line)
        return str(_id.decode(fields[_layout(fields).id]))
    except (*INVALID, KeyError):
        return None


def _article_with(record: dict[str, Any], fields: Fields, place: str) -> Article:
    """The article of an object with these field names; its other fields are copied to `extra`."""
    there, text = _find(record, fields.text)
    if not there or text is None:
        raise KeyError(fields.text)
    if not isinstance(text, str):
        raise ValueError(f"`{fields.text}` is no text")
    rest = record
    for path in filter(None, (fields.text, fields.id, fields.title, fields.date)):
        rest = _without(rest, path)
    return Article(
        id=_scalar(record, fields.id) or place,
        text=text,
        title=_scalar(record, fields.title),
        date=_scalar(record, fields.date),
        extra=msgspec.json.encode(rest).decode() if rest else None,
    )


def _find(record: dict[str, Any], path: str) -> tuple[bool, Any]:
    """Whether an object has the field `a.b`, and its value: the field of that name, or b within a."""
    if path in record:
        return True, record[path]
    head, dot, rest = path.partition(".")
    inner = record.get(head)
    return _find(inner, rest) if dot and isinstance(inner, dict) else (False, None)


def _without(record: dict[str, Any], path: str) -> dict[str, Any]:
    """The object without the field `a.b`, and without a if that leaves it empty."""
    if path in record:
        return {name: value for name, value in record.items() if name != path}
    head, dot, rest = path.partition(".")
    inner = record.get(head)
    if not dot or not isinstance(inner, dict):
        return record
    left = _without(inner, rest)
    return record | {head: left} if left or not inner else _without(record, head)


def _scalar(record: dict[str, Any], path: str | None) -> str | None:
    """A text or number of an object as text; None if it is missing or empty."""
    value = _find(record, path)[1] if path else None
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"`{path}` is neither text nor number")
    return str(value)
