"""Values of a row against the statements of candidates, as odds: how much likelier the value is if it is the one.

    agrees      log(m / u)                 m: how often the right person's record has what a table says
    in part     half of that, at most 1    u: how often anybody's has, counted in the KB
    differs     log((1 - m) / (1 - u))     0 where the candidate states nothing of the kind, or a country of which the
                                           named one is a part or a successor (`values.compatible_values`)

The numbers m are reasoned, not fitted: records are true, but they seldom have all of a person's occupations. Of n
values, one is missing with the probability 0.25 / n. A value agrees that is called as the cell says; one that has the
cell's words in its label or among its aliases agrees in part.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pyarrow as pa

from namesake.arrays import Bool, Float64, Int32, Int64, indptr, take_rows, text_buffers
from namesake.articles.days import Day, read_day
from namesake.batch import Batch
from namesake.kb.dates import DAY, YEAR
from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB
from namesake.kernels.link.agree import Stated, agree
from namesake.kernels.types import Ragged
from namesake.reconciling.properties import BIRTH, INSTANCE, OCCUPATION, Property
from namesake.reconciling.values import compatible_values, initialled_values, is_qid, named_values
from namesake.scorers.overlap import rarity

T = TypeVar("T", bound=Hashable)
ONE = 0.92
"""m of a property of which people have one value, as a rule."""
MANY = 0.25
"""1 - m of the others for a record with one value; with n values it is so much less likely to lack the one told."""
ENOUGH = 5
"""More values than so many make no difference."""
DATE = 0.96
"""m of the year of a birth or death."""
YEARS = 80.0
"""Among so many years anybody may be born: 1 / u of a date."""
MOST = 7.0
"""No single value counts for more."""
SAME_DAY = 7.0
"""What the very day counts."""
HALF = 0.5
"""The share of a value's words, by their rarity, from which it agrees in part."""
SLIPS = 1000
"""Among so many records one may state a thing of such a name by mistake: "American" is not a country."""
PART = 1.0
"""What agreeing in part counts for at most: the words of all aliases are one heap, in which Canada is British."""
TYPELESS = 0.05
"""1 - m of the type of a whole column for a record with one occupation; with n of them it is n times less likely."""
_NONE = np.empty(0, np.int32)


class Told:
    """The values that the rows of a batch tell of one property: row `query[i]` tells `texts[i]`."""

    def __init__(self, property: Property, query: Sequence[int], texts: Sequence[str]) -> None:
        self.property = property
        self.texts, self.which = _distinct(texts)
        self.query = np.asarray(query, np.int64)

    def evidence(self, batch: Batch, mention: Int64) -> Float64:
        """What they add to the score of every candidate; `mention` is that of each row, -1 where it has none."""
        asked = mention[self.query] >= 0
        taken, candidate = take_rows(batch.offsets, mention[self.query[asked]])
        said = np.repeat(self.which[asked], np.diff(taken))
        odds = self._dates if self.property.is_date else self._statements
        added = np.zeros(len(batch.rows))
        np.add.at(added, candidate, odds(batch, batch.rows[candidate], said))
        return added

    def _statements(self, batch: Batch, rows: Int64, said: Int64) -> Float64:
        """The odds of values that are items or strings."""
        kb, property = batch.kb, self.property
        words, unknown = _words(batch, self.texts)
        named = named_values(kb, property.numbers, self.texts)
        is_named, is_wordless = np.diff(named.indptr) > 0, np.diff(words.indptr) == 0
        short = [text if wordless else "" for text, wordless in zip(self.texts, is_wordless.tolist(), strict=True)]
        initialled = initialled_values(kb, property.numbers, short)
        same, share, best, count = agree(
            np.ascontiguousarray(rows),
            said,
            np.array(property.numbers, np.int64),
            named,
            initialled,
            words,
            unknown,
            rarity(kb),
            _stated(kb),
        )
        mute = is_wordless & ~is_named & (np.diff(initialled.indptr) == 0) & ~np.array(list(map(is_qid, self.texts)))
        shares = kb.pair_count[np.maximum(best, 0)] / max(_bearers(kb, property.numbers), 1) if len(kb) else share
        chance = np.clip(shares, 1e-6, 0.99)
        lacking = 1 - MANY / np.minimum(np.maximum(count, 1), ENOUGH)
        right = np.full(len(share), ONE) if property.has_one_value else lacking
        part = np.full(len(share), PART)
        if property.has_one_value:  # another's name is no reason for this one: Guinea for Papua New Guinea
            anothers = _bearers_of(kb, named)[said] * SLIPS > kb.pair_count[np.maximum(best, 0)] if len(kb) else False
            part = np.where(anothers | (share < 1), 0.0, PART)
        odds = _odds(same, share, chance, right, part, (best < 0) | mute[said])
        return self._compatible(kb, odds, rows, said, named, words) if property.is_country else odds

    def _compatible(self, kb: KB, odds: Float64, rows: Int64, said: Int64, named: Ragged, words: Ragged) -> Float64:
        """The odds, but 0 for a country that differs and is compatible with the named one (`compatible_values`)."""
        differs = np.flatnonzero(odds < 0)
        if not len(differs):
            return odds
        compatible = compatible_values(kb, self.property.numbers, named, words)
        odds[differs[_stating(kb, rows[differs], said[differs], self.property.numbers, compatible)[0]]] = 0.0
        return odds

    def _dates(self, batch: Batch, rows: Int64, said: Int64) -> Float64:
        """The odds of dates of life: the year, and the day where both sides know it."""
        kb, is_birth = batch.kb, self.property.numbers[0] == BIRTH
        column, precision = (kb.birth, kb.birth_precision) if is_birth else (kb.death, kb.death_precision)
        days = [read_day(text) or Day(0) for text in self.texts]
        year, month, day = np.array(days, np.int64).reshape(-1, 3)[said].T
        at = np.where(rows >= 0, rows, 0)
        stated, exact = column[at].astype("datetime64[D]"), precision[at]
        own_year = stated.astype("datetime64[Y]").astype(np.int64) + 1970
        own_month = stated.astype("datetime64[M]").astype(np.int64) % 12 + 1
        own_day = (stated - stated.astype("datetime64[M]")).astype(np.int64) + 1
        off = np.abs(own_year - year)
        full = (exact >= DAY) & (day > 0) & (off == 0)
        same = full & (own_month == month) & (own_day == day)
        agreed, differs = np.log(DATE * YEARS), np.log((1 - DATE) / (1 - 1 / YEARS))
        odds = np.select([same, full, off == 0, off == 1], [SAME_DAY, agreed / 2, agreed, 0.0], differs)
        return np.where((rows < 0) | (exact < YEAR) | (year == 0), 0.0, odds)


class AskedTypes:
    """The types that the rows of a batch ask for: row `query[i]` asks for entities that have one of `types[i]`."""

    def __init__(self, query: Sequence[int], types: Sequence[tuple[str, ...]]) -> None:
        self.query, self.types = np.asarray(query, np.int64), types

    def evidence(self, batch: Batch, mention: Int64) -> Float64:
        """What the types add to the score of every candidate: one of them is the candidate's, or none is.

        An entity has the classes (P31) and the occupations (P106) that it states. If an occupation is asked for, an
        entity without any is silent.
        """
        kb, asked = batch.kb, mention[self.query] >= 0
        distinct, which = _distinct(self.types)
        lists = [_typed(kb, one) for one in distinct]
        pairs = Ragged(indptr(np.array(list(map(len, lists)))), np.concatenate([_NONE, *lists]))
        is_class = np.array([bool((kb.pair_property[one] == INSTANCE).any()) or not len(one) for one in lists])
        share = np.clip([kb.pair_count[one].sum() / max(len(kb), 1) for one in lists], 1e-6, 0.99)
        taken, candidate = take_rows(batch.offsets, mention[self.query[asked]])
        said, rows = np.repeat(which[asked], np.diff(taken)), batch.rows[candidate]
        works, jobs = _stating(kb, rows, said, (OCCUPATION,), pairs)
        same = works | _stating(kb, rows, said, (INSTANCE,), pairs)[0]
        right = 1 - TYPELESS / np.where(is_class[said], 1, np.clip(jobs, 1, ENOUGH))
        silent = (rows < 0) | (~is_class[said] & (jobs == 0))
        added = np.zeros(len(batch.rows))
        added[candidate] = _odds(same, np.zeros(len(said)), share[said], right, np.zeros(len(said)), silent)
        return added


def _typed(kb: KB, types: Sequence[str]) -> Int32:
    """The pairs by which an entity has one of these types."""
    return np.unique(named_values(kb, (INSTANCE, OCCUPATION), types).values)


def _stating(kb: KB, rows: Int64, said: Int64, numbers: tuple[int, ...], pairs: Ragged) -> tuple[Bool, Int64]:
    """Whether each entity states one of the pairs `said`, and how many statements of these properties it has."""
    none = Ragged(np.zeros(len(pairs.indptr), np.int64), _NONE)
    asked = np.ascontiguousarray(rows), said, np.array(numbers, np.int64), pairs, none, none
    same, _, _, count = agree(*asked, np.zeros(len(pairs.indptr) - 1), rarity(kb), _stated(kb))
    return same, count


def _odds(same: Bool, share: Float64, chance: Float64, right: Float64, part: Float64, silent: Bool) -> Float64:
    """The log-odds of values that agree, agree in part, or differ; 0 where one side is silent."""
    agreed = np.clip(np.log(right / chance), 0.0, MOST)
    differs = np.minimum(np.log((1 - right) / (1 - np.minimum(chance, right))), 0.0)
    in_part = np.minimum(agreed / 2, part)
    return np.where(silent, 0.0, np.where(same, agreed, np.where(share >= HALF, in_part, differs)))


def _bearers_of(kb: KB, named: Ragged) -> Int64:
    """How many state what each text names."""
    before = indptr(kb.pair_count[named.values])
    counts: Int64 = before[named.indptr[1:]] - before[named.indptr[:-1]]
    return counts


def _words(batch: Batch, texts: Sequence[str]) -> tuple[Ragged, Float64]:
    """The words of each text that the KB has, and how many it has not: those are as rare as one can be.

    What the stemmer leaves a single letter of is no word: "US" and "U.K." would have it in common.
    """
    kb = batch.kb
    found = batch.lexicon.analyse(*text_buffers(pa.array(texts, pa.large_string())))
    unknown = np.array([len(_tokens(kb, text)) for text in texts]) - _distinct_words(found.indptr, found.word)
    long = np.diff(kb.words.offsets)[found.word] > 1 if len(found.word) else np.empty(0, np.bool_)
    return Ragged(indptr(long)[found.indptr], found.word[long]), np.maximum(unknown, 0).astype(np.float64)


def _distinct(texts: Sequence[T]) -> tuple[list[T], Int64]:
    """Each text once, and which of them every text is."""
    places: dict[T, int] = {}
    which = np.array([places.setdefault(text, len(places)) for text in texts], np.int64)
    return list(places), which


def _tokens(kb: KB, text: str) -> set[str]:
    """The words of a value, as far as they mean something."""
    return {word for word in normalise(text).split() if word not in kb.language.stop_words}


def _distinct_words(offsets: Int64, words: Int32) -> Int64:
    """How many different words each row has."""
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    pairs = np.unique(np.column_stack([row, words]), axis=0)
    return np.bincount(pairs[:, 0], minlength=len(offsets) - 1)


@lru_cache(maxsize=4)
def _stated(kb: KB) -> Stated:
    lists = [Ragged(one.indptr, one.values) for one in (kb.statements, kb.words_item, kb.words_item_aliases)]
    strings = Ragged(kb.words_string.indptr, kb.words_string.values)
    return Stated(lists[0], kb.pair_property, kb.pair_value, lists[1], lists[2], strings)


@lru_cache(maxsize=256)
def _bearers(kb: KB, numbers: tuple[int, ...]) -> int:
    """How many entities state one of these properties."""
    stated = np.isin(kb.pair_property, numbers)[kb.statements.values]
    before = indptr(stated)[kb.statements.indptr]
    return int((np.diff(before) > 0).sum())
