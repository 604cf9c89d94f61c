"""The tables by which kernels cut text into the tokens of names: what characters fold to, which lists have a word."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Int8, UInt8, UInt64
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import APOSTROPHES, fold_table
from namesake.kernels.hash import fill, hash_each, room_for
from namesake.kernels.names import tokens as kernels
from namesake.language import NO_WORDS, Language, Words

SPARSE = 16  # how much larger a table of words is than it must be: most lookups fail, and an empty slot ends them
COMBINING = slice(0x0300, 0x0370)  # accents after their letters: folding drops them


@cache
def tables(language: Language) -> kernels.Tables:
    """The tables for a language."""
    return kernels.Tables(*_characters(language), *_words(language))


def _characters(language: Language) -> tuple[Int8, UInt8, UInt8]:
    widths, letters = fold_table()
    widths = widths.copy()
    widths[COMBINING] = 0
    characters = np.arange(len(widths), dtype=np.uint32).view("U1")
    found = {
        kernels.UPPER_LETTER: np.char.isupper(characters),
        kernels.CAPITAL: np.char.isupper(characters) | np.char.istitle(characters) | np.char.isdigit(characters),
        kernels.BLANK: np.char.isspace(characters),
        kernels.APOSTROPHE: np.isin(characters, list(APOSTROPHES)),
        kernels.HYPHEN: np.isin(characters, list("-‐‑")),
        kernels.POSSESSIVE: np.isin(characters, [*language.possessive.lower(), *language.possessive.upper()]),
    }
    kinds = np.zeros(len(widths), np.uint8)
    for kind, is_of_kind in found.items():
        kinds[is_of_kind] |= kind
    return widths, letters, kinds


def _words(language: Language) -> tuple[UInt64, npt.NDArray[Any]]:
    lists = {
        kernels.HONORIFIC: language.honorifics,
        kernels.SUFFIX: language.suffixes,
        kernels.FUNCTION: language.function_words,
        kernels.FIRM: language.not_a_person,
        kernels.BEFORE_FIRM: language.before_not_a_person,
        kernels.TITLE: language.title_words,
        kernels.PARTICLE: language.particles,
        kernels.NUMERAL: language.numerals,
        kernels.NAME_TITLE: language.name_titles,
        kernels.LOWER_TITLE: language.lower_titles,
        kernels.ROLE: language.roles,
        kernels.IN_PLACE: language.in_places,
        kernels.TO_PLACE: language.to_places,
        kernels.DATE: language.dates,
        kernels.NEVER: language.never_names,
        kernels.FIRM_WORD: language.firm_words,
        kernels.ARTICLE: frozenset({language.article}),
        kernels.BY: language.by_words,
        kernels.CREDIT: language.credits,
        kernels.OTHER: language.others,
        kernels.AND: language.and_words,
        kernels.AFTER_COMPANY: language.after_companies,
        kernels.DETERMINER: language.determiners,
        kernels.SPORT: language.sport_words,
    }
    return word_table(lists, np.uint32)


def word_table(lists: Mapping[int, Words], kind: type[np.generic]) -> tuple[UInt64, npt.NDArray[Any]]:
    """Lists of words as a hash table, and the bits of the lists that contain each word."""
    words = sorted(NO_WORDS.union(*lists.values()) - {""})
    column = Strings.of(words)
    keys = np.zeros(SPARSE * room_for(len(words)), np.uint64)
    place = fill(hash_each(column.data, column.offsets), keys)
    bits = np.zeros(len(keys), kind)
    bits[place] = [sum(bit for bit, some in lists.items() if word in some) for word in words]
    return keys, bits
