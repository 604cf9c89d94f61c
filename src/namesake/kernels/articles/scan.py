"""Read articles from JSON lines, in our plain layout or Quotebank's, into the columns of a table.

`found` contains the positions of the members of the line. A function returns the position after the value that it read,
or FAIL: a full decoder then reads the line. `valid_end` has checked the line before.
"""

from collections import namedtuple
from typing import Annotated, Any

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.dump import jsontext as js
from namesake.kernels.dump.jsontext import CLOSE_LIST, CLOSE_MAP, FAIL, at, literal, step
from namesake.kernels.dump.valid import KEY_SLOTS, valid_end
from namesake.kernels.simd import BYTES, NUMBERS, byte, equal, lowest, pointer
from namesake.kernels.types import U8, own_record, record

MEMBERS = 32
"""The maximum number of fields of a line; a full decoder reads a line with more."""
ID, ARTICLE_ID, TEXT, CONTENT, MENTIONS, NAMES, TITLE, DATE = range(8)
KNOWN = 8
FIELDS = KNOWN  # after the known members: how many members there are
MEMBER = KNOWN + 1  # and of each: its known field, the positions of its key, its value and its end
FOUND = MEMBER + 4 * MEMBERS

# the number of rows or bytes in each column
ARTICLES, MENTION_ROWS, SPAN_ROWS, CANDIDATE_ROWS, LINES = range(5)
ID_BYTES, TEXT_BYTES, TITLE_BYTES, DATE_BYTES, EXTRA_BYTES, NAME_BYTES, QID_BYTES = range(5, 12)
COUNTS = 12

NULL = literal("null")
_KNOWN = ("id", "articleID", "text", "content", "mentions", "names", "title", "date")
KEYS = tuple(literal(f'"{key}"') for key in _KNOWN)
K_NAME, K_SPANS, K_OFFSETS = (literal(f'"{key}"') for key in ("name", "spans", "offsets"))
K_CANDIDATES, K_IDS = literal('"candidates"'), literal('"ids"')
MINUS = 45
LOWEST, HIGHEST = -(2**31), 2**31 - 1

INTS = types.CPointer(types.int32)
TABLE = (
    "by_token id text has_title title has_date date has_extra extra has_mentions name has_candidates qid",
    "id_end title_end date_end extra_end mention_end name_end span_end span candidate_end qid_end",
    "counts line text_end",
)
"""The columns of a table of articles: of bytes, of 32-bit and of 64-bit numbers. `counts` has the size of each."""


def _tuple(name, kinds, more):
    """A named tuple with a field per column, annotated with the Numba type of the column."""
    fields = {field: kind for names, kind in zip(TABLE, kinds, strict=True) for field in names.split()} | more
    made: Any = namedtuple(name, fields)  # type: ignore[misc]
    made.__annotations__ = {field: Annotated[Any, kind] for field, kind in fields.items()}
    return made


Arrays = _tuple("Arrays", (types.uint8[::1], types.int32[::1], types.int64[::1]), {})
Columns = _tuple("Columns", (BYTES, INTS, NUMBERS), {"found": NUMBERS})  # their addresses
COLUMNS = own_record(Columns)


@inner(types.int64(BYTES, types.int64))
def known_key(data, p):
    """The known field whose key is at p; FAIL for another key."""
    for field in range(KNOWN):
        if at(data, p, KEYS[field]):
            return field
    return FAIL


@inner(types.boolean(BYTES, NUMBERS, types.int64, types.int64))
def key_stands_before(data, found, key, count):
    """Whether one of the first members has this key. A full decoder takes the last one; the scanner takes none."""
    for other in range(count):
        p, q = key + 1, found[MEMBER + 4 * other + 1] + 1
        while byte(data, p) == byte(data, q):  # keys without escapes
            if byte(data, p) == js.QUOTE:
                return True
            p += 1
            q += 1
    return False


@inner(types.int64(BYTES, types.int64, NUMBERS))
def members(data, p, found):
    """Store the positions of the members of the line's object."""
    for slot in range(KNOWN + 1):
        found[slot] = 0
    count = 0
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        key, slot = p, known_key(data, p)
        value = js.colon(data, js.plain_text(data, p))
        p = js.skip(data, value)
        if p < 0 or count == MEMBERS or key_stands_before(data, found, key, count):
            return FAIL
        if slot >= 0:
            found[slot] = value
        place = MEMBER + 4 * count
        found[place] = slot
        found[place + 1] = key
        found[place + 2] = value
        found[place + 3] = p
        count += 1
        found[FIELDS] = count
        p = step(data, p, CLOSE_MAP)
    return p + 1 if p >= 0 else FAIL


@inner(types.boolean(BYTES, types.int64, types.int64))
def has_surrogate(data, p, end):
    """Whether data[p:end] contains the escape of a surrogate: a decoder refuses one without the other."""
    while p < end:
        slashes = equal(data, p, js.BACKSLASH)
        p += lowest(slashes)
        if slashes != js.NO_BITS:
            if p < end and byte(data, p + 1) == 117 and byte(data, p + 2) | 32 == 100 and byte(data, p + 3) >= 56:
                return True  # u, d, 8 or more
            p += 2
    return False


@inlined(types.int64(BYTES, types.int64, types.int64, BYTES, types.int64))
def put_bytes(data, p, end, out, to):
    """Copy data[p:end] to out[to:]; returns the end."""
    for i in range(end - p):
        out[to + i] = byte(data, p + i)
    return to + end - p


@inner(types.int64(BYTES, types.int64, BYTES, types.int64))
def put_string(data, p, out, to):
    """Decode the string that begins with the quote at p; returns its end in `out`. It is valid UTF-8."""
    if byte(data, p) != js.QUOTE:
        return FAIL
    p += 1
    while True:
        end = js.text_stop(data, p)
        to = put_bytes(data, p, end, out, to)
        p = end
        if byte(data, p) == js.QUOTE:
            return to
        if byte(data, p) != js.BACKSLASH:
            return FAIL
        p, to = js.put_escape(data, p, out, to)
        if p < 0:
            return FAIL


@inner(types.int64(BYTES, types.int64, BYTES, types.int64))
def put_id(data, p, out, to):
    """Write an id: a string, or the digits of a whole number."""
    if byte(data, p) == js.QUOTE:
        return put_string(data, p, out, to)
    start = p
    while js.ZERO <= byte(data, p) <= js.NINE:
        p += 1
    c = byte(data, p)
    if p == start or p - start > 18 or (c > js.SPACE and c != js.COMMA and c != CLOSE_MAP):
        return FAIL
    return put_bytes(data, start, p, out, to)


@inner(types.int64(BYTES, types.int64, BYTES, types.int64, BYTES, types.int64))
def put_optional(data, p, out, to, has, row):
    """Write a string, null, or nothing (p is 0); has[row] says whether there is a string."""
    has[row] = 0
    if p == 0 or at(data, p, NULL):
        return to
    has[row] = 1
    return put_string(data, p, out, to)


@inner(types.int64(BYTES, types.int64, INTS, types.int64))
def put_place(data, p, out, to):
    """Write a 32-bit integer to out[to], -1 for a negative one."""
    negative = byte(data, p) == MINUS
    p += negative
    start, number = p, 0
    while js.ZERO <= byte(data, p) <= js.NINE and p - start < 11:
        number = number * 10 + byte(data, p) - js.ZERO
        p += 1
    c = byte(data, p)
    number = -number if negative else number
    if p == start or number < LOWEST or number > HIGHEST or (c > js.SPACE and c != js.COMMA and c != CLOSE_LIST):
        return FAIL
    out[to] = max(number, -1)
    return p


@inner(types.int64(BYTES, types.int64, COLUMNS))
def put_spans(data, p, to):
    """Write the spans of a mention: a list of pairs."""
    p = js.enter(data, p, js.OPEN_LIST)
    while p >= 0 and byte(data, p) != CLOSE_LIST:
        row = 2 * to.counts[SPAN_ROWS]
        p = js.enter(data, p, js.OPEN_LIST)
        for end in range(2):
            if p < 0 or byte(data, p) == CLOSE_LIST:
                return FAIL
            p = put_place(data, p, to.span, row + end)
            p = step(data, p, CLOSE_LIST)
        if p < 0 or byte(data, p) != CLOSE_LIST:
            return FAIL
        to.counts[SPAN_ROWS] += 1
        p = step(data, p + 1, CLOSE_LIST)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, COLUMNS))
def put_candidates(data, p, to):
    """Write the candidates of a mention: a list of strings."""
    p = js.enter(data, p, js.OPEN_LIST)
    while p >= 0 and byte(data, p) != CLOSE_LIST:
        end = put_string(data, p, to.qid, to.counts[QID_BYTES])
        if end < 0:
            return FAIL
        row = to.counts[CANDIDATE_ROWS] = to.counts[CANDIDATE_ROWS] + 1
        to.counts[QID_BYTES] = end
        to.qid_end[row] = end
        p = step(data, js.skip(data, p), CLOSE_LIST)
    return p + 1 if p >= 0 else FAIL


@inner(types.int64(BYTES, types.int64, types.boolean, COLUMNS))
def put_mention(data, p, quotebank, to):
    """Write a mention: an object with a name and optional spans and candidates; other fields are ignored."""
    name, spans, candidates = 0, 0, 0
    p = js.enter(data, p, js.OPEN_MAP)
    while p >= 0 and byte(data, p) != CLOSE_MAP:
        is_spans = at(data, p, K_OFFSETS) if quotebank else at(data, p, K_SPANS)
        is_candidates = at(data, p, K_IDS) if quotebank else at(data, p, K_CANDIDATES)
        is_name = at(data, p, K_NAME)
        value = js.colon(data, js.plain_text(data, p))
        if (is_name and name != 0) or (is_spans and spans != 0) or (is_candidates and candidates != 0):
            return FAIL
        name = value if is_name else name
        spans = value if is_spans else spans
        candidates = value if is_candidates else candidates
        p = js.skip(data, value)
        if p >= 0 and not is_name and not is_spans and not is_candidates and has_surrogate(data, value, p):
            return FAIL
        p = step(data, p, CLOSE_MAP)
    if p < 0 or name <= 0:
        return FAIL
    row = to.counts[MENTION_ROWS]
    end = put_string(data, name, to.name, to.counts[NAME_BYTES])
    if end < 0 or (spans != 0 and put_spans(data, spans, to) < 0):
        return FAIL
    to.has_candidates[row] = candidates != 0 and not at(data, candidates, NULL)
    if to.has_candidates[row] and put_candidates(data, candidates, to) < 0:
        return FAIL
    to.counts[NAME_BYTES] = end
    to.name_end[row + 1] = end
    to.span_end[row + 1] = to.counts[SPAN_ROWS]
    to.candidate_end[row + 1] = to.counts[CANDIDATE_ROWS]
    to.counts[MENTION_ROWS] = row + 1
    return p + 1


@inner(types.int64(BYTES, types.int64, types.boolean, types.int64, COLUMNS))
def put_mentions(data, p, quotebank, row, to):
    """Write the mentions of an article: a list, null, or nothing (p is 0)."""
    to.has_mentions[row] = p != 0 and not at(data, p, NULL)
    if not to.has_mentions[row]:
        return 0
    p = js.enter(data, p, js.OPEN_LIST)
    while p >= 0 and byte(data, p) != CLOSE_LIST:
        p = step(data, put_mention(data, p, quotebank, to), CLOSE_LIST)
    return p


@inner(types.int64(BYTES, types.boolean, types.int64, COLUMNS))
def put_extra(data, quotebank, row, to):
    """Write the members that the layout does not have as a JSON object; returns its end in the column."""
    end = begin = to.counts[EXTRA_BYTES]
    for member in range(to.found[FIELDS]):
        place = MEMBER + 4 * member
        slot = to.found[place]
        theirs = slot in (ARTICLE_ID, CONTENT, NAMES) if quotebank else slot in (ID, TEXT, MENTIONS)
        if theirs or slot in (TITLE, DATE):
            continue
        if has_surrogate(data, to.found[place + 2], to.found[place + 3]):
            return FAIL
        to.extra[end] = js.COMMA if end > begin else js.OPEN_MAP
        key = to.found[place + 1]
        end = put_bytes(data, key, js.text_stop(data, key + 1) + 1, to.extra, end + 1)
        to.extra[end] = 58  # :
        end = put_bytes(data, to.found[place + 2], to.found[place + 3], to.extra, end + 1)
    to.has_extra[row] = end > begin
    if end > begin:
        to.extra[end] = CLOSE_MAP
        end += 1
    return end


@inner(types.int64(BYTES, types.int64, COLUMNS))
def put_article(data, p, to):
    """Write an article as a row of each column."""
    if members(data, p, to.found) < 0:
        return FAIL
    row, found, counts = to.counts[ARTICLES], to.found, to.counts
    quotebank = found[ARTICLE_ID] != 0
    identifier = found[ARTICLE_ID] if quotebank else found[ID]
    text = found[CONTENT] if quotebank else found[TEXT]
    if identifier == 0 or text == 0:
        return FAIL
    id_end = put_id(data, identifier, to.id, counts[ID_BYTES])
    text_end = put_string(data, text, to.text, counts[TEXT_BYTES])
    title_end = put_optional(data, found[TITLE], to.title, counts[TITLE_BYTES], to.has_title, row)
    date_end = put_optional(data, found[DATE], to.date, counts[DATE_BYTES], to.has_date, row)
    if id_end < 0 or text_end < 0 or title_end < 0 or date_end < 0:
        return FAIL
    if put_mentions(data, found[NAMES] if quotebank else found[MENTIONS], quotebank, row, to) < 0:
        return FAIL
    extra_end = put_extra(data, quotebank, row, to)
    if extra_end < 0:
        return FAIL
    counts[ID_BYTES], counts[TEXT_BYTES], counts[TITLE_BYTES] = id_end, text_end, title_end
    counts[DATE_BYTES], counts[EXTRA_BYTES] = date_end, extra_end
    to.by_token[row] = quotebank
    to.id_end[row + 1], to.text_end[row + 1], to.title_end[row + 1] = id_end, text_end, title_end
    to.date_end[row + 1], to.extra_end[row + 1] = date_end, extra_end
    to.mention_end[row + 1] = counts[MENTION_ROWS]
    counts[ARTICLES] = row + 1
    return 0


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
        *(pointer(to.candidate_end), pointer(to.qid_end), pointer(to.counts)),
        *(pointer(to.line), pointer(to.text_end), pointer(found)),
    )
    keys, stamp = np.zeros(KEY_SLOTS, np.uint64), np.uint64(0)
    status = DONE
    while start < size:
        weight = counts[TEXT_BYTES] + counts[EXTRA_BYTES] + 100 * counts[CANDIDATE_ROWS]
        if counts[ARTICLES] >= most_articles or weight >= most_weight:
            status = FULL
            break
        p = js.space(raw, start)
        if p >= size or byte(raw, p) == js.NEWLINE:
            counts[LINES] += 1
            start = p + 1
            continue
        stamp += np.uint64(1)
        end = valid_end(raw, p, pointer(keys), stamp) if byte(raw, p) == js.OPEN_MAP else FAIL
        if end >= 0:
            end = js.space(raw, end)
        if end < 0 or (end < size and byte(raw, end) != js.NEWLINE) or end - start > most_line:
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
