"""Tables of articles from JSON lines by the compiled scanner, without a Python object for any of them."""

from __future__ import annotations

import threading
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from namesake.arrays import Int64, UInt8, arrow_numbers
from namesake.articles.builder import MOST_ARTICLES, MOST_BYTES
from namesake.articles.schema import ARTICLES, MENTION, SPANS
from namesake.kernels.articles import walk
from namesake.kernels.articles.scan import UNREAD, Arrays, arrays, scan_articles
from namesake.kernels.text.spans import tokens_to_characters

ROOM = 24 << 20
"""Bytes of lines that one table takes at most."""

_own = threading.local()


class Scanned(NamedTuple):
    """Articles of some lines."""

    table: pa.Table
    places: Int64
    """The line of each article, from 0."""
    lines: int
    """How many lines were read, empty ones among them."""
    end: int
    """Where the next line begins."""
    is_stuck: bool
    """Whether that line is for a full decoder."""


def scan(lines: bytearray | mmap, start: int, size: int, most_articles: int, most_line: int) -> Scanned:
    """The articles of the lines in lines[start:size], up to the first that the scanner does not expect.

    64 bytes follow them, zeros where the last line has no newline.
    """
    to = _columns(most_articles)
    data = np.frombuffer(lines, np.uint8)
    end, status = scan_articles(data, start, size, most_articles, MOST_BYTES, most_line, to)
    articles = int(to.counts[walk.ARTICLES])
    table = _table(to, articles) if articles else ARTICLES.empty_table()
    return Scanned(table, to.line[:articles].copy(), int(to.counts[walk.LINES]), end, status == UNREAD)


def _columns(articles: int) -> Arrays:
    """This thread's columns, empty. Memory that is used again needs no new pages, which cost more than the scan."""
    if not hasattr(_own, "columns") or len(_own.columns.line) <= articles:
        _own.columns = arrays(max(articles, MOST_ARTICLES), ROOM)
    columns: Arrays = _own.columns
    columns.counts[:] = 0
    return columns


def _table(to: Arrays, articles: int) -> pa.Table:
    ends = to.text_end[: articles + 1]
    texts = pa.LargeStringArray.from_buffers(articles, _copied(ends), _copied(to.text[: ends[-1]]))
    return pa.table(
        [
            _strings(to.id_end, to.id, articles),
            texts,
            _strings(to.title_end, to.title, articles, to.has_title),
            _strings(to.date_end, to.date, articles, to.has_date),
            _mentions(to, articles),
            _strings(to.extra_end, to.extra, articles, to.has_extra),
        ],
        schema=ARTICLES,
    )


def _strings(ends: npt.NDArray[np.int32], data: UInt8, rows: int, has: UInt8 | None = None) -> pa.StringArray:
    """A column of strings; null where `has` is 0."""
    valid = None if has is None or has[:rows].all() else pa.py_buffer(np.packbits(has[:rows], bitorder="little"))
    return pa.StringArray.from_buffers(rows, _copied(ends[: rows + 1]), _copied(data[: ends[rows]]), valid)


def _numbers(values: npt.NDArray[np.int32]) -> pa.Int32Array:
    return pa.Array.from_buffers(pa.int32(), len(values), [None, _copied(values)])


def _copied(values: npt.NDArray[Any]) -> pa.Buffer:
    """Numbers in memory of Arrow's, which keeps its pages."""
    buffer = pa.allocate_buffer(values.nbytes)
    np.frombuffer(buffer, values.dtype)[:] = values
    return buffer


def _mentions(to: Arrays, articles: int) -> pa.ListArray:
    """The nested column `mentions`."""
    rows, spans = int(to.counts[walk.MENTION_ROWS]), int(to.counts[walk.SPAN_ROWS])
    candidates = int(to.counts[walk.CANDIDATE_ROWS])
    pairs = to.span[: 2 * spans].reshape(-1, 2)
    by_token = to.by_token[:articles].astype(np.bool_)
    if by_token.any() and spans:
        indptr = to.span_end[: rows + 1][to.mention_end[: articles + 1]].astype(np.int64)
        characters = tokens_to_characters(to.text, to.text_end[: articles + 1], indptr, pairs)
        counted = np.repeat(by_token, np.diff(indptr))
        pairs[counted] = characters[counted]
    flat = pa.FixedSizeListArray.from_arrays(_numbers(pairs.reshape(-1)), 2)
    structs = pa.StructArray.from_arrays(
        [
            _strings(to.name_end, to.name, rows),
            pa.ListArray.from_arrays(_numbers(to.span_end[: rows + 1]), flat, type=SPANS),
            pa.ListArray.from_arrays(
                _numbers(to.candidate_end[: rows + 1]),
                _strings(to.qid_end, to.qid, candidates),
                mask=arrow_numbers(to.has_candidates[:rows] == 0),
            ),
        ],
        fields=list(MENTION),
    )
    missing = arrow_numbers(to.has_mentions[:articles] == 0)
    ends = _numbers(to.mention_end[: articles + 1])
    return pa.ListArray.from_arrays(ends, structs, type=pa.list_(MENTION), mask=missing)
