"""Articles from blocks of JSON lines, compared with Python's own `json`."""

import json
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.articles import builder
from namesake.articles.rejects import Rejects
from namesake.articles.schema import ARTICLES
from namesake.formats import read_articles
from namesake.formats.json_articles import read_lines

MOST = 400
"""Bytes of a line."""


def joined(tables: list[pa.Table]) -> list[dict]:
    return pa.concat_tables([ARTICLES.empty_table(), *tables]).to_pylist()


texts = st.text(st.sampled_from('abcé"\\/\n\t\u2028😀\x00 {}[]:,'), max_size=12)
values = st.recursive(
    st.one_of(st.none(), st.integers(-5, 2**40), st.booleans(), texts),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
mentions = st.lists(
    st.fixed_dictionaries(
        {"name": texts, "spans": st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), max_size=3)},
        optional={"candidates": st.none() | st.lists(st.sampled_from(["Q1", "Q42"]), max_size=3)},
    ),
    max_size=3,
)
articles = st.fixed_dictionaries(
    {"id": texts | st.integers(-3, 10**12), "text": texts},
    optional={"title": st.none() | texts, "date": st.none() | texts, "mentions": st.none() | mentions, "url": values},
)
BROKEN = [b"{broken", b'{"id": "no text"}', b'{"id": 1.5, "text": ""}', b'{"id": "a", "text": "' + b"x" * MOST + b'"}']
BLANK = [b"", b"  ", b"\t\r"]


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line: a valid article, written in one of the ways that JSON allows, or an invalid or a blank one."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(BROKEN + BLANK))
    gaps = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]))
    text = json.dumps(draw(articles), ensure_ascii=draw(st.booleans()), separators=gaps).encode()
    before, after = (draw(st.sampled_from([b"", b" ", b"\t", b"\r", b"\xef\xbb\xbf"])) for _ in range(2))
    return before + text + after.replace(b"\xef\xbb\xbf", b"")


def row_of(line: bytes) -> dict:
    """A valid article by Python's `json`, as a row of `ARTICLES`."""
    record = json.loads(line.decode("utf-8-sig"))
    given = record.pop("mentions", None)
    row = {"id": str(record.pop("id")), "text": record.pop("text")}
    row |= {name: record.pop(name, None) for name in ("title", "date")}
    row["mentions"] = None if given is None else [{"candidates": None} | one for one in given]
    return row | {"extra": record or None}


def is_valid(line: bytes) -> bool:
    return line not in BROKEN + BLANK and len(line) <= MOST


@given(st.lists(lines(), max_size=6), st.booleans(), st.sampled_from([1, 2048]))
def test_lines_are_read_as_python_reads_them(records, newline, most_articles):
    rejects = Rejects(most=1000)
    rejects.places = {}
    text = b"\n".join(records) + (b"\n" if newline else b"")
    with patch.object(builder, "MOST_ARTICLES", most_articles):
        tables = list(read_lines(text, Path("file"), rejects, MOST))
    for table in tables:
        table.validate(full=True)
        assert table.num_rows <= most_articles
    rows = [row | {"extra": json.loads(row["extra"]) if row["extra"] else None} for row in joined(tables)]
    assert rows == [row_of(line) for line in records if is_valid(line)]
    rejected = [number for number, line in enumerate(records, 1) if not is_valid(line) and line not in BLANK]
    assert [one.line for one in rejects.first] == rejected
    expected = {row_of(line)["id"]: number for number, line in enumerate(records, 1) if is_valid(line)}
    assert rejects.places == expected


def test_tables_end_where_they_are_full():
    article = {"id": "a", "text": "x" * 1_000_000, "mentions": []}
    text = (json.dumps(article) + "\n").encode() * 40
    tables = list(read_lines(text, Path("file"), Rejects()))
    assert [table.num_rows for table in tables] == [17, 17, 6]  # 16 MB of text


@pytest.mark.parametrize("size", [10, 37, 1000])
def test_blocks_may_end_after_any_line(size, tmp_path, monkeypatch):
    """What a file gives does not depend on where it is cut, nor on the size of a table."""
    records = [{"id": str(k), "text": "word " * (k % 7), "title": None if k % 3 else "t"} for k in range(200)]
    raw = [json.dumps(one).encode() for one in records]
    raw[50], raw[120] = b"{broken", b'{"id": "no text"}'
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(raw))
    rejects, whole, tables = Rejects(), Rejects(), []
    monkeypatch.setattr(builder, "MOST_ARTICLES", 30)
    for first in range(0, 200, size):
        lines = b"\n".join(raw[first : first + size]) + b"\n"
        tables += read_lines(lines, path, rejects, before=first)
    found = joined(tables)
    assert found == joined(list(read_articles(path, whole)))
    assert [one["id"] for one in found] == [str(k) for k in range(200) if k not in (50, 120)]
    assert rejects.first == whole.first
    assert [one.line for one in rejects.first] == [51, 121]
