"""The kinds of entities. `kinds.toml` declares each one, and the language's `kind_nouns` lists nouns for it.

`Kind` says what a kind is; `kb.kinds` computes the kind of each item of a dump.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from namesake.errors import NamesakeError, did_you_mean
from namesake.kernels.kinds import NAME, OTHER
from namesake.printable import counted

ALL, PEOPLE = "all", "people"
"""Values of `keep`: every item becomes an entity; only instances of human (Q5)."""


@dataclass(frozen=True)
class Kind:
    """One kind of entities."""

    number: int
    """The number in columns of a KB."""
    name: str
    plural: str
    """The name in `--keep` and `--kinds`, such as people."""
    symbol: str
    """Three letters that show the kind where colours cannot."""
    colour: str
    """The variable of `drawing/colours.css`."""
    classes: dict[int, str]
    """The labels of its root classes, by the numbers of their QIDs."""
    ner: tuple[str, ...] = ()
    """Labels that entity recognisers give names of this kind; the first is the one for an entity of the KB."""
    ner_nouns: dict[str, str] = field(default_factory=dict)
    """Labels for some entities of this kind: each with the nouns in their classes and descriptions, as a text."""
    spellings: tuple[str, ...] = ()
    """Other accepted names."""
    properties: tuple[int, ...] = ()
    """Properties that only items of this kind have, whatever their label says."""
    weak_properties: tuple[int, ...] = ()
    """Properties that decide if the label does not."""
    value_of: tuple[int, ...] = ()
    """Properties whose values are of this kind."""
    columns: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The properties that a column of a table may have values of, by the usual headings of such a column."""
    begins: tuple[int, ...] = ()
    """Properties whose value is the date of birth, or when an entity began; the KB has a column for it."""
    ends: tuple[int, ...] = ()
    """The same for the date of death, or of the end."""
    one_value: tuple[int, ...] = ()
    """Properties that usually have one value: another value is evidence against an entity."""
    countries: tuple[int, ...] = ()
    """Properties whose values are countries, which may contain each other."""
    within: tuple[int, ...] = ()
    """Properties whose value is a larger place that contains the entity."""

    @property
    def root(self) -> tuple[str, str] | None:
        """The QID and the label of its first class; None for `other`, which has no class of its own."""
        [(number, label), *_] = self.classes.items()
        return None if self.number == OTHER else (f"Q{number}", label)


@cache
def all_kinds() -> tuple[Kind, ...]:
    """Every kind of `kinds.toml`, by its number, including `NAME` and `DROPPED`."""
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    found = []
    for number, (name, table) in enumerate(tables.items()):
        classes = {int(qid[1:]): label for qid, label in table.pop("classes").items()}
        columns = table.pop("columns", {}).items()
        columns = {heading: tuple(some) for headings, some in columns for heading in headings.split(", ")}
        lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
        others = {"plural": name, "symbol": "", "colour": ""} | table
        found.append(Kind(number=number, name=name, **others | lists | {"classes": classes, "columns": columns}))
    return tuple(found)


@cache
def kinds() -> tuple[Kind, ...]:
    """The kinds of entities, by number: other, person, place, organisation, work, event, product, character."""
    return all_kinds()[:NAME]


def ner_labels(kinds: Iterable[Kind]) -> frozenset[str]:
    """The labels that entity recognisers give to names of some kinds."""
    return frozenset(label for kind in kinds for label in kind.ner)


def listed(counts: Mapping[str, int] | None = None) -> list[Kind]:
    """The kinds of entities in the order for people, with `other` at the end; with `counts` by name, those counted."""
    chosen = [kind for kind in kinds() if counts is None or counts.get(kind.name)]
    return sorted(chosen, key=lambda kind: kind.number == OTHER)


def named(name: str) -> Kind:
    """The kind with this name: singular or plural, British or US spelling. NamesakeError if there is none."""
    by_name = {spelling: kind for kind in kinds() for spelling in (kind.plural, kind.name, *kind.spellings)}
    if name.strip().casefold() not in by_name:
        hint = did_you_mean(name.strip(), by_name)
        known = ", ".join(kind.plural for kind in listed())
        raise NamesakeError(f"no kind {name.strip()!r}{hint}; kinds are {known}")
    return by_name[name.strip().casefold()]


def parse_kinds(given: str | Iterable[str]) -> tuple[int, ...]:
    """The numbers of kinds, ascending, from names such as "people,places"; NamesakeError for a name of no kind."""
    names = given.split(",") if isinstance(given, str) else list(given)
    return tuple(sorted({named(name).number for name in names}))


def parse_keep(given: str | Iterable[str] | None) -> str:
    """The option `keep` in its one spelling: "all", or the plurals of kinds with commas between. None: all kinds."""
    names = given.split(",") if isinstance(given, str) else list(given or ())
    if ALL in (name.strip().casefold() for name in names):
        return ALL
    chosen = parse_kinds(names) if names else range(NAME)
    return ",".join(kind.plural for kind in listed() if kind.number in chosen)


def kind_counts(counts: Mapping[str, int]) -> str:
    """The number of entities of each kind, the most frequent first: 5 people, 3 places. `counts` are by name."""
    ordered = sorted(listed(counts), key=lambda kind: -counts[kind.name])
    return ", ".join(counted(counts[kind.name], kind.name, kind.plural) for kind in ordered) or "no kind"


@cache
def declared(field: str) -> frozenset[int]:
    """The properties in one field of any kind, such as `countries`."""
    return frozenset(number for kind in kinds() for number in getattr(kind, field))


@cache
def deciding_bits() -> dict[int, int]:
    """The bit of each property that decides a kind, in the column `deciding` of a dump's items."""
    listed = (one for kind in all_kinds() for one in (*kind.properties, *kind.weak_properties))
    return {one: bit for bit, one in enumerate(dict.fromkeys(listed))}
