"""Vectors in half precision, which Numba does not support: conversion a row at a time, cosines and means."""

from typing import Any

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.search import first_at_least, holds
from namesake.kernels.types import I32, I64

TEXTS = types.Array(types.float32, 2, "C")
U16 = types.Array(types.uint16, 2, "C", readonly=True)
ROW = types.Array(types.float32, 1, "C")
FAST: dict[str, Any] = {"fastmath": {"reassoc", "contract", "nsz"}}
"""Allows sums in any order; infinities and NaN do not occur here."""

SIGN, REST = np.uint32(0x8000), np.uint32(0x7FFF)
REBIAS = np.float32(2.0**112)
"""2 to the difference of the exponent biases of the two formats, 127 and 15."""


@inner(types.void(U16, types.int64, ROW))
def widen(vectors, row, wide):
    """Convert a row to single precision in `wide`, exactly; all numbers must be finite."""
    bits = wide.view(np.uint32)
    for j in range(len(wide)):
        half = np.uint32(vectors[row, j])
        bits[j] = ((half & SIGN) << np.uint32(16)) | ((half & REST) << np.uint32(13))
    for j in range(len(wide)):
        wide[j] *= REBIAS


@inner(types.float32(ROW, ROW), **FAST)
def dot(one, other):
    """Σ one · other."""
    total = np.float32(0)
    for j in range(len(one)):
        total += one[j] * other[j]
    return total


@kernel(types.float64[::1](TEXTS, I64, I64, U16))
def cosines(texts, text, rows, vectors):
    """cos(texts[text[k]], vectors[rows[k]]) for every candidate k; -1 if either has no vector."""
    cosine = np.full(len(rows), -1.0)
    wide = np.empty(vectors.shape[1], np.float32)
    lengths = np.empty(len(texts), np.float32)
    for t in range(len(texts)):
        lengths[t] = np.sqrt(dot(texts[t], texts[t]))
    for k in range(len(rows)):
        if rows[k] < 0 or lengths[text[k]] == 0:
            continue
        widen(vectors, rows[k], wide)
        length = np.sqrt(dot(wide, wide))
        if length > 0:
            cosine[k] = min(max(dot(texts[text[k]], wide) / (length * lengths[text[k]]), -1.0), 1.0)
    return cosine


@kernel(types.float32[:, ::1](I64, I32, U16))
def means(indptr, texts, vectors):
    """The mean of the vectors of each row's texts, zeros if there are none; -1 and zero vectors do not count."""
    mean = np.zeros((len(indptr) - 1, vectors.shape[1]), np.float32)
    wide = np.empty(vectors.shape[1], np.float32)
    for row in range(len(mean)):
        count = 0
        for j in range(indptr[row], indptr[row + 1]):
            if texts[j] < 0:
                continue
            widen(vectors, texts[j], wide)
            if dot(wide, wide) == 0:
                continue
            count += 1
            for d in range(len(wide)):
                mean[row, d] += wide[d]
        for d in range(len(wide)):
            mean[row, d] /= np.float32(max(count, 1))
    return mean


@inner(types.int32[::1](types.int64[::1], I64, I32))
def stated(rows, indptr, pairs):
    """The statements of anchors, given in ascending rows; a statement of several anchors occurs several times."""
    total = 0
    for i in range(len(rows)):
        if rows[i] >= 0 and (i == 0 or rows[i] != rows[i - 1]):
            total += indptr[rows[i] + 1] - indptr[rows[i]]
    found = np.empty(total, np.int32)
    at = 0
    for i in range(len(rows)):
        if rows[i] >= 0 and (i == 0 or rows[i] != rows[i - 1]):
            for j in range(indptr[rows[i]], indptr[rows[i] + 1]):
                found[at] = pairs[j]
                at += 1
    return np.sort(found)


@inner(
    types.float64(
        *(I32, I64, types.int64, types.int64, types.boolean, I32),
        *(I32, I32, types.int32, types.float32[::1], U16),
    )
)
def of_these_alone(pairs, indptr, row, other, both, anchored, properties, vectors_of, wanted, value, values):
    """Σ cos of a value with the values of a property that only this anchor and another one (-1: none) state.

    Statements of both count only with `both`.
    """
    total, wide = 0.0, np.empty(len(value), np.float32)
    for j in range(indptr[row], indptr[row + 1]):
        pair = pairs[j]
        if properties[pair] != wanted or vectors_of[pair] < 0:
            continue
        alike = other >= 0 and holds(pairs, indptr[other], indptr[other + 1], pair)
        third = first_at_least(anchored, 0, len(anchored), pair) + (2 if alike else 1)
        if (third >= len(anchored) or anchored[third] != pair) and (both or not alike):
            widen(values, vectors_of[pair], wide)
            total += dot(value, wide)
    return total


@kernel(types.float64[::1](I64, I64, I64, I64, I64, I32, I32, I32, U16))
def compare_values(articles, offsets, rows, anchors, indptr, pairs, properties, vectors_of, values):
    """Σ cos(v_u, v_e) over the distinct statements of the article's anchors and of candidate e with equal property.

    It is linear: the unit vectors of the anchors' values are summed for each property, and multiplied by each value of
    candidate e. Statement `pair` has property `properties[pair]`, which never falls, and the unit vector
    `values[vectors_of[pair]]`, -1 if its value has none. Neither the mention's own anchor nor the candidate itself is
    an anchor u of the candidate: statements of these alone are subtracted again.
    """
    score = np.zeros(len(rows))
    value = np.empty(values.shape[1], np.float32)
    for a in range(len(articles) - 1):
        all_anchors = np.sort(anchors[articles[a] : articles[a + 1]])
        anchored = stated(all_anchors, indptr, pairs)
        if len(anchored) == 0:
            continue
        kinds = np.empty(len(anchored), np.int32)
        sums = np.zeros((len(anchored), values.shape[1]), np.float32)
        last = -1
        for i in range(len(anchored)):
            pair = anchored[i]
            if (i > 0 and anchored[i - 1] == pair) or vectors_of[pair] < 0:
                continue
            if last < 0 or kinds[last] != properties[pair]:
                last += 1
                kinds[last] = properties[pair]
            widen(values, vectors_of[pair], value)
            for d in range(len(value)):
                sums[last, d] += value[d]
        for m in range(articles[a], articles[a + 1]):
            own = anchors[m]
            for k in range(offsets[m], offsets[m + 1]):
                if rows[k] < 0:
                    continue
                place = np.searchsorted(all_anchors, rows[k])
                is_anchor = rows[k] != own and place < len(all_anchors) and all_anchors[place] == rows[k]
                same = rows[k] if is_anchor else np.int64(-1)
                for j in range(indptr[rows[k]], indptr[rows[k] + 1]):
                    kind = properties[pairs[j]]
                    if vectors_of[pairs[j]] < 0 or not holds(kinds, 0, last + 1, kind):
                        continue
                    widen(values, vectors_of[pairs[j]], value)
                    score[k] += dot(value, sums[first_at_least(kinds, 0, last + 1, kind)])
                    about = (anchored, properties, vectors_of, kind, value, values)
                    if own >= 0:
                        score[k] -= of_these_alone(pairs, indptr, own, same, True, *about)
                    if same >= 0:
                        score[k] -= of_these_alone(pairs, indptr, same, own, False, *about)
    return score
