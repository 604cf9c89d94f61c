"""Short forms of entities that are not people: Justice Department, Bulls, French, the World Cup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt8, UInt64, numpy_numbers
from namesake.kb.columns import Strings
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.form_entries import FormEntries
from namesake.kb.names.index import name_key
from namesake.kb.names.normalise import APOSTROPHES, normalise_many
from namesake.kb.names.short_forms import FORM_WEIGHTS, OF_AN_ALIAS, word_table
from namesake.kernels.names import forms, other_forms
from namesake.kernels.names.constants import DEMONYM, HEAD, NATIONAL_TEAM, NO_POSSESSIVE, TAIL, TEAM_DEMONYM
from namesake.kernels.names.index import hash_names, mark_names
from namesake.language import Language

IS_MARK = np.isin(np.arange(256), list(b",:'\x99"))
"""By byte: whether names with it are rewritten (comma, colon, apostrophe, last byte of a right quotation mark)."""
PARTS = {",": {HEAD: "(?s),.*"}, ": ": {HEAD: "(?s): .*", TAIL: "(?s)^.*?: "}}
"""The marks at which names are cut, and the pattern of what each form lacks."""


class Others(NamedTuple):
    """The entities whose names have the short forms of this module, with what decides about them, by row."""

    shortened: Bool
    teams: Bool
    fame: Float64
    demonym_rows: Int32
    """The entities of the demonyms that the dump states."""
    demonyms: Strings


@cache
def other_words(language: Language) -> forms.Words:
    """The words at which names of entities that are not people are cut."""
    return word_table(
        {
            other_forms.LEGAL: language.legal_forms,
            other_forms.SMALL: language.function_words,
            other_forms.OF: language.of_words,
            other_forms.TEAM: language.team_words,
            other_forms.NATIONAL: language.national,
            other_forms.ARTICLE: frozenset({language.article}),
            other_forms.SPORT: language.sports,
        }
    )


def list_other_forms(names: EntityNames, others: Others, prefixes: UInt8, entries: FormEntries | None = None) -> None:
    """Add the short forms of these entities to `entries`, and set the bits of their beginnings in `prefixes`.

    These are the bits of `NameColumns.prefixes`, for the beginnings of forms of two or more tokens.
    """
    places = _Places(names.language)
    for entities, some in names.blocks(others.shortened):
        label_keys = _keys(some.normalised)[: len(some)]
        fame = others.fame[entities]
        places.find(label_keys, entities, fame)
        for keys, rows, which, weights in _forms_of(some, others.teams[entities], fame, prefixes):
            if entries is not None:
                entries.add(np.where(keys == label_keys[rows], np.uint64(0), keys), entities[rows], which, weights)
    stated = others.shortened[others.demonym_rows]
    demonyms = normalise_many(others.demonyms.take(np.flatnonzero(stated)))
    for words, rows in ((demonyms, others.demonym_rows[stated]), places.demonyms()):
        mark_names(words.data, words.offsets, prefixes)
        keys = _keys(words)
        keys[keys == _keys(names.normalised.take(rows))] = 0
        if entries is not None:
            entries.add(keys, rows, np.full(len(rows), DEMONYM, np.int8), others.fame[rows] * FORM_WEIGHTS[DEMONYM])


def _keys(normalised: Strings) -> UInt64:
    """The key of each name, 0 for one that is too long or too short."""
    keys: UInt64 = hash_names(normalised.data, normalised.offsets, other_forms.LONGEST)
    return keys


def _forms_of(
    names: EntityNames, teams: Bool, fame: Float64, prefixes: UInt8
) -> Iterator[tuple[UInt64, Int64 | Int32, Int8, Float64]]:
    """The short forms of some entities, except demonyms of places: keys, entities, numbers of the forms, weights."""
    entities = np.arange(len(names))
    rows = np.append(entities, np.repeat(entities, np.diff(names.aliases.indptr)))
    size = other_forms.MOST_FORMS * len(rows)  # untouched pages take no memory
    found = forms.Found(
        *(np.empty(size, kind) for kind in (np.uint64, np.int32, np.int8, np.float32)), *[np.empty(0, np.uint64)] * 3
    )
    pairs = other_forms.Pairs(names.normalised.data, names.normalised.offsets, np.arange(len(rows)), rows)
    words = other_words(names.language)
    count = other_forms.list_other_forms(pairs, words, teams, fame, FORM_WEIGHTS, OF_AN_ALIAS, prefixes, found)
    cut = found.keys[:count], found.rows[:count], found.forms[:count]
    yield *cut, found.weights[:count]
    of_teams = _team_demonyms(names.language, *cut)
    yield *of_teams, fame[of_teams[1]] * FORM_WEIGHTS[TEAM_DEMONYM]
    for texts, of_texts, form in rewritten(names.texts, rows, names.language):
        written = normalise_many(texts)
        mark_names(written.data, written.offsets, prefixes)
        keys = _keys(written)
        yield keys, of_texts, np.full(len(keys), form, np.int8), fame[of_texts] * FORM_WEIGHTS[form]


def rewritten(texts: Strings, rows: Int64, language: Language) -> Iterator[tuple[Strings, Int64, int]]:
    """Names without possessives, parts of names at a comma or colon; the texts, the entities and the form of each.

    `rows` are the entities of the texts.
    """
    marks = np.flatnonzero(IS_MARK[texts.data])
    marked = np.unique(np.searchsorted(texts.offsets, marks, side="right") - 1)
    written, rows = texts.take(marked).arrow(), rows[marked]
    plain = written
    if language.possessive:
        plain = pc.replace_substring_regex(written, _possessives(language), r"\1")
        yield _chosen(plain, pc.not_equal(plain, written), rows, NO_POSSESSIVE)
    for mark, parts in PARTS.items():
        with_mark = pc.match_substring(plain, mark)
        for form, rest in parts.items():
            yield _chosen(pc.replace_substring_regex(plain, rest, ""), with_mark, rows, form)


def _chosen(texts: pa.LargeStringArray, chosen: pa.BooleanArray, rows: Int64, form: int) -> tuple[Strings, Int64, int]:
    """The texts that are chosen, and their entities."""
    return Strings.of_arrow(texts.filter(chosen)), rows[numpy_numbers(chosen)], form


@cache
def _possessives(language: Language) -> str:
    """The pattern of possessives in a row, and of the character after them, which is no letter of a word."""
    return rf"(?:[{APOSTROPHES}]{re.escape(language.possessive)})+([^\pL\pN_]|$)"


class _Places:
    """The most famous entity with the label of each place of the language's demonyms, and with that of its people.

    The people of the place has them as well: "Thais" is a form of an entity that is called "Thai people".
    """

    def __init__(self, language: Language) -> None:
        self._words: dict[int, set[str]] = {}
        for place, words in language.demonyms.items():
            for label in {place, *(f"{word} {people}" for word in words for people in language.peoples)}:
                self._words.setdefault(int(name_key(label)), set()).update(words)
        self._wanted = np.array(sorted(self._words), np.uint64)
        self._best: dict[int, tuple[float, int]] = {}

    def find(self, label_keys: UInt64, entities: Int64, fame: Float64) -> None:
        """Look for the places among some entities."""
        for at in np.flatnonzero(np.isin(label_keys, self._wanted)).tolist():
            key = int(label_keys[at])
            if key not in self._best or fame[at] > self._best[key][0]:
                self._best[key] = fame[at], int(entities[at])

    def demonyms(self) -> tuple[Strings, Int64]:
        """The demonyms and abbreviations of these entities, and the entity of each."""
        found = [(word, row) for key, (_, row) in self._best.items() for word in sorted(self._words[key])]
        return Strings.of(word for word, _ in found), np.array([row for _, row in found], np.int64)


def _team_demonyms(language: Language, keys: UInt64, rows: Int32, forms: Int8) -> tuple[UInt64, Int32, Int8]:
    """National teams by the other words for their country, from the entries with its name or one of these words."""
    others = _synonyms(language)
    teams = np.flatnonzero(forms == NATIONAL_TEAM)
    found = [(key, rows[team]) for team in teams for key in sorted(others.get(int(keys[team]), ()))]
    more = np.array([key for key, _ in found], np.uint64), np.array([row for _, row in found], np.int32)
    return *more, np.full(len(found), TEAM_DEMONYM, np.int8)


@cache
def _synonyms(language: Language) -> dict[int, set[int]]:
    """The keys of the other words for the same place, by the key of a place or of a demonym."""
    others: dict[int, set[int]] = {}
    for place, words in language.demonyms.items():
        group = {int(name_key(word)) for word in {place, *words}}
        for key in group:
            others.setdefault(key, set()).update(group - {key})
    return others
