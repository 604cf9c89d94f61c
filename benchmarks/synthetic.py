"""A made-up Wikidata dump of any size: people who share names the way people do, and entities of all other kinds.

    python -m benchmarks.synthetic --people 1000000 [--others 8000000] --out people.json.gz

Everything is invented and follows from the seed. Given names and surnames are drawn by Zipf's law, so a few names
have hundreds of bearers and most have one, and statements likewise fall on few countries and occupations.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import IO, cast

import numpy as np
import orjson
from isal import igzip

from benchmarks.synthetic_kinds import Others

BATCH = 50_000
FIRST_PERSON = 1_000_000
ONSETS = ["b", "br", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v", "w", "th", "cl"]
RHYMES = ["a", "e", "i", "o", "u", "an", "en", "in", "on", "ar", "er", "el", "il", "as", "or", "ey"]
SYLLABLES = [onset + rhyme for onset, rhyme in product(ONSETS, RHYMES)]
FIELDS = [
    "football",
    "chess",
    "opera",
    "film",
    "jazz",
    "radio",
    "theatre",
    "hockey",
    "law",
    "physics",
    "golf",
    "chemistry",
]
ROLES = ["player", "coach", "critic", "director", "writer", "judge", "teacher", "singer", "manager", "editor"]


class Kind:
    """Items of one sort: their QIDs, labels, and how often each is stated."""

    def __init__(self, first: int, labels: list[str], rng: np.random.Generator, slope: float = 1.0) -> None:
        self.first = first
        self.labels = labels
        weights = 1.0 / np.arange(1, len(labels) + 1) ** slope
        self.cumulative = np.cumsum(weights / weights.sum())
        self.rng = rng

    def draw(self, size: int) -> list[int]:
        """Numbers of `size` items, by Zipf's law."""
        drawn = np.searchsorted(self.cumulative, self.rng.random(size))
        return cast(list[int], np.minimum(drawn, len(self.labels) - 1).tolist())

    def snaks(self, prop: str, numbers: list[int], years: list[int] | None = None) -> list[str]:
        """Statements of the property with these items as values, dated from the year where one is given."""
        made = [snak(prop, item_value(self.first + number)) for number in numbers]
        return made if years is None else [dated(text, year) for text, year in zip(made, years, strict=True)]


def item_value(qid: int) -> str:
    """A value that is an item, in the dump's layout."""
    return f'{{"value":{{"entity-type":"item","numeric-id":{qid},"id":"Q{qid}"}},"type":"wikibase-entityid"}}'


def time_value(year: int, month: int, day: int) -> str:
    """A value that is a day, in the dump's layout."""
    return (
        f'{{"value":{{"time":"+{year:04}-{month:02}-{day:02}T00:00:00Z","timezone":0,"before":0,"after":0,'
        '"precision":11,"calendarmodel":"http://www.wikidata.org/entity/Q1985727"},"type":"time"}'
    )


def snak(prop: str, value: str) -> str:
    """A statement without qualifiers."""
    return (
        f'{{"mainsnak":{{"snaktype":"value","property":"{prop}","datavalue":{value}}},'
        '"type":"statement","rank":"normal"}'
    )


def dated(statement: str, year: int) -> str:
    """The statement with a start date."""
    start = f'{{"snaktype":"value","property":"P580","datavalue":{time_value(year, 7, 1)}}}'
    return f'{statement[:-1]},"qualifiers":{{"P580":[{start}]}}}}'


def item(qid: int, label: str, description: str) -> str:
    """An item without statements."""
    return orjson.dumps(
        {
            "type": "item",
            "id": f"Q{qid}",
            "labels": {"en": {"language": "en", "value": label}},
            "descriptions": {"en": {"language": "en", "value": description}},
            "aliases": {},
            "claims": {},
            "sitelinks": {},
        }
    ).decode()


def word(number: int, syllables: int) -> str:
    """The capitalised word that belongs to a number."""
    parts = []
    for _ in range(syllables):
        number, at = divmod(number * 7919 + 13, len(SYLLABLES))
        parts.append(SYLLABLES[at])
    return "".join(parts).capitalize()


class World:
    """The items people state, and the names they bear."""

    def __init__(self, rng: np.random.Generator) -> None:
        trades = [f"{field} {role}" for field, role in product(FIELDS, ROLES)]
        self.countries = Kind(100, [f"{word(i, 3)}ia" for i in range(200)], rng)
        self.trades = Kind(1_000, trades, rng)
        self.towns = Kind(10_000, [f"{word(i + 500, 2)} {word(i, 2)}ton" for i in range(20_000)], rng)
        self.teams = Kind(50_000, [f"{word(i + 900, 3)} United" for i in range(5_000)], rng)
        self.schools = Kind(60_000, [f"University of {word(i + 9000, 3)}" for i in range(2_000)], rng)
        self.given = Kind(0, [word(i + 70_000, 2) for i in range(3_000)], rng, 0.8)
        self.surnames = Kind(0, [word(i + 200_000, 2 + i % 2) for i in range(150_000)], rng, 0.8)

    def items(self) -> Iterator[str]:
        """Every item that people state, as a line."""
        yield item(5, "human", "any member of Homo sapiens")
        described = [(self.countries, "country"), (self.trades, "occupation"), (self.towns, "town")]
        for kind, description in [*described, (self.teams, "sports club"), (self.schools, "university")]:
            for number, label in enumerate(kind.labels):
                yield item(kind.first + number, label, description)


HUMAN = snak("P31", item_value(5)).replace("{", "{{").replace("}", "}}")
PERSON = (
    '{{"type":"item","id":"Q{qid}","labels":{{"en":{{"language":"en","value":"{name}"}}}},"descriptions":{{"en":'
    '{{"language":"en","value":"{nation}n {trade} (born {year})"}}}},"aliases":{{"en":[{{"language":"en",'
    '"value":"{initial}. {surname}"}}]}},"claims":{{"P31":[' + HUMAN + '],"P106":[{job}],"P27":[{country}],'
    '"P19":[{town}],"P54":[{team}],"P69":[{school}],"P569":[{born}]}},"sitelinks":{{{links}}}}}'
)


def people(world: World, rng: np.random.Generator, first: int, size: int) -> Iterator[str]:
    """Some people, as lines."""
    given, surnames = world.given.draw(size), world.surnames.draw(size)
    trades, countries = world.trades.draw(size), world.countries.draw(size)
    years = rng.integers(1880, 2005, size).tolist()
    months, days = rng.integers(1, 13, size).tolist(), rng.integers(1, 29, size).tolist()
    jobs, nations = world.trades.snaks("P106", trades), world.countries.snaks("P27", countries)
    towns = world.towns.snaks("P19", world.towns.draw(size))
    teams = world.teams.snaks("P54", world.teams.draw(size), [year + 20 for year in years])
    schools = world.schools.snaks("P69", world.schools.draw(size))
    famous = rng.zipf(2.0, size).clip(max=60).tolist()
    for i in range(size):
        name = f"{world.given.labels[given[i]]} {world.surnames.labels[surnames[i]]}"
        qid = FIRST_PERSON + 3 * (first + i)
        links = ",".join(f'"w{k}wiki":{{"site":"w{k}wiki","title":"{name}","badges":[]}}' for k in range(famous[i] - 1))
        yield PERSON.format(
            qid=qid, name=name, initial=name[0], surname=name.partition(" ")[2], year=years[i],
            nation=world.countries.labels[countries[i]], trade=world.trades.labels[trades[i]],
            job=jobs[i], country=nations[i], town=towns[i], team=teams[i], school=schools[i],
            born=snak("P569", time_value(years[i], months[i], days[i])), links=links,
        )  # fmt: skip


def write(out: Path, size: int, seed: int = 1, other: int = 0) -> None:
    """Write a dump of `size` people and `other` items to a `.json` or `.json.gz` file."""
    rng = np.random.default_rng(seed)
    world = World(rng)
    others = Others(world.surnames.labels, world.countries.labels, world.countries.first, rng)
    opener = igzip.open(out, "wb", compresslevel=0) if out.suffix == ".gz" else out.open("wb")
    with cast(IO[bytes], opener) as file:
        file.write(b"[\n")
        file.write(",\n".join(world.items()).encode())
        for first in range(0, size, BATCH):
            file.write(b",\n" + ",\n".join(people(world, rng, first, min(BATCH, size - first))).encode())
        for qid, label, above in others.classes() if other else ():
            subclass = f'"claims":{{"P279":[{snak("P279", item_value(above))}]}}'
            file.write(b",\n" + item(qid, label, "class").replace('"claims":{}', subclass).encode())
        for first in range(0, other, BATCH):
            numbers = np.arange(first, min(first + BATCH, other))  # their QIDs lie between those of people
            qids = FIRST_PERSON + 3 * (numbers // 2) + 1 + numbers % 2
            file.write(b",\n" + b",\n".join(others.lines(first, len(numbers), qids)))
        file.write(b"\n]\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", type=int, required=True)
    parser.add_argument("--others", type=int, default=0, help="items that are no people")
    parser.add_argument("--out", type=Path, required=True, help=".json or .json.gz")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write(given.out, given.people, given.seed, given.others)
