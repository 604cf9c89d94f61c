"""JSON objects whose fields are called otherwise than ours: as lines, or as one array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import bounded_lines, read_whole, too_long
from namesake.formats.csv import shown
from namesake.formats.fields import Fields, Reading, choose_fields, place
from namesake.formats.jsonl import BLANKS, BOM, LAYOUTS, id_of, read_article

Record = tuple[int, bytes | None]
"""A JSON value with its line, or its place in an array, from 1 on; None where it is too long."""

_object = msgspec.json.Decoder(dict[str, Any])
_array = msgspec.json.Decoder(list[msgspec.Raw])


def is_array(start: bytes) -> bool:
    """Whether JSON that begins so is an array."""
    return start.removeprefix(BOM).lstrip(BLANKS).startswith(b"[")


def array_records(path: Path) -> Iterator[Record]:
    """Every element of a file that is one JSON array."""
    with open_lines(path) as stream:
        data = read_whole(stream, path).removeprefix(BOM)
    try:
        elements = _array.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise NamesakeError(f"{shown(path)}: not a JSON array ({problem})") from None
    for number, element in enumerate(elements, 1):
        yield number, bytes(element)


def line_records(path: Path, most_line: int) -> Iterator[Record]:
    """Every line of a file that is not empty."""
    with open_lines(path) as stream:
        for number, line in bounded_lines(stream, most_line):
            if line is None or line.strip(BLANKS):
                yield number, line


def read_records(
    records: Iterable[Record], path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading
) -> Iterator[pa.Table]:
    """Tables of articles from JSON objects; the first that is one tells what the fields are called.

    Records of a layout that we know stay what they are, unless the user has named fields; where the first is such a
    record, all have to be.
    """
    builder = ArticleBuilder(most_articles)
    where, begin = shown(path), place(path, reading)
    fields: Fields | None = None
    known: bool | None = None
    for number, record in records:
        if record is None:
            rejects.add(Reject(f"not an article: {too_long(most_line)}", where, number))
            continue
        try:
            if known is None:
                found = _object.decode(record.removeprefix(BOM) if number == 1 else record)
                known = not reading.named and has_known_layout(found)
                if not known:
                    fields = choose_fields(list(found), reading, where, _paths(found, reading))
            record = record.removeprefix(BOM).strip(BLANKS)
            found = {} if fields is None else _object.decode(record)
            if fields is None or (not reading.named and has_known_layout(found)):
                builder.add(read_article(record))
            else:
                builder.add(_article(found, fields, f"{begin}:{number}"))
        except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as problem:
            reason = f"no `{problem.args[0]}`" if isinstance(problem, KeyError) else f"not an article: {problem}"
            rejects.add(Reject(reason, where, number, None if fields else id_of(record)))
        if builder.full:
            yield builder.table()
    if builder.articles:
        yield builder.table()


def has_known_layout(record: dict[str, Any]) -> bool:
    """Whether an object has the fields of plain JSON, or of Quotebank."""
    return any(layout.id in record and layout.text in record for layout in LAYOUTS.values())


def _paths(record: dict[str, Any], reading: Reading) -> list[str]:
    """Those of the user's fields that lead somewhere within the object."""
    return [path for path in reading.named.values() if _find(record, path)[0]]


def _find(record: dict[str, Any], path: str) -> tuple[bool, Any]:
    """Whether there is something at `a.b`, and what: the field of that name, or b within a."""
    if path in record:
        return True, record[path]
    head, dot, rest = path.partition(".")
    inner = record.get(head)
    return _find(inner, rest) if dot and isinstance(inner, dict) else (False, None)


def _article(record: dict[str, Any], fields: Fields, place: str) -> Article:
    """The article of an object; fields that are no part of it are carried along."""
    there, text = _find(record, fields.text)
    if not there or text is None:
        raise KeyError(fields.text)
    if not isinstance(text, str):
        raise ValueError(f"`{fields.text}` is no text")
    rest = record
    for path in filter(None, (fields.text, fields.id, fields.title, fields.date)):
        rest = _without(rest, path)
    return Article(
        id=_told(record, fields.id) or place,
        text=text,
        title=_told(record, fields.title),
        date=_told(record, fields.date),
        extra=msgspec.json.encode(rest).decode() if rest else None,
    )


def _without(record: dict[str, Any], path: str) -> dict[str, Any]:
    """The object without what is at `a.b`, nor a, where nothing else is in it."""
    if path in record:
        return {name: value for name, value in record.items() if name != path}
    head, dot, rest = path.partition(".")
    inner = record.get(head)
    if not dot or not isinstance(inner, dict):
        return record
    left = _without(inner, rest)
    return record | {head: left} if left or not inner else _without(record, head)


def _told(record: dict[str, Any], path: str | None) -> str | None:
    """A text or number of an object as text; None where there is none."""
    value = _find(record, path)[1] if path else None
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"`{path}` is neither text nor number")
    return str(value)
