"""The kinds of entities. `kinds.toml` declares each one, and the language's `kind_nouns` lists nouns for it.

`kb.kinds` computes the kind of each item of a dump.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import msgspec

from namesake.errors import NamesakeError, did_you_mean
from namesake.kernels.kinds import NAME, OTHER
from namesake.printable import counted

ALL, PEOPLE = "all", "people"
"""Values of `keep`: every item becomes an entity; only instances of human (Q5)."""


@dataclass(frozen=True)
class Kind:
    """One kind of entities; `number` is that in columns of a KB. The top of `kinds.toml` describes the other fields."""

    number: int
    name: str
    plural: str
    symbol: str
    colour: str
    classes: dict[int, str]
    ner: tuple[str, ...] = ()
    ner_nouns: dict[str, str] = field(default_factory=dict)
    spellings: tuple[str, ...] = ()
    properties: tuple[int, ...] = ()
    weak_properties: tuple[int, ...] = ()
    value_of: tuple[int, ...] = ()
    columns: dict[str, tuple[int, ...]] = field(default_factory=dict)
    begins: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    one_value: tuple[int, ...] = ()
    countries: tuple[int, ...] = ()
    within: tuple[int, ...] = ()

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
        given = {"number": number, "name": name, "plural": name, "symbol": "", "colour": ""} | table
        found.append(msgspec.convert(given | {"classes": classes, "columns": columns}, Kind))
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
