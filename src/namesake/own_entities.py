"""Own entities for a KB: from rows of a table, or records in Wikidata's JSON, to the records of `kb.own`."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from namesake.articles.days import read_day
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError, did_you_mean, must_be, warn
from namesake.files import kind as file_kind
from namesake.files import several
from namesake.formats import read_rows
from namesake.formats.field_names import Reading, shown
from namesake.formats.json_articles import is_array_file, json_records
from namesake.frames import WHERE, _table, reconcile_frame
from namesake.kb.dump.repair import NOT_AN_ENTITY, BadLineError, repair
from namesake.kb.ids import QID
from namesake.kb.names.normalise import normalise
from namesake.kb.own.merge import publish
from namesake.kb.own.records import OWN_ID, Record, Text, item_value, item_values, read_records, statement
from namesake.kb.records import found
from namesake.kb.store import KB
from namesake.kernels.dump.wikidata import DAY, FIRST_OWN, MONTH, YEAR
from namesake.kinds import kinds, named
from namesake.linker import Linker
from namesake.scorers.value_lookup import find_property, is_date, similar_properties

MOST_ENTITIES = 1000  # with a name, from which on it is refused as an alias: it would not tell them apart
SEPARATORS = re.compile(r"\s*[|;]\s*")
Types = Mapping[str, str | Sequence[str]]
"""Properties, and the columns of their values."""


@dataclass(frozen=True)
class Added:
    """What an addition did."""

    entities: int  # own entities that were added
    changed: int  # entities of Wikidata that got aliases or corrections
    notes: list[str]  # how names in columns of values were resolved, and which own entities Wikidata may have


def add_entities(
    kb: KB | str | Path,
    source: Any,
    id_prefix: str,
    *,
    id: str | None = None,
    name: str | None = None,
    aliases: str | None = None,
    description: str | None = None,
    never: str | None = None,
    kind: str | None = None,
    type: Types | None = None,
    own_iri: str = "",
    encoding: str | None = None,
    say: Callable[[str], None] = warn,
) -> Added:
    """Add own entities, aliases and corrections to a KB. It is replaced at once by a new generation that has them.

    Args:
        kb: the folder of the KB, or the KB.
        source: a CSV, TSV, JSONL, JSON or Parquet file, also with records in Wikidata's JSON; or a frame.
        id_prefix: what begins the ids: `acme` makes `acme:jane-doe` of `jane-doe`.
        id: the column of ids; None: `id` if there is one, else ids are made of names. A row whose id is a QID adds
            aliases and corrections to this entity.
        name: the column of names; None: `name`.
        aliases: the column of other names, separated by `|` or `;`, or as lists; None: `aliases`, if there is one.
        description: the column of descriptions; None: `description`, if there is one.
        never: the column of names that never mean the entity of the row; None: `never`, if there is one.
        kind: the kind of all own entities, such as "person"; None: that in the column `kind`, else it follows from
            their statements and descriptions.
        type: properties and the columns of their values, such as `{"employer": "Firm"}`. A value is a QID, an own id, a
            date, or a name, which is reconciled.
        own_iri: what begins the IRIs of own entities; by default that of the addition before, and `urn:namesake:`.
        encoding: the encoding of a CSV or TSV file; None: UTF-8, or that of a byte order mark.
        say: receives a line for each name that was resolved, and for other things to know.
    """
    must_be(kb, (KB, str, Path), "kb", "a KB or the folder of one")
    opened = kb if isinstance(kb, KB) else KB.open(kb)
    if not re.fullmatch(r"[A-Za-z][\w.-]{0,63}", id_prefix, re.ASCII):
        raise NamesakeError(f"`id_prefix={id_prefix!r}`: must be a word such as acme, with letters, digits, `-` or `_`")
    columns = {"id": id, "name": name, "aliases": aliases, "description": description, "never": never}
    reader = _Reader(opened, id_prefix, columns, named(kind).name if kind else "", type or {})
    where, rows = _rows(source, encoding)
    new = reader.records([(f"{where} row {number}", row) for number, row in rows])
    if not new:
        raise NamesakeError(f"{where}: no row has an entity to add")
    old = read_records(opened.path)
    batch = 1 + max((record.batch for record in old), default=0)
    for record in new:
        record.batch, record.iri = batch, own_iri
    publish(opened.path, old, [*old, *new], say)
    reader.notes += proposals(KB.open(opened.path), {record.id for record in new})
    for note in reader.notes:
        say(note)
    own = sum(record.is_own for record in new)
    return Added(own, len(new) - own, reader.notes)


def remove_entities(kb: KB | str | Path, ids: Iterable[str]) -> int:
    """Remove the own entities with these `ids` from `kb`, a KB or its folder; returns the number of removed records.

    A QID among the ids removes the aliases and corrections that were added to this entity.
    """
    folder = (kb if isinstance(kb, KB) else KB.open(kb)).path
    records = read_records(folder)
    wanted, known = set(ids), {record.id for record in records}
    for one in sorted(wanted - known):
        raise NamesakeError(f"{folder} has no own entity {one!r}{did_you_mean(one, known)}; `kb list --own` shows them")
    return _keep(folder, records, [record for record in records if record.id not in wanted])


def undo_addition(kb: KB | str | Path) -> int:
    """Take back the last addition to `kb`, a KB or its folder; returns the number of records that came with it."""
    folder = (kb if isinstance(kb, KB) else KB.open(kb)).path
    records = read_records(folder)
    if not records:
        raise NamesakeError(f"{folder} has no own entities: nothing to undo")
    last = max(record.batch for record in records)
    return _keep(folder, records, [record for record in records if record.batch < last])


def _keep(folder: Path, records: list[Record], left: list[Record]) -> int:
    """Publish the KB with some of its records; returns the number of the others."""
    gone = {record.id for record in records if record.is_own} - {record.id for record in left}
    for record in left:
        for value in item_values(record.claims):
            if value["id"] in gone:
                raise NamesakeError(f"{value['id']} is a value of {record.id}: remove that as well")
    publish(folder, records, left)
    return len(records) - len(left)


def proposals(kb: KB, ids: Iterable[str]) -> list[str]:
    """A line for each own entity that Wikidata may have as well: an item of its kind and name with no other dates."""
    lines = []
    for one in sorted(ids):
        row = kb.row(one)
        if row < 0 or kb.qids[row] < FIRST_OWN:
            continue
        for other in kb.names.lookup(kb.label(row))[0].tolist():
            born = {int(kb.birth[each]) for each in (row, other) if kb.birth_precision[each]}
            if kb.qids[other] < FIRST_OWN and kb.kind[other] == kb.kind[row] and len(born) < 2:
                about = found(kb, other)
                what = f"{about.label}, {about.description or 'no description'}"
                how = f"if so, remove it and add a row with the id {about.qid} and its aliases"
                lines.append(f"{one} may be {about.qid} ({what}): {how}")
    return lines


def _rows(source: Any, encoding: str | None) -> tuple[str, Iterable[tuple[int, dict[str, Any]]]]:
    """The name of a source, and its rows with their numbers as spreadsheets count them."""
    if not isinstance(source, str | Path):
        return WHERE, enumerate(_table(source).to_pylist(), 1)
    path = Path(source)
    if file_kind(path) in (".json", ".jsonl", ".ndjson"):
        return shown(path), _json_rows(path)
    with Rejects() as rejects:
        rows = read_rows(path, rejects, Reading(encoding=encoding))
    if rejects.first:
        raise NamesakeError(str(rejects.first[0]))
    return shown(path), zip(rows.numbers, rows.table.to_pylist(), strict=True)


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file: an array, lines, or one object with `entities`, as Special:EntityData returns it."""
    is_whole = file_kind(path) == ".json" and not is_array_file(path)
    records = [(1, path.read_bytes())] if is_whole else json_records(path, file_kind(path) == ".json")
    for number, line in records:
        try:
            row = msgspec.json.decode(bytes(line or b"").strip().rstrip(b","), type=dict[str, Any])
        except (ValueError, RecursionError) as problem:
            raise NamesakeError(f"{shown(path)} row {number}: not a JSON object ({problem})") from None
        entities = row["entities"].values() if isinstance(row.get("entities"), dict) else [row]
        yield from ((number, one) for one in entities)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _texts(cell: Any) -> list[str]:
    """The texts in a cell: the elements of a list, or the parts between separators."""
    parts = map(_text, cell) if isinstance(cell, list) else SEPARATORS.split(_text(cell))
    return [part for part in parts if part]


class _Reader:
    """Makes records of rows. An error names the row."""

    def __init__(self, kb: KB, prefix: str, columns: dict[str, str | None], kind: str, types: Types) -> None:
        self.kb, self.prefix, self.columns, self.kind = kb, prefix, columns, kind
        self.notes: list[str] = []
        self.code = kb.language.labels[0]
        self.places: dict[str, str] = {}  # the row of each id
        self.named: Counter[str] = Counter()  # the number of new entities with each alias
        self.properties = {self._property(called): several(of) for called, of in types.items()}
        self.resolved: dict[str, str | None] = {}  # the id of each name in columns of values, None if there is none

    def records(self, rows: list[tuple[str, dict[str, Any]]]) -> list[Record]:
        """The records of rows that are not empty."""
        rows = [(where, row) for where, row in rows if any(map(_text, row.values()))]
        self._resolve([(where, row) for where, row in rows if not isinstance(row.get("labels"), dict)])
        made = [self._record(where, row) for where, row in rows]
        for record in made:
            for value in item_values(record.claims):
                where, text = self.places[record.id], value["id"]
                if not QID.fullmatch(text) and text not in self.places and self.kb.row(text) < 0:
                    known = [*self.places, *self.kb.ids.own]
                    raise NamesakeError(f"{where}: no own entity {text!r}{did_you_mean(text, known)}")
                if QID.fullmatch(text) and self.kb.items(np.array([int(text[1:])]))[0] < 0:
                    self.notes.append(f"{where}: {text} is not in the KB, so this value is ignored until it is")
        return made

    def _record(self, where: str, row: dict[str, Any]) -> Record:
        if isinstance(row.get("labels"), dict):
            return self._dump_like(where, row)
        name, description = _text(self._cell(where, row, "name")), _text(self._cell(where, row, "description"))
        aliases = _texts(self._cell(where, row, "aliases"))
        identifier = _text(self._cell(where, row, "id"))
        record = Record(
            id=self._id(where, identifier or "-".join(re.findall(r"\w+", normalise(name)))),
            kind=self.kind or _text(self._cell(where, row, "kind")),
            labels={self.code: Text(self.code, name)} if name else {},
            descriptions={self.code: Text(self.code, description)} if description else {},
            aliases={self.code: [Text(self.code, alias) for alias in aliases]} if aliases else {},
            never=_texts(self._cell(where, row, "never")),
        )
        for number, text in self._cells(where, row) if record.is_own else ():
            record.claims.setdefault(f"P{number}", []).append(self._statement(where, number, text))
        return self._checked(where, record)

    def _cell(self, where: str, row: dict[str, Any], field: str) -> Any:
        """The cell of a field: in the column that was named, or in that with the name of the field."""
        if (column := self.columns.get(field)) is not None:
            return self._in(where, row, column)
        return next((cell for known, cell in row.items() if known.casefold() == field), None)

    def _in(self, where: str, row: dict[str, Any], column: str) -> Any:
        if column not in row and "labels" not in row:
            raise NamesakeError(f"{where}: no column {column!r}{did_you_mean(column, row)}")
        return row.get(column)

    def _dump_like(self, where: str, row: dict[str, Any]) -> Record:
        fields = {key: row[key] for key in ("labels", "descriptions", "aliases", "claims", "never") if row.get(key)}
        try:
            repair(msgspec.json.encode(row | {"id": "Q1"}), self.kb.language)  # checks it as a line of a dump
            record = msgspec.convert(fields | {"id": _text(row.get("id"))}, Record)
        except (ValueError, BadLineError) as problem:
            reason = str(problem).removeprefix(f"{NOT_AN_ENTITY}: ")
            raise NamesakeError(f"{where}: not an entity in Wikidata's JSON ({reason})") from None
        record.id, record.kind = self._id(where, record.id), self.kind or _text(row.get("kind"))
        return self._checked(where, record)

    def _id(self, where: str, text: str) -> str:
        own = text if text.startswith(f"{self.prefix}:") else f"{self.prefix}:{text}"
        if QID.fullmatch(text):
            return text
        if not text:
            raise NamesakeError(f"{where}: it has neither an id nor a name; name their columns with `id=` and `name=`")
        if not OWN_ID.fullmatch(own):
            raise NamesakeError(f"{where}: the id {text!r} must have 1 to 200 characters and no spaces")
        if re.fullmatch(r"[A-Za-z][\w.-]*:[Qq]\d+", own, re.ASCII):
            raise NamesakeError(f"{where}: the id {own!r} looks like a QID: choose another, such as a name")
        return own

    def _checked(self, where: str, record: Record) -> Record:
        """Raise NamesakeError for a record that cannot be added; note corrections without an effect."""
        label = next((record.labels[code].value for code in self.kb.language.labels if code in record.labels), "")
        if record.is_own:
            if not label.strip():
                raise NamesakeError(f"{where}: the name is empty; an own entity needs one ({self.code})")
            if record.id in self.places:
                raise NamesakeError(f"{where}: the id {record.id} is also that of {self.places[record.id]}")
            if self.kb.row(record.id) >= 0:
                raise NamesakeError(f"{where}: the KB has {record.id}: remove it first, with `namesake kb remove`")
            try:
                record.kind = named(record.kind).name if record.kind else ""
            except NamesakeError as problem:
                raise NamesakeError(f"{where}: {problem}") from None
        elif self.kb.row(record.id) < 0:
            raise NamesakeError(f"{where}: {record.id} is not an entity of {self.kb.path}")
        elif record.labels or record.descriptions or record.claims:
            raise NamesakeError(
                f"{where}: the id {record.id} looks like a QID, and only aliases can be added to an item of Wikidata: "
                "choose another id for an own entity, or leave its name and description empty"
            )
        self.places[record.id] = where
        for text in record.other_names:
            self.named[text] += 1
            if len(self.kb.names.lookup(text)[0]) + self.named[text] > MOST_ENTITIES:
                raise NamesakeError(f"{where}: the alias {text!r} belongs to more than {MOST_ENTITIES:,} entities")
        for text in record.never if not record.is_own else ():
            short, row = self.kb.names.short_form(text), self.kb.row(record.id)
            if row not in self.kb.names.lookup(text)[0] and (short is None or row not in short.rows):
                self.notes.append(f"{where}: {text!r} is not a name of {record.id}, so `never` changes nothing")
        return record

    # values
    def _property(self, called: str) -> int:
        known = find_property(self.kb, called)
        if known is None:
            near = " or ".join(map(repr, similar_properties(self.kb, called)))
            hint = f" (did you mean {near}?)" if near else ""
            raise NamesakeError(f"`type={called}`: the KB has no property {called!r}{hint}")
        of_kind = [numbers for numbers, kinds in known.items() if named(self.kind or "other").number in kinds]
        return (of_kind or list(known))[0][0]

    def _cells(self, where: str, row: dict[str, Any]) -> Iterator[tuple[int, str]]:
        """The properties and values of a row."""
        for number, columns in self.properties.items():
            for column in columns:
                yield from ((number, text) for text in _texts(self._in(where, row, column)))

    def _is_id(self, text: str) -> bool:
        return bool(QID.fullmatch(text)) or text.startswith(f"{self.prefix}:") or self.kb.row(text) >= 0

    def _resolve(self, rows: list[tuple[str, dict[str, Any]]]) -> None:
        """Reconcile the names in columns of values, and note what each one is."""
        where_named: dict[str, str] = {}
        for where, row in rows if self.properties else ():
            for number, text in self._cells(where, row):
                if not is_date([number]) and not self._is_id(text):
                    where_named.setdefault(text, where)
        if not where_named:
            return
        every = [kind.name for kind in kinds()]  # one name says little about the kind of a column
        table = pa.table({"name": list(where_named)})
        answers = reconcile_frame(table, Linker(self.kb), "name", kind=every).to_pylist()
        for (text, where), answer in zip(where_named.items(), answers, strict=True):
            self.resolved[text] = answer["qid"]
            is_what = f"is {answer['qid']} ({answer['label']}, {answer['description'] or 'no description'})"
            is_not = f"is not resolved ({answer['reason']}); its words are kept"
            self.notes.append(f"{where}: {text!r} {is_what if answer['qid'] else is_not}")

    def _statement(self, where: str, number: int, text: str) -> dict[str, Any]:
        """A statement with a value: an item, a date, or a text if no item has this name."""
        prop = f"P{number}"
        if is_date([number]):
            if (day := read_day(text)) is None:
                raise NamesakeError(f"{where}: {text!r} is not a date; write 1980, 1980-05 or 1980-05-17")
            time = f"+{day.year:04}-{day.month or 0:02}-{day.day or 0:02}T00:00:00Z"
            value = {"time": time, "precision": DAY if day.day else MONTH if day.month else YEAR}
            return statement(prop, {"value": value, "type": "time"}, "time")
        identifier = text if self._is_id(text) else self.resolved[text]
        if identifier is None:
            return statement(prop, {"value": text, "type": "string"}, "string")
        return statement(prop, item_value(identifier), "wikibase-item")
