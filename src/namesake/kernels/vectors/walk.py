"""DeepWalk: random walks over a graph, and the skip-gram with negative samples that learns vectors from them.

Each walk has its own random seed, and walks are processed one after the other: the same seed gives exactly the same
vectors on any machine with the same instructions.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.types import I32, I64
from namesake.kernels.vectors.cosine import FAST, ROW

TABLE = types.Array(types.float32, 2, "C")
STATE = types.Array(types.uint64, 1, "C")
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
FARTHEST = np.float32(6.0)
"""Beyond it the sigmoid is taken as 0 or 1."""


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


@inner(types.void(TABLE, TABLE, types.int64, types.int64, types.float32, types.float32, ROW), **FAST)
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
        *(TABLE, TABLE, I64, I32, I32, I32, types.uint64),
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
