"""Tables of articles from JSON lines by the compiled scanner, without Python objects."""

import threading
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from namesake.arrays import Int64, UInt8, arrow_numbers, bitmap
from namesake.articles.builder import MOST_ARTICLES, MOST_BYTES
from namesake.articles.schema import ARTICLES, MENTION, SPANS
from namesake.kernels.articles import scan as kernel
from namesake.kernels.text.spans import tokens_to_characters

MOST_TABLE_BYTES = 24 << 20
"""The maximum size of the lines of one table, in bytes."""

_own = threading.local()


class Scanned(NamedTuple):
    """Articles of some lines."""

    table: pa.Table
    places: Int64
    """The line of each article, from 0."""
    lines: int
    """How many lines were read, including blank ones."""
    end: int
    """The position of the next line."""
    is_stuck: bool
    """Whether that line needs a full decoder."""


def scan(lines: bytearray | mmap, start: int, size: int, most_articles: int, most_line: int) -> Scanned:
    """The articles of lines[start:size], up to the first line that the scanner cannot read.

    64 bytes must follow, zeros if the last line has no newline.
    """
    if not hasattr(_own, "columns") or len(_own.columns.line) <= most_articles:
        _own.columns = kernel.arrays(max(most_articles, MOST_ARTICLES), MOST_TABLE_BYTES)  # kept: new memory is slow
    to: Any = _own.columns
    to.counts[:] = 0
    data = np.frombuffer(lines, np.uint8)
    end, status = kernel.scan_articles(data, start, size, most_articles, MOST_BYTES, most_line, to)
    articles = int(to.counts[kernel.ARTICLES])
    table = _table(to, articles) if articles else ARTICLES.empty_table()
    return Scanned(table, to.line[:articles].copy(), int(to.counts[kernel.LINES]), end, status == kernel.UNREAD)


def _table(to: Any, articles: int) -> pa.Table:
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


def _mentions(to: Any, articles: int) -> pa.ListArray:
    rows, spans = int(to.counts[kernel.MENTION_ROWS]), int(to.counts[kernel.SPAN_ROWS])
    pairs = to.span[: 2 * spans].reshape(-1, 2)
    by_token = to.by_token[:articles].astype(np.bool_)
    if by_token.any() and spans:
        indptr = to.span_end[: rows + 1][to.mention_end[: articles + 1]].astype(np.int64)
        characters = tokens_to_characters(to.text, to.text_end[: articles + 1], indptr, pairs)
        counted = np.repeat(by_token, np.diff(indptr))
        pairs[counted] = characters[counted]
    places = pa.FixedSizeListArray.from_arrays(_numbers(pairs.reshape(-1)), 2)
    places = pa.ListArray.from_arrays(_numbers(to.span_end[: rows + 1]), places, type=SPANS)
    candidates = pa.ListArray.from_arrays(
        _numbers(to.candidate_end[: rows + 1]),
        _strings(to.qid_end, to.qid, int(to.counts[kernel.CANDIDATE_ROWS])),
        mask=arrow_numbers(to.has_candidates[:rows] == 0),
    )
    names = _strings(to.name_end, to.name, rows)
    structs = pa.StructArray.from_arrays([names, places, candidates], fields=list(MENTION))
    missing = arrow_numbers(to.has_mentions[:articles] == 0)
    return pa.ListArray.from_arrays(
        _numbers(to.mention_end[: articles + 1]), structs, type=pa.list_(MENTION), mask=missing
    )


def _strings(ends: npt.NDArray[np.int32], data: UInt8, rows: int, has: UInt8 | None = None) -> pa.StringArray:
    """A column of strings; null where `has` is 0."""
    valid = None if has is None or has[:rows].all() else bitmap(has[:rows].view(np.bool_))
    return pa.StringArray.from_buffers(rows, _copied(ends[: rows + 1]), _copied(data[: ends[rows]]), valid)


def _numbers(values: npt.NDArray[np.int32]) -> pa.Int32Array:
    return pa.Array.from_buffers(pa.int32(), len(values), [None, _copied(values)])


def _copied(values: npt.NDArray[Any]) -> pa.Buffer:
    """Numbers in memory of Arrow, which keeps its pages."""
    buffer = pa.allocate_buffer(values.nbytes)
    np.frombuffer(buffer, values.dtype)[:] = values
    return buffer
