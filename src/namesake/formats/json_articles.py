"""Articles from files of JSON lines or of one JSON array: in our plain layout, Quotebank's, or with other field names.

Plain: `{"id", "text", "title"?, "date"?, "mentions"?: [{"name", "spans": [[start, end]], "candidates"?: [qid]}]}`
with spans in characters; a mention may also be a name alone, which stands for all its occurrences in the text.
Quotebank: `{"articleID", "content", "title", "date", "names": [{"name", "ids", "offsets"}]}` with offsets in
whitespace tokens. Other fields are copied to `extra`.
"""

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from namesake.articles.article import Article, Mention, Place, located
from namesake.articles.builder import in_tables
from namesake.articles.days import date_text
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import kind, open_lines
from namesake.files.lines import MOST_LINE, bounded_lines, read_whole, too_long
from namesake.formats.field_names import GUESSES, Reading, choose_fields, id_prefix, shown

BOM = b"\xef\xbb\xbf"  # some editors write it before the first line
BLANKS = b" \t\r\n"  # what JSON allows around a value; Python's white space is more
RawFields = dict[str, msgspec.Raw]
INVALID = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions for JSON that cannot be decoded; UnicodeDecodeError is a ValueError."""


class QuotebankName(msgspec.Struct, rename={"spans": "offsets", "candidates": "ids"}):
    """A speaker candidate as Quotebank stores it; its attributes are those of `Mention`."""

    name: str
    spans: list[tuple[Place, Place]] = []
    candidates: list[str] | None = None


@dataclass(frozen=True)
class Layout:
    """The field names of an article, and the form of its mentions."""

    id: str
    text: str
    mentions: str
    decoder: msgspec.json.Decoder[Any]  # of the field of mentions
    token_spans: bool = False  # spans count whitespace tokens instead of characters


LAYOUTS = (
    Layout("articleID", "content", "names", msgspec.json.Decoder(list[QuotebankName] | None), token_spans=True),
    Layout("id", "text", "mentions", msgspec.json.Decoder(list[Mention | str] | None)),
)
"""The known layouts, which differ in their field of ids; an object without such a field is read as the last one."""

_raw_fields = msgspec.json.Decoder(RawFields)
_object = msgspec.json.Decoder(dict[str, Any])
_text = msgspec.json.Decoder(str)
_optional = msgspec.json.Decoder(str | None)
_id = msgspec.json.Decoder(str | int)
_date = msgspec.json.Decoder(str | int | None)
_null = msgspec.Raw(b"null")
Record = tuple[int, bytes | None]
"""A JSON value with its line, or its place in an array, from 1; None if it is too long."""


def _articles(
    records: Iterable[Record],
    path: Path,
    rejects: Rejects,
    most_line: int,
    reading: Reading | None = None,
    before: int = 0,
) -> Iterator[Article]:
    """The articles of JSON records; those that are too long or invalid are rejected.

    With `reading`, the field names are those of the first valid object. Objects of a known layout are read as such,
    unless the user has named fields; if the first object has a known layout, all must have one.
    """
    where, prefix = shown(path), "" if reading is None else id_prefix(path, reading)
    fields: dict[str, str] | None = None
    for number, record in records:
        number += before
        try:
            if record is None:
                raise ValueError(too_long(most_line))
            record = record.removeprefix(BOM).strip(BLANKS)
            if not record:
                continue
            found = {} if reading is None else _object.decode(record)
            if reading is None or (not reading.named and has_known_layout(found)):
                if fields is None:
                    reading = None
                article = read_article(record)
            else:
                if fields is None:
                    paths = [name for name in reading.named.values() if _find(found, name)[0]]
                    fields = choose_fields(list(found), reading, where, paths)
                article = article_with(found, fields, f"{prefix}:{number}")
        except (*INVALID, KeyError) as problem:
            reason = f"no `{problem.args[0]}`" if isinstance(problem, KeyError) else f"not an article: {problem}"
            rejects.add(Reject(reason, where, number, None if fields or not record else _id_of(record)))
            continue
        if rejects.places is not None:
            rejects.places[article.id] = number
        yield article


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
    if mentions is not None and not layout.token_spans:  # Quotebank's have all their spans
        mentions = located(text, mentions)
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
    try:
        fields = _raw_fields.decode(line)
        return str(_id.decode(fields[_layout(fields).id]))
    except (*INVALID, KeyError):
        return None


def article_with(record: dict[str, Any], fields: dict[str, str], place: str) -> Article:
    """The article of an object with these field names; its other fields are copied to `extra`."""
    _, text = _find(record, fields["text"])
    if text is None:
        raise KeyError(fields["text"])
    if not isinstance(text, str):
        raise ValueError(f"`{fields['text']}` is no text")
    rest = record
    for path in fields.values():
        rest = _without(rest, path)
    return Article(
        id=_scalar(record, fields.get("id")) or place,
        text=text,
        title=_scalar(record, fields.get("title")),
        date=_scalar(record, fields.get("date")),
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


FIRST_LINES, FIRST_BYTES = 5, 16 << 20
"""How many lines of a file, and how much of each, are read to find out the names of its fields."""


def read_json(path: Path, rejects: Rejects, reading: Reading) -> Iterator[pa.Table]:
    """Tables of articles from JSON lines, or from an array."""
    is_known, is_array = False, reading.format == "json"
    if path.is_file():
        is_known, is_array = not is_whole(path, reading), kind(path) == ".json" and is_array_file(path)
        names = {name.casefold(): name for name in object_of(_first_lines(path)[0])}
        if not (is_known or is_array or reading.named or "text" in names):
            meant = {what: next((names[one] for one in some if one in names), None) for what, some in GUESSES.items()}
            options = " ".join(f"`{what}={name!r}`" for what, name in meant.items() if name)
            raise NamesakeError(f"{path}: its lines have no `text`; did you mean {options}?")
    records = json_records(path, is_array, reading.most_line)
    yield from in_tables(_articles(records, path, rejects, reading.most_line, None if is_known else reading))


def read_lines(
    lines: bytes, path: Path, rejects: Rejects, most_line: int = MOST_LINE, before: int = 0
) -> Iterator[pa.Table]:
    """Tables of articles from JSON lines of known layouts, after `before` others."""
    return in_tables(_articles(bounded_lines(io.BytesIO(lines), most_line), path, rejects, most_line, None, before))


def json_records(path: Path, is_array: bool, most_line: int = MOST_LINE) -> Iterator[Record]:
    """Every element of a file that is one JSON array, or every line of another file that is not blank."""
    with open_lines(path) as stream:
        if not is_array:
            for number, line in bounded_lines(stream, most_line):
                if line is None or line.strip(BLANKS):
                    yield number, line
            return
        data = read_whole(stream, path).removeprefix(BOM)
    try:
        elements = msgspec.json.decode(data, type=list[msgspec.Raw])
    except INVALID as problem:
        raise NamesakeError(f"{shown(path)}: not a JSON array ({problem})") from None
    yield from enumerate(map(bytes, elements), 1)


def is_whole(path: Path, reading: Reading) -> bool:
    """Whether a file must be read from its beginning: an array, or lines with other field names than ours."""
    if not path.is_file():
        return False
    if reading.named or (kind(path) == ".json" and is_array_file(path)):
        return True
    first, *others = map(object_of, _first_lines(path))
    texts = {name.casefold() for name, value in first.items() if isinstance(value, str)} & set(GUESSES["text"])
    if has_known_layout(first) or not texts:
        return False
    # A text without an id in the first line, or another name that no other line contradicts.
    return "text" in texts or not any(map(has_known_layout, others))


def is_array_file(path: Path) -> bool:
    """Whether a file begins as a JSON array."""
    return _first_lines(path)[0].removeprefix(BOM).lstrip(BLANKS).startswith(b"[")


def _first_lines(path: Path) -> list[bytes]:
    """The first lines that are not blank, or their beginnings; one empty line if there is none."""
    lines: list[bytes] = []
    with open_lines(path) as stream:
        while len(lines) < FIRST_LINES and (line := stream.readline(FIRST_BYTES)):
            if line.removeprefix(BOM).strip(BLANKS):
                lines.append(line)
            if not line.endswith(b"\n"):
                break
    return lines or [b""]
