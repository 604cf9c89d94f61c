"""Read articles from JSON lines into the columns of a table."""

from typing import Any

import numpy as np
from numba import types

from namesake.kernels.articles.walk import (
    ARTICLES,
    CANDIDATE_ROWS,
    COUNTS,
    EXTRA_BYTES,
    FOUND,
    LINES,
    TABLE,
    TEXT_BYTES,
    Arrays,
    Columns,
    put_article,
)
from namesake.kernels.compiled import kernel
from namesake.kernels.dump.jsontext import FAIL, NEWLINE, OPEN_MAP, space
from namesake.kernels.dump.valid import KEY_SLOTS, valid_end
from namesake.kernels.simd import byte, pointer
from namesake.kernels.types import U8, record

DONE, FULL, UNREAD = range(3)
"""Why a scan ended: no line is left, the table is full, or a line needs a full decoder."""
ARRAYS = record(Arrays)


def arrays(articles: int, room: int) -> Any:
    """Empty columns for so many articles in so many bytes of lines. Parts that are never written take no memory."""
    rows, mentions = articles + 1, room // 10 + 2  # mentions, spans and candidates by their least sizes in bytes
    sizes = dict.fromkeys(["name_end", "span_end", "has_candidates", "candidate_end"], mentions)
    sizes |= dict.fromkeys(["id", "text", "title", "date", "extra", "name", "qid"], room + 64)
    sizes |= {"span": 2 * (room // 5 + 2), "qid_end": room // 3 + 2, "counts": COUNTS}
    kinds = zip(TABLE, (np.uint8, np.int32, np.int64), strict=True)
    made = {name: np.empty(sizes.get(name, rows), kind) for names, kind in kinds for name in names.split()}
    for name, column in made.items():
        if name.endswith("_end"):
            column[0] = 0
    return Arrays(**made)


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
        *(pointer(to.by_token), pointer(to.id), pointer(to.text), pointer(to.has_title), pointer(to.title)),
        *(pointer(to.has_date), pointer(to.date), pointer(to.has_extra), pointer(to.extra)),
        *(pointer(to.has_mentions), pointer(to.name), pointer(to.has_candidates), pointer(to.qid)),
        *(pointer(to.id_end), pointer(to.title_end), pointer(to.date_end), pointer(to.extra_end)),
        *(pointer(to.mention_end), pointer(to.name_end), pointer(to.span_end), pointer(to.span)),
        *(
            pointer(to.candidate_end),
            pointer(to.qid_end),
            pointer(to.counts),
            pointer(to.line),
            pointer(to.text_end),
            pointer(found),
        ),
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
