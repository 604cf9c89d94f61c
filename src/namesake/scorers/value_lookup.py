"""The property of a table's column, and the values of a property that a text names.

A text names a value by the label of an item, a string, a QID, or the initials of a label. Values that only contain the
text's words do not count here (see `agree`): Northern Ireland is not Ireland.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from namesake.arrays import Int32, Int64, indptr, take_rows
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise, normalise_many
from namesake.kb.store import KB
from namesake.kernels.types import Ragged

TOGETHER = 0.08
"""Two countries do not contradict if this share of the people with one of them also state the other."""
DESCRIBED = 0.3
"""A word such as "Welsh" may mean a country if this share of the people described with it state that country."""
FEWEST = 3
"""Counts below this number of people are ignored."""
_INITIALS = re.compile(r"[a-z]{2,6}")
_NO_PAIRS = np.empty(0, np.int32)


def named_values(kb: KB, numbers: tuple[int, ...], texts: Sequence[str]) -> Ragged:
    """For each text, the pairs of these properties whose value has this name, ignoring case, accents, punctuation."""
    pairs, places = _called(kb, numbers)[0], _by_name(kb, numbers)
    names = normalise_many(Strings.of(texts)).arrow().to_pylist()
    items = kb.items(np.array([int(text[1:]) if is_qid(text) else -1 for text in texts], np.int64))
    values = kb.pair_value[pairs]
    return ragged(
        [
            pairs[places.get(name, [])] if item < 0 else pairs[values == item]
            for name, item in zip(names, items.tolist(), strict=True)
        ]
    )


def initialled_values(kb: KB, numbers: tuple[int, ...], texts: Sequence[str]) -> Ragged:
    """For each text, the pairs whose label has these initials, with or without that of its last word: USA, US."""
    normalised = normalise_many(Strings.of(texts)).arrow().to_pylist()
    short = [text if _INITIALS.fullmatch(text) else "" for text in normalised]
    pairs = _called(kb, numbers)[0]
    found = _initials(kb, numbers) if any(short) else {}
    return ragged([pairs[found.get(text, [])] for text in short])


def compatible_values(kb: KB, numbers: tuple[int, ...], named: Ragged, words: Ragged) -> Ragged:
    """For each text, the pairs that do not contradict it although it does not name them: British for a Scot.

    A KB of people has no statements about countries, but people state several countries if one is a part or a
    successor of another, and their descriptions contain demonyms. A pair is compatible if `TOGETHER` of the people with
    a country that the text names state it too (or the other way round, whichever share is larger), or if `DESCRIBED`
    of the people whose descriptions contain the text's words state it. A text names a country by its label, or else
    the most frequent country whose label and aliases contain all of its words.
    """
    near = _together(kb, numbers)
    rows = []
    for text in range(len(words.indptr) - 1):
        own = tuple(words.values[words.indptr[text] : words.indptr[text + 1]].tolist())
        meant = named.values[named.indptr[text] : named.indptr[text + 1]]
        meant = meant if len(meant) else _worded(kb, numbers, own)
        others = [near.get(pair, _NO_PAIRS) for pair in meant.tolist()]
        rows.append(np.unique(np.concatenate([_NO_PAIRS, _described(kb, numbers, own), *others])))
    return ragged(rows)


@lru_cache(maxsize=16)
def _stated(kb: KB, numbers: tuple[int, ...]) -> tuple[Int64, Int32]:
    """The entity and the pair of each statement of some properties, in the order of the entities."""
    at = np.flatnonzero(np.isin(kb.pair_property, numbers)[kb.statements.values])
    return np.searchsorted(kb.statements.indptr, at, side="right") - 1, kb.statements.values[at]


@lru_cache(maxsize=16)
def _together(kb: KB, numbers: tuple[int, ...]) -> dict[int, Int32]:
    """For each pair, the pairs that people who state it often state as well."""
    entity, pair = _stated(kb, numbers)
    starts = np.append(np.flatnonzero(np.diff(entity, prepend=-1)), len(entity))
    of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    several = np.flatnonzero(np.diff(starts)[of] > 1)
    taken, right = take_rows(starts, of[several])
    left = np.repeat(pair[several], np.diff(taken)).astype(np.int64)
    keys, count = np.unique(left * len(kb.pair_value) + pair[right], return_counts=True)
    one, other = np.divmod(keys, max(len(kb.pair_value), 1))
    least = np.maximum(TOGETHER * np.minimum(kb.pair_count[one], kb.pair_count[other]), FEWEST)
    often = (count >= least) & (one != other)
    ends = np.flatnonzero(np.diff(one[often], append=-1)) + 1
    lists = np.split(other[often].astype(np.int32), ends[:-1])
    return dict(zip(one[often][ends - 1].tolist(), lists, strict=False))


@lru_cache(maxsize=4096)
def _worded(kb: KB, numbers: tuple[int, ...], words: tuple[int, ...]) -> Int32:
    """The most frequent pair whose value has all these words in its label and aliases."""
    pairs = _called(kb, numbers)[0]
    pairs = pairs[kb.pair_value[pairs] >= 0] if words else _NO_PAIRS
    for word in words:
        items = kb.pair_value[pairs]
        held = [word in kb.words_item[item] or word in kb.words_item_aliases[item] for item in items.tolist()]
        pairs = pairs[np.array(held, np.bool_)]
    return pairs[np.argsort(-kb.pair_count[pairs], kind="stable")[:1]]


@lru_cache(maxsize=4096)
def _described(kb: KB, numbers: tuple[int, ...], words: tuple[int, ...]) -> Int32:
    """The pairs that a large share of the people with all these words in their descriptions state."""
    if not words:
        return _NO_PAIRS
    owners, entity, pair = kb.words_d, *_stated(kb, numbers)
    found = np.ones(len(kb), np.bool_)
    for word in words:
        having = np.zeros(len(kb), np.bool_)
        having[np.searchsorted(owners.indptr, np.flatnonzero(owners.values == word), side="right") - 1] = True
        found &= having
    stating = found[entity]
    pairs, count = np.unique(pair[stating], return_counts=True)
    people = len(np.unique(entity[stating]))
    often: Int32 = pairs[count >= max(DESCRIBED * people, FEWEST)]
    return often


@lru_cache(maxsize=64)
def _called(kb: KB, numbers: tuple[int, ...]) -> tuple[Int32, list[str]]:
    """The pairs of some properties, and the normalised names of their values."""
    pairs = np.flatnonzero(np.isin(kb.pair_property, numbers)).astype(np.int32)
    values = kb.pair_value[pairs]
    labels = kb.item_labels.take(np.where(values >= 0, values, -1)).arrow().to_pylist()
    strings = kb.strings.take(np.where(values < 0, ~values, -1)).arrow().to_pylist()
    texts = normalise_many(Strings.of(label or string for label, string in zip(labels, strings, strict=True)))
    return pairs, texts.arrow().to_pylist()


@lru_cache(maxsize=64)
def _by_name(kb: KB, numbers: tuple[int, ...]) -> dict[str, list[int]]:
    """Places among the pairs by the names of their values, of at least two characters."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(_called(kb, numbers)[1]):
        if len(name) > 1:
            found.setdefault(name, []).append(place)
    return found


@lru_cache(maxsize=64)
def _initials(kb: KB, numbers: tuple[int, ...]) -> dict[str, list[int]]:
    """Places among the pairs by the initials of their labels, with and without the last one."""
    found: dict[str, list[int]] = {}
    for place, label in enumerate(_called(kb, numbers)[1]):
        words = [word for word in label.split() if word not in kb.language.stop_words]
        initials = "".join(word[0] for word in words)
        for short in {initials, initials[:-1]}:
            if len(short) > 1:
                found.setdefault(short, []).append(place)
    return found


def is_qid(text: str) -> bool:
    """Whether a text is a QID."""
    return text[:1] == "Q" and text[1:].isdecimal() and len(text) < 12


def ragged(rows: Sequence[npt.ArrayLike]) -> Ragged:
    """Lists of pairs as a ragged array."""
    lists = [np.asarray(row, np.int32) for row in rows]
    return Ragged(indptr(np.array(list(map(len, lists)), np.int64)), np.concatenate([_NO_PAIRS, *lists]))


BIRTH, DEATH = DATES = 569, 570
"""Properties for which the KB has columns of dates."""

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

COUNTRIES = frozenset({27, 1532})
"""Properties whose values are countries, which may contain each other."""
OCCUPATION, INSTANCE = 106, 31


@lru_cache(maxsize=4096)
def find_property(kb: KB, called: str) -> tuple[int, ...] | None:
    """The numbers of the property with this P-id, label or everyday name; None if the KB has none."""
    text = normalise(called.replace("_", " "))
    if re.fullmatch(r"p\d{1,9}", text, re.ASCII):
        return (int(text[1:]),)
    if text in COMMON:
        return COMMON[text]
    number = _labels(kb).get(text)
    return None if number is None else (number,)


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
