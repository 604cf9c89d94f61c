"""Cosines of texts and entities."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import I64
from namesake.kernels.vectors.half import U16, dot, widen

TEXTS = types.Array(types.float32, 2, "C")


@kernel(types.float64[::1](TEXTS, I64, I64, U16))
def cosines(texts, text, rows, vectors):
    """cos(texts[text[k]], vectors[rows[k]]) for every candidate k; -1 where either of the two has no vector."""
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


@kernel(types.float32[:, ::1](I64, types.Array(types.int32, 1, "C", readonly=True), U16))
def means(indptr, texts, vectors):
    """The mean of the vectors of each row's texts that have one, all zeros where none has; text -1 is none."""
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
