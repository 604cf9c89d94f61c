"""Log-odds of a row's values against the statements of candidates: how much likelier the value is for the right entity.

    agrees      log(m / u)                 m: how often the record of the right person has what a table says
    in part     half of that, at most 1    u: how often any record has it, counted in the KB
    differs     log((1 - m) / (1 - u))     0 if the candidate states nothing of the kind, or a country of which the
                                           named one is a part or a successor (`value_lookup.compatible_values`)

The numbers m are reasoned, not fitted. A record of n values lacks one with the probability 0.25 / n. A value agrees if
it is named as the cell says; it agrees in part if its label or aliases contain the cell's words.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
import pyarrow as pa

from namesake.arrays import Bool, Float64, Int32, Int64, indptr, take_rows, text_buffers
from namesake.articles.days import Day, day_number, read_day
from namesake.batch import Batch
from namesake.kb.ids import QID
from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB
from namesake.kernels.dump.wikidata import DAY, INSTANCE_OF, OCCUPATION, YEAR
from namesake.kernels.kinds import PERSON
from namesake.kernels.link.candidate_tables import Stated, agree
from namesake.kernels.types import Ragged
from namesake.kinds import declared, kinds
from namesake.scorers import value_lookup
from namesake.scorers.life_dates import YEAR_NUMBER
from namesake.scorers.value_lookup import named_values
from namesake.scorers.word_overlap import rarity

T = TypeVar("T", bound=Hashable)
ONE = 0.92  # m of a property that usually has one value
MANY = 0.25  # 1 - m of the others for a record with one value; with n values it is n times less
ENOUGH = 5  # the largest n that counts
DATE = 0.96  # m of the year of a birth or death
YEARS = 80.0  # 1 / u of the year of a birth or death
MOST = 7.0  # the most that one value counts, and what an equal day counts
HALF = 0.5  # the share of a value's words, by their rarity, from which it agrees in part
ERRORS = 1000  # one record among this many may state a wrong value: "American" is not a country
PART = 1.0  # the most that agreeing in part counts: all aliases are compared together, and some are misleading
TYPELESS = 0.05  # 1 - m of a type for a record with one occupation; with n occupations it is n times less


def odds_by_property(batch: Batch, kb: KB) -> dict[str, Float64]:
    """For each property of the rows, what its values add to the score of every candidate."""
    found: dict[str, tuple[list[int], list[str]]] = {}
    for mention, row in zip(batch.mention_of_row.tolist(), batch.table_rows or (), strict=False):
        for called, value in row.values:
            mentions, texts = found.setdefault(called, ([], []))
            if mention >= 0:  # the row has a name
                mentions.append(mention)
                texts.append(value.strip())
    odds_of: dict[str, Float64] = {}
    for called, (mentions, texts) in found.items():
        properties = value_lookup.find_property(kb, called)
        if properties is None:
            continue
        distinct, which = _distinct(texts)
        taken, candidate = take_rows(batch.offsets, np.array(mentions, np.int64))
        said = np.repeat(which, np.diff(taken))
        odds_of[called] = np.zeros(len(batch.rows))
        for numbers, of in properties.items():  # candidates are compared by the properties of their kind
            own = np.isin(batch.kinds[candidate], of)
            odds = _date_odds if value_lookup.is_date(numbers) else _statement_odds
            if own.any():
                added = odds(batch, numbers, distinct, batch.rows[candidate[own]], said[own])
                np.add.at(odds_of[called], candidate[own], added)
    return odds_of


def _statement_odds(batch: Batch, numbers: tuple[int, ...], texts: list[str], rows: Int64, said: Int64) -> Float64:
    """The odds of values that are items or strings: candidate `rows[k]` is compared with `texts[said[k]]`."""
    kb = batch.kb
    words, unknown = _words(batch, texts)
    named = named_values(kb, numbers, texts)
    in_places = not declared("within").isdisjoint(numbers)
    if in_places:
        named = value_lookup.with_parts(kb, numbers, named, texts)
    is_wordless = np.diff(words.indptr) == 0
    short = [text if wordless else "" for text, wordless in zip(texts, is_wordless.tolist(), strict=True)]
    initialled = value_lookup.initialled_values(kb, numbers, short)
    compared = np.ascontiguousarray(rows), said, np.array(numbers, np.int64)
    pairs = _ragged(named), _ragged(initialled)
    same, share, best, count = agree(*compared, *pairs, words, unknown, rarity(kb), _stated(kb))
    is_unknown = np.diff([one.indptr for one in pairs]).sum(axis=0) == 0
    mute = is_wordless & is_unknown & ~np.array([bool(QID.fullmatch(text)) for text in texts])
    stating = kb.pair_count[np.maximum(best, 0)] if len(kb) else np.zeros(len(best))
    stating_named = np.array([kb.pair_count[one].sum() for one in named])
    stating = np.where(same & in_places, stating_named[said], stating)
    chance = np.clip(stating / max(_entities_stating(kb, numbers), 1) if len(kb) else share, 1e-6, 0.99)
    right, part = 1 - MANY / np.clip(count, 1, ENOUGH), np.full(len(share), PART)
    if numbers[0] in declared("one_value"):  # the name of another value does not agree: Guinea, Papua New Guinea
        right = np.full(len(share), ONE)
        part = np.where((stating_named[said] * ERRORS > stating) | (share < 1), 0.0, PART)
    odds = _odds(same, share, chance, right, part, (best < 0) | mute[said])
    differs = np.flatnonzero(odds < 0)
    if numbers[0] in declared("countries") and len(differs):
        own_words = np.split(words.values, words.indptr[1:-1])
        compatible = value_lookup.compatible_values(kb, numbers, named, own_words)
        odds[differs[_stating(kb, rows[differs], said[differs], numbers, compatible)[0]]] = 0.0
    return odds


def _date_odds(batch: Batch, numbers: tuple[int, ...], texts: list[str], rows: Int64, said: Int64) -> Float64:
    """The odds of dates, such as of birth or foundation: the year, and the day if both sides have it.

    If the KB has no date of an entity that is not a person, a year in its description may agree. Only a year at the
    beginning of the description may differ.
    """
    kb, begins = batch.kb, not declared("begins").isdisjoint(numbers)
    column, precision = (kb.birth, kb.birth_precision) if begins else (kb.death, kb.death_precision)
    days = [read_day(text) or Day(0) for text in texts]
    year, _, day = np.array(days, np.int64).reshape(-1, 3)[said].T
    number = np.array([day_number(text) for text in texts])[said]
    at = np.where(rows >= 0, rows, 0)
    stated, exact = column[at], precision[at]
    off = np.abs(stated.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970 - year)
    full = (exact >= DAY) & (day > 0) & (off == 0)
    same = full & (stated == number)
    agreed, differs = np.log(DATE * YEARS), np.log((1 - DATE) / (1 - 1 / YEARS))
    odds = np.select([same, full, off == 0, off == 1], [MOST, agreed / 2, agreed, 0.0], differs)
    odds = np.where((rows < 0) | (exact < YEAR) | (year == 0), 0.0, odds)
    undated = np.flatnonzero((rows >= 0) & (exact < YEAR) & (year > 0) & (kb.kind[at] != PERSON) & begins)
    texts = kb.descriptions.take(rows[undated]).arrow().to_pylist()
    for place, text in zip(undated.tolist(), texts, strict=True):  # "1997 film", "company founded in 1976"
        if first := YEAR_NUMBER.search(text):
            found = str(year[place]) in YEAR_NUMBER.findall(text)
            near = abs(int(first[0]) - year[place]) <= 1 or first.start() > 0
            odds[place] = agreed if found else 0.0 if near else differs
    return odds


def type_odds(batch: Batch, kb: KB) -> Float64:
    """What the rows' types add to the score of every candidate.

    An entity has the classes (P31) and the occupations (P106) that it states, and the first class of its kind.
    """
    asked = [(int(batch.mention_of_row[at]), row.types) for at, row in enumerate(batch.table_rows or ()) if row.types]
    asked = [(at, types) for at, types in asked if at >= 0]
    distinct, which = _distinct([types for _, types in asked])
    lists = [np.unique(np.concatenate(named_values(kb, (INSTANCE_OF, OCCUPATION), types))) for types in distinct]
    is_class = np.array([bool((kb.pair_property[one] == INSTANCE_OF).any()) or not len(one) for one in lists], np.bool_)
    roots = {kind.root[0]: kind for kind in kinds() if kind.root}
    wanted = [[roots[one].number for one in types if one in roots] for types in distinct]
    of_kinds = [sum(kb.manifest.kinds.get(kinds()[one].name, 0) for one in some) for some in wanted]
    stating = np.maximum([kb.pair_count[one].sum() for one in lists], of_kinds)
    share = np.clip(stating / max(len(kb), 1), 1e-6, 0.99)
    taken, candidate = take_rows(batch.offsets, np.array([at for at, _ in asked], np.int64))
    said, rows = np.repeat(which, np.diff(taken)), batch.rows[candidate]
    works, jobs = _stating(kb, rows, said, (OCCUPATION,), lists)
    same = works | _stating(kb, rows, said, (INSTANCE_OF,), lists)[0]
    for at, some in enumerate(wanted):
        same |= (said == at) & np.isin(batch.kinds[candidate], some)
    right = 1 - TYPELESS / np.where(is_class[said], 1, np.clip(jobs, 1, ENOUGH))
    silent = (rows < 0) | (~is_class[said] & (jobs == 0))  # an occupation is asked for, and none is known
    added, none = np.zeros(len(batch.rows)), np.zeros(len(said))
    added[candidate] = _odds(same, none, share[said], right, none, silent)
    return added


def _stating(kb: KB, rows: Int64, said: Int64, numbers: tuple[int, ...], pairs: list[Int32]) -> tuple[Bool, Int64]:
    """Whether each entity states one of the pairs `said`, and how many statements of these properties it has."""
    none = Ragged(np.zeros(len(pairs) + 1, np.int64), np.empty(0, np.int32))
    asked = np.ascontiguousarray(rows), said, np.array(numbers, np.int64), _ragged(pairs), none, none
    same, _, _, count = agree(*asked, np.zeros(len(pairs)), rarity(kb), _stated(kb))
    return same, count


def _odds(same: Bool, share: Float64, chance: Float64, right: Float64, part: Float64, silent: Bool) -> Float64:
    """The log-odds of values that agree, agree in part, or differ; 0 if one side has no value."""
    agreed = np.clip(np.log(right / chance), 0.0, MOST)
    differs = np.minimum(np.log((1 - right) / (1 - np.minimum(chance, right))), 0.0)
    in_part = np.minimum(agreed / 2, part)
    return np.where(silent, 0.0, np.where(same, agreed, np.where(share >= HALF, in_part, differs)))


def _words(batch: Batch, texts: Sequence[str]) -> tuple[Ragged, Float64]:
    """The words of each text that are in the KB, and how many are not: those count as the rarest."""
    kb = batch.kb
    found = batch.lexicon.analyse(*text_buffers(pa.array(texts, pa.large_string())))
    tokens = [{word for word in normalise(text).split() if word not in kb.language.stop_words} for text in texts]
    row = np.repeat(np.arange(len(texts)), np.diff(found.indptr))
    pairs = np.unique(np.column_stack([row, found.word]), axis=0)
    unknown = np.array(list(map(len, tokens))) - np.bincount(pairs[:, 0], minlength=len(texts))
    # words that the stemmer reduces to one letter do not count: "US" and "U.K." would share it
    long = np.diff(kb.words.offsets)[found.word] > 1 if len(found.word) else np.empty(0, np.bool_)
    return Ragged(indptr(long)[found.indptr], found.word[long]), np.maximum(unknown, 0).astype(np.float64)


def _ragged(rows: Sequence[Int32]) -> Ragged:
    """Lists of pairs as a ragged array."""
    return Ragged(indptr([*map(len, rows)]), np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32))


def _distinct(values: Sequence[T]) -> tuple[list[T], Int64]:
    """The distinct values in order of appearance, and the number of each value among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), np.array([places[value] for value in values], np.int64)


@lru_cache(maxsize=4)
def _stated(kb: KB) -> Stated:
    columns = (kb.statements, kb.words_item, kb.words_item_aliases, kb.words_string)
    statements, labels, aliases, strings = (Ragged(one.indptr, one.values) for one in columns)
    return Stated(statements, kb.pair_property, kb.pair_value, labels, aliases, strings)


@lru_cache(maxsize=256)
def _entities_stating(kb: KB, numbers: tuple[int, ...]) -> int:
    """How many entities state one of these properties."""
    return len(np.unique(value_lookup.stated(kb, numbers)[0]))
