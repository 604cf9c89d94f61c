"""Made-up items that are not people: places, organisations, works, events, products, characters and others.

The names have the shapes of real ones ("University of X", "X F.C.", "1998 X Open", "The X of Y", "X, Y"). Each item has
one of 2,000 made-up classes, which are subclasses of real ones in chains of up to three. Columns are drawn by NumPy and
joined by Arrow, two microseconds per item.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.int64]

CLASSES = 2_000
FIRST_CLASS = 70_000
WORD_SLOPE, OWN_WORD = 0.7, 0.5
"""The slope of Zipf's law for words of names, and the share of names with a word that hardly any other name has."""

SHARES = {"place": 34, "organisation": 18, "work": 26, "event": 8, "product": 3, "character": 2, "other": 9}
"""Per cent of the items."""
ROOTS = {
    "place": [515, 532, 486972, 4022, 8502, 41176, 55488, 3947],
    "organisation": [43229, 4830453, 3918, 476028, 7278, 9826],
    "work": [11424, 7725634, 482994, 7366, 5398426, 571],
    "event": [1656682, 178561, 16510064, 40231],
    "product": [2424752, 3231690, 7397],
    "character": [95074],
    "other": [16521, 34770, 618779],
}
"""Real classes that `kinds.toml` lists, or is about to find by their subclasses."""
NOUNS = {
    "place": "settlement",
    "organisation": "organisation",
    "work": "work",
    "event": "event",
    "product": "product",
    "character": "character",
    "other": "species",
}
SHAPES = {
    "place": ["{0}", "{0}, {2}", "New {0}", "{0} County", "Lake {0}", "{0} River", "{1} Street", "{0} {1} Station"],
    "organisation": ["{0} Inc.", "University of {0}", "{0} University", "{0} F.C.", "{1} {0}s", "{0} & {1} Ltd",
                     "{1} National Institute of {0}", "{0} High School", "{2} Ministry of {0}"],
    "work": ["The {0} of {1}", "{0}", "{0}'s {1}", "{0}: The {1}", "The {0}", "{1} in {0}", "{0} {1}"],
    "event": ["{3} {0} Open", "Battle of {0}", "{3} {1} {0} Championship", "{0} {1} Festival"],
    "product": ["{0} {1}", "{0} X{3}", "{1} {0} Pro"],
    "character": ["{0} {1}", "Captain {0}"],
    "other": ["{0}", "{0} {1}", "{1} {0} Award"],
}  # fmt: skip
ALIASES = {
    "place": ["{0} ({2})", "{0}, {2}"],
    "organisation": ["{0} Group", "The {0} {1}", "{0} {1}"],
    "work": ["{0} (film)", "The {1}"],
    "event": ["{3} {0}", "{0} {1}"],
    "product": ["{1} {0}"],
    "character": ["{1}"],
    "other": ["{1} {0}"],
}
"""Shapes of names: two words, the country, and a year."""


def drawn(rng: np.random.Generator, size: int, count: int) -> Numbers:
    """`size` numbers below `count`, by Zipf's law."""
    uniform, power = rng.random(size), 1 - WORD_SLOPE
    found: Numbers = np.minimum((uniform ** (1 / power) * count).astype(np.int64), count - 1)
    return found


class Others:
    """Makes items that are not people."""

    def __init__(self, words: list[str], countries: list[str], first_country: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.words = pa.array(words)
        self.countries, self.first_country = pa.array(countries), first_country
        self.kinds = list(SHARES)
        self.of_class = rng.choice(len(SHARES), CLASSES, p=np.array(list(SHARES.values())) / 100)
        self.links = pa.array([_sitelinks(count) for count in range(61)])

    def classes(self) -> Iterator[tuple[int, str, int]]:
        """The made-up classes: QID, label, and the class above, which is real or an earlier one of the same kind."""
        last: dict[str, int] = {}
        for number, of in enumerate(self.of_class.tolist()):
            kind = self.kinds[of]
            above = last[kind] if number % 3 and kind in last else ROOTS[kind][number % len(ROOTS[kind])]
            last[kind] = FIRST_CLASS + number
            yield FIRST_CLASS + number, f"{self.words[number].as_py().lower()} {NOUNS[kind]}", above

    def lines(self, first: int, size: int, qids: Numbers) -> Iterator[bytes]:
        """Items number `first` and following, as lines."""
        share = self.rng.choice(len(self.kinds), size, p=np.array(list(SHARES.values())) / 100)
        for number, kind in enumerate(self.kinds):
            chosen = np.flatnonzero(share == number)
            if len(chosen):
                yield from self._of_kind(kind, first + chosen, qids[chosen])

    def _of_kind(self, kind: str, numbers: Numbers, qids: Numbers) -> Iterator[bytes]:
        size, rng = len(numbers), self.rng
        country = drawn(rng, size, len(self.countries))
        parts = [self._word(numbers), self._word(numbers + (1 << 40)), self.countries.take(pa.array(country))]
        parts.append(_texts(rng.integers(1850, 2025, size)))
        label, alias = (self._shaped(shapes[kind], parts, size) for shapes in (SHAPES, ALIASES))
        of_kind = np.flatnonzero(self.of_class == self.kinds.index(kind))
        classes = FIRST_CLASS + of_kind[drawn(rng, size, len(of_kind))]
        famous = np.where(rng.random(size) < 0.3, rng.zipf(1.8, size).clip(max=60), 0)
        inhabited = kind == "place" and np.where(rng.random(size) < 0.5, rng.zipf(1.3, size).clip(max=10**7), 0)
        population = _texts(inhabited) if kind == "place" else pa.scalar("0")
        columns = [
            *('{"type":"item","id":"Q', _texts(qids), '","labels":{"en":{"language":"en","value":"', label),
            *('"}},"descriptions":{"en":{"language":"en","value":"', NOUNS[kind], " in ", parts[2]),
            *('"}},"aliases":{"en":[{"language":"en","value":"', alias, '"}]},"claims":{'),
            *(*_statement("P31", _texts(classes)), ","),
            *_statement("P17", _texts(self.first_country + country)),
            *(
                ',"P1082":[{"mainsnak":{"snaktype":"value","property":"P1082","datavalue":{"value":{"amount":"+',
                population,
                '","unit":"1"},"type":"quantity"}},"type":"statement","rank":"normal"}]',
            )[: 3 if kind == "place" else 0],
            *('},"sitelinks":{', self.links.take(pa.array(famous)), "}}"),
        ]
        scalars = [pa.scalar(one) if isinstance(one, str) else one for one in columns]
        for line in pc.binary_join_element_wise(*scalars, pa.scalar("")):
            yield line.as_buffer().to_pybytes()

    def _word(self, numbers: Numbers) -> pa.Array:
        """A word of a name: by Zipf's law, or one that hardly any other name has."""
        rng, count = self.rng, len(self.words)
        common = self.words.take(pa.array(drawn(rng, len(numbers), count)))
        rare = pc.binary_join_element_wise(
            self.words.take(pa.array(numbers * 7919 % count)),
            pc.utf8_lower(self.words.take(pa.array(numbers * 31 // 7 % 60))),
            "",
        )
        return pc.if_else(pa.array(rng.random(len(numbers)) < OWN_WORD), rare, common)

    def _shaped(self, shapes: list[str], parts: list[Any], size: int) -> pa.Array:
        """Names of several shapes."""
        which = self.rng.integers(0, len(shapes), size)
        made = []
        for shape in shapes:
            pieces = [parts[int(one)] if one.isdigit() else pa.scalar(one) for one in _pieces(shape)]
            made.append(pc.binary_join_element_wise(*pieces, pa.scalar("")))
        return pc.choose(pa.array(which), *made)


def _pieces(shape: str) -> list[str]:
    """The parts of a shape: texts, and the numbers in braces."""
    return [one for one in shape.replace("}", "{").split("{") if one]


def _texts(numbers: npt.NDArray[Any]) -> pa.Array:
    return pc.cast(pa.array(numbers), pa.string())


def _statement(prop: str, qid: pa.Array) -> tuple[Any, ...]:
    """A statement whose value is an item."""
    before = (
        f'"{prop}":[{{"mainsnak":{{"snaktype":"value","property":"{prop}","datavalue":{{"value":{{"entity-type":"item"'
    )
    return before + ',"id":"Q', qid, '"},"type":"wikibase-entityid"}},"type":"statement","rank":"normal"}]'


def _sitelinks(count: int) -> str:
    sites = ["enwiki", *(f"w{number}wiki" for number in range(count))][:count]
    return ",".join(f'"{site}":{{"site":"{site}","title":"A page","badges":[]}}' for site in sites)
