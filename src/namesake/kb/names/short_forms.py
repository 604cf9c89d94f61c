"""Short forms of names (surnames, mononyms, first and last token …), and the counts of the tokens of names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt8, UInt64
from namesake.kb.columns import Made, NameColumns, Ragged, Strings, large
from namesake.kb.columns.assemble import distinct_keys
from namesake.kb.dump.parse import Items
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.index import name_key
from namesake.kb.names.normalise import APOSTROPHES, TABLE_END, fold_table, normalise_many, replaced
from namesake.kernels.hash import count_each, hash_each, table_of
from namesake.kernels.names import forms as kernels
from namesake.kernels.names import other_forms as other_kernels
from namesake.kernels.names import prose as prose_kernels
from namesake.kernels.names.constants import DEMONYM, HEAD, NATIONAL_TEAM, NO_POSSESSIVE, TAIL, TEAM_DEMONYM
from namesake.kernels.names.index import hash_names, mark_names, token_hashes
from namesake.language import Language

MOST = 10
"""Number of entities that are kept for a short form."""
Texts = tuple[Strings, Bool]
"""A column of texts, and which of them count."""
Listed = tuple[UInt64, Int32, Int8, Float64]
"""Entries: the key of a short form, the entity, the number of the form, the weight."""


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

OF_AN_ALIAS = 0.5
"""Factor for the short form of an alias (not for the last three forms, which only aliases have)."""


@cache
def cut_words(language: Language) -> kernels.Words:
    """The words at which names of people are cut."""
    return _words(
        {
            kernels.TITLE: language.title_words,
            kernels.AFFIX: language.suffixes,
            kernels.NUMERAL: language.numerals,
            kernels.GENERATION: language.generations,
            kernels.PARTICLE: language.particles,
            kernels.END: language.head_ends,
        }
    )


@cache
def other_words(language: Language) -> kernels.Words:
    """The words at which names of entities that are not people are cut."""
    return _words(
        {
            other_kernels.LEGAL: language.legal_forms,
            other_kernels.SMALL: language.function_words,
            other_kernels.OF: language.of_words,
            other_kernels.TEAM: language.team_words,
            other_kernels.NATIONAL: language.national,
            other_kernels.ARTICLE: frozenset({language.article}),
            other_kernels.SPORT: language.sports,
        }
    )


def _words(lists: dict[int, frozenset[str]]) -> kernels.Words:
    """A hash table of words, with the bits of the lists that have each."""
    words = Strings.of(sorted(frozenset[str]().union(*lists.values())))
    keys, place = table_of(hash_each(words.data, words.offsets))
    bits = np.zeros(len(keys), np.uint8)
    for row, slot in enumerate(place.tolist()):
        bits[slot] = sum(bit for bit, words_of in lists.items() if words[row] in words_of)
    return kernels.Words(keys, bits)


def with_other_forms(
    listed: kernels.Found, names: EntityNames, shortened: Bool, teams: Bool, fame: Float64
) -> kernels.Found:
    """The short forms of people, and those of other entities, which are `shortened`."""
    more = list_other_forms(names, shortened, teams, fame, np.zeros(1, np.uint8))
    keys, rows = large.joined([listed.keys, more[0]]), large.joined([listed.rows, more[1]])
    forms, weights = large.joined([listed.forms, more[2]]), large.joined([listed.weights, more[3]])
    order = np.argsort(rows, kind="stable")  # the entries of an entity stand together
    return listed._replace(keys=keys[order], rows=rows[order], forms=forms[order], weights=weights[order])


def list_other_forms(names: EntityNames, shortened: Bool, teams: Bool, fame: Float64, prefixes: UInt8) -> Listed:
    """The short forms of the entities that are `shortened`, none of them a person; sets bits of their `prefixes`.

    Those are the bits of `NameColumns.prefixes`, for the beginnings of forms of two or more tokens.
    """
    named, rows = _pairs(names, shortened)
    size = other_kernels.MOST_FORMS * len(named)  # untouched pages take no memory
    to = kernels.Found(
        *(large.empty(size, np.uint64), large.empty(size, np.int32), large.empty(size, np.int8)),
        *(large.empty(size, np.float64), *[np.empty(0, np.uint64)] * 3),
    )
    weights = np.array([weight for _, weight in FORMS])
    pairs = other_kernels.Pairs(names.normalised.data, names.normalised.offsets, named, rows)
    count = other_kernels.list_other_forms(
        pairs, other_words(names.language), teams, fame, weights, OF_AN_ALIAS, prefixes, to
    )
    cut = to.keys[:count], to.rows[:count], to.forms[:count]
    rewritten = list(_rewritten(names, named, rows))
    written = normalise_many(Strings.of(text for text, _, _ in rewritten))
    for normalised in (written, Strings.of(word for words in names.language.demonyms.values() for word in words)):
        mark_names(normalised.data, normalised.offsets, prefixes)
    keys = hash_names(written.data, written.offsets, other_kernels.LONGEST)
    others = np.array([(row, form) for _, row, form in rewritten], np.int32).reshape(-1, 2)
    parts = [cut, (keys, others[:, 0], others[:, 1].astype(np.int8)), _demonyms(names, shortened, fame)]
    parts.append(_team_demonyms(names.language, *cut))
    keys, of_rows, forms = (large.joined(list(column)) for column in zip(*parts, strict=True))
    of_forms = fame[of_rows] * weights[forms]
    of_forms[:count] = to.weights[:count]
    new = np.flatnonzero((keys != 0) & (keys != _label_keys(names)[of_rows]))
    return keys[new], of_rows[new], forms[new], of_forms[new]


def _pairs(names: EntityNames, shortened: Bool) -> tuple[Int64, Int64]:
    """The rows of all labels and aliases of the entities that are `shortened`, and the entity of each."""
    entities = np.arange(len(names.labels))
    named = np.concatenate([entities, len(entities) + names.aliases.values])
    rows = np.concatenate([entities, np.repeat(entities, np.diff(names.aliases.indptr))])
    return named[shortened[rows]], rows[shortened[rows]]


def _label_keys(names: EntityNames) -> UInt64:
    """The key of the label of each entity."""
    offsets = names.normalised.offsets[: len(names.labels) + 1]
    keys: UInt64 = hash_names(names.normalised.data, offsets, other_kernels.LONGEST)
    return keys


def _rewritten(names: EntityNames, named: Int64, rows: Int64) -> Iterator[tuple[str, int, int]]:
    """Names without possessives, parts of names at a comma or colon; of each the text, the entity and the form."""
    possessive = re.compile(rf"[{APOSTROPHES}]{names.language.possessive}\b")
    data, offsets = names.texts.data, names.texts.offsets
    marked = np.flatnonzero((data == ord(",")) | (data == ord(":")) | (data == ord("'")) | (data == 0x99))
    with_mark = np.zeros(len(names.texts), np.bool_)
    with_mark[np.searchsorted(offsets, marked, side="right") - 1] = True
    chosen = with_mark[named]
    for name, row in zip(named[chosen].tolist(), rows[chosen].tolist(), strict=True):
        text = names.texts[name]
        plain = possessive.sub("", text)
        if plain != text:
            yield plain, row, NO_POSSESSIVE
        for mark, form in ((",", HEAD), (": ", TAIL)):
            before, found, after = plain.partition(mark)
            if found:
                yield before, row, HEAD
            if found and form == TAIL:
                yield after, row, TAIL


def _demonyms(names: EntityNames, shortened: Bool, fame: Float64) -> tuple[UInt64, Int32, Int8]:
    """The language's demonyms and abbreviations of places, for the most famous entity with the label of the place.

    The people of the place has them as well: "Thais" is a form of an entity that is called "Thai people".
    """
    groups = [
        ({place, *(f"{word} {people}" for word in words for people in names.language.peoples)}, words)
        for place, words in names.language.demonyms.items()
    ]
    labels, wanted = _label_keys(names), {int(name_key(label)) for called, _ in groups for label in called}
    best: dict[int, int] = {}
    for row in np.flatnonzero(np.isin(labels, np.array(sorted(wanted), np.uint64)) & shortened).tolist():
        known = best.setdefault(int(labels[row]), row)
        best[int(labels[row])] = row if fame[row] > fame[known] else known
    keys, rows = [], []
    for called, words in groups:
        for label in sorted(called):
            row = best.get(int(name_key(label)), -1)
            keys += [name_key(word) for word in sorted(words) if row >= 0]
            rows += [row for _ in words if row >= 0]
    return np.array(keys, np.uint64), np.array(rows, np.int32), np.full(len(rows), DEMONYM, np.int8)


def _team_demonyms(language: Language, keys: UInt64, rows: Int32, forms: Int8) -> tuple[UInt64, Int32, Int8]:
    """National teams by the other words for their country, from the entries with its name or one of these words."""
    others: dict[int, set[int]] = {}
    for place, words in language.demonyms.items():
        group = {int(name_key(word)) for word in {place, *words}}
        for key in group:
            others.setdefault(key, set()).update(group - {key})
    teams = np.flatnonzero(forms == NATIONAL_TEAM)
    found = [(key, rows[team]) for team in teams for key in sorted(others.get(int(keys[team]), ()))]
    more = np.array([key for key, _ in found], np.uint64), np.array([row for _, row in found], np.int32)
    return *more, np.full(len(found), TEAM_DEMONYM, np.int8)


def list_forms(
    names: EntityNames, shortened: Bool, fame: Float64, prefixes: UInt8 | None = None
) -> tuple[kernels.Found, UInt64]:
    """The short forms of the labels and aliases of the entities that are `shortened`, and all tokens, each once.

    `prefixes` are the bits of `NameColumns.prefixes`, set for the beginnings of forms of two or more tokens.
    """
    prefixes = np.zeros(1, np.uint8) if prefixes is None else prefixes
    texts, whole, aliases, entities = names.texts, names.normalised, names.aliases, len(names.labels)
    with_comma, before, behind = at_comma(texts)
    heads = replaced(whole, with_comma, normalise_many(before))
    comma = np.zeros(len(texts), np.bool_)
    suffixes, rest = names.language.suffixes | names.language.numerals, normalise_many(behind)
    for place, row in enumerate(with_comma.tolist()):  # not in Robert Downey, Jr.
        following = rest[place].split()
        comma[row] = not following or not suffixes.issuperset(following)
    named = kernels.Named(whole.data, whole.offsets, heads.data, heads.offsets, comma, aliases.indptr, aliases.values)
    size = kernels.MOST_FORMS * (entities + len(aliases.values))  # untouched pages take no memory
    found = kernels.Found(
        *(large.empty(size, np.uint64), large.empty(size, np.int32), large.empty(size, np.int8)),
        *(large.empty(size, np.float64), large.empty(entities, np.uint64), large.empty(entities, np.uint64)),
        large.empty(kernels.LONGEST * entities, np.uint64),
    )
    weights = np.array([weight for _, weight in FORMS])
    entries, between = kernels.list_forms(
        named, cut_words(names.language), shortened, fame, weights, OF_AN_ALIAS, prefixes, found
    )
    hashes = token_hashes(whole.data, whole.offsets, np.empty(0, np.int64))
    tokens = distinct_keys(hashes, large.empty(len(hashes), np.int32))
    of_entries = {name: getattr(found, name)[:entries] for name in ("keys", "rows", "forms", "weights")}
    return found._replace(**of_entries, middles=found.middles[:between]), tokens


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


def build_short_forms(listed: kernels.Found) -> Made:
    """The columns of short forms."""
    ids = large.empty(len(listed.keys), np.int32)
    distinct = distinct_keys(listed.keys, ids)
    size = min(len(ids), MOST * len(distinct))
    best = kernels.Grouped(
        *(large.zeros(len(distinct) + 1, np.int64), large.empty(size, np.int32), large.empty(size, np.int8)),
        large.empty(size, np.float32),
    )
    kept = kernels.best_bearers(ids, listed.rows, listed.forms, listed.weights, MOST, best)
    keys, place = table_of(distinct)
    slots = np.full(len(keys), -1, np.int32)
    slots[place] = np.arange(len(distinct), dtype=np.int32)
    return {
        NameColumns.short_hashes: keys,
        NameColumns.short_slots: slots,
        NameColumns.short_entities: Ragged(best.indptr, best.rows[:kept]),
        NameColumns.short_forms: best.forms[:kept],
    }


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
    return texts, counted & prose_kernels.begins_with(texts.data, texts.offsets, lower_letters())


def count_tokens(listed: kernels.Found, tokens: UInt64, prose: list[Texts]) -> Made:
    """The columns of tokens: those of people's names that are counted at least once."""
    keys, _ = table_of(tokens)
    lower = np.zeros(len(keys), np.int32)
    for texts, counted in prose:
        prose_kernels.count_lower(texts.data, texts.offsets, counted, *fold_table(), lower_letters(), keys, lower)
    counts = [*(count_each(some, keys) for some in (listed.firsts, listed.lasts, listed.middles)), lower]
    used = np.flatnonzero(np.logical_or.reduce([count > 0 for count in counts]))
    smaller, place = table_of(keys[used])
    columns = NameColumns.token_first, NameColumns.token_last, NameColumns.token_middle, NameColumns.token_lower
    made: Made = {NameColumns.token_hashes: smaller}
    for column, count in zip(columns, counts, strict=True):
        made[column] = np.zeros(len(smaller), np.int32)
        made[column][place] = count[used]
    return made
