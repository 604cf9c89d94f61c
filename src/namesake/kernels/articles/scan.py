"""Read articles from JSON lines into the columns of a table."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.articles.walk import (
    ARTICLES,
    CANDIDATE_ROWS,
    COUNTS,
    EXTRA_BYTES,
    FOUND,
    LINES,
    TEXT_BYTES,
    Columns,
    put_article,
)
from namesake.kernels.compiled import kernel
from namesake.kernels.dump.jsontext import FAIL, NEWLINE, OPEN_MAP, space
from namesake.kernels.dump.valid import KEY_SLOTS, valid_end
from namesake.kernels.simd import byte, pointer
from namesake.kernels.types import U8, record

BYTE_COLUMN, INT_COLUMN, LONG_COLUMN = types.uint8[::1], types.int32[::1], types.int64[::1]
DONE, FULL, UNREAD = range(3)
"""Why a scan ended: no line is left, the table is full, or a line needs a full decoder."""


class Arrays(NamedTuple):
    """The columns of a table of articles as arrays; `walk.Columns` has their addresses."""

    counts: Annotated[Any, LONG_COLUMN]
    line: Annotated[Any, LONG_COLUMN]
    by_token: Annotated[Any, BYTE_COLUMN]
    id_end: Annotated[Any, INT_COLUMN]
    id: Annotated[Any, BYTE_COLUMN]
    text_end: Annotated[Any, LONG_COLUMN]
    text: Annotated[Any, BYTE_COLUMN]
    has_title: Annotated[Any, BYTE_COLUMN]
    title_end: Annotated[Any, INT_COLUMN]
    title: Annotated[Any, BYTE_COLUMN]
    has_date: Annotated[Any, BYTE_COLUMN]
    date_end: Annotated[Any, INT_COLUMN]
    date: Annotated[Any, BYTE_COLUMN]
    has_extra: Annotated[Any, BYTE_COLUMN]
    extra_end: Annotated[Any, INT_COLUMN]
    extra: Annotated[Any, BYTE_COLUMN]
    has_mentions: Annotated[Any, BYTE_COLUMN]
    mention_end: Annotated[Any, INT_COLUMN]
    name_end: Annotated[Any, INT_COLUMN]
    name: Annotated[Any, BYTE_COLUMN]
    span_end: Annotated[Any, INT_COLUMN]
    span: Annotated[Any, INT_COLUMN]
    has_candidates: Annotated[Any, BYTE_COLUMN]
    candidate_end: Annotated[Any, INT_COLUMN]
    qid_end: Annotated[Any, INT_COLUMN]
    qid: Annotated[Any, BYTE_COLUMN]


ARRAYS = record(Arrays)


def arrays(articles: int, room: int) -> Arrays:
    """Empty columns for so many articles in so many bytes of lines. Parts that are never written take no memory."""
    mentions, spans, candidates = room // 10 + 2, room // 5 + 2, room // 3 + 2  # by their least sizes in bytes
    rows = articles + 1

    def text() -> np.ndarray:
        return np.empty(room + 64, np.uint8)

    def ends(size: int) -> np.ndarray:
        made = np.empty(size, np.int32)
        made[0] = 0
        return made

    text_end = np.empty(rows, np.int64)
    text_end[0] = 0
    flags = [np.empty(rows, np.uint8) for _ in range(5)]
    return Arrays(
        *(np.zeros(COUNTS, np.int64), np.empty(rows, np.int64), flags[0]),
        *(ends(rows), text(), text_end, text()),
        *(flags[1], ends(rows), text(), flags[2], ends(rows), text(), flags[3], ends(rows), text()),
        *(flags[4], ends(rows), ends(mentions), text(), ends(mentions), np.empty(2 * spans, np.int32)),
        *(np.empty(mentions, np.uint8), ends(mentions), ends(candidates), text()),
    )


@kernel(types.UniTuple(types.int64, 2)(U8, types.int64, types.int64, types.int64, types.int64, types.int64, ARRAYS))
def scan_articles(data, start, size, most_articles, most_weight, most_line, to):
    """Read the lines of data[start:size] into columns; returns the end, and the reason for it.

    64 zero bytes follow data[:size]. The table is full with `most_articles`, with a weight of `most_weight` (bytes of
    text and extra, 100 per candidate), or if the columns have no room for a line. A line of more than `most_line`
    bytes, or one that does not fit an empty table, is not read.
    """
    found = np.zeros(FOUND, np.int64)
    counts, saved = to.counts, np.zeros(COUNTS, np.int64)
    raw, room, begin = pointer(data), len(to.text) - 64, start
    columns = Columns(
        *(pointer(counts), pointer(found), pointer(to.line), pointer(to.by_token)),
        *(pointer(to.id_end), pointer(to.id), pointer(to.text_end), pointer(to.text)),
        *(pointer(to.has_title), pointer(to.title_end), pointer(to.title)),
        *(pointer(to.has_date), pointer(to.date_end), pointer(to.date)),
        *(pointer(to.has_extra), pointer(to.extra_end), pointer(to.extra)),
        *(pointer(to.has_mentions), pointer(to.mention_end), pointer(to.name_end), pointer(to.name)),
        *(pointer(to.span_end), pointer(to.span)),
        *(pointer(to.has_candidates), pointer(to.candidate_end), pointer(to.qid_end), pointer(to.qid)),
    )
    keys, stamp = np.zeros(KEY_SLOTS, np.uint64), np.uint64(0)
    status = DONE
    while start < size:
        weight = counts[TEXT_BYTES] + counts[EXTRA_BYTES] + 100 * counts[CANDIDATE_ROWS]
        if counts[ARTICLES] >= most_articles or weight >= most_weight:
            status = FULL
            break
        p = space(raw, start)
        if p >= size or byte(raw, p) == NEWLINE:
            counts[LINES] += 1
            start = p + 1
            continue
        stamp += np.uint64(1)
        end = valid_end(raw, p, pointer(keys), stamp) if byte(raw, p) == OPEN_MAP else FAIL
        if end >= 0:
            end = space(raw, end)
        if end < 0 or (end < size and byte(raw, end) != NEWLINE) or end - start > most_line:
            status = UNREAD
            break
        if end - begin > room:
            status = FULL if counts[ARTICLES] else UNREAD
            break
        for i in range(len(counts)):
            saved[i] = counts[i]
        if put_article(raw, p, columns) < 0:
            for i in range(len(counts)):
                counts[i] = saved[i]
            status = UNREAD
            break
        to.line[counts[ARTICLES] - 1] = counts[LINES]
        counts[LINES] += 1
        start = end + 1
    assert len(found)  # named here, so that they live as long as their pointers
    assert len(keys)
    return start, status
