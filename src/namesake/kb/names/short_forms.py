"""Short forms: surnames, mononyms, first and last of longer names, heads of kings' names, and who bears them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from namesake.arrays import Bool, Float64, Int8, Int32, Int64, UInt64
from namesake.kb.columns import large
from namesake.kb.columns.column_files import Ragged, Strings
from namesake.kb.columns.declaration import Made
from namesake.kb.columns.name_layout import NameColumns
from namesake.kb.names.form_weights import FORMS, OF_AN_ALIAS
from namesake.kb.names.labels import Spelled
from namesake.kb.names.normalise import normalise_many, replaced
from namesake.kernels.columns.group import distinct_keys
from namesake.kernels.hash import hash_each
from namesake.kernels.names import forms as kernels
from namesake.kernels.names.index import token_hashes
from namesake.kernels.tables import table_of
from namesake.language import Language

MOST = 5
"""How many bearers of a short form are kept."""


@dataclass(frozen=True)
class ListedForms:
    """Who bears which short form, as entries by entity; and the tokens of the labels (0 where there is none)."""

    keys: UInt64
    rows: Int32
    forms: Int8
    weights: Float64
    firsts: UInt64
    lasts: UInt64
    middles: UInt64
    tokens: UInt64
    """Every token that names have, once."""


@cache
def cut_words(language: Language) -> kernels.Words:
    """The words that names are cut at."""
    lists = {
        kernels.TITLE: language.title_words,
        kernels.AFFIX: language.suffixes,
        kernels.NUMERAL: language.numerals,
        kernels.GENERATION: language.generations,
        kernels.PARTICLE: language.particles,
        kernels.END: language.head_ends,
    }
    words = Strings.of(sorted(frozenset[str]().union(*lists.values())))
    keys, place = table_of(hash_each(words.data, words.offsets))
    bits = np.zeros(len(keys), np.uint8)
    for row, slot in enumerate(place.tolist()):
        bits[slot] = sum(bit for bit, words_of in lists.items() if words[row] in words_of)
    return kernels.Words(keys, bits)


def list_forms(spelled: Spelled, shortened: Bool, fame: Float64) -> ListedForms:
    """The short forms of the labels and aliases of the entities that are `shortened`."""
    texts, whole, aliases, entities = spelled.texts, spelled.normalised, spelled.aliases, len(spelled.labels)
    with_comma, before, behind = at_comma(texts)
    heads = replaced(whole, with_comma, normalise_many(before))
    comma = np.zeros(len(texts), np.bool_)
    comma[with_comma] = ~_generations(spelled.language, normalise_many(behind))
    names = kernels.Named(whole.data, whole.offsets, heads.data, heads.offsets, comma, aliases.indptr, aliases.values)
    size = kernels.MOST_FORMS * (entities + len(aliases.values))  # what is not touched takes no memory
    found = kernels.Found(
        *(large.empty(size, np.uint64), large.empty(size, np.int32), large.empty(size, np.int8)),
        *(large.empty(size, np.float64), large.empty(entities, np.uint64), large.empty(entities, np.uint64)),
        large.empty(kernels.LONGEST * entities, np.uint64),
    )
    weights = np.array([form.weight for form in FORMS])
    entries, between = kernels.list_forms(
        names, cut_words(spelled.language), shortened, fame, weights, OF_AN_ALIAS, found
    )
    return ListedForms(
        *(found.keys[:entries], found.rows[:entries], found.forms[:entries], found.weights[:entries]),
        *(found.firsts, found.lasts, found.middles[:between], _tokens(whole)),
    )


def _tokens(names: Strings) -> UInt64:
    """The hashes of the tokens of normalised names, each once."""
    hashes = token_hashes(names.data, names.offsets, np.empty(0, np.int64))
    distinct: UInt64 = distinct_keys(hashes.view(np.int64), large.empty(len(hashes), np.int32)).view(np.uint64)
    return distinct


def at_comma(texts: Strings) -> tuple[Int64, Strings, Strings]:
    """The rows of the texts with a comma; what stands before the first one of each, and the rest from it on."""
    commas = np.concatenate(
        [
            low + np.flatnonzero(texts.data[low:high] == ord(","))
            for low, high in large.blocks(max(len(texts.data), 1), 4)
        ]
    )
    rows, first = np.unique(np.searchsorted(texts.offsets, commas, side="right") - 1, return_index=True)
    bounds = np.stack([texts.offsets[rows], commas[first], texts.offsets[rows + 1]], axis=1).ravel()
    parts = Strings(np.append(bounds, len(texts.data)), texts.data)  # of three for each row, the last lies between rows
    places = 3 * np.arange(len(rows))
    return rows, parts.take(places), parts.take(places + 1)


def _generations(language: Language, rest: Strings) -> Bool:
    """Whether what follows a comma is suffixes and numerals alone: Robert Downey, Jr."""
    known = language.suffixes | language.numerals
    alone = np.zeros(len(rest), np.bool_)
    for row in np.flatnonzero(np.diff(rest.offsets)).tolist():
        alone[row] = known.issuperset(rest[row].split())
    return alone


def build_shorts(listed: ListedForms) -> Made:
    """The columns of short forms."""
    ids = large.empty(len(listed.keys), np.int32)
    distinct = distinct_keys(listed.keys.view(np.int64), ids).view(np.uint64)
    size = min(len(ids), MOST * len(distinct))
    best = kernels.Grouped(
        *(large.zeros(len(distinct) + 1, np.int64), large.empty(size, np.int32), large.empty(size, np.int8)),
        *(large.empty(size, np.float32), large.zeros(len(distinct), np.int32)),
    )
    kept = kernels.best_bearers(ids, listed.rows, listed.forms, listed.weights, MOST, best)
    keys, place = table_of(distinct)
    slots = np.full(len(keys), -1, np.int32)
    slots[place] = np.arange(len(distinct), dtype=np.int32)
    columns = NameColumns
    return dict(
        [
            columns.short_hashes.holding(keys),
            columns.short_slots.holding(slots),
            columns.short_entities.holding(Ragged(best.indptr, best.rows[:kept])),
            columns.short_forms.holding(best.forms[:kept]),
            columns.short_weights.holding(best.weights[:kept]),
            columns.short_count.holding(best.counts),
        ]
    )
