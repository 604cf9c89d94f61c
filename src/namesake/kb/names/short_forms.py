"""Short forms of names of people (surnames, first and last token …) and of others (Bulls, French); counts of tokens."""

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt8, UInt64, numpy_numbers, take_rows
from namesake.kb.columns import Made, NameColumns, Ragged, Strings, large
from namesake.kb.columns.assemble import distinct_keys, empty_table
from namesake.kb.columns.large import AnyArray
from namesake.kb.dump.parse import Items
from namesake.kb.left import KnownForms
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.index import name_key, token_hash
from namesake.kb.names.normalise import APOSTROPHES, TABLE_END, fold_table, normalise_many, replaced
from namesake.kernels.columns.group import number_keys
from namesake.kernels.hash import fill, hash_each, table_of, table_size
from namesake.kernels.names import fold, other_forms
from namesake.kernels.names import forms as kernels
from namesake.kernels.names.constants import DEMONYM, HEAD, NATIONAL_TEAM, NO_POSSESSIVE, TAIL, TEAM_DEMONYM
from namesake.kernels.names.index import hash_names, mark_names, token_hashes
from namesake.language import Language

Texts = tuple[Strings, Bool]  # a column of texts, and which of them count
FORMS = tuple(tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items())
"""Names of the forms and factors for the entity's fame, by number (`kernels.names.constants.MONONYM` and so on)."""

FORM_WEIGHTS = np.array([weight for _, weight in FORMS])
OF_AN_ALIAS = 0.5
"""Factor for the short form of an alias (not for the last three forms, which only aliases have)."""
MOST = 10  # number of entities that are kept for a short form
ENTRY = np.dtype([("key", np.uint64), ("row", np.int32), ("weight", np.float32), ("form", np.int8)])
NAME_BYTES = 512  # temporary memory for the entries of one name


@cache
def cut_words(language: Language, of_people: bool) -> kernels.Words:
    """The words at which names of people, or of others, are cut: a hash table, with the bits of the lists of each."""
    for_people = {
        kernels.TITLE: language.title_words,
        kernels.AFFIX: language.suffixes,
        kernels.NUMERAL: language.numerals,
        kernels.GENERATION: language.generations,
        kernels.PARTICLE: language.particles,
        kernels.END: language.head_ends,
    }
    for_others = {
        other_forms.LEGAL: language.legal_forms,
        other_forms.SMALL: language.function_words,
        other_forms.OF: language.of_words,
        other_forms.TEAM: language.team_words,
        other_forms.NATIONAL: language.national,
        other_forms.ARTICLE: frozenset({language.article}),
        other_forms.SPORT: language.sports,
        other_forms.NOUN: language.institutions,
    }
    lists = for_people if of_people else for_others
    words = Strings.of(sorted(frozenset[str]().union(*lists.values())))
    keys, place = table_of(hash_each(words.data, words.offsets))
    bits = np.zeros(len(keys), np.uint8)
    for row, slot in enumerate(place.tolist()):
        bits[slot] = sum(bit for bit, words_of in lists.items() if words[row] in words_of)
    return kernels.Words(keys, bits)


class FormEntries:
    """Entries of short forms: a key, the entity, the number of the form, the weight. Entries with key 0 are ignored.

    The lowest bits of a key decide its place in the hash table of short forms, so parts by these bits fill the table
    from beginning to end. The columns do not depend on the number of parts.
    """

    def __init__(self, names: int, known: KnownForms | None = None) -> None:
        """`names` is the number of labels and aliases that have short forms, which decides the number of parts."""
        self._turn = np.uint64(65 - table_size(names).bit_length())
        self._parts = large.Parts(ENTRY, names, NAME_BYTES)
        self._known = known

    def add(self, keys: UInt64, rows: Int32 | Int64, forms: Int8, weights: Float64) -> None:
        """Add entries."""
        chosen = np.flatnonzero(keys)
        entries = np.empty(len(chosen), ENTRY)
        for name, column in zip(("key", "row", "form", "weight"), (keys, rows, forms, weights), strict=True):
            entries[name] = column[chosen]
        self._parts.add(self._turned(entries["key"]), entries)

    def _turned(self, keys: UInt64) -> UInt64:
        """The keys with the bits that decide their slots highest."""
        return keys << self._turn | keys >> np.uint64(64) - self._turn

    def columns(self) -> Made:
        """The columns of short forms, in the order of `_turned` keys. Entries cannot be added afterwards."""
        types = np.uint64, np.int64, np.int32, np.int8
        distinct, sizes, entities, which = large.gathered(self._all_best(), *types)
        ends = large.running(sizes)
        if self._known is not None:
            order = np.argsort(self._turned(distinct), kind="stable")
            ends, taken = take_rows(ends, order)
            distinct, entities, which = distinct[order], entities[taken], which[taken]
        size = table_size(len(distinct))
        hashes, slots = large.zeros(size, np.uint64), large.full(size, -1, np.int32)
        for low, high in large.blocks(len(distinct), 16):
            slots[fill(distinct[low:high], hashes)] = np.arange(low, high, dtype=np.int32)
        return {
            NameColumns.short_hashes: hashes,
            NameColumns.short_slots: slots,
            NameColumns.short_entities: Ragged(ends, entities),
            NameColumns.short_forms: which,
        }

    def _all_best(self) -> Iterator[tuple[AnyArray, ...]]:
        """The distinct keys of each part, in their order, the number of the best entities with each, these, forms."""
        for part in self._parts.each():
            if self._known is not None:  # in memory, so that there is one part
                part = self._known.renew(part)
            entries = part[np.argsort(part["row"], kind="stable")]
            ids = np.empty(len(entries), np.int32)
            found = distinct_keys(np.ascontiguousarray(entries["key"]), ids)
            order = np.argsort(self._turned(found))
            place = np.empty(len(order), np.int32)
            place[order] = np.arange(len(order), dtype=np.int32)
            size = min(len(ids), MOST * len(found))
            rows, forms, weights = (np.empty(size, kind) for kind in (np.int32, np.int8, np.float32))
            best = kernels.Grouped(np.zeros(len(found) + 1, np.int64), rows, forms, weights)
            columns = (np.ascontiguousarray(entries[name]) for name in ("row", "form", "weight"))
            kernels.best_bearers(place[ids], *columns, MOST, best)
            yield found[order], np.diff(best.indptr), rows[: best.indptr[-1]], forms[: best.indptr[-1]]
        if (known := self._known) is not None:
            yield known.keys, np.diff(known.ends), known.rows, known.forms


def list_forms(
    names: EntityNames, shortened: Bool, fame: Float64, prefixes: UInt8, entries: FormEntries | None = None
) -> list[UInt64]:
    """Add the short forms of some people to `entries`, and their beginnings to `prefixes`.

    Returns hashes of tokens: all of them once, the first and last one of each person's label, and those between.
    """

    def each() -> Iterator[tuple[UInt64, UInt64, UInt64]]:
        for entities, some in names.blocks(shortened):
            found = _forms_of_people(some, fame[entities], prefixes)
            if entries is not None:
                entries.add(found.keys, entities[found.rows], found.forms, found.weights)
            yield found.firsts, found.lasts, found.middles

    of_labels = large.gathered(each(), *[np.uint64] * 3)
    texts, (keys, known), size = names.normalised, empty_table(), 0
    for low, high in large.spans(texts.offsets, 16):
        offsets = texts.offsets[low : high + 1]
        hashes = token_hashes(texts.data[offsets[0] : offsets[-1]], offsets - offsets[0], np.empty(0, np.int64))
        keys, known, size = number_keys(hashes, keys, known, size, np.empty(len(hashes), np.int32))
    return [keys[keys != 0], *of_labels]


def _forms_of_people(names: EntityNames, fame: Float64, prefixes: UInt8) -> kernels.Found:
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
    words = cut_words(names.language, of_people=True)
    count, between = kernels.list_forms(named, words, fame, FORM_WEIGHTS, OF_AN_ALIAS, prefixes, found)
    entries = {name: getattr(found, name)[:count] for name in ("keys", "rows", "forms", "weights")}
    return found._replace(**entries, middles=found.middles[:between])


def at_comma(texts: Strings) -> tuple[Int64, Strings, Strings]:
    """The rows of the texts with a comma; the part before the first comma of each, and the rest from it on."""
    blocks = large.blocks(max(len(texts.data), 1), 4)
    commas = np.concatenate([low + np.flatnonzero(texts.data[low:high] == ord(",")) for low, high in blocks])
    rows, first = np.unique(np.searchsorted(texts.offsets, commas, side="right") - 1, return_index=True)
    bounds = np.stack([texts.offsets[rows], commas[first], texts.offsets[rows + 1]], axis=1).ravel()
    parts = Strings(np.append(bounds, len(texts.data)), texts.data)  # three per row; the last lies between rows
    places = 3 * np.arange(len(rows))
    return rows, parts.take(places), parts.take(places + 1)


@cache
def characters(*kinds: Callable[[str], bool]) -> Bool:
    """Which characters are of one of these kinds, by code point."""
    return np.array([any(is_kind(chr(point)) for is_kind in kinds) for point in range(TABLE_END)])


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
    return texts, counted & fold.begins_with(texts.data, texts.offsets, characters(str.islower))


def count_tokens(tokens: list[UInt64], prose: list[Texts]) -> Made:
    """The columns of tokens: those of people's names that are counted at least once."""
    distinct, *of_labels = tokens
    keys, _ = table_of(distinct)
    lower = np.zeros(len(keys), np.int32)
    for texts, counted in prose:
        fold.count_lower(texts.data, texts.offsets, counted, *fold_table(), characters(str.islower), keys, lower)

    def times(hashes: UInt64) -> Int64:
        slots = large.computed(np.int64, 16, lambda some: fill(some, keys), hashes)
        return np.where(keys == 0, 0, np.bincount(slots, minlength=len(keys)))  # hash 0 counts in a free slot

    counts: list[AnyArray] = [*map(times, of_labels), lower]
    used = np.flatnonzero(np.logical_or.reduce([count > 0 for count in counts]))
    smaller, place = table_of(keys[used])
    columns = NameColumns.token_first, NameColumns.token_last, NameColumns.token_middle, NameColumns.token_lower
    made: Made = {NameColumns.token_hashes: smaller}
    for column, count in zip(columns, counts, strict=True):
        made[column] = np.zeros(len(smaller), np.int32)
        made[column][place] = count[used]
    return made


IS_MARK = np.isin(np.arange(256), list(b",:'\x99"))
"""By byte: whether names with it are rewritten (comma, colon, apostrophe, last byte of a right quotation mark)."""
PARTS = {",": {HEAD: "(?s),.*"}, ": ": {HEAD: "(?s): .*", TAIL: "(?s)^.*?: "}}
"""The marks at which names are cut, and the pattern of what each form lacks."""


class Others(NamedTuple):
    """The entities whose names have the short forms of this module, with what decides about them, by row."""

    shortened: Bool
    teams: Bool
    fame: Float64
    demonym_rows: Int32  # the entities of the demonyms that the dump states
    demonyms: Strings


def list_other_forms(names: EntityNames, others: Others, prefixes: UInt8, entries: FormEntries | None = None) -> None:
    """Add the short forms of other entities to `entries`, and their beginnings to `prefixes`."""
    words_of = _words_of_places(names.language)
    wanted, best = np.array(sorted(words_of), np.uint64), dict[int, tuple[float, int]]()
    for entities, some in names.blocks(others.shortened):
        label_keys = _keys(some.normalised)[: len(some)]
        fame = others.fame[entities]
        for at in np.flatnonzero(np.isin(label_keys, wanted)).tolist():
            key = int(label_keys[at])
            if key not in best or fame[at] > best[key][0]:
                best[key] = fame[at], int(entities[at])
        for keys, rows, which, weights in _forms_of_others(some, others.teams[entities], fame, prefixes):
            if entries is not None:
                entries.add(np.where(keys == label_keys[rows], np.uint64(0), keys), entities[rows], which, weights)
    stated = others.shortened[others.demonym_rows]
    demonyms = normalise_many(others.demonyms.take(np.flatnonzero(stated)))
    of_places = [(word, row) for key, (_, row) in best.items() for word in sorted(words_of[key])]
    for words, rows in (
        (demonyms, others.demonym_rows[stated]),
        (Strings.of(word for word, _ in of_places), np.array([row for _, row in of_places], np.int64)),
    ):
        mark_names(words.data, words.offsets, prefixes)
        keys = _keys(words)
        keys[keys == _keys(names.normalised.take(rows))] = 0
        if entries is not None:
            entries.add(keys, rows, np.full(len(rows), DEMONYM, np.int8), others.fame[rows] * FORM_WEIGHTS[DEMONYM])


def _keys(normalised: Strings) -> UInt64:
    """The key of each name, 0 for one that is too long or too short."""
    keys: UInt64 = hash_names(normalised.data, normalised.offsets, other_forms.LONGEST)
    return keys


def _forms_of_others(
    names: EntityNames, teams: Bool, fame: Float64, prefixes: UInt8
) -> Iterator[tuple[UInt64, Int64 | Int32, Int8, Float64]]:
    """The short forms of some entities, except demonyms of places: keys, entities, numbers of the forms, weights."""
    entities = np.arange(len(names))
    rows = np.append(entities, np.repeat(entities, np.diff(names.aliases.indptr)))
    size = other_forms.MOST_FORMS * len(rows)  # untouched pages take no memory
    found = kernels.Found(
        *(np.empty(size, kind) for kind in (np.uint64, np.int32, np.int8, np.float32)), *[np.empty(0, np.uint64)] * 3
    )
    pairs = other_forms.Pairs(names.normalised.data, names.normalised.offsets, np.arange(len(rows)), rows)
    words = cut_words(names.language, of_people=False)
    of_word = np.uint64(token_hash(min(names.language.of_words)) if names.language.of_words else 0)
    count = other_forms.list_other_forms(pairs, words, of_word, teams, fame, FORM_WEIGHTS, OF_AN_ALIAS, prefixes, found)
    yield found.keys[:count], found.rows[:count], found.forms[:count], found.weights[:count]
    others = _synonyms(names.language)  # national teams also have the other words for their country
    national = np.flatnonzero(found.forms[:count] == NATIONAL_TEAM)
    called = [(key, found.rows[team]) for team in national for key in sorted(others.get(int(found.keys[team]), ()))]
    keys, teams_of = np.array([key for key, _ in called], np.uint64), np.array([row for _, row in called], np.int32)
    yield keys, teams_of, np.full(len(keys), TEAM_DEMONYM, np.int8), fame[teams_of] * FORM_WEIGHTS[TEAM_DEMONYM]
    for texts, of_texts, form in rewritten(names.texts, rows, names.language):
        written = normalise_many(texts)
        mark_names(written.data, written.offsets, prefixes)
        keys = _keys(written)
        yield keys, of_texts, np.full(len(keys), form, np.int8), fame[of_texts] * FORM_WEIGHTS[form]


def rewritten(texts: Strings, rows: Int64, language: Language) -> Iterator[tuple[Strings, Int64, int]]:
    """Names without possessives, parts of names at a comma or colon; the texts, the entities and the form of each."""
    marks = np.flatnonzero(IS_MARK[texts.data])
    marked = np.unique(np.searchsorted(texts.offsets, marks, side="right") - 1)
    written, rows = texts.take(marked).arrow(), rows[marked]
    plain, found = written, []
    if language.possessive:  # several in a row, up to a character that is no letter of a word
        possessives = rf"(?:[{APOSTROPHES}]{re.escape(language.possessive)})+([^\pL\pN_]|$)"
        plain = pc.replace_substring_regex(written, possessives, r"\1")
        found.append((plain, pc.not_equal(plain, written), NO_POSSESSIVE))
    for mark, parts in PARTS.items():
        with_mark = pc.match_substring(plain, mark)
        found += [(pc.replace_substring_regex(plain, rest, ""), with_mark, form) for form, rest in parts.items()]
    for shorter, chosen, form in found:
        yield Strings.of_arrow(shorter.filter(chosen)), rows[numpy_numbers(chosen)], form


@cache
def _words_of_places(language: Language) -> dict[int, set[str]]:
    """Demonyms and abbreviations by the key of their place, and of its people: Thais are also "Thai people"."""
    found: dict[int, set[str]] = {}
    for place, words in language.demonyms.items():
        for label in {place, *(f"{word} {people}" for word in words for people in language.peoples)}:
            found.setdefault(int(name_key(label)), set()).update(words)
    return found


@cache
def _synonyms(language: Language) -> dict[int, set[int]]:
    """The keys of the other words for the same place, by the key of a place or of a demonym."""
    others: dict[int, set[int]] = {}
    for place, words in language.demonyms.items():
        group = {int(name_key(word)) for word in {place, *words}}
        for key in group:
            others.setdefault(key, set()).update(group - {key})
    return others
