"""Short forms of names (surnames, mononyms, first and last token …), and the counts of the tokens of names."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from namesake.arrays import Bool, Float64, Int64, UInt8, UInt64
from namesake.kb.columns import Made, NameColumns, Strings, large
from namesake.kb.columns.assemble import empty_table
from namesake.kb.dump.parse import Items
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.form_entries import FormEntries
from namesake.kb.names.normalise import TABLE_END, fold_table, normalise_many, replaced
from namesake.kernels.columns.group import number_keys
from namesake.kernels.hash import count_each, hash_each, table_of
from namesake.kernels.names import fold
from namesake.kernels.names import forms as kernels
from namesake.kernels.names.index import token_hashes
from namesake.language import Language

Texts = tuple[Strings, Bool]
"""A column of texts, and which of them count."""


FORMS = (
    ("mononym", 1.0),  # a label of one token: Rihanna
    ("surname", 1.0),  # the last token of a label: Bolsonaro
    ("head", 0.7),  # the part before "of", "the" or a comma, and a king's name: Charles, Charles II
    ("first", 0.15),  # the first token of a label
    ("pair", 1.0),  # first and last token of three or more: Michael Brown of Michael E. Brown
    ("suffix", 1.0),  # the last two of three or more, with all particles: van der Bellen
    ("begin", 0.3),  # the first two of three or more: Francis Ford
    ("called", 1.2),  # an alias of one token that is in the label: Lula
    ("nick", 0.5),  # an alias of one token that is not: Daddy
    ("alias surname", 0.4),  # the last token of an alias that shares another with the label: Bonaparte
    ("acronym", 0.5),  # of an entity that is not a person, like all that follow: IMF
    ("no suffix", 1.0),  # without its article, legal form or kind of club: Apple of Apple Inc., Joker of The Joker
    ("tail", 0.3),  # at least two last tokens: Justice Department; what follows "of"
    ("opening", 0.3),  # the first one or two tokens: Caribbean of Caribbean Sea, Dow Jones
    ("team place", 2.0),  # the beginning of a team's name: Chicago of Chicago Bulls
    ("team nickname", 0.7),  # its end: Bulls
    ("demonym", 1.0),  # the adjective and the people of a place, and abbreviations: French, Calif.
    ("no possessive", 1.0),  # without the s of a possessive, which tokens of texts lack too: Men Wearhouse
    ("no year", 0.5),  # an event without its year: FIFA World Cup of 1998 FIFA World Cup
    ("national team", 10.0),  # the country of a national team
    ("team demonym", 3.0),  # the adjective of this country: Dutch of Netherlands national football team
    ("last word", 0.1),  # Gulf of Persian Gulf
)
"""Names of the forms and factors for the entity's fame, by number (`kernels.names.constants.MONONYM` and so on)."""

FORM_WEIGHTS = np.array([weight for _, weight in FORMS])
OF_AN_ALIAS = 0.5
"""Factor for the short form of an alias (not for the last three forms, which only aliases have)."""


@cache
def cut_words(language: Language) -> kernels.Words:
    """The words at which names of people are cut."""
    return word_table(
        {
            kernels.TITLE: language.title_words,
            kernels.AFFIX: language.suffixes,
            kernels.NUMERAL: language.numerals,
            kernels.GENERATION: language.generations,
            kernels.PARTICLE: language.particles,
            kernels.END: language.head_ends,
        }
    )


def word_table(lists: dict[int, frozenset[str]]) -> kernels.Words:
    """A hash table of words, with the bits of the lists that have each."""
    words = Strings.of(sorted(frozenset[str]().union(*lists.values())))
    keys, place = table_of(hash_each(words.data, words.offsets))
    bits = np.zeros(len(keys), np.uint8)
    for row, slot in enumerate(place.tolist()):
        bits[slot] = sum(bit for bit, words_of in lists.items() if words[row] in words_of)
    return kernels.Words(keys, bits)


class NameTokens(NamedTuple):
    """Hashes of tokens: all of them once, and the first and last one of each person's label and those between."""

    distinct: UInt64
    firsts: UInt64
    lasts: UInt64
    middles: UInt64


def list_forms(
    names: EntityNames, shortened: Bool, fame: Float64, prefixes: UInt8, entries: FormEntries | None = None
) -> NameTokens:
    """Add the short forms of the entities that are `shortened` to `entries`; returns the tokens of all names.

    `prefixes` are the bits of `NameColumns.prefixes`, set for the beginnings of forms of two or more tokens.
    """
    columns = [large.Growing(np.uint64) for _ in range(3)]
    for entities, some in names.blocks(shortened):
        found = _forms_of(some, fame[entities], prefixes)
        if entries is not None:
            entries.add(found.keys, entities[found.rows], found.forms, found.weights)
        for column, tokens in zip(columns, (found.firsts, found.lasts, found.middles), strict=True):
            column.append(tokens)
    return NameTokens(_distinct_tokens(names.normalised), *(column.done() for column in columns))


def _forms_of(names: EntityNames, fame: Float64, prefixes: UInt8) -> kernels.Found:
    """The short forms of some people."""
    whole, aliases = names.normalised, names.aliases
    with_comma, before, behind = at_comma(names.texts)
    heads = replaced(whole, with_comma, normalise_many(before))
    comma = np.zeros(len(whole), np.bool_)
    suffixes, rest = names.language.suffixes | names.language.numerals, normalise_many(behind)
    for place, row in enumerate(with_comma.tolist()):  # not in Robert Downey, Jr.
        following = rest[place].split()
        comma[row] = not following or not suffixes.issuperset(following)
    named = kernels.Named(whole.data, whole.offsets, heads.data, heads.offsets, comma, aliases.indptr, aliases.values)
    size = kernels.MOST_FORMS * len(whole)  # untouched pages take no memory
    found = kernels.Found(
        *(np.empty(size, kind) for kind in (np.uint64, np.int32, np.int8, np.float32)),
        *(np.empty(room, np.uint64) for room in (len(names), len(names), kernels.LONGEST * len(names))),
    )
    words = cut_words(names.language)
    count, between = kernels.list_forms(named, words, fame, FORM_WEIGHTS, OF_AN_ALIAS, prefixes, found)
    entries = {name: getattr(found, name)[:count] for name in ("keys", "rows", "forms", "weights")}
    return found._replace(**entries, middles=found.middles[:between])


def _distinct_tokens(texts: Strings) -> UInt64:
    """The hashes of the tokens of normalised names, each once."""
    keys, known, size = *empty_table(), 0
    for low, high in large.spans(texts.offsets, 16):
        offsets = texts.offsets[low : high + 1]
        hashes = token_hashes(texts.data[offsets[0] : offsets[-1]], offsets - offsets[0], np.empty(0, np.int64))
        keys, known, size = number_keys(hashes, keys, known, size, np.empty(len(hashes), np.int32))
    distinct: UInt64 = keys[keys != 0]
    return distinct


def at_comma(texts: Strings) -> tuple[Int64, Strings, Strings]:
    """The rows of the texts with a comma; the part before the first comma of each, and the rest from it on."""
    commas = np.concatenate(
        [
            low + np.flatnonzero(texts.data[low:high] == ord(","))
            for low, high in large.blocks(max(len(texts.data), 1), 4)
        ]
    )
    rows, first = np.unique(np.searchsorted(texts.offsets, commas, side="right") - 1, return_index=True)
    bounds = np.stack([texts.offsets[rows], commas[first], texts.offsets[rows + 1]], axis=1).ravel()
    parts = Strings(np.append(bounds, len(texts.data)), texts.data)  # three per row; the last lies between rows
    places = 3 * np.arange(len(rows))
    return rows, parts.take(places), parts.take(places + 1)


@cache
def lower_letters() -> Bool:
    """Which characters are letters in lower case, by code point."""
    return np.array([chr(point).islower() for point in range(TABLE_END)])


def prose_of(items: Items, first: Bool) -> list[Texts]:
    """Texts of ordinary words: descriptions, and names in lower case of items that are not people, `first` of a QID."""
    other = first & ~items.person
    of_alias = large.empty(len(items.alias), np.bool_)
    for low, high in large.spans(items.alias_indptr, 16):
        ends = items.alias_indptr[low : high + 1]
        of_alias[ends[0] : ends[-1]] = np.repeat(other[low:high], np.diff(ends))
    return [(items.description, first), in_lower_case(items.label, other), in_lower_case(items.alias, of_alias)]


def in_lower_case(texts: Strings, counted: Bool) -> Texts:
    """Those of the counted texts that begin in lower case."""
    return texts, counted & fold.begins_with(texts.data, texts.offsets, lower_letters())


def count_tokens(tokens: NameTokens, prose: list[Texts]) -> Made:
    """The columns of tokens: those of people's names that are counted at least once."""
    keys, _ = table_of(tokens.distinct)
    lower = np.zeros(len(keys), np.int32)
    for texts, counted in prose:
        fold.count_lower(texts.data, texts.offsets, counted, *fold_table(), lower_letters(), keys, lower)
    counts = [*(count_each(some, keys) for some in (tokens.firsts, tokens.lasts, tokens.middles)), lower]
    used = np.flatnonzero(np.logical_or.reduce([count > 0 for count in counts]))
    smaller, place = table_of(keys[used])
    columns = NameColumns.token_first, NameColumns.token_last, NameColumns.token_middle, NameColumns.token_lower
    made: Made = {NameColumns.token_hashes: smaller}
    for column, count in zip(columns, counts, strict=True):
        made[column] = np.zeros(len(smaller), np.int32)
        made[column][place] = count[used]
    return made
