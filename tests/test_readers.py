"""What readers of files owe to their users: nothing lost in silence, no two ids alike, a row in is a row out."""

import csv
import json
import string
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake import Linker
from namesake.articles.rejects import Rejects
from namesake.engines.file_linker import read_files
from namesake.formats import FORMATS, Format, read_articles, read_rows, stdin_formats, table_files, words
from namesake.formats.field_names import Reading
from namesake.formats.link_writers import MOST_REPEATED, LinkWriter
from namesake.formats.table_files import open_rows, write_rows
from namesake.reconciling.table import Layout, reconcile_table
from namesake.scorers.value_lookup import similar_properties

TEXT = "The basketball player Michael Jordan spoke."


def articles(path: Path, **reading: object) -> list[dict]:
    rejects = Rejects()
    tables = read_articles(path, rejects, reading=Reading(**reading))
    rows = [row for table in tables for row in table.to_pylist()]
    assert not rejects.count, rejects.first
    return rows


# JSON lines without ids
@pytest.mark.parametrize("first", [{"url": "u1", "text": TEXT}, {"text": TEXT}])
def test_lines_with_a_text_need_no_id(tmp_path, first):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in (first, {"id": "own", "text": "x", "mentions": []})))
    rows = articles(path)
    assert [row["id"] for row in rows] == [first.get("url", "a.jsonl:1"), "own"]
    assert rows[0]["text"] == TEXT
    assert rows[1]["mentions"] == []  # of our layout, whatever the first is


def test_what_was_used_is_not_carried_along(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"url": "u", "doc": {"body": TEXT, "desk": "sport"}, "head": {"line": "T"}}) + "\n")
    [row] = articles(path, text="doc.body", title="head.line")
    assert (row["text"], row["title"]) == (TEXT, "T")
    assert json.loads(row["extra"]) == {"doc": {"desk": "sport"}}


# ids
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".txt"])
def test_ids_of_files_of_one_name_differ(tmp_path, suffix):
    paths = [tmp_path / folder / f"x{suffix}" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        if suffix == ".parquet":
            pq.write_table(pa.table({"body": [TEXT, TEXT]}), path)
        elif suffix == ".jsonl":
            path.write_text(f"{json.dumps({'text': TEXT})}\n" * 2)
        else:
            path.write_text(f"body\n{TEXT}\n{TEXT}\n")
    ids = [one for table in read_files(paths, Rejects()) for one in table.column("id").to_pylist()]
    assert len(set(ids)) == len(ids) == (2 if suffix == ".txt" else 4)
    assert all(one.startswith(("a/x", "b/x")) for one in ids)


def test_every_suffix_is_read_by_its_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "read_odd", lambda path, *_: iter([path.name]), raising=False)
    monkeypatch.setattr("namesake.formats.FORMATS", [*FORMATS, Format("odd", (".odd",), "table_files.read_odd")])
    assert list(read_articles(tmp_path / "a.odd", Rejects())) == ["a.odd"]


def test_every_function_of_the_registry_exists():
    for one in FORMATS:
        for name in filter(None, (one.articles, one.rows, one.whole)):
            module, _, function = name.partition(".")
            assert callable(getattr(import_module(f"namesake.formats.{module}"), function))


def test_messages_and_standard_input_follow_the_registry():
    assert words() == ".jsonl, .json, .csv, .tsv, .txt (also .gz, .bz2, .zst) or .parquet or .xlsx"
    assert stdin_formats() == ["jsonl", "json", "csv", "tsv", "text"]


# encodings of text
@pytest.mark.parametrize(
    ("raw", "text", "said"),
    [
        ("José Pérez".encode(), "José Pérez", ""),
        ("José".encode("utf-8-sig"), "José", ""),
        ("José".encode("utf-16"), "José", "utf-16"),
        ("José Pérez".encode("cp1252"), "Jos\ufffd P\ufffdrez", "2 characters are lost"),
    ],
)
def test_a_text_that_is_no_utf8_is_told_of(tmp_path, raw, text, said):
    path, heard = tmp_path / "a.txt", []
    path.write_bytes(raw)
    [row] = articles(path, say=heard.append)
    assert row["text"] == text
    assert said in " ".join(heard)
    assert bool(heard) == bool(said)


# tables
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(
    columns=st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), max_size=6)),
    suffix=st.sampled_from([".csv", ".tsv"]),
)
def test_what_is_written_is_read_again(tmp_path_factory, columns, suffix):
    path = tmp_path_factory.mktemp("t") / f"t{suffix}"
    names = list(string.ascii_letters[: len(columns[0]) if columns else 3])
    table = pa.table({name: pa.array([row[at] for row in columns], pa.string()) for at, name in enumerate(names)})
    write_rows(table, path)
    rejects = Rejects()
    assert read_rows(path, rejects).table.equals(table)
    assert not rejects.count
    with path.open(newline="", encoding="utf-8") as file:
        delimiter = "\t" if suffix == ".tsv" else ","
        assert list(csv.reader(file, delimiter=delimiter, strict=True)) == [names, *columns]


def test_a_row_in_is_a_row_out(tmp_path, sample_kb):
    path = tmp_path / "p.csv"
    path.write_text("Name,Note\nMichael Jordan\nChris Carter,writer,more\n\nMichael Jordan,basketball player\n")
    rows = read_rows(path, Rejects())
    assert rows.table.column("Name").to_pylist() == ["Michael Jordan", "Chris Carter", "Michael Jordan"]
    found = reconcile_table(Linker(sample_kb), rows.table, Layout("Name", ("Note",)), unread=rows.unread).table
    assert found.column("qid").to_pylist() == [None, None, "Q41421"]
    assert found.column("reason").to_pylist()[:2] == [
        "not read: 1 cell, and the header has 2",
        "not read: 3 cells, and the header has 2",
    ]


def test_empty_lines_of_one_column_are_rows(tmp_path):
    (tmp_path / "p.csv").write_text("Name\nA\n\nB\n")
    assert read_rows(tmp_path / "p.csv", Rejects()).table.to_pydict() == {"Name": ["A", "", "B"]}


def test_lines_that_are_no_objects_stay_rows(tmp_path):
    (tmp_path / "p.jsonl").write_text('{"name": "A"}\nnot json\n{"name": "B"}\n')
    rows = read_rows(tmp_path / "p.jsonl", Rejects())
    assert rows.table.to_pydict() == {"name": ["A", None, "B"]}
    assert list(rows.unread) == [1]


def test_ten_thousand_columns_are_checked_at_once(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(",".join(f"c{at}" for at in range(10_000)) + "\n")
    with open_rows(path, Rejects(), Reading()) as rows:
        assert len(rows.header) == 10_000


def test_long_fields_are_not_repeated_in_cells(tmp_path):
    extra = pa.array(["x" * (MOST_REPEATED // 2)] * 3).dictionary_encode()
    with LinkWriter(tmp_path / "l.csv", {}) as writer:
        writer.write(pa.table({"article_id": ["a"] * 3, "extra": extra}))
    assert (tmp_path / "l.csv").stat().st_size < MOST_REPEATED


def test_a_property_is_offered_once(sample_kb):
    offered = similar_properties(sample_kb, "ocupation")
    assert "occupation" in offered
    assert len(offered) == len(set(offered))


def test_an_odd_first_line_is_set_aside_alone(tmp_path):
    """A file of ours stays one, whatever its first line calls its text."""
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, [{"body": TEXT}, {"id": "1", "text": TEXT}])))
    rejects = Rejects()
    assert [one for table in read_articles(path, rejects) for one in table.column("id").to_pylist()] == ["1"]
    assert rejects.count == 1
