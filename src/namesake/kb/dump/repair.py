"""Repair a line that the scanner does not parse: decode it with a full JSON decoder, and write it again in plain JSON.

An unexpected value costs the statement that contains it, never the entity.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from namesake.kernels.dump.wikidata import END_TIME, LARGEST_ID, REVISION_DIGITS, START_TIME
from namesake.language import Language

_ID = re.compile(r"([QPL])([1-9][0-9]{0,9})")
_TIME = re.compile(r"[+-][0-9]+-[0-9]{2}-[0-9]{2}T")
_AMOUNT = re.compile(r"\+[1-9][0-9]*")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.S
)
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


class _LanguageText(Struct, frozen=True):
    text: str
    language: str


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
    code = language.labels[0]
    return msgspec.structs.replace(
        record,
        labels={code: _Text(labels[0])} if labels else {},
        aliases={code: [_Text(name) for name in dict.fromkeys([*aliases, *labels])]},
        claims={name: [_plain_statement(one) for one in statements] for name, statements in claims.items()},
        sitelinks=sitelinks,
        lastrevid=_plain_revision(record.lastrevid),
    )


def _plain_revision(given: Any) -> int:
    return given if type(given) is int and 0 <= given < 10**REVISION_DIGITS else 0


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
        plain = _lenient(value, _LanguageText)
    elif kind == "quantity" and isinstance(value, dict) and _AMOUNT.fullmatch(str(value.get("amount"))):
        plain = {"amount": value["amount"]}
    return _Snak("value", datavalue=_DataValue("" if plain is None else kind, plain))


def _lenient(value: Any, kind: type[T]) -> T | None:
    """A part of a record; None if it is not of this type."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None
