"""Links between nodes: the incoming links of each, range by range, and one step of PageRank."""

from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import F64, I32, I64

LONGS, INTS, FLOATS = types.int64[::1], types.int32[::1], types.float64[::1]


@kernel(types.void(I64, I32, I32, INTS, LONGS))
def count_links(indptr, target, source, last, counts):
    """Count the distinct other nodes that link to each node, for some rows of targets; `counts[to + 1]` grows.

    Row i links from source[i] to target[indptr[i] - indptr[0]:indptr[i + 1] - indptr[0]]; negative numbers are ignored.
    `last` has the last node that links to each, -1 at first.
    """
    for i in range(len(source)):
        if source[i] < 0:
            continue
        for j in range(indptr[i] - indptr[0], indptr[i + 1] - indptr[0]):
            to = target[j]
            if to >= 0 and to != source[i] and last[to] != source[i]:
                last[to] = source[i]
                counts[to + 1] += 1


@kernel(types.void(I64, I32, I32, types.int64, INTS, LONGS, INTS))
def place_links(indptr, target, source, first, last, place, links):
    """Write the sources of the links to the nodes from `first` on; `place` has the next position in `links` of each."""
    for i in range(len(source)):
        if source[i] < 0:
            continue
        for j in range(indptr[i] - indptr[0], indptr[i + 1] - indptr[0]):
            to = target[j] - first
            if to >= 0 and to < len(last) and target[j] != source[i] and last[to] != source[i]:
                last[to] = source[i]
                links[place[to]] = source[i]
                place[to] += 1


@kernel(types.void(I32, LONGS))
def count_values(values, counts):
    """Add the number of occurrences of each value to `counts`."""
    for i in range(len(values)):
        counts[values[i]] += 1


@kernel(types.void(I64, I32, types.int64, types.Array(types.int8, 1, "C"), types.int8[::1]))
def mark_rows(indptr, values, first, marks, rows):
    """Combine, in each row of a ragged array, the bits of its values; value `first` + i has marks[i]."""
    for row in range(len(rows)):
        for j in range(indptr[row], indptr[row + 1]):
            at = values[j] - first
            if at >= 0 and at < len(marks):
                rows[row] |= marks[at]


@kernel(types.void(I32, I64, LONGS))
def add_counts(values, amounts, counts):
    """Add the amount of each value to its count."""
    for i in range(len(values)):
        if values[i] >= 0:
            counts[values[i]] += amounts[i]


@kernel(types.int64(I64, I64, I32, I32, F64, LONGS, INTS, FLOATS))
def split_links(linked, starts, links, place, share, indptr, among, rest):
    """Split the links to each linked node: to `among` as places of linked nodes, to `rest` the sum of other shares."""
    at = 0
    for i in range(len(linked)):
        total = 0.0
        for j in range(starts[linked[i]], starts[linked[i] + 1]):
            source = links[j]
            if place[source] >= 0:
                among[at] = place[source]
                at += 1
            else:
                total += share[source]
        rest[i] = total
        indptr[i + 1] = at
    return at


@kernel(types.float64(I64, I32, F64, F64, types.float64, types.float64, types.float64, FLOATS))
def step(indptr, links, given, rest, damping, base, least, ranks):
    """Update `ranks` to damping · (Σ `given` over incoming links + `base` · rest) + least; returns Σ of the changes."""
    moved = 0.0
    for i in range(len(ranks)):
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += given[links[j]]
        rank = damping * (total + base * rest[i]) + least
        moved += abs(rank - ranks[i])
        ranks[i] = rank
    return moved
