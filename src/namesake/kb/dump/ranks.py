"""Files of ranks: lines of a QID, a tab and a number, such as `Q42<TAB>123.4`, plain or compressed.

A negative rank means unknown: published files have -1 for entities without a rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from namesake.arrays import Float64, Int64
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of
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
    if not len(next(_batches(path))[0]):
        raise NamesakeError(f"{path} contains no rank; write lines such as Q42<TAB>123.4")


def read_ranks(path: Path, qids: Int64) -> Float64:
    """The rank of each of the ascending `qids`, 0 if the file has none."""
    ranks = np.zeros(len(qids), np.float64)
    for known, rank in _batches(path):
        place = np.searchsorted(qids, known)
        found = place < len(qids)
        found[found] = qids[place[found]] == known[found]
        ranks[place[found]] = rank[found]
    return ranks


def _batches(path: Path) -> Iterator[tuple[Int64, Float64]]:
    """The file's QIDs and ranks, a million lines at a time."""
    pairs: list[tuple[int, float]] = []
    with open_lines(path) as stream:
        for number, line in lines_of(stream, path, MOST_LINE):
            if line.strip():
                pairs.append(_pair(line, path, number))
            if len(pairs) == BATCH:
                yield _arrays(pairs)
                pairs = []
    yield _arrays(pairs)


def _pair(line: bytes, path: Path, number: int) -> tuple[int, float]:
    qid, _, value = line.partition(b"\t")
    try:
        rank = float(value)
        if qid[:1] != b"Q" or not qid[1:].isdigit() or not math.isfinite(rank):
            raise ValueError
        return min(int(qid[1:]), LARGEST_ID + 1), max(rank, 0.0)
    except ValueError:
        shown = line.decode("utf-8", "replace").strip()[:60]
        raise NamesakeError(
            f"{path}:{number}: {shown!r} is not a QID, a tab and a rank, such as Q42<TAB>123.4"
        ) from None


def _arrays(pairs: list[tuple[int, float]]) -> tuple[Int64, Float64]:
    return np.array([qid for qid, _ in pairs], np.int64), np.array([rank for _, rank in pairs], np.float64)
