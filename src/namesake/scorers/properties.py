"""The properties that a column of a table may contain, by P-id, label or everyday name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

import numpy as np

from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB

BIRTH, DEATH = 569, 570

COMMON = {
    name: numbers
    for names, numbers in (
        ("birth, born, birth date, birth year, birthday, date of birth, year of birth", (BIRTH,)),
        ("death, died, death date, death year, date of death, year of death", (DEATH,)),
        ("country, nationality", (27, 1532)),
        ("citizenship", (27,)),
        ("occupation, job, profession", (106, 39, 641)),
        ("office", (39, 106)),
        ("position", (39, 106, 413)),
        ("employer", (108, 1416, 54, 463)),
        ("organisation, organization", (108, 1416, 54, 463, 102)),
        ("team, club", (54,)),
        ("party", (102,)),
        ("birthplace, place of birth", (19,)),
        ("place of death", (20,)),
        ("residence", (551,)),
        ("university", (69, 108)),
        ("school, education", (69,)),
        ("gender, sex", (21,)),
        ("sport", (641,)),
        ("genre", (136,)),
        ("instrument", (1303,)),
        ("award", (166,)),
        ("language", (1412, 103)),
        ("religion", (140,)),
        ("spouse", (26,)),
    )
    for name in names.split(", ")
}
"""Everyday names of properties, and the numbers of the properties with such values."""

ONE_VALUE = frozenset({BIRTH, DEATH, 19, 20, 21, 27})
"""Properties that usually have one value: another value is evidence against a candidate."""

CITIZENSHIP, SPORTS_COUNTRY, OCCUPATION, INSTANCE = 27, 1532, 106, 31


@dataclass(frozen=True)
class Property:
    """The property of a column."""

    called: str
    numbers: tuple[int, ...]

    @property
    def is_date(self) -> bool:
        """Whether it is the date of birth or death, for which the KB has columns."""
        return self.numbers[0] in (BIRTH, DEATH)

    @property
    def has_one_value(self) -> bool:
        """Whether people usually have one value of it."""
        return self.numbers[0] in ONE_VALUE

    @property
    def is_country(self) -> bool:
        """Whether its values are countries, which may contain each other."""
        return self.numbers[0] in (CITIZENSHIP, SPORTS_COUNTRY)


@lru_cache(maxsize=4096)
def find_property(kb: KB, called: str) -> Property | None:
    """The property with this P-id, label or everyday name; None if the KB has none."""
    text = normalise(called.replace("_", " "))
    if re.fullmatch(r"p\d{1,9}", text, re.ASCII):
        return Property(called, (int(text[1:]),))
    if text in COMMON:
        return Property(called, COMMON[text])
    number = _labels(kb).get(text)
    return None if number is None else Property(called, (number,))


def similar_properties(kb: KB, called: str) -> list[str]:
    """Known names of properties that are similar to an unknown one."""
    return get_close_matches(normalise(called.replace("_", " ")), list(dict.fromkeys([*COMMON, *_labels(kb)])), 3)


@lru_cache(maxsize=4)
def _labels(kb: KB) -> dict[str, int]:
    """The number of each property that some entity states, by its normalised label; the lowest of several."""
    used = set(np.unique(kb.pair_property).tolist())
    found: dict[str, int] = {}
    for at, number in enumerate(kb.property_ids.tolist()):
        if number in used:
            found.setdefault(normalise(kb.property_labels[at]), number)
    return found
