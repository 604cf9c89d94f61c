"""Agreement of the statements of candidates with the values of a table's row."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.types import F64, I32, I64, RAGGED, record


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
    low, high = lists.indptr[row], lists.indptr[row + 1]
    while low < high:
        middle = (low + high) // 2
        if lists.values[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low < lists.indptr[row + 1] and lists.values[low] == number


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
