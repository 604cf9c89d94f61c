"""How far the statements of candidates agree with what a table says of a person."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.types import F64, I32, I64, RAGGED, record


class Stated(NamedTuple):
    """What entities state: pairs of property and value, and the words of values."""

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
    """Whether a number stands in a row of ascending numbers."""
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
    """The share of a text's words, by their weight, that a value has in its label or among its aliases."""
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
    """Whether a value is the one named, the share of the words that one has, which pair it is, how many there are.

    Candidate k is the entity `rows[k]` (-1: unknown) and is compared with the text `said[k]`. The pairs that it names
    are row `said[k]` of `named`, those whose initials it is that of `initialled`, which counts as all words. Its words
    are row `said[k]` of `words`, each with its weight, beside words that nobody has and that weigh `unknown[said[k]]`.
    Only statements of `properties` count. Among pairs that agree as much the first counts; -1: none is stated.
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
