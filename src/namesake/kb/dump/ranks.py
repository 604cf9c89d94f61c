"""Files of ranks: lines of a QID, a tab and a number, -1 if unknown, such as `Q42<TAB>123.4`; and PageRank."""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from namesake.arrays import Float64, Int32, Int64, positions
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of
from namesake.kb.columns import Ragged, large
from namesake.kernels.columns import group as kernels
from namesake.kernels.dump.wikidata import LARGEST_ID

BATCH = 1 << 20  # lines held at a time
MOST_LINE = 1 << 16
SOURCES = ("wikidata", "wikipedia")


def parse_options(options: Iterable[str]) -> dict[str, Path]:
    """The file of each source, from options such as `wikipedia=FILE`."""
    files: dict[str, Path] = {}
    for option in options:
        source, _, file = option.partition("=")
        if source not in SOURCES or not file:
            raise NamesakeError(f"`ranks={option}`: write wikidata=FILE or wikipedia=FILE")
        if source in files:
            raise NamesakeError(f"`ranks={option}`: ranks of {source} are given twice, name one file")
        files[source] = Path(file)
    return files


def check_ranks(path: Path) -> None:
    """Read the beginning of a file, so that an invalid one is refused before the dump is read."""
    if not list(islice(_pairs(path), BATCH)):
        raise NamesakeError(f"{path} contains no rank; write lines such as Q42<TAB>123.4")


def read_ranks(path: Path, qids: Int64) -> Float64:
    """The rank of each of the ascending `qids`, 0 if the file has none."""
    ranks, pairs = np.zeros(len(qids), np.float64), _pairs(path)
    while batch := list(islice(pairs, BATCH)):
        known, rank = np.array([qid for qid, _ in batch], np.int64), np.array([rank for _, rank in batch])
        place = positions(qids, known)
        ranks[place[place >= 0]] = rank[place >= 0]
    return ranks


def _pairs(path: Path) -> Iterator[tuple[int, float]]:
    """The QIDs and ranks in a file."""
    with open_lines(path) as stream:
        for number, line in lines_of(stream, path, MOST_LINE):
            qid, _, value = line.partition(b"\t")
            if not line.strip():
                continue
            try:
                rank = float(value)
                if qid[:1] != b"Q" or not qid[1:].isdigit() or not math.isfinite(rank):
                    raise ValueError
                yield min(int(qid[1:]), LARGEST_ID + 1), max(rank, 0.0)
            except ValueError:
                shown = line.decode("utf-8", "replace").strip()[:60]
                raise NamesakeError(
                    f"{path}:{number}: {shown!r} is not a QID, a tab and a rank, such as Q42<TAB>123.4"
                ) from None


DAMPING = 0.85
TOLERANCE = 1e-9  # sum of the changes of all ranks in the last step; ranks sum to 1
STEPS = 200


def incoming(indptr: Int64, target: Int32, source: Int32, nodes: int) -> Ragged:
    """The distinct other nodes that link to each of `nodes` nodes: row i of `target` has the links of node source[i].

    Negative numbers are ignored, and a node has one row at most. The nodes that link to a node ascend whatever the
    order of the rows, so that PageRank, which adds their shares in this order, has the same last bits. Links are placed
    for one range of targets at a time, so that it fits in memory.
    """
    row_of = large.full(nodes, -1, np.int32)
    for low, high in large.blocks(len(source), 16):
        linking = np.flatnonzero(source[low:high] >= 0)
        row_of[source[low:high][linking]] = low + linking
    starts = large.zeros(nodes + 1, np.int64)
    nobody, no_room = large.full(nodes, -1, np.int32), np.empty(0, np.int32)
    kernels.place_links(indptr, target, row_of, 0, nobody, starts[1:], no_room)
    np.cumsum(starts, out=starts)
    links = large.empty(int(starts[-1]), np.int32)
    for low, high in large.spans(starts, 1):
        place = starts[low:high] - starts[low]
        last = np.full(high - low, -1, np.int32)
        kernels.place_links(indptr, target, row_of, low, last, place, links[starts[low] : starts[high]])
    return Ragged(starts, links)


def pagerank(links: Ragged) -> Float64:
    """PageRank of each node, times the number of nodes, so that the mean is 1 whatever the size of the graph.

    r = d · (P r + (r on nodes without links) / n) + (1 − d) / n with d = 0.85, where P spreads a node's rank evenly
    over the nodes it links to; row i of `links` are the nodes that link to node i, see `incoming`. The scale is that of
    published rank files.

    All nodes without incoming links have the same rank, `base`. Most nodes are such, so only the others are iterated.
    """
    nodes = len(links)
    if not nodes:
        return np.empty(0, np.float64)
    outgoing = large.zeros(nodes, np.int64)
    kernels.count_values(links.values, outgoing)
    linked = np.flatnonzero(links.indptr[1:] > links.indptr[:-1])
    share = large.computed(np.float64, 16, lambda links: 1 / np.maximum(links, 1), outgoing)
    place = large.full(nodes, -1, np.int32)
    place[linked] = np.arange(len(linked), dtype=np.int32)
    indptr, among = large.zeros(len(linked) + 1, np.int64), large.empty(len(links.values), np.int32)
    from_unlinked = large.empty(len(linked), np.float64)  # the sum of their shares; `among` has links of linked nodes
    size = kernels.split_links(linked, links.indptr, links.values, place, share, indptr, among, from_unlinked)
    among = among[:size]
    linked_share = large.kept(share[linked])
    linked_ends = np.flatnonzero(outgoing[linked] == 0)
    unlinked_ends = nodes - int(np.count_nonzero(outgoing)) - len(linked_ends)
    del share, outgoing, place
    rank, given, base = np.full(len(linked), 1 / nodes), np.empty(len(linked)), 1 / nodes
    for _ in range(STEPS):
        next_base = (DAMPING * (rank[linked_ends].sum() + base * unlinked_ends) + 1 - DAMPING) / nodes
        np.multiply(rank, linked_share, out=given)
        moved = kernels.step(indptr, among, given, from_unlinked, DAMPING, base, next_base, rank)
        moved += (nodes - len(linked)) * abs(next_base - base)
        base = next_base
        if moved < TOLERANCE:
            break
    ranks = large.full(nodes, base * nodes, np.float64)
    ranks[linked] = rank * nodes
    return ranks
