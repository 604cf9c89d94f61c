"""Plain Python twins of the kernels that find names: hypotheses, mentions, candidates, the best set of spans."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from namesake.kernels.names import tokens as t
from namesake.kernels.names.lattice import MOST_TOKENS, Texts


def hypotheses(
    texts: Texts, text: int, names: set[tuple[int, ...]], shorts: set[tuple[int, ...]]
) -> list[tuple[int, int]]:
    """First token and end of every known run in a text that is not part of a longer name written with capitals."""
    begin, stop = (int(number) for number in texts.indptr[text : text + 2])
    capital = [bool(mark & t.HAS_CAPITAL) for mark in texts.marks]
    runs = []
    for first in range(begin, stop):
        if not (capital[first] or (texts.styles[text] == t.LOWER and not texts.classes[first] & t.FUNCTION)):
            continue
        for end in range(first + 1, min(first + MOST_TOKENS, stop) + 1):
            if end - 1 > first and texts.gaps[end - 1] != t.SOFT:
                break
            run = tuple(int(one) for one in texts.hashes[first:end])
            only_a_word = end - first == 1 and texts.classes[first] & t.FUNCTION and not texts.bits[first] & t.IS_UPPER
            if (run in names or run in shorts) and not only_a_word:
                runs.append((first, end, run in names))
    return [(first, end) for first, end, _ in runs if not any(_covers(texts, one, (first, end), first) for one in runs)]


def _covers(texts: Texts, longer: tuple[int, int, bool], run: tuple[int, int], begin: int) -> bool:
    """Whether a longer name written with capitals contains a run."""
    first, end, is_name = longer
    fits = [
        mark & t.HAS_CAPITAL or bits & t.IS_NUMBER or classes & (t.FUNCTION | t.PARTICLE)
        for mark, bits, classes in zip(
            texts.marks[first:end], texts.bits[first:end], texts.classes[first:end], strict=True
        )
    ]
    is_written_so = is_name and all(fits) and texts.marks[end - 1] & t.HAS_CAPITAL
    opens_sentence = texts.marks[first] & t.AT_START and texts.classes[first] & t.FUNCTION
    contains = first <= run[0] and run[1] <= end and end - first > run[1] - run[0]
    return bool(is_written_so and contains and (first == begin or not opens_sentence))


def mentions(indptr: Any, keys: Any) -> tuple[list[int], list[int]]:
    """The mention of each hypothesis, and how many mentions the texts have up to each."""
    number: dict[tuple[int, int], int] = {}
    of: list[int] = []
    offsets = [0]
    for text in range(len(indptr) - 1):
        of += [number.setdefault((text, int(key)), len(number)) for key in keys[indptr[text] : indptr[text + 1]]]
        offsets.append(len(number))
    return of, offsets


def best_sum(spans: list[tuple[int, int]], scores: list[float]) -> float:
    """The largest sum of scores of spans that do not overlap, by trying all sets."""
    sums = [0.0]
    for size in range(1, len(spans) + 1):
        sums += [
            sum(scores[k] for k in chosen)
            for chosen in combinations(range(len(spans)), size)
            if all(spans[a][1] <= spans[b][0] or spans[b][1] <= spans[a][0] for a, b in combinations(chosen, 2))
        ]
    return max(sums)
