"""Links between nodes: who links to each, gathered range by range, and one step of PageRank over them."""

from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.types import F64, I32, I64

LONGS, INTS, FLOATS = types.int64[::1], types.int32[::1], types.float64[::1]


@kernel(types.void(I64, I32, I32, INTS, LONGS))
def count_links(indptr, target, source, last, counts):
    """Count the distinct other nodes that link to each node, for some rows of targets; `counts[to + 1]` grows.

    Row i links from source[i] to target[indptr[i] - indptr[0]:indptr[i + 1] - indptr[0]]; negative is no node. `last`
    has the last node known to link to each, -1 at first.
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
    """Write the sources of those links whose target is one of the nodes from `first` on that `last` has entries for.

    `place` says where the next link to each of them goes in `links`.
    """
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
    """Count how often each number occurs, on top of what was counted."""
    for i in range(len(values)):
        counts[values[i]] += 1


@kernel(types.void(I64, I32, types.int64, types.Array(types.int8, 1, "C"), types.int8[::1]))
def mark_rows(indptr, values, first, marks, rows):
    """Give each row of a ragged array the marks, as bits, that some of its values have, those from `first` on."""
    for row in range(len(rows)):
        for j in range(indptr[row], indptr[row + 1]):
            at = values[j] - first
            if at >= 0 and at < len(marks):
                rows[row] |= marks[at]


@kernel(types.void(I32, I64, LONGS))
def add_counts(values, amounts, counts):
    """Add to the count of each number its amount."""
    for i in range(len(values)):
        if values[i] >= 0:
            counts[values[i]] += amounts[i]


@kernel(types.int64(I64, I64, I32, I32, F64, LONGS, INTS, FLOATS))
def split_links(linked, starts, links, place, share, indptr, among, rest):
    """Part the links to each linked node: from linked nodes, as their places, and the sum of the shares of the others.

    Row i of `among` ends at indptr[i + 1]; returns its size.
    """
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
    """One step of PageRank: damping · (what those give that link to a node, and `base` of the rest) + least.

    `ranks` become the new ones; returns how much they moved, summed.
    """
    moved = 0.0
    for i in range(len(ranks)):
        total = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            total += given[links[j]]
        rank = damping * (total + base * rest[i]) + least
        moved += abs(rank - ranks[i])
        ranks[i] = rank
    return moved
