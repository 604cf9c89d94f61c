"""Kernels over the candidates of mentions: the two best, pages, QIDs, lifetimes, and values of a table's row."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.dump.wikidata import YEAR
from namesake.kernels.search import first_at_least, holds
from namesake.kernels.simd import pointer, prefetch
from namesake.kernels.types import F32, F64, I8, I32, I64, RAGGED, U8, record

KEYS = types.Array(types.float64, 2, "C", readonly=True)
TOGETHER = 64
"""Mentions whose evidence is weighed together."""
SOON = 24  # candidates


@inner(types.boolean(KEYS, types.int64, types.int64))
def beats(keys, one, other):
    """Whether candidate `one` is better than `other`, which has a lower position: at the first key that differs."""
    for k in range(len(keys)):
        if keys[k, one] != keys[k, other]:
            return keys[k, one] > keys[k, other]
    return False


@kernel(types.UniTuple(types.int64[::1], 3)(I64, KEYS))
def top_two(offsets, keys):
    """Best and second candidate of each mention (-1: none), and the key that set them apart.

    The deciding key is `len(keys)` if all tie and the position decides, -1 if there is no second.
    """
    first = np.full(len(offsets) - 1, -1, np.int64)
    second = np.full(len(offsets) - 1, -1, np.int64)
    decided = np.full(len(offsets) - 1, -1, np.int64)
    for m in range(len(first)):
        for k in range(offsets[m], offsets[m + 1]):
            if first[m] < 0 or beats(keys, k, first[m]):
                second[m] = first[m]
                first[m] = k
            elif second[m] < 0 or beats(keys, k, second[m]):
                second[m] = k
        if second[m] >= 0:
            decided[m] = len(keys)
            for key in range(len(keys)):
                if keys[key, first[m]] != keys[key, second[m]]:
                    decided[m] = key
                    break
    return first, second, decided


@kernel(types.float64[::1](I64, F64, F64))
def largest_of(offsets, numbers, least):
    """The largest number of each mention's candidates, at least that of the mention."""
    largest = np.empty(len(least))
    for m in range(len(largest)):
        best = least[m]
        for c in range(offsets[m], offsets[m + 1]):
            best = numbers[c] if numbers[c] > best else best
        largest[m] = best
    return largest


LEAST_FAME = 0.01  # what is added to the fame of each candidate before the shares of candidates are computed
HALF_AGE = 2e7  # the QID for which `popularity` has 1 / 2


@kernel(types.float64[:, ::1](I64, I64, I64, F32, I32, I64, types.float64))
def popularity(offsets, rows, qids, fame, used, indptr, median):
    """Five numbers for each candidate, whose logarithms are scores; all are 1 for an entity that is not in the KB.

    The rows are: 1 + its fame; its share of the fame of all candidates of its mention; 1 + the number of statements
    that name it; 1 / (1 + QID / HALF_AGE); and (1 + its statements) / (1 + the `median`).
    """
    found = np.ones((5, len(rows)))
    for m in range(len(offsets) - 1):
        total = 0.0
        for c in range(offsets[m], offsets[m + 1]):
            soon = max(rows[min(c + SOON, len(rows) - 1)], 0)
            prefetch(pointer(fame), soon)
            prefetch(pointer(used), soon)
            prefetch(pointer(indptr), soon)
            if rows[c] >= 0:
                found[0, c] += fame[rows[c]]
                found[2, c] += used[rows[c]]
                found[3, c] = 1 / (1 + qids[c] / HALF_AGE)
                found[4, c] = (1 + indptr[rows[c] + 1] - indptr[rows[c]]) / (1 + median)
            total += found[0, c] - 1 + LEAST_FAME
        for c in range(offsets[m], offsets[m + 1]):
            if rows[c] >= 0:
                found[1, c] = (found[0, c] - 1 + LEAST_FAME) / total
    return found


@kernel(types.void(I64, types.float64[::1], types.float64[::1]))
def shares_of(offsets, weights, none):
    """Divide the weights of each mention's candidates, and its weight of `none`, by their sum."""
    for m in range(len(none)):
        total = 0.0
        for c in range(offsets[m], offsets[m + 1]):
            total += weights[c]
        total += none[m]
        none[m] /= total
        for c in range(offsets[m], offsets[m + 1]):
            weights[c] /= total


@kernel(types.boolean[::1](I64, F64, F64, types.float64))
def at_least(offsets, numbers, least, share):
    """Whether the number of each candidate is at least that of its mention, and this share of the largest one.

    If the largest number is, so is the second largest, with which the best candidate is compared.
    """
    reached = np.empty(len(numbers), np.bool_)
    for m in range(len(least)):
        best = second = -1
        for c in range(offsets[m], offsets[m + 1]):
            if best < 0 or numbers[c] > numbers[best]:
                best, second = c, best
            elif second < 0 or numbers[c] > numbers[second]:
                second = c
        for c in range(offsets[m], offsets[m + 1]):
            reached[c] = numbers[c] >= least[m] and numbers[c] >= share * numbers[best]
        if second >= 0 and reached[best]:
            reached[second] = True
    return reached


@kernel(types.void(types.float64[::1], F64, types.float64, I8, F64))
def add_part(total, numbers, above, kinds, weights):
    """Add to the score of each candidate what its number exceeds `above`, by the weight of its kind.

    Without `above` (-inf), the number itself counts. The last weight is that of unknown kinds (-1).
    """
    for c in range(len(total)):
        exceeds = numbers[c] if above == -np.inf else max(numbers[c] - above, 0.0)
        total[c] += weights[kinds[c] if kinds[c] >= 0 else len(weights) - 1] * exceeds


@kernel(types.void(types.float64[::1], I8, I8, KEYS))
def add_tables(total, kinds, classes, table):
    """Add to the score of each candidate the number of its kind and its class; the last kind is the unknown one."""
    for c in range(len(total)):
        total[c] += table[kinds[c] if kinds[c] >= 0 else len(table) - 1, classes[c]]


@kernel(types.void(I64, I8, KEYS, I64, F64, F64, KEYS, types.float64[::1], types.float64[::1]))
def weigh_evidence(offsets, kinds, values, source, above, of_nil, of_kinds, nil, total):
    """Write the weighted sum of the numbers of each mention for NIL, and for each candidate by its kind.

    Part p has the number `values[source[p], m]` of mention m, or what exceeds `above[p]` (-inf: the number itself). The
    first parts have the weights `of_nil`; the others have weights by kind, last those of unknown ones.
    """
    mentions, kind_count = len(offsets) - 1, of_kinds.shape[1]
    sums, numbers = np.empty((kind_count, TOGETHER)), np.empty(TOGETHER)
    for low in range(0, mentions, TOGETHER):
        count = min(TOGETHER, mentions - low)
        sums[:] = 0.0
        for m in range(count):
            nil[low + m] = 0.0
        for part in range(len(source)):
            row, least, kind_part = source[part], above[part], part - len(of_nil)
            for m in range(count):
                number = values[row, low + m]
                numbers[m] = number if least == -np.inf else max(number - least, 0.0)
            for m in range(count if kind_part < 0 else 0):
                nil[low + m] += of_nil[part] * numbers[m]
            for kind in range(kind_count if kind_part >= 0 else 0):
                weight = of_kinds[kind_part, kind]
                if weight != 0.0:
                    for m in range(count):
                        sums[kind, m] += weight * numbers[m]
        for m in range(count):
            for c in range(offsets[low + m], offsets[low + m + 1]):
                total[c] = sums[kinds[c] if kinds[c] >= 0 else kind_count - 1, m]


@kernel(types.int64[::1](U8, I64))
def parse_qids(data, offsets):
    """The number of each text `Q` + digits in Arrow's layout; -1 if the text is not a QID."""
    out = np.full(len(offsets) - 1, -1, np.int64)
    for i in range(len(out)):
        begin, end = offsets[i], offsets[i + 1]
        if not 2 <= end - begin <= 18 or data[begin] != 81 or data[begin + 1] == 48:
            continue
        number = np.int64(0)
        for at in range(begin + 1, end):
            digit = np.int64(data[at]) - 48
            if not 0 <= digit <= 9:
                number = np.int64(-1)
                break
            number = number * 10 + digit
        out[i] = number
    return out


class Stated(NamedTuple):
    """The statements of entities: pairs of property and value, and the words of values."""

    statements: Annotated[Any, RAGGED]
    """The pairs of each entity."""
    property: Annotated[Any, I32]
    """The property of each pair."""
    value: Annotated[Any, I32]
    """The value of each pair: an item, or ~row of a string."""
    labels: Annotated[Any, RAGGED]
    """The words of each item's label."""
    aliases: Annotated[Any, RAGGED]
    """The words of each item's aliases."""
    strings: Annotated[Any, RAGGED]
    """The words of each string."""


STATED = record(Stated)
AGREED = types.Tuple((types.boolean[::1], types.float64[::1], types.int32[::1], types.int64[::1]))


@inlined(types.boolean(RAGGED, types.int64, types.int32))
def has(lists, row, number):
    """Whether a row of ascending numbers contains a number."""
    return holds(lists.values, lists.indptr[row], lists.indptr[row + 1], number)


@inlined(types.float64(types.int64, types.int32, RAGGED, F64, F64, STATED))
def contained(text, value, words, unknown, weight, stated):
    """The share of a text's words, by their weight, that are in the label or the aliases of a value."""
    begin, end = words.indptr[text], words.indptr[text + 1]
    total, found = unknown[text], 0.0
    for j in range(begin, end):
        word = words.values[j]
        total += weight[word]
        if value < 0:
            found += weight[word] if has(stated.strings, ~value, word) else 0.0
        elif has(stated.labels, value, word) or has(stated.aliases, value, word):
            found += weight[word]
    if begin == end:
        return 0.0
    return found / total if found < total else 1.0


@kernel(AGREED(I64, I64, I64, RAGGED, RAGGED, RAGGED, F64, F64, STATED))
def agree(rows, said, properties, named, initialled, words, unknown, weight, stated):
    """For each candidate: whether it states a named value, the word share of its best value, that pair, their number.

    Candidate k is the entity `rows[k]` (-1: not in the KB) and is compared with the text `said[k]`. Row `said[k]` of
    `named` has the pairs that the text names, and that of `initialled` the pairs with its initials, which count as all
    words. Row `said[k]` of `words` has the text's words; its words that are not in the KB weigh `unknown[said[k]]`.
    Only statements of `properties` count. The first of equally good pairs is returned; -1 if there is none.
    """
    same, share = np.zeros(len(rows), np.bool_), np.zeros(len(rows))
    best, count = np.full(len(rows), np.int32(-1), np.int32), np.zeros(len(rows), np.int64)
    for k in range(len(rows)):
        row, text = rows[k], said[k]
        if row < 0:
            continue
        for at in range(stated.statements.indptr[row], stated.statements.indptr[row + 1]):
            pair = stated.statements.values[at]
            wanted = False
            for p in properties:
                wanted = wanted or p == stated.property[pair]
            if not wanted:
                continue
            count[k] += 1
            is_named = has(named, text, pair)
            found = 1.0
            if not is_named and not has(initialled, text, pair):
                found = contained(text, stated.value[pair], words, unknown, weight, stated)
            if best[k] < 0 or (is_named and not same[k]) or (is_named == same[k] and found > share[k]):
                same[k], share[k], best[k] = is_named, found, pair
    return same, share, best, count


ADULT, POSTHUMOUS, LIFE, OLD = 12, 2, 95, 75
"""Years of the lifetime that counts: it begins at 12 and ends two years after death; a birth alone stands for 95
years, a death alone for 75."""
DAYS_PER_YEAR = 365.25
DEFAULT_YEAR = 2015.0
"""The year of an article that has no date and names no year."""
DAYS, PRECISIONS = types.CPointer(types.int32), types.CPointer(types.int8)
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)


@inlined(types.float64(DAYS, PRECISIONS, types.int64))
def known_year(days, precision, row):
    """The year of an entity's date, NaN if it is unknown or less precise than a year."""
    return 1970 + days[row] / DAYS_PER_YEAR if row >= 0 and precision[row] >= YEAR else np.nan


@kernel(types.float64[::1](I64, I64, I64, FLAGS, I64, F64, F64, I32, I8, I32, I8))
def years_apart(article, offsets, rows, counted, indptr, years, dated, births, birth_exact, deaths, death_exact):
    """Years between each candidate's lifetime and the nearest year of its article; 0 for mentions not in `counted`.

    The years of article a are those in its text, `years[indptr[a]:indptr[a + 1]]`, and that of its date `dated[a]` (NaN
    without one), or DEFAULT_YEAR. Births and deaths are days from 1970-01-01, each with their precisions; columns may
    be empty.
    """
    gap, year_at = np.zeros(len(rows)), pointer(years)
    birth, birth_precision = pointer(births), pointer(birth_exact)
    death, death_precision = pointer(deaths), pointer(death_exact)
    for m in range(len(article)):
        for k in range(offsets[m], offsets[m + 1]):
            soon = rows[min(k + SOON, len(rows) - 1)]
            prefetch(birth, soon)
            prefetch(birth_precision, soon)
            prefetch(death, soon)
            prefetch(death_precision, soon)
        if not counted[m]:
            continue
        a = article[m]
        begin, end = indptr[a], indptr[a + 1]
        for k in range(offsets[m], offsets[m + 1]):
            born = known_year(birth, birth_precision, rows[k] if len(births) > 0 else -1)
            died = known_year(death, death_precision, rows[k] if len(deaths) > 0 else -1)
            if np.isnan(born) and np.isnan(died):
                continue
            low = died - OLD if np.isnan(born) else born + ADULT
            high = born + LIFE if np.isnan(died) else died + POSTHUMOUS
            nearest = np.inf
            if not np.isnan(dated[a]):
                nearest = max(0.0, dated[a] - high, low - dated[a])
            after = first_at_least(year_at, begin, end, low)
            if after < end:
                nearest = min(nearest, max(0.0, years[after] - high))
            if after > begin:
                nearest = min(nearest, low - years[after - 1])
            gap[k] = nearest if nearest < np.inf else max(0.0, DEFAULT_YEAR - high, low - DEFAULT_YEAR)
    return gap
