"""The own entities of a KB as records: the file `own.jsonl`, and the lines of a dump that say the same."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from namesake.arrays import positions
from namesake.errors import NamesakeError
from namesake.kb.columns import KBColumns
from namesake.kb.ids import QID
from namesake.kb.manifest import OWN_FILE
from namesake.kernels.dump.wikidata import INSTANCE_OF
from namesake.kinds import all_kinds, named
from namesake.language import Language

OWN_ID = re.compile(r"[A-Za-z][\w.-]{0,63}:\S{1,200}")
FAMOUS = 10  # sitelinks of an entity that gets an alias, at most: as many as the index of misspellings asks for


class Text(msgspec.Struct):
    """A text in a language, as in Wikidata's JSON."""

    language: str
    value: str


class Record(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An own entity, or aliases and corrections for the item with a QID, in Wikidata's JSON; values may be own ids."""

    id: str
    batch: int = 0
    """The number of the addition that it came with; `kb undo` removes those with the largest."""
    kind: str = ""
    labels: dict[str, Text] = {}
    descriptions: dict[str, Text] = {}
    aliases: dict[str, list[Text]] = {}
    claims: dict[str, list[dict[str, Any]]] = {}
    iri: str = ""
    """What begins the IRIs of own entities; empty: that of the record before, and at first `ids.OWN_IRI`."""
    never: list[str] = []
    """Names that never mean this entity."""

    @property
    def is_own(self) -> bool:
        """Whether it is an own entity, not an entity of Wikidata."""
        return not QID.fullmatch(self.id)

    @property
    def other_names(self) -> list[str]:
        """Its aliases, in all languages."""
        return [alias.value for texts in self.aliases.values() for alias in texts]


def read_records(folder: Path) -> list[Record]:
    """The records of the KB in a folder; none if it has no own entities."""
    file = folder / OWN_FILE
    try:
        return msgspec.json.Decoder(Record).decode_lines(file.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as problem:  # errors of msgspec are ValueErrors
        raise NamesakeError(f"{file} is damaged ({problem}): build the KB again") from None


def statement(prop: str, value: dict[str, Any], datatype: str) -> dict[str, Any]:
    """A statement in Wikidata's JSON."""
    snak = {"snaktype": "value", "property": prop, "datatype": datatype, "datavalue": value}
    return {"mainsnak": snak, "type": "statement", "rank": "normal"}


def item_value(identifier: str) -> dict[str, Any]:
    """The value of a statement: the item with a QID or an own id."""
    number = {"numeric-id": int(identifier[1:])} if QID.fullmatch(identifier) else {}
    return {"value": {"entity-type": "item", **number, "id": identifier}, "type": "wikibase-entityid"}


def item_values(claims: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """The values of statements that are items, each as an object with `id`: a QID or an own id."""
    for one in (one for statements in claims.values() for one in statements):
        value: Any = one
        for key in ("mainsnak", "datavalue", "value"):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            yield value


class Dump:
    """The records as lines of a dump, in which own entities have QIDs above those of all other items of the dump."""

    def __init__(self, records: Iterable[Record], base: KBColumns, language: Language) -> None:
        """`base` is the KB of Wikidata's items alone, whose labels the values of statements get."""
        self.records, self.base, self.language = list(records), base, language
        self.own = [record for record in self.records if record.is_own]
        self.targets = {int(record.id[1:]) for record in self.records if not record.is_own}
        """The entities of Wikidata that get aliases or corrections."""
        stated = {value["id"] for record in self.own for value in item_values(record.claims)}
        roots = {root[0] for record in self.own if record.kind and (root := named(record.kind).root)}
        self.values = sorted({int(text[1:]) for text in stated | roots if QID.fullmatch(text)} - self.targets)
        largest = max([0, *self.values, *self.targets])
        self.numbers = {record.id: largest + 1 + row for row, record in enumerate(self.own)}
        """The QID of each own entity in this dump."""

    def lines(self) -> Iterator[bytes]:
        """One line for each record, and for each item of Wikidata that is a value."""
        for record in self.own:
            fields = {name: getattr(record, name) for name in ("labels", "descriptions", "aliases")}
            claims = msgspec.json.decode(msgspec.json.encode(record.claims))
            for value in item_values(claims):
                if number := self.numbers.get(value["id"]):
                    value |= {"id": f"Q{number}", "numeric-id": number}
            yield self._line(self.numbers[record.id], record.kind, claims, fields)
        aliases: dict[int, dict[str, list[Text]]] = {number: {} for number in sorted(self.targets)}
        for record in self.records:
            for code, texts in record.aliases.items() if not record.is_own else ():
                aliases[int(record.id[1:])].setdefault(code, []).extend(texts)
        for number, more in aliases.items():
            [row] = positions(self.base.qids, np.array([number]))
            kind = all_kinds()[int(self.base.kind[row])].name
            links: dict[str, Any] = {f"wiki{at}": {} for at in range(min(int(self.base.sitelinks[row]), FAMOUS))}
            yield self._line(number, kind, {}, self._labels(number) | {"aliases": more, "sitelinks": links})
        for number in self.values:
            yield self._line(number, "", {}, self._labels(number))

    def _line(self, number: int, kind: str, claims: dict[str, list[Any]], fields: dict[str, Any]) -> bytes:
        if kind and (root := named(kind).root):
            of_kind = statement(f"P{INSTANCE_OF}", item_value(root[0]), "wikibase-item")
            if root[0] not in {value["id"] for value in item_values(claims)}:
                claims = claims | {f"P{INSTANCE_OF}": [of_kind, *claims.get(f"P{INSTANCE_OF}", ())]}
        return msgspec.json.encode({"type": "item", "id": f"Q{number}", **fields, "claims": claims}) + b"\n"

    def _labels(self, number: int) -> dict[str, Any]:
        """Label and aliases of an item of Wikidata."""
        code = self.language.labels[0]
        [item], [row] = (positions(column, np.array([number])) for column in (self.base.item_qids, self.base.qids))
        label = self.base.item_labels[item] if item >= 0 else ""
        texts = [self.base.alias_texts[int(alias)] for alias in self.base.aliases[row]] if row >= 0 else []
        return {
            "labels": {code: Text(code, label)} if label else {},
            "aliases": {code: [Text(code, text) for text in texts]} if texts else {},
        }
