"""Lines of a dump that the scanner does not parse: repaired entities, answers of Wikidata's API, deletions, redirects.

An entity is decoded by a full JSON decoder and written again in plain JSON. An unexpected value costs the statement
that contains it, never the entity.

Special:EntityData and `wbgetentities` answer `{"entities": {"Q1": …}}`. A deleted item is
`{"id": "Q1", "missing": ""}`. A redirected one has the content and the `id` of its target under its own key, or
`"redirects": {"from": …, "to": …}`; in page dumps it is `{"entity": "Q1", "redirect": "Q2"}`.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Struct

from namesake.arrays import Int64
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of
from namesake.kernels.dump.wikidata import END_TIME, LARGEST_ID, REVISION_DIGITS, START_TIME
from namesake.language import Language

_ID = re.compile(r"([QPL])([1-9][0-9]{0,9})")
_TIME = re.compile(r"[+-][0-9]+-[0-9]{2}-[0-9]{2}T")
_AMOUNT = re.compile(r"\+[1-9][0-9]*")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.S
)
MARKS = (b'"entities"', b'"missing"', b'"redirect')
T = TypeVar("T")
NOT_AN_ENTITY = "not as Wikidata writes an entity"


class BadLineError(Exception):
    """A line without an entity; the message gives the reason."""


class _Text(Struct, frozen=True):
    value: str = ""


class _DataValue(Struct, frozen=True):
    type: str = ""
    value: Any = None


class _Snak(Struct, frozen=True):
    snaktype: str = ""
    datatype: str = "string"
    datavalue: _DataValue = _DataValue()


class _Statement(Struct, frozen=True):
    mainsnak: _Snak = _Snak()
    rank: str = "normal"
    qualifiers: Any = None


_LANGUAGE_TEXT = msgspec.defstruct("_LanguageText", [("text", str), ("language", str)])
_Nothing = tuple[()]  # PHP writes an empty map as []


class _Record(Struct, frozen=True):
    """The parts of an entity that a KB keeps."""

    id: str | None = None
    labels: dict[str, _Text] | _Nothing = {}
    descriptions: dict[str, _Text] | _Nothing = {}
    aliases: dict[str, list[_Text]] | _Nothing = {}
    claims: dict[str, list[_Statement]] | _Nothing = {}
    sitelinks: dict[str, Any] | _Nothing = {}
    lastrevid: Any = 0


class _TimeValue(Struct, frozen=True):
    time: str
    precision: int


def repair(line: bytes, language: Language) -> bytes:
    """The entity on a line, with what a KB keeps, as the scanner parses it. Raises BadLineError if there is none."""
    try:
        line.decode()  # the decoder does not check all texts
        if b"\\ud" in line.lower():  # the replacement character for half a surrogate pair
            line = _ESCAPE.sub(lambda escape: rb"\ufffd" if len(escape[0]) == 6 else escape[0], line)
        parts = msgspec.json.decode(line, type=dict[str, Any])
        for name in ("labels", "descriptions", "aliases"):
            if isinstance(texts := parts.get(name), dict):
                parts[name] = {code: texts[code] for code in language.labels if code in texts}
        return msgspec.json.encode(_plain(msgspec.convert(parts, _Record), language))
    except msgspec.ValidationError as problem:
        raise BadLineError(f"{NOT_AN_ENTITY}: {problem}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadLineError("cut off" if "truncated" in str(problem) else f"no JSON: {problem}") from None


def _plain(record: _Record, language: Language) -> _Record:
    """The same entity without values that the scanner does not expect; of a property only its texts."""
    if record.id is None:
        raise BadLineError("an entity without id")
    if not (kind := id_letter(record.id)):
        raise BadLineError(f"the id {record.id[:40]!r} is not Q, P or L and a number")
    if kind != "Q":
        return _Record(record.id, record.labels)
    claims = dict(record.claims)
    if wrong := [name for name in claims if id_letter(name) != "P"]:
        raise BadLineError(f"claims under {wrong[0][:40]!r}, which is no property")
    sitelinks: dict[str, Any] = {f"site {number}": None for number in range(len(record.sitelinks))}
    if page := _lenient(dict(record.sitelinks).get(language.wikipedia), dict[str, Any]):
        sitelinks.popitem()
        sitelinks[language.wikipedia] = {"title": _lenient(page.get("title"), str) or ""}
    labels = [text.value for text in dict(record.labels).values() if text.value]
    aliases = [text.value for texts in dict(record.aliases).values() for text in texts]
    code, revision = language.labels[0], record.lastrevid
    return msgspec.structs.replace(
        record,
        labels={code: _Text(labels[0])} if labels else {},
        aliases={code: [_Text(name) for name in dict.fromkeys([*aliases, *labels])]},
        claims={name: [_plain_statement(one) for one in statements] for name, statements in claims.items()},
        sitelinks=sitelinks,
        lastrevid=revision if type(revision) is int and 0 <= revision < 10**REVISION_DIGITS else 0,
    )


def id_letter(text: str) -> str:
    """The letter of an id; an empty text if it is not Q, P or L and a number."""
    match = _ID.fullmatch(text)
    return match[1] if match and int(match[2]) <= LARGEST_ID else ""


def _plain_statement(statement: _Statement) -> _Statement:
    qualifiers = _lenient(statement.qualifiers, dict[str, Any]) or {}
    times = {
        name: [_plain_snak(snak) for snak in _lenient(qualifiers.get(name), list[_Snak]) or []]
        for name in (f"P{START_TIME}", f"P{END_TIME}")
    }
    rank = statement.rank if statement.rank in ("deprecated", "preferred") else "normal"
    return _Statement(_plain_snak(statement.mainsnak), rank, times)


def _plain_snak(snak: _Snak) -> _Snak:
    """A snak with its item, string, time, amount or text; without a value if it has another one or none."""
    kind, value = snak.datavalue.type, snak.datavalue.value
    plain: Any = None
    if snak.snaktype != "value":
        return _Snak()
    if kind == "string" and snak.datatype == "string" and isinstance(value, str):
        plain = value
    elif kind == "wikibase-entityid" and isinstance(value, dict):
        name = value.get("id")
        if name is None and value.get("entity-type", "item") == "item":  # as in dumps before 2017
            name = f"Q{value.get('numeric-id')}"
        plain = {"id": name} if id_letter(str(name)) == "Q" else None
    elif kind == "time":
        time = _lenient(value, _TimeValue)
        written = _TIME.match(time.time) if time else None
        plain = _TimeValue(written[0] if written else "", time.precision if time and 1 <= time.precision <= 14 else 15)
    elif kind == "monolingualtext":
        plain = _lenient(value, _LANGUAGE_TEXT)
    elif kind == "quantity" and isinstance(value, dict) and _AMOUNT.fullmatch(str(value.get("amount"))):
        plain = {"amount": value["amount"]}
    return _Snak("value", datavalue=_DataValue("" if plain is None else kind, plain))


def _lenient(value: Any, kind: type[T]) -> T | None:
    """A part of a record; None if it is not of this type."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


class _Redirects(Struct, rename={"source": "from", "target": "to"}):
    source: str
    target: str


class _Head(Struct):
    id: str = ""
    entity: str = ""
    redirect: str = ""
    redirects: _Redirects | None = None
    missing: Any = UNSET
    labels: Any = UNSET
    claims: Any = UNSET


def entities_on(line: bytes) -> list[tuple[str, bytes]]:
    """The entities on a line, each with its key in an answer of the API; in any other line there is one without key."""
    if MARKS[0] in line:
        with suppress(ValueError, RecursionError, KeyError):  # the line is reported when it is repaired
            answer = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
            entities = msgspec.json.decode(answer["entities"], type=dict[str, msgspec.Raw])
            return [(key, bytes(entity)) for key, entity in entities.items()]
    return [("", line)]


def removed_by(key: str, entity: bytes) -> tuple[list[tuple[int, int]], bool]:
    """The item that a record deletes or redirects, with its target or 0; and whether it has content as well."""
    if not key and not any(mark in entity for mark in MARKS):
        return [], True
    try:
        head = msgspec.json.decode(entity, type=_Head)
    except (ValueError, RecursionError):  # the same; errors of msgspec and of UTF-8 are ValueErrors
        return [], True
    moved = head.redirects or _Redirects(head.entity or key, head.redirect or head.id)
    if head.missing is not UNSET:
        moved = _Redirects(head.id or key, "")
    elif moved.target in ("", moved.source) or not moved.source:
        return [], True
    letter = id_letter(moved.source)
    if not letter or (moved.target and id_letter(moved.target) != letter):
        raise BadLineError(f"the id {moved.source[:40]!r} cannot be deleted or redirected to {moved.target[:40]!r}")
    has_content = head.labels is not UNSET or head.claims is not UNSET
    return [(int(moved.source[1:]), int(moved.target[1:] or 0))] if letter == "Q" else [], has_content


def read_ids(path: Path) -> Int64:
    """The QIDs of a text file with one on each line. Raises NamesakeError for another line."""
    found = []
    if not path.is_file():
        raise NamesakeError(f"{path}: no such file; give a file with one QID on each line")
    with open_lines(path) as stream:
        for place, line in lines_of(stream, path):
            text = line.decode(errors="replace").strip()
            if text and id_letter(text) != "Q":
                raise NamesakeError(f"{path}:{place}: {text[:40]!r} is not a QID such as Q42; nothing was changed")
            found += [int(text[1:])] if text else []
    return np.array(found, np.int64)
