"""Cosines and means of vectors in half precision, which Numba does not support, and DeepWalk over a graph."""

from typing import Any

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.search import first_at_least, holds
from namesake.kernels.types import I32, I64

VECTORS = types.Array(types.float32, 2, "C")
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


@kernel(types.float64[::1](VECTORS, I64, I64, U16))
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
    """Σ cos of a value with the values of a property that only this anchor, and another (-1: none) if `both`, state."""
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


# DeepWalk: random walks, and the skip-gram with negative samples that learns vectors from them. Each walk has its own
# seed, and walks are processed in order: the same seed gives the same vectors on machines with the same instructions.
STATE = types.Array(types.uint64, 1, "C")
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
FARTHEST = np.float32(6.0)  # beyond it the sigmoid is taken as 0 or 1


@inlined(types.int64(STATE, types.int64))
def draw(state, below):
    """A random number from 0 to `below` - 1 (splitmix64)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    z = z ^ (z >> S31)
    return np.int64(((z >> S32) * np.uint64(below)) >> S32)


@inner(types.int64(STATE, I64, I32, types.int32, types.Array(types.int32, 1, "C")))
def walk(state, indptr, neighbours, start, steps):
    """Write a random walk from `start` to `steps`; returns its length. It ends at a node without neighbours."""
    node = start
    for at in range(len(steps)):
        steps[at] = node
        begin, end = indptr[node], indptr[node + 1]
        if begin == end:
            return at + 1
        node = neighbours[begin + draw(state, end - begin)]
    return len(steps)


@inner(types.void(VECTORS, VECTORS, types.int64, types.int64, types.float32, types.float32, ROW), **FAST)
def pull(vectors, contexts, centre, other, truth, rate, step):
    """Move a node's context towards `centre` (truth 1) or away (0); adds the change of the centre to `step`."""
    agreed = np.float32(0)
    for d in range(len(step)):
        agreed += vectors[centre, d] * contexts[other, d]
    if agreed > FARTHEST:
        guess = np.float32(1)
    elif agreed < -FARTHEST:
        guess = np.float32(0)
    else:
        guess = np.float32(1) / (np.float32(1) + np.exp(-agreed))
    by = (truth - guess) * rate
    for d in range(len(step)):
        step[d] += by * contexts[other, d]
        contexts[other, d] += by * vectors[centre, d]


@kernel(
    types.int64(
        *(VECTORS, VECTORS, I64, I32, I32, I32, types.uint64),
        *(types.int64, types.int64, types.int64, types.int64, types.int64, types.int64, types.float64),
    )
)
def learn(
    vectors, contexts, indptr, neighbours, starts, noise, seed, first, last, total, length, window, negatives, rate
):
    """Learn from walks number `first` to `last` of `total`; returns the number of nodes in them. The rate falls to 0.

    Walk w starts at `starts[w % len(starts)]`. Each node is trained with the nodes up to a random number of steps, at
    most `window`, before and after it, and against nodes drawn from `noise`: the same ones for all near nodes, so that
    they stay in the processor's cache.
    """
    steps, state = np.empty(length, np.int32), np.zeros(1, np.uint64)
    step, negative_nodes = np.empty(vectors.shape[1], np.float32), np.empty(negatives, np.int64)
    passed = 0
    for w in range(first, last):
        state[0] = seed + np.uint64(w + 1) * MIX_1
        now = np.float32(rate * max(1 - w / total, 1e-4))
        size = walk(state, indptr, neighbours, starts[w % len(starts)], steps)
        passed += size
        for at in range(size):
            centre = steps[at]
            for n in range(negatives):
                negative_nodes[n] = noise[draw(state, len(noise))]
            reach = 1 + draw(state, window)
            for near in range(max(at - reach, 0), min(at + reach + 1, size)):
                if near == at or steps[near] == centre:
                    continue
                step[:] = 0
                pull(vectors, contexts, centre, steps[near], np.float32(1), now, step)
                for n in range(negatives):
                    if negative_nodes[n] != steps[near]:
                        pull(vectors, contexts, centre, negative_nodes[n], np.float32(0), now, step)
                for d in range(len(step)):
                    vectors[centre, d] += step[d]
    return passed
