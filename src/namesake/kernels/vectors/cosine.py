"""Vectors in half precision, which Numba does not support: conversion a row at a time, cosines and means."""

from typing import Any

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
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
