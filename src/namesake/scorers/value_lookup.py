"""The property of a table's column, and the values of a property that a text names.

A text names a value by the label of an item, a string, a QID, or the initials of a label. Values that only contain the
text's words do not count here (see `agree`): Northern Ireland is not Ireland.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Int32, Int64
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise, normalise_many
from namesake.kb.store import KB
from namesake.kinds import declared

TOGETHER = 0.08  # two countries do not contradict if this share of the people with one also state the other
DESCRIBED = 0.3  # "Welsh" may mean a country if this share of the people described with it state that country
FEWEST = 3  # counts below this number of people are ignored
LEVELS = 4  # how far a place is followed to the larger places that contain it
_INITIALS = re.compile(r"[a-z]{2,6}")
_NO_PAIRS = np.empty(0, np.int32)


def named_values(kb: KB, numbers: tuple[int, ...], texts: Sequence[str]) -> list[Int32]:
    """For each text, the pairs of these properties whose value has this name, ignoring case, accents, punctuation."""
    pairs, places, asked = _called(kb, numbers)[0], _places(kb, numbers), Strings.of(texts)
    names = normalise_many(asked).arrow().to_pylist()
    items = kb.items(np.array([kb.ids.number(text) for text in texts], np.int64))
    values, stated = kb.pair_value[pairs], _by_value(kb, numbers)
    ends, entities, _ = kb.names.lookup_many(asked.data, asked.offsets)
    aliased = kb.entity_item[entities].astype(np.int64)
    found = []
    for text, (name, item) in enumerate(zip(names, items.tolist(), strict=True)):
        own = pairs[places.get(name, [])] if item < 0 else pairs[values == item]
        if item < 0 and not len(own) and len(name) > 1:  # aliases count, as far as the values are entities of the KB
            own = np.sort(stated[aliased[ends[text] : ends[text + 1]]].indices)
        found.append(own)
    return found


def with_parts(kb: KB, numbers: tuple[int, ...], named: Sequence[Int32], texts: Sequence[str]) -> list[Int32]:
    """The named pairs of each text, and those whose value lies within a place that the text names, at any level."""
    stated, inside = _by_value(kb, numbers), _inside(kb)
    rows = []
    for own, larger in zip(named, named_values(kb, tuple(declared("within")), texts), strict=True):
        level = found = np.unique(kb.pair_value[larger])
        for _ in range(LEVELS):
            level = np.setdiff1d(inside[level[level >= 0]].indices, found)
            found = np.union1d(found, level)
        rows.append(np.union1d(own, stated[found[found >= 0]].indices))
    return rows


@lru_cache(maxsize=64)
def _by_value(kb: KB, numbers: tuple[int, ...]) -> Any:
    """By item, the pairs of some properties with it as their value."""
    pairs = _called(kb, numbers)[0]
    return _relation(kb.pair_value[pairs], pairs, (len(kb.item_qids), len(kb.pair_value)))


@lru_cache(maxsize=4)
def _inside(kb: KB) -> Any:
    """By item, the items that lie within it."""
    entity, pair = stated(kb, tuple(declared("within")))
    return _relation(kb.pair_value[pair], kb.entity_item[entity], (len(kb.item_qids), len(kb.item_qids)))


def _relation(one: npt.NDArray[Any], other: npt.NDArray[Any], shape: tuple[int, int]) -> Any:
    """A sparse matrix with the number of times that each two numbers are related; negative numbers are left out."""
    from scipy.sparse import csr_array

    both = (one >= 0) & (other >= 0)
    return csr_array((np.ones(np.count_nonzero(both), np.int32), (one[both], other[both])), shape)


def initialled_values(kb: KB, numbers: tuple[int, ...], texts: Sequence[str]) -> list[Int32]:
    """For each text, the pairs whose label has these initials, with or without that of its last word: USA, US."""
    normalised = normalise_many(Strings.of(texts)).arrow().to_pylist()
    short = [text if _INITIALS.fullmatch(text) else "" for text in normalised]
    pairs = _called(kb, numbers)[0]
    found = _places(kb, numbers, initials=True) if any(short) else {}
    return [pairs[found.get(text, [])] for text in short]


def compatible_values(kb: KB, numbers: tuple[int, ...], named: Sequence[Int32], words: Sequence[Int32]) -> list[Int32]:
    """For each text, the pairs that do not contradict it although it does not name them: British for a Scot.

    People state several countries if one is a part or a successor of another, and their descriptions contain demonyms.
    """
    rows = []
    for meant, some in zip(named, words, strict=True):
        own = tuple(some.tolist())
        meant = meant if len(meant) else _worded(kb, numbers, own)
        rows.append(np.union1d(_described(kb, numbers, own), _together(kb, numbers)[meant].indices))
    return rows


@lru_cache(maxsize=16)
def stated(kb: KB, numbers: tuple[int, ...]) -> tuple[Int64, Int32]:
    """The entity and the pair of each statement of some properties, in the order of the entities."""
    at = np.flatnonzero(np.isin(kb.pair_property, numbers)[kb.statements.values])
    return np.searchsorted(kb.statements.indptr, at, side="right") - 1, kb.statements.values[at]


@lru_cache(maxsize=16)
def _together(kb: KB, numbers: tuple[int, ...]) -> Any:
    """By pair, the pairs that people who state it often state as well."""
    states = _relation(*stated(kb, numbers), (len(kb), len(kb.pair_value)))
    both = (states.T @ states).tocoo()
    least = np.maximum(TOGETHER * np.minimum(kb.pair_count[both.row], kb.pair_count[both.col]), FEWEST)
    often = (both.data >= least) & (both.row != both.col)
    return _relation(both.row[often], both.col[often], both.shape)


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
    owners, entity, pair = kb.words_d, *stated(kb, numbers)
    places = (np.flatnonzero(owners.values == word) for word in words)
    described = (np.searchsorted(owners.indptr, at, side="right") - 1 for at in places)
    found = np.zeros(len(kb), np.bool_)
    found[reduce(np.intersect1d, described)] = True
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


@lru_cache(maxsize=128)
def _places(kb: KB, numbers: tuple[int, ...], initials: bool = False) -> dict[str, list[int]]:
    """Places among the pairs by the names of their values, or by the initials of these; both of two letters or more."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(_called(kb, numbers)[1]):
        keys = {name}
        if initials:
            letters = "".join(word[0] for word in name.split() if word not in kb.language.stop_words)
            keys = {letters, letters[:-1]}
        for key in keys:
            if len(key) > 1:
                found.setdefault(key, []).append(place)
    return found


@lru_cache(maxsize=4096)
def find_property(kb: KB, called: str) -> dict[tuple[int, ...], tuple[int, ...]] | None:
    """The properties with this P-id, label or heading of `kinds.toml`, each with the kinds that may state it."""
    text = normalise(called.replace("_", " "))
    number = int(text[1:]) if re.fullmatch(r"p\d{1,9}", text, re.ASCII) else _labels(kb).get(text)
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for kind in kb.kinds:
        numbers = kind.columns.get(text) or (() if number is None else (number,))
        if numbers:
            found[numbers] = (*found.get(numbers, ()), kind.number)
    return found or None


def is_date(numbers: Iterable[int]) -> bool:
    """Whether the values of some properties are dates, for which the KB has columns."""
    return not declared("begins").union(declared("ends")).isdisjoint(numbers)


def similar_properties(kb: KB, called: str) -> list[str]:
    """Known names of properties that are similar to an unknown one."""
    everyday = [heading for kind in kb.kinds for heading in kind.columns]
    return get_close_matches(normalise(called.replace("_", " ")), list(dict.fromkeys([*everyday, *_labels(kb)])), 3)


@lru_cache(maxsize=4)
def _labels(kb: KB) -> dict[str, int]:
    """The number of each property that some entity states, by its normalised label; the lowest of several."""
    used = set(np.unique(kb.pair_property).tolist())
    found: dict[str, int] = {}
    for at, number in enumerate(kb.property_ids.tolist()):
        if number in used:
            found.setdefault(normalise(kb.property_labels[at]), number)
    return found
