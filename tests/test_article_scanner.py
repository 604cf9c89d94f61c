"""The compiled reader of JSON lines gives what msgspec gives, line for line, and sets aside what it sets aside."""

import gzip
import io
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from namesake.articles.builder import in_tables
from namesake.articles.rejects import Rejects
from namesake.articles.schema import ARTICLES
from namesake.files.lines import PADDING, Block, bounded_lines
from namesake.formats import read_articles
from namesake.formats.json_articles import Places, RecordReader, read_blocks
from namesake.formats.json_scanner import scan

MOST = 400
"""Bytes of a line."""


def joined(tables: list[pa.Table]) -> list[dict]:
    return pa.concat_tables([ARTICLES.empty_table(), *tables]).to_pylist()


def told(rows: list[dict], rejects: Rejects, places: Places) -> tuple[list[dict], list, dict]:
    """Rows, rejects, and the line of every article whose id is its own."""
    counts = Counter(row["id"] for row in rows)
    return rows, rejects.first, {name: places.line_of(name) for name, count in counts.items() if count == 1}


def by_scanner(text: bytes, most_articles: int = 2048) -> tuple[list[dict], list, dict]:
    rejects, places = Rejects(most=1000), Places()
    tables = list(read_blocks([Block.of(text)], "file", rejects, most_articles, MOST, places=places))
    for table in tables:
        table.validate(full=True)
        assert table.num_rows <= most_articles
    return told(joined(tables), rejects, places)


def by_msgspec(text: bytes) -> tuple[list[dict], list, dict]:
    rejects, places = Rejects(most=1000), Places()
    return told(joined(decoded(bounded_lines(io.BytesIO(text), MOST), rejects, places, MOST)), rejects, places)


def decoded(lines, rejects: Rejects, places: Places, most: int) -> list[pa.Table]:
    """Tables of articles by msgspec alone."""
    reader, articles = RecordReader(Path("file"), rejects, most), []
    for number, line in lines:
        if (article := reader.article(number, line)) is not None:
            articles.append(article)
            places.lines[article.id] = number
    return list(in_tables(articles))


texts = st.text(st.sampled_from('abcé"\\/\n\t\u2028😀\x00\ud800 {}[]:,'), max_size=12)
numbers = st.one_of(st.integers(-5, 40), st.sampled_from([2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 1.5, 1e3, True]))
values = st.recursive(
    st.one_of(st.none(), numbers, texts),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
spans = st.lists(st.lists(st.integers(-1, 9), min_size=2, max_size=2), max_size=3)
candidates = st.none() | st.lists(st.sampled_from(["Q1", "Q42", "é", ""]), max_size=3)


def mentions(places: str, ids: str) -> st.SearchStrategy:
    sound = st.fixed_dictionaries({"name": texts}, optional={places: spans, ids: candidates, "more": values})
    broken = st.dictionaries(st.sampled_from(["name", places, ids]), values, max_size=3)
    return st.none() | st.lists(sound, max_size=3) | st.lists(sound | broken, max_size=2) | values


optional = {
    "title": st.none() | texts,
    "date": st.none() | st.just("2016-12-26") | texts,
    "url": values,
    "extra": values,
}
identifiers = texts | st.integers(-3, 10**20) | values
plain = st.fixed_dictionaries(
    {"id": identifiers, "text": texts}, optional=optional | {"mentions": mentions("spans", "candidates")}
)
quotebank = st.fixed_dictionaries(
    {"articleID": identifiers, "content": texts},
    optional=optional | {"names": mentions("offsets", "ids"), "id": values, "text": values},
)
anything = st.dictionaries(
    st.sampled_from(["id", "text", "articleID", "content", "names", "mentions", "é"]), values, max_size=4
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line: an article in either layout, or almost one, written in one of the ways that JSON allows."""
    record = draw(plain | quotebank | anything)
    gaps = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
    text = json.dumps(record, ensure_ascii=draw(st.booleans()), separators=gaps)
    if draw(st.integers(0, 5)) == 0:  # a key that stands there twice
        text = text[:-1] + "," + json.dumps(dict(list(record.items())[:1]), separators=gaps)[1:] if record else text
    raw = text.encode("utf-8", "surrogatepass")
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):  # bytes lost, added, changed
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.binary(max_size=2)) + raw[at + draw(st.integers(0, 2)) :]
    before, after = (draw(st.sampled_from([b"", b" ", b"\t", b"\r", b"\x0b", b"\xef\xbb\xbf"])) for _ in range(2))
    return before + raw.replace(b"\n", b" ") + after


@pytest.mark.kernel
@given(
    st.lists(st.one_of(lines(), lines(), st.sampled_from([b"", b"  ", b"{}", b"null", b"[]"])), max_size=6),
    st.booleans(),
)
@example([b'{"id":"a","text":"x","a":1,"a":2}'], True)
@example([b'{"id":"a","text":"x","url":"\\ud800"}'], True)
@example([b'{"id":"a","text":"\\ud83d\\ude00\\u00e9"}'], True)
@example([b'{"id":-0,"text":""}', b'{"id":1.0,"text":""}', b'{"id":01,"text":""}'], True)
@example([b'{"id":"a","text":"x","mentions":[{"name":"n","spans":[[1,2],[3,-4]],"candidates":["Q1"]}]}'], False)
@example([b'{"id":"a","text":"' + b"x" * MOST + b'"}', b'{"id":"b","text":"y"}'], True)
def test_the_scanner_reads_what_msgspec_reads(records, newline):
    text = b"\n".join(records) + (b"\n" if newline else b"")
    assert by_scanner(text) == by_msgspec(text)
    assert by_scanner(text, most_articles=1) == by_msgspec(text)


def test_real_articles_need_no_decoder(shared):
    """All of the paper's, and the same tables as with one; so the scanner is no slow way around."""
    text = gzip.decompress((shared / "quotebank" / "articles.jsonl.gz").read_bytes())
    scanned = scan(bytearray(text + bytes(PADDING)), 0, len(text), 2048, 1 << 28)
    assert (scanned.table.num_rows, scanned.end, scanned.is_stuck) == (300, len(text), False)
    [expected] = decoded(bounded_lines(io.BytesIO(text)), Rejects(), Places(), 1 << 28)
    assert scanned.table.equals(expected)


def test_tables_end_where_they_are_full():
    article = {"id": "a", "text": "x" * 1_000_000, "mentions": []}
    text = (json.dumps(article) + "\n").encode() * 40
    tables = list(read_blocks([Block.of(text)], "file", Rejects()))
    assert [table.num_rows for table in tables] == [17, 17, 6]  # 16 MB of text
    long = json.dumps({"id": "b", "text": "y" * 30_000_000}).encode()  # more than a table of the scanner takes
    tables = list(read_blocks([Block.of(text[: text.index(b"\n") + 1] + long)], "file", Rejects()))
    assert [len(one) for table in tables for one in table.column("text").to_pylist()][-1] == 30_000_000


@pytest.mark.parametrize("size", [10, 37, 1000])
def test_blocks_may_end_after_any_line(size, tmp_path):
    """What a file gives does not depend on where it is cut, nor on the size of a table."""
    records = [{"id": str(k), "text": "word " * (k % 7), "title": None if k % 3 else "t"} for k in range(200)]
    raw = [json.dumps(one).encode() for one in records]
    raw[50], raw[120] = b"{broken", b'{"id": "no text"}'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(raw))
    blocks = [Block.of(b"\n".join(raw[first : first + size]) + b"\n", first) for first in range(0, 200, size)]
    rejects, whole = Rejects(), Rejects()
    found = joined(list(read_blocks(blocks, path, rejects, 30)))
    assert found == joined(list(read_articles(path, whole)))
    assert [one["id"] for one in found] == [str(k) for k in range(200) if k not in (50, 120)]
    assert rejects.first == whole.first
    assert [one.line for one in rejects.first] == [51, 121]
