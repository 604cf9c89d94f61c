"""Entities and columns of a KB as records to print or to encode as JSON."""

import re
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from namesake.arrays import positions
from namesake.errors import NamesakeError
from namesake.kb.columns import columns
from namesake.kb.store import KB
from namesake.kernels.dump import wikidata
from namesake.kernels.dump.wikidata import DAY, FOREVER, MISSING, YEAR
from namesake.kinds import ALL

LONGEST_SHOWN = 60  # characters of a name in a message
MOST_VALUES, MOST_OCCUPATIONS = 4, 3  # of an entity without a description


class Statement(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One (property, value) of an entity. The value is a QID or a string; the label is what a reader sees."""

    property: str
    property_label: str
    value: str
    label: str
    start: str | None = None
    end: str | None = None


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a KB stores about one entity."""

    qid: str
    label: str
    description: str
    aliases: list[str]
    person: bool
    """Whether it is an instance of human (Q5)."""
    kind: str
    """The name of its kind, such as place."""
    birth: str | None
    death: str | None
    sitelinks: int
    properties: int
    pagerank_wikidata: float
    pagerank_wikipedia: float
    title: str
    paragraph: str
    statements: list[Statement]


class Found(msgspec.Struct, frozen=True):
    """An entity in short."""

    qid: str
    label: str
    description: str
    """The description, else occupations and countries, else other values."""
    url: str
    birth: str | None
    death: str | None
    sitelinks: int
    kind: str
    """The name of its kind, such as place."""

    @property
    def years(self) -> str:
        """Years of birth and death: 1961–, 1900–1980, or an empty text."""
        return years(self.birth, self.death)


class ColumnSize(msgspec.Struct, frozen=True, kw_only=True):
    """A column of a KB: its declaration and its size."""

    attribute: str
    file: str
    kind: str
    dtype: str
    rows: int
    bytes: int
    meaning: str


def describe_columns(kb: KB) -> list[ColumnSize]:
    """Every column of `kb`, in the order of the layout; NamesakeError names a missing one."""
    return [
        ColumnSize(
            attribute=name,
            file=column.file,
            kind=column.kind,
            dtype=str(column.dtype),
            rows=len(column.open(kb.columns)),
            bytes=sum(kb.columns.opened[f"{file}.npy"].st_size for file in column.files),
            meaning=column.__doc__ or "",
        )
        for name, column in columns().items()
    ]


def look_up(kb: KB, asked: str) -> list[int]:
    """Entity rows for a QID or a name; those with the most sitelinks come first."""
    if re.fullmatch(r"[Qq][0-9]+", asked.strip()):
        number = int(asked.strip()[1:])
        wanted = np.array([min(number, 1 << 62)], np.int64)
        row, item = int(kb.rows(wanted)[0]), int(kb.items(wanted)[0])
        if row >= 0:
            return [row]
        if item >= 0 and kb.item_labels[item]:
            hint = ': build with `keep="all"` to have it' if kb.manifest.keep != ALL else ""
            raise NamesakeError(f"Q{number} is {kb.item_labels[item]!r} but not kept in {kb.path}{hint}")
        raise NamesakeError(f"{kb.path} has no Q{number}")
    rows = [row] if (row := kb.row(asked.strip())) >= 0 else rows_named(kb, asked)
    if not rows:
        name = asked if len(asked) <= LONGEST_SHOWN else asked[:LONGEST_SHOWN] + "…"
        raise NamesakeError(f"{kb.path} has no entity with the name {name!r}")
    return rows


def rows_named(kb: KB, name: str) -> list[int]:
    """The rows of the entities with a name, those with the most sitelinks first."""
    rows, _ = kb.names.lookup(name)
    return [int(row) for row in rows[np.lexsort([rows, -kb.sitelinks[rows]])]]


def found(kb: KB, row: int) -> Found:
    """The entity of a row in short."""
    qid = kb.id_of(row)
    numbers = *lifetime(kb, row), int(kb.sitelinks[row])
    return Found(qid, kb.label(row), about(kb, row), kb.ids.iri(qid), *numbers, kb.kind_of(row).name)


def found_all(kb: KB, qids: Iterable[str]) -> dict[str, Found]:
    """The entities with these QIDs that a KB has, by QID."""
    rows = {qid: kb.row(qid) for qid in qids}
    return {qid: found(kb, row) for qid, row in rows.items() if row >= 0}


def years(birth: str | None, death: str | None) -> str:
    """The years of two dates: 1961–, 1900–1980, or an empty text."""
    born, died = ((date or "")[: 5 if (date or "").startswith("-") else 4] for date in (birth, death))
    return f"{born or '?'}–{died}" if born or died else ""


def lifetime(kb: KB, row: int) -> tuple[str | None, str | None]:
    """The dates of birth and death, or of beginning and end, of an entity, in the precision of the KB."""
    born = iso(int(kb.birth[row]), int(kb.birth_precision[row]))
    return born, iso(int(kb.death[row]), int(kb.death_precision[row]))


def values_of(kb: KB, row: int, *properties: int) -> list[int]:
    """The values of some properties of an entity, as in `KB.pair_value`: rows of items, or ~ the row of a string."""
    pairs = kb.statements[row]
    values: list[int] = kb.pair_value[pairs[np.isin(kb.pair_property[pairs], properties)]].tolist()
    return values


def describe(kb: KB, row: int) -> Entity:
    """The record of one entity row."""
    birth, death = lifetime(kb, row)
    same = "person", "sitelinks", "properties", "pagerank_wikidata", "pagerank_wikipedia"
    return Entity(
        qid=kb.id_of(row),
        label=kb.label(row),
        description=kb.descriptions[row],
        aliases=[kb.alias_texts[int(alias)] for alias in kb.aliases[row]],
        kind=kb.kind_of(row).name,
        birth=birth,
        death=death,
        title=kb.titles[row],
        paragraph=kb.paragraphs[row],
        statements=_statements(kb, row),
        **{name: getattr(kb, name)[row].item() for name in same},
    )


def about(kb: KB, row: int) -> str:
    """A short text about an entity: its description, else its occupations and countries, else other values."""
    return kb.descriptions[row] or gist([_statement(kb, int(pair), None) for pair in kb.statements[row]])


def gist(statements: Sequence[Statement]) -> str:
    """A text for an entity without a description: occupations and countries, else other values, never the sex."""
    labels: dict[str, list[str]] = {}
    for one in statements:
        if one.label and one.property not in (f"P{wikidata.INSTANCE_OF}", f"P{wikidata.GENDER}"):
            labels.setdefault(one.property, []).append(one.label)
    best = labels.get(f"P{wikidata.OCCUPATION}", [])[:MOST_OCCUPATIONS] + labels.get(f"P{wikidata.COUNTRY}", [])
    rest = [label for some in labels.values() for label in some]
    return ", ".join(list(dict.fromkeys(best or rest))[:MOST_VALUES])


def _statements(kb: KB, row: int) -> list[Statement]:
    """The statements of an entity; a statement with several periods occurs once for each."""
    periods: dict[int, list[int]] = {}
    for tenure in range(*np.searchsorted(kb.tenure_entity, [row, row + 1])):
        periods.setdefault(int(kb.tenure_pair[tenure]), []).append(tenure)
    return [
        _statement(kb, int(pair), tenure) for pair in kb.statements[row] for tenure in periods.get(int(pair), [None])
    ]


def _statement(kb: KB, pair: int, tenure: int | None) -> Statement:
    value = int(kb.pair_value[pair])
    number = int(kb.pair_property[pair])
    start, end = (MISSING, FOREVER) if tenure is None else (int(kb.tenure_start[tenure]), int(kb.tenure_end[tenure]))
    return Statement(
        property=f"P{number}",
        property_label=property_label(kb, number),
        value=kb.ids.text(int(kb.item_qids[value])) if value >= 0 else kb.strings[~value],
        label=kb.item_labels[value] if value >= 0 else kb.strings[~value],
        start=iso(start, DAY),
        end=iso(MISSING if end == FOREVER else end, DAY),
    )


def no_label(qid: str) -> str:
    """Text for an item without a label."""
    return f"{qid} (no label)"


def property_label(kb: KB, number: int) -> str:
    """A property's label, or its id if the KB has no label."""
    [at] = positions(kb.property_ids, np.array([number]))
    return (kb.property_labels[at] if at >= 0 else "") or f"P{number}"


def iso(days: int, precision: int) -> str | None:
    """A date as ISO 8601 cut to its precision: `1961-08-04`, `1961-08`, `1961`, `196X`, `19XX`; None if missing.

    ISO 8601-2 defines the X: the 1960s are `196X`, the 20th century `19XX`, the 1st century BCE `-00XX`. Years BCE are
    written as in Wikidata: `-0043` is 43 BCE.
    """
    if days == MISSING or precision < wikidata.MILLENNIUM:
        return None
    whole = str(np.datetime64(days, "D"))
    year, month_and_day = int(whole[:-6]), whole[-6:]
    sign, number = ("", year) if year > 0 else ("-", 1 - year)
    if precision >= YEAR:
        return f"{sign}{number:04}" + month_and_day[: 3 * (min(precision, DAY) - YEAR)]
    unknown = YEAR - precision
    known = number if year > 0 or precision == wikidata.DECADE else number - 1
    return f"{sign}{known // 10**unknown:0{4 - unknown}}" + "X" * unknown
