"""Short forms: surnames, mononyms, first and last of longer names, heads of kings' names, and who bears them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from namesake.kb.columns import Ragged, Strings, concatenate
from namesake.kb.declare import Made
from namesake.kb.forms import FORMS, OF_AN_ALIAS
from namesake.kb.layout import NameColumns
from namesake.kb.names import hashes
from namesake.kb.spelling import normalise_many
from namesake.kernels.columns.group import distinct_keys
from namesake.kernels.names import forms as kernels
from namesake.kernels.names.index import token_hashes
from namesake.kernels.tables import table_of
from namesake.language import Language

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]
Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
UInt64 = npt.NDArray[np.uint64]

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
    """Every token of every name."""


@cache
def parts(language: Language) -> kernels.Parts:
    """The words that names are cut at."""
    return kernels.Parts(
        titles=hashes(language.title_words),
        suffixes=hashes(language.suffixes),
        numerals=hashes(language.numerals),
        generations=hashes(language.generations),
        particles=hashes(language.particles),
        ends=hashes(language.head_ends),
    )


def list_forms(
    language: Language, labels: Strings, aliases: Ragged, alias_texts: Strings, shortened: Bool, fame: Float64
) -> ListedForms:
    """The short forms of the labels and aliases of the entities that are `shortened`."""
    texts = concatenate([labels, alias_texts])
    before, behind = at_comma(texts)
    heads, rest, whole = normalise_many(before), normalise_many(behind), normalise_many(texts)
    counts = (np.diff(before.offsets) < np.diff(texts.offsets)) & ~_generations(language, rest)
    names = kernels.Named(whole.data, whole.offsets, heads.data, heads.offsets, counts, aliases.indptr, aliases.values)
    size = kernels.MOST_FORMS * (len(labels) + len(aliases.values))  # what is not touched takes no memory
    found = kernels.Found(
        *(np.empty(size, np.uint64), np.empty(size, np.int32), np.empty(size, np.int8), np.empty(size, np.float64)),
        *(np.empty(len(labels), np.uint64), np.empty(len(labels), np.uint64)),
        np.empty(kernels.LONGEST * len(labels), np.uint64),
    )
    weights = np.array([form.weight for form in FORMS])
    entries, between = kernels.list_forms(names, parts(language), shortened, fame, weights, OF_AN_ALIAS, found)
    return ListedForms(
        *(found.keys[:entries], found.rows[:entries], found.forms[:entries], found.weights[:entries]),
        *(found.firsts, found.lasts, found.middles[:between], token_hashes(whole.data, whole.offsets)),
    )


def at_comma(texts: Strings) -> tuple[Strings, Strings]:
    """What stands before the first comma of each text, and the rest from the comma on."""
    rows = np.searchsorted(texts.offsets, np.flatnonzero(texts.data == ord(",")), side="right") - 1
    rows, first = np.unique(rows, return_index=True)
    comma = texts.offsets[1:].copy()
    comma[rows] = np.flatnonzero(texts.data == ord(","))[first]
    bounds = np.empty(2 * len(texts) + 1, np.int64)
    bounds[0::2], bounds[1::2] = texts.offsets, comma
    halves = Strings(bounds, texts.data)
    return halves.take(np.arange(0, 2 * len(texts), 2)), halves.take(np.arange(1, 2 * len(texts), 2))


def _generations(language: Language, rest: Strings) -> Bool:
    """Whether what follows a comma is suffixes and numerals alone: Robert Downey, Jr."""
    known = language.suffixes | language.numerals
    alone = np.zeros(len(rest), np.bool_)
    for row in np.flatnonzero(np.diff(rest.offsets)).tolist():
        alone[row] = known.issuperset(rest[row].split())
    return alone


def build_shorts(listed: ListedForms) -> Made:
    """The columns of short forms."""
    ids = np.empty(len(listed.keys), np.int32)
    distinct = distinct_keys(listed.keys.view(np.int64), ids).view(np.uint64)
    size = min(len(ids), MOST * len(distinct))
    best = kernels.Grouped(
        *(np.zeros(len(distinct) + 1, np.int64), np.empty(size, np.int32), np.empty(size, np.int8)),
        *(np.empty(size, np.float32), np.zeros(len(distinct), np.int32)),
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
            columns.short_entities.holding(Ragged(best.indptr, best.rows[:kept].copy())),
            columns.short_forms.holding(best.forms[:kept].copy()),
            columns.short_weights.holding(best.weights[:kept].copy()),
            columns.short_count.holding(best.counts),
        ]
    )
