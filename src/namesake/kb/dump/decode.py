"""One entity by a full JSON decoder: for lines that the scanner does not parse, and to check the scanner against.

Typed decoding skips what is not kept. An unexpected value costs the statement that contains it, never the entity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from namesake.kernels.dump import wikidata
from namesake.kernels.dump.times import period
from namesake.kernels.dump.wikidata import LARGEST_ID, MISSING
from namesake.language import Language

RANKS = {"deprecated": 0, "preferred": 2}

_ID = re.compile(r"([QPL])([1-9][0-9]{0,9})")
_TIME = re.compile(r"([+-])([0-9]+)-([0-9]{2})-([0-9]{2})T")
_AMOUNT = re.compile(r"\+[1-9][0-9]{0,9}")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.S
)
T = TypeVar("T")
Period = tuple[int, int, int]
"""First day, precision and last day of a date."""
NO_DATE: Period = MISSING, 0, MISSING
Statement = tuple[int, int | str, int, int]
"""A property, the QID or string that is its value, and the first and last day on which the statement holds."""


class BadLineError(Exception):
    """A line without an entity; the message gives the reason."""


class _Text(Struct, frozen=True):
    value: str = ""


class _DataValue(Struct, frozen=True):
    type: str = ""
    value: Raw = Raw(b"null")


class _Snak(Struct, frozen=True):
    snaktype: str = ""
    datatype: str = "string"
    datavalue: _DataValue = _DataValue()


class _Statement(Struct, frozen=True):
    mainsnak: _Snak = _Snak()
    rank: str = "normal"
    qualifiers: Raw = Raw(b"{}")


class _Title(Struct, frozen=True):
    title: str = ""


_Nothing = tuple[()]  # PHP writes an empty map as []


class _Record(Struct, frozen=True):
    """An entity without its texts, which `_decoder` adds for the kept languages."""

    id: str | None = None
    claims: dict[str, list[_Statement]] | _Nothing = {}
    sitelinks: dict[str, Raw] | _Nothing = {}


class _ItemValue(Struct, frozen=True):
    id: str | None = None
    numeric_id: int | None = msgspec.field(default=None, name="numeric-id")
    entity_type: str = msgspec.field(default="item", name="entity-type")


class _Quantity(Struct, frozen=True):
    amount: str


class _TimeValue(Struct, frozen=True):
    time: str
    precision: int


@dataclass(frozen=True)
class Entity:
    """What is kept of a line: of a property its label, of a lexeme nothing."""

    kind: str
    """Q, P or L."""
    number: int
    label: str = ""
    description: str = ""
    title: str = ""
    aliases: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    numbers: dict[str, int] = field(default_factory=dict)
    """The fields of an item that are numbers, by the names of `kernels.dump.entity.ITEM_COLUMNS`."""
    dates_dropped: int = 0


@cache
def _decoder(language: Language) -> msgspec.json.Decoder[Any]:
    """Decodes the texts of the language's labels and no others."""
    places = [f"text_{number}" for number in range(len(language.labels))]
    codes = dict(zip(places, language.labels, strict=True))
    texts = msgspec.defstruct("_Texts", [(place, _Text, _Text()) for place in places], rename=codes, frozen=True)
    lists = msgspec.defstruct("_Lists", [(place, list[_Text], []) for place in places], rename=codes, frozen=True)
    fields = [
        ("labels", texts | _Nothing, texts()),
        ("descriptions", texts | _Nothing, texts()),
        ("aliases", lists | _Nothing, lists()),
    ]
    return msgspec.json.Decoder(msgspec.defstruct("_Entity", fields, bases=(_Record,), frozen=True))


def decode(line: bytes, keep_all: bool, language: Language) -> Entity:
    """The entity on a line of a dump. Raises BadLineError where there is none."""
    try:
        line.decode()  # the decoder does not check texts that it skips
        whole = line
        if b"\\ud" in line.lower():  # the replacement character for half a surrogate pair
            whole = _ESCAPE.sub(lambda escape: rb"\ufffd" if len(escape[0]) == 6 else escape[0], line)
        record = _last_of_each(_decoder(language).decode, whole)
        kind, number = _entity_id(record.id)
        if kind == "L":
            return Entity(kind, number)
        labels = [text.value for text in _in_order(record.labels)]
        label = next(filter(None, labels), "")
        if kind == "P":
            return Entity(kind, number, label)
        return _Reader(record, keep_all, language.wikipedia).item(number, label, labels)
    except msgspec.ValidationError as problem:
        raise BadLineError(f"not as Wikidata writes an entity: {problem}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadLineError("cut off" if "truncated" in str(problem) else f"no JSON: {problem}") from None


def _last_of_each(decode: Callable[[bytes | Raw], T], text: bytes | Raw) -> T:
    """Decode a text. Of a repeated key the last value counts, even if the first one is invalid."""
    try:
        return decode(text)
    except msgspec.ValidationError:
        return decode(msgspec.json.encode(msgspec.json.decode(text)))


def _typed(text: Raw, kind: Any) -> Any:
    """A part of a record, decoded when it is needed."""
    return _last_of_each(msgspec.json.Decoder(kind).decode, text)


def _entity_id(text: str | None) -> tuple[str, int]:
    if text is None:
        raise BadLineError("an entity without id")
    match = _ID.fullmatch(text)
    if match is None or int(match[2]) > LARGEST_ID:
        raise BadLineError(f"the id {text[:40]!r} is not Q, P or L and a number")
    return match[1], int(match[2])


def _in_order(texts: Any) -> tuple[Any, ...]:
    """The kept texts, in the order of preference of their languages."""
    return () if isinstance(texts, tuple) else msgspec.structs.astuple(texts)


def _lenient(value: Raw, kind: type[T]) -> T | None:
    """A part decoded on its own: None where it is not of this kind."""
    try:
        found: T = _typed(value, kind)
        return found
    except msgspec.MsgspecError:
        return None


class _Reader:
    """Reads an item's record and counts the dates it had to drop."""

    def __init__(self, record: Any, keep_all: bool, wikipedia: str) -> None:
        self.record = record
        self.claims = {
            name: [one for one in claims if one.mainsnak.snaktype == "value" and one.rank != "deprecated"]
            for name, claims in dict(record.claims).items()
        }
        self.keep_all = keep_all
        self.wikipedia = wikipedia
        self.dropped = 0

    def item(self, number: int, label: str, labels: list[str]) -> Entity:
        """The whole item."""
        values = list(self._values())
        person = any(of == wikidata.INSTANCE_OF and value == wikidata.HUMAN for of, value, _ in values)
        kept = person or self.keep_all
        birth, death = self._best_date(wikidata.BIRTH_DATE), self._best_date(wikidata.DEATH_DATE)
        page = dict(self.record.sitelinks).get(self.wikipedia)
        descriptions = (text.value for text in _in_order(self.record.descriptions))
        aliases = [text.value for texts in _in_order(self.record.aliases) for text in texts]
        return Entity(
            kind="Q",
            number=number,
            label=label,
            description=next(filter(None, descriptions), ""),
            title=_typed(page, _Title).title if kept and page is not None else "",
            aliases=tuple(text for text in dict.fromkeys([*aliases, *labels]) if text and text != label),
            statements=self._statements(values, kept),
            numbers={
                "person": person,
                "kept": kept,
                "sitelinks": len(self.record.sitelinks),
                "properties": sum(map(bool, self.claims.values())),
                "birth": birth[0],
                "birth_precision": birth[1],
                "death": death[0],
                "death_precision": death[1],
                "population": self._population(),
            },
            dates_dropped=self.dropped,
        )

    def _values(self) -> Iterator[tuple[int, int | str, _Statement]]:
        for name, claims in self.claims.items():
            kind, of = _entity_id(name)
            if kind != "P":
                raise BadLineError(f"claims under {name!r}, which is no property")
            for statement in claims:
                value = _value(statement.mainsnak)
                if value is not None:
                    yield of, value, statement

    def _statements(self, values: list[tuple[int, int | str, _Statement]], kept: bool) -> tuple[Statement, ...]:
        """Each once per period. Of an item that is not kept only the links to other items remain."""
        found: dict[Statement, None] = {}
        for of, value, statement in values:
            if kept:
                qualifiers = dict(_typed(statement.qualifiers, dict[str, Raw] | _Nothing))
                since = self._first_time(qualifiers.get(f"P{wikidata.START_TIME}"))
                until = self._first_time(qualifiers.get(f"P{wikidata.END_TIME}"))
                found[of, value, since[0], until[2]] = None
            elif isinstance(value, int):
                found[of, value, MISSING, MISSING] = None
        return tuple(found)

    def _first_time(self, snaks: Raw | None) -> Period:
        for snak in _typed(snaks, list[_Snak]) if snaks is not None else ():
            if snak.snaktype == "value" and snak.datavalue.type == "time" and (date := self._date(snak)):
                return date
        return NO_DATE

    def _best_date(self, of: int) -> Period:
        claims = [one for one in self.claims.get(f"P{of}", []) if one.mainsnak.datavalue.type == "time"]
        dates = [(RANKS.get(one.rank, 1), self._date(one.mainsnak)) for one in claims]
        possible = [(rank, date) for rank, date in dates if date]
        return max(possible, key=lambda dated: dated[0])[1] if possible else NO_DATE

    def _population(self) -> int:
        """The largest number of inhabitants."""
        values = [one.mainsnak.datavalue for one in self.claims.get(f"P{wikidata.POPULATION}", [])]
        quantities = [_lenient(one.value, _Quantity) for one in values if one.type == "quantity"]
        amounts = [int(one.amount) for one in quantities if one and _AMOUNT.fullmatch(one.amount)]
        return max((amount for amount in amounts if amount <= LARGEST_ID), default=0)

    def _date(self, snak: _Snak) -> Period | None:
        time = _lenient(snak.datavalue.value, _TimeValue)
        date = parse_time(time.time, time.precision) if time else None
        self.dropped += date is None
        return date


def parse_time(time: str, precision: int) -> Period | None:
    """The period of a time such as `+1961-08-04T00:00:00Z`; None where it names no possible day."""
    match = _TIME.match(time)
    number = int(match[2].lstrip("0")[:7] or "0") if match else 0
    if match is None or not 1 <= number <= wikidata.LAST_YEAR:
        return None
    found: Period = period(number if match[1] == "+" else 1 - number, int(match[3]), int(match[4]), precision)
    return found if found[1] else None


def _value(snak: _Snak) -> int | str | None:
    """The QID or the string that a snak states; None for values of other kinds."""
    if snak.datavalue.type == "string" and snak.datatype == "string":
        return _lenient(snak.datavalue.value, str)
    if snak.datavalue.type != "wikibase-entityid":
        return None
    item: Any = _lenient(snak.datavalue.value, _ItemValue)
    if item is None or item.entity_type != "item":
        return None
    match = _ID.fullmatch(item.id if item.id is not None else f"Q{item.numeric_id}")
    return int(match[2]) if match and match[1] == "Q" and int(match[2]) <= LARGEST_ID else None
