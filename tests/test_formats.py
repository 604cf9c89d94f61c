"""Readers and writers against the standard library's json, gzip and bz2, and pyarrow's own Parquet."""

import bz2
import gzip
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.articles import builder
from namesake.articles.rejects import Rejects
from namesake.articles.schema import ARTICLES, LINKS, check
from namesake.errors import NamesakeError
from namesake.formats import read_articles
from namesake.formats.json_articles import read_article, read_lines
from namesake.formats.link_writers import LinkWriter

PLAIN = {
    "id": "a1",
    "text": "José Smith spoke. Smith left.",
    "title": "T",
    "date": "2020-01-02",
    "mentions": [{"name": "José Smith", "spans": [[0, 10], [18, 23]]}],
}
QUOTEBANK = {
    "articleID": "q1",
    "content": "mayor  john smith said .",
    "date": "2015-01-01 00:00:00",
    "title": "t",
    "names": [{"name": "john smith", "ids": ["Q1", "Q2"], "offsets": [[1, 3], [2, 3]]}],
    "quotations": [{"quotation": "x", "n": 1}],
    "phase": "E",
}


def written(path: Path, records: list) -> Path:
    raw = b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)
    if path.suffix == ".gz":
        raw = gzip.compress(raw)
    elif path.suffix == ".bz2":
        raw = bz2.compress(raw)
    elif path.suffix == ".zst":
        raw = pa.Codec("zstd").compress(raw, asbytes=True)
    path.write_bytes(raw)
    return path


def rows(path: Path, rejects: Rejects | None = None, **options) -> list[dict]:
    return [row for table in read_articles(path, rejects or Rejects(), **options) for row in table.to_pylist()]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".zst"])
def test_plain_and_quotebank_lines_in_any_compression(tmp_path, suffix):
    plain, quotebank = rows(written(tmp_path / f"a.jsonl{suffix}", [PLAIN, QUOTEBANK]))
    assert plain["mentions"] == [{"name": "José Smith", "spans": [[0, 10], [18, 23]], "candidates": None}]
    assert plain["extra"] is None
    # whitespace tokens 1-3 and 2-3 of the content, found by hand with a regular expression
    places = [m.span() for m in re.finditer(r"\S+", QUOTEBANK["content"])]
    wanted = [[places[1][0], places[2][1]], [places[2][0], places[2][1]]]
    assert quotebank["mentions"] == [{"name": "john smith", "spans": wanted, "candidates": ["Q1", "Q2"]}]
    assert json.loads(quotebank["extra"]) == {"quotations": QUOTEBANK["quotations"], "phase": "E"}


def test_quotebank_spans_cover_the_names_in_the_real_articles(shared):
    seen = 0
    for row in rows(shared / "quotebank" / "articles.jsonl.gz"):
        for mention in row["mentions"]:
            for start, end in mention["spans"]:
                surface = " ".join(row["text"][start:end].split()).lower()
                assert surface in mention["name"].lower()
                seen += 1
    assert seen == 5155


def test_parquet_of_the_same(tmp_path):
    [table] = read_articles(written(tmp_path / "a.jsonl", [PLAIN, QUOTEBANK]), Rejects())
    pq.write_table(table, tmp_path / "a.parquet")
    assert rows(tmp_path / "a.parquet") == table.to_pylist()


def test_parquet_written_by_others(tmp_path):
    """Plain lists instead of fixed-size ones, a missing optional column, and one of their own."""
    record = {"id": "a", "text": "x y", "mentions": [{"name": "x", "spans": [[0, 1]]}], "source": "wire"}
    pq.write_table(pa.Table.from_pylist([record]), tmp_path / "a.parquet")
    [row] = rows(tmp_path / "a.parquet")
    assert row["mentions"] == [{"name": "x", "spans": [[0, 1]], "candidates": None}]
    assert json.loads(row["extra"]) == {"source": "wire"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "malformed"),
        (b'{"id": "a"}', "no `text`"),
        (b'{"text": "a"}', "no `id`"),
        (b'{"id": "a", "text": 3}', "`text`"),
        (b'{"id": "a", "text": "x", "mentions": [{"spans": [[0, 1]]}]}', "name"),
        (b'{"id": "a", "text": "x", "mentions": [{"name": "x", "spans": [[0]]}]}', "spans"),
        (b"[1, 2]", "object"),
        (b'{"id": "a", "text": "cut of', "truncated"),
        (b'{"id": "a", "text": "x"}\v', "trailing"),
    ],
)
def test_a_bad_line_is_set_aside_with_its_place(tmp_path, line, reason):
    path = written(tmp_path / "a.jsonl", [PLAIN, line, PLAIN])
    rejects = Rejects()
    assert len(rows(path, rejects)) == 2
    [reject] = rejects.first
    assert (reject.file, reject.line) == (str(path), 2)
    assert reason in reject.reason


def test_lone_surrogates_and_nuls_survive_as_characters():
    article = read_article(rb'{"id": "a", "text": "a\ud800b\u0000c\ud83d\ude00"}')
    assert article.text == "a\ufffdb\0c😀"


def test_batches_are_bounded_and_lose_nothing(tmp_path, monkeypatch):
    path = written(tmp_path / "a.jsonl", [PLAIN | {"id": str(i)} for i in range(10)])
    monkeypatch.setattr(builder, "MOST_ARTICLES", 3)
    tables = list(read_lines(path.read_bytes(), path, Rejects()))
    assert [t.num_rows for t in tables] == [3, 3, 3, 1]
    assert [r["id"] for t in tables for r in t.to_pylist()] == [str(i) for i in range(10)]


def test_truncated_gzip_and_missing_file_are_errors_that_name_the_file(tmp_path):
    path = written(tmp_path / "a.jsonl.gz", [PLAIN] * 200)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(NamesakeError, match=r"a\.jsonl\.gz"):
        rows(path)
    with pytest.raises(NamesakeError, match="no such file"):
        rows(tmp_path / "none.jsonl")
    with pytest.raises(NamesakeError, match=r"b\.doc"):
        rows(tmp_path / "b.doc")


def test_schema_check_names_what_is_missing():
    with pytest.raises(NamesakeError, match="no column `text`"):
        check(pa.table({"id": ["a"]}), ARTICLES, "news")
    with pytest.raises(NamesakeError, match="row 1 has no `text`"):
        check(pa.table({"id": ["a", "b"], "text": ["x", None]}), ARTICLES, "news")


def link_table(names: list[str]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "article_id": "a",
                "name": n,
                "spans": [[0, 1]],
                "title_spans": [[2, 3]] if n else None,
                "qid": None,
                "score": 1.5,
                "margin": None,
                "tie_break": None,
            }
            for n in names
        ],
        LINKS,
    )


@settings(max_examples=20)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=4))
@pytest.mark.parametrize("name", ["out.parquet", "out.jsonl", "out.jsonl.gz", "out.jsonl.zst"])
def test_links_come_back_as_they_were_written(tmp_path_factory, name, names):
    path = tmp_path_factory.mktemp("links") / name
    table = link_table(names)
    with LinkWriter(path, {"recipe": "r", "kb": "k"}) as writer:
        writer.write(table)
    if name == "out.parquet":
        back = pq.read_table(path)
        assert back.schema.metadata[b"namesake.recipe"] == b"r"
        assert back.to_pylist() == table.to_pylist()
        return
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if name.endswith(".gz") else raw
    raw = pa.input_stream(path, compression="zstd").read() if name.endswith(".zst") else raw
    written = [json.loads(line) for line in raw.split(b"\n") if line]
    assert [{"title_spans": None} | row for row in written] == table.to_pylist()
    assert all("title_spans" not in row for row in written if not row["name"])  # as if articles had no titles
    assert json.loads(path.with_name(name + ".meta.json").read_text()) == {"recipe": "r", "kb": "k"}


def test_a_failed_run_leaves_no_output(tmp_path):
    path = tmp_path / "out.parquet"

    def run() -> None:
        with LinkWriter(path, {}) as writer:
            writer.write(link_table(["x"]))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        run()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NamesakeError, match="links are written as"):
        LinkWriter(tmp_path / "out.xls", {})


def test_names_alone_are_meant_wherever_they_stand(tmp_path):
    """In JSON lines and in Parquet, among mentions with spans or without them."""
    text = "Ann met Bo. Bo left, and Ann stayed."
    line = {
        "id": "a",
        "text": text,
        "mentions": ["Ann", {"name": "Bo", "spans": [[8, 10]], "candidates": ["Q1"]}, "Cy"],
    }
    (tmp_path / "a.jsonl").write_text(
        json.dumps(line) + "\n" + json.dumps({"id": "b", "text": text, "mentions": ["Bo"]})
    )
    [table] = read_articles(tmp_path / "a.jsonl", Rejects())
    first, second = table.column("mentions").to_pylist()
    assert [(one["name"], one["spans"], one["candidates"]) for one in first] == [
        ("Ann", [[0, 3], [25, 28]], None),
        ("Bo", [[8, 10]], ["Q1"]),
        ("Cy", [], None),
    ]
    assert [(one["name"], one["spans"]) for one in second] == [("Bo", [[8, 10], [12, 14]])]
    pq.write_table(pa.table({"id": ["b"], "text": [text], "mentions": [["Bo"]]}), tmp_path / "b.parquet")
    [written] = read_articles(tmp_path / "b.parquet", Rejects())
    assert written.column("mentions").to_pylist() == [second]
