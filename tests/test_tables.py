"""Articles as people have them: CSV, JSON of other fields, folders, standard input; and links as they want them."""

import bz2
import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake import build_kb
from namesake.articles.rejects import Rejects
from namesake.articles.schema import LINKS
from namesake.errors import NamesakeError
from namesake.formats import link_writers as ours
from namesake.formats import read_articles
from namesake.formats.field_names import Reading
from namesake.formats.table_files import escaped
from namesake.reconciling.table import ADDED
from namesake.sample import ARTICLES, DUMP, EXPECTED

TEXT = "The basketball player Michael Jordan of the Chicago Bulls spoke."
NEWS = f"url,headline,body,desk\nu1,Jordan speaks,{TEXT},sport\nu2,Weather,It rained.,news\n"


def articles(path: Path, rejects: Rejects | None = None, **named: object) -> list[dict]:
    tables = read_articles(path, rejects or Rejects(), reading=Reading(**named))
    return [row for table in tables for row in table.to_pylist()]


def refusal(path: Path, rejects: Rejects) -> str:
    """Why a file cannot be read; nothing where it can."""
    try:
        articles(path, rejects)
    except NamesakeError as problem:
        return str(problem)
    return ""


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


# readers
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8), st.sampled_from([",", "\t", ";"]))
def test_rows_are_read_as_they_were_written(tmp_path_factory, rows, separator):
    path = tmp_path_factory.mktemp("csv") / ("a.tsv" if separator == "\t" else "a.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(["id", "text", "desk"])
        writer.writerows(rows)
    found = articles(path)
    places = [row["id"] for row in found]
    assert [row["text"] for row in found] == [text for _, text, _ in rows]
    assert [json.loads(row["extra"]) for row in found] == [{"desk": desk} for _, _, desk in rows]
    for place, (identifier, _, _) in zip(places, rows, strict=True):
        assert place == identifier or (not identifier and place.startswith(path.name))


def test_fields_of_other_names_are_read_as_told_or_guessed_aloud(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"url": "u", "meta": {"title": "T", "day": "2016-01-02"}, "words": TEXT, "n": 1}))
    told = articles(path, text="words", id="url", title="meta.title", date="meta.day")
    assert [(row["id"], row["text"], row["title"], row["date"]) for row in told] == [("u", TEXT, "T", "2016-01-02")]
    assert json.loads(told[0]["extra"])["n"] == 1
    said: list[str] = []
    (tmp_path / "b.csv").write_text(NEWS)
    guessed = articles(tmp_path / "b.csv", say=said.append)
    assert [(row["id"], row["title"]) for row in guessed] == [("u1", "Jordan speaks"), ("u2", "Weather")]
    assert said == [
        f"{tmp_path / 'b.csv'}: text is `body`, id is `url`, title is `headline` "
        "(guessed; `text=`, `id=`, `title=` and `date=` say otherwise)"
    ]


def test_our_own_layouts_are_read_as_ever_and_in_silence(tmp_path):
    said: list[str] = []
    plain = articles(ARTICLES, say=said.append)
    array = tmp_path / "a.json"
    array.write_text(f"[{','.join(ARTICLES.read_text().splitlines())}]")
    assert articles(array, say=said.append) == plain
    assert said == []


def test_json_lines_whose_text_is_called_otherwise_are_refused_with_what_may_be_meant(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"URL": "u", "body": "words"}\n')
    with pytest.raises(NamesakeError, match=r"no `text`; did you mean `text='body'` `id='URL'`\?$"):
        articles(path)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "csv.bz2", "tsv", "json", "jsonl", "parquet"])
def test_every_format_gives_the_same_articles(tmp_path, suffix):
    rows = list(csv.DictReader(NEWS.splitlines()))
    path = tmp_path / f"news.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        text = {"tsv": NEWS.replace(",", "\t"), "json": json.dumps(rows), "jsonl": "\n".join(map(json.dumps, rows))}
        raw = text.get(suffix, NEWS).encode()
        path.write_bytes({"gz": gzip.compress, "bz2": bz2.compress}.get(path.suffix[1:], bytes)(raw))
    found = articles(path, text="body") if suffix == "jsonl" else articles(path)
    assert [(row["id"], row["title"], row["text"]) for row in found] == [
        (row["url"], row["headline"], row["body"]) for row in rows
    ]
    assert [json.loads(row["extra"]) for row in found] == [{"desk": "sport"}, {"desk": "news"}]


# bad tables
@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "no header"),
        (b"\n\n", "no header"),
        (b"id,text\n1,caf\xe9\n", "line 2: not utf-8 (byte 0xe9); name its encoding"),
        (b'id,text\n1,"never closed\n2,x\n', "line 2: a quote is opened here and never closed"),
        (b'id,text\n1,"a"b\n', "line 2: a quote within a cell is not doubled"),
        (b"id,id\n1,2\n", "two columns are called 'id'"),
        (b"a,b\n1,2\n", "which field is the text?"),
        (b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n", "1,000,000 columns"),
        ("id,text\n1,x\n".encode("utf-16")[:-1], "not utf-16"),
    ],
    ids=["empty", "blank", "latin-1", "open quote", "bare quote", "twice", "textless", "wide", "half a character"],
)
def test_a_table_that_cannot_be_read_is_one_line(tmp_path, raw, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(raw)
    with pytest.raises(NamesakeError) as error:
        articles(path)
    assert message in str(error.value)
    assert "bad.csv" in str(error.value)
    assert "\n" not in str(error.value)


def test_rows_that_do_not_fit_are_set_aside_with_their_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"two\nlines"\n2\n3,x,y\n\n4,nul\0\n5,good\n')
    rejects = Rejects()
    assert [row["id"] for row in articles(path, rejects)] == ["1", "5"]
    assert [(one.line, one.reason) for one in rejects.first] == [
        (4, "not a row: 1 cell, and the header has 2"),
        (5, "not a row: 3 cells, and the header has 2"),
        (7, "not a row: contains NUL bytes, which a text must not have"),
    ]
    assert [one.row for one in rejects.first] == [3, 4, 6]  # as a spreadsheet counts: one row of two lines
    assert str(rejects.first[0]) == f"{path}:4 (row 3): not a row: 1 cell, and the header has 2"


def test_a_cell_without_end_is_refused_before_memory_is(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,"' + b"x\n" * 5000)
    with pytest.raises(NamesakeError, match="line 2: a cell has no end"):
        list(read_articles(path, Rejects(), Reading(most_line=1000)))
    path.write_bytes(b"id,text\n1," + b"x" * 5000)
    with pytest.raises(NamesakeError, match="line 2: longer than 1,000 bytes"):
        list(read_articles(path, Rejects(), Reading(most_line=1000)))


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-8-sig"])
def test_encodings_are_told_or_marked_never_guessed(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\n1,café\n".encode(encoding))
    said: list[str] = []
    told = None if encoding in ("utf-16", "utf-8-sig") else encoding
    assert [row["text"] for row in articles(path, encoding=told, say=said.append)] == ["café"]
    assert bool(said) == (encoding == "utf-16")
    with pytest.raises(NamesakeError, match="no such encoding"):
        articles(path, encoding="klingon")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_one_line(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_bytes(b"id,text\n" + raw)
    assert "\n" not in refusal(path, Rejects())


@pytest.mark.parametrize("raw", [b"[1, 2]", b"[", b"[" * 100_000, b'[{"text": 5}]', b'[{"a": "b"}]', b"[\xff]"])
def test_arrays_that_hold_no_articles_are_refused_or_set_aside(tmp_path, raw):
    path = tmp_path / "a.json"
    path.write_bytes(raw)
    rejects = Rejects()
    assert "a.json" in refusal(path, rejects) or rejects.count


# the command
def test_tables_in_and_out(run):
    Path("news.csv").write_text(NEWS)
    fields = ["--text", "body", "--id", "url", "--title", "headline"]
    assert run("link", "news.csv", *fields, "-o", "out.csv").code == 0
    in_title, row = csv.DictReader(Path("out.csv").read_text().splitlines())
    assert (in_title["name"], in_title["qid"], json.loads(in_title["title_spans"])) == ("Jordan", "Q41421", [[0, 6]])
    assert (row["article_id"], row["qid"], row["label"]) == ("u1", "Q41421", "Michael Jordan")
    assert row["url"] == "https://www.wikidata.org/wiki/Q41421"
    assert json.loads(row["spans"]) == [[22, 36]]
    assert run("link", "news.csv", *fields, "-o", "out.jsonl").code == 0
    _, line = lines(Path("out.jsonl").read_text())
    assert run("link", "news.csv", *fields, "-o", "out.parquet").code == 0
    _, stored = pq.read_table("out.parquet").to_pylist()
    for key in ("qid", "label", "description", "url"):
        assert row[key] == line[key] == stored[key]
    assert run("link", "news.csv", *fields, "-o", "out.tsv", "--flat").code == 0
    flat = list(csv.DictReader(Path("out.tsv").read_text().splitlines(), delimiter="\t"))
    places = [(one["start"], one["end"], one["in_title"]) for one in flat]
    assert places == [("0", "6", "true"), ("22", "36", "false")]


@pytest.mark.parametrize(
    ("format", "stdin"),
    [("text", TEXT), ("csv", f"id,text\nx,{TEXT}"), ("json", f'[{{"id": 1, "text": "{TEXT}"}}]'), (None, None)],
)
def test_standard_input_goes_to_standard_output(run, format, stdin):
    given = json.dumps({"id": "x", "text": TEXT}) if stdin is None else stdin
    ran = run("link", "-", "-o", "-", *(["--format", format] if format else []), stdin=given.encode())
    assert ran.code == 0
    assert [row["qid"] for row in lines(ran.out)] == ["Q41421"]
    assert list(Path().iterdir()) == []


def test_links_of_files_go_to_standard_output_in_any_form(run):
    Path("a.txt").write_text(TEXT)
    ran = run("link", "a.txt", "-o", "-", "--to", "csv")
    assert [row["qid"] for row in csv.DictReader(ran.out.splitlines())] == ["Q41421"]
    assert run("link", "a.txt", "-o", "-", "--to", "parquet").code == 2
    assert "did you mean 'csv'" in run("link", "a.txt", "-o", "-", "--to", "cvs").err


def test_folders_and_patterns_and_ids_that_differ(run):
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "x.txt").write_text(TEXT)
    for named in (["a", "b"], ["?/x.txt"], ["a/x.txt", "b/x.txt"], ["."]):
        ran = run("link", *named, "-o", "-")
        assert [row["article_id"] for row in lines(ran.out)] == ["a/x.txt", "b/x.txt"]
    assert [row["article_id"] for row in lines(run("link", "a", "-o", "-").out)] == ["x.txt"]
    assert run("link", "a", "b", "-o", "out/").code == 0
    parts = [pq.read_table(part) for part in sorted(Path("out/links").glob("*.parquet"))]
    assert pa.concat_tables(parts).column("article_id").to_pylist() == ["a/x.txt", "b/x.txt"]


STRAYS = {
    "broken.jsonl.gz": gzip.compress(b"x" * 500)[:20],
    "picture.csv": b"\x89PNG\r\n\x1a\n",
    "picture.parquet": b"\x89PNG\r\n\x1a\n",
    "people.csv": b"Name,Born\nMichael Jordan,1963\n",
}


@pytest.mark.parametrize("out", ["links.csv", "links.tsv", "links.jsonl.gz", "links.parquet", "links.csv --flat"])
def test_a_folder_is_linked_again_without_what_was_written_there(run, out):
    out, *flat = out.split()
    Path("a.txt").write_text(TEXT)
    Path("b.jsonl").write_text(json.dumps({"id": "b", "text": TEXT}) + "\nno article\n")
    Path("p.csv").write_text("Name;Note\nMichael Jordan;x\n")
    assert run("reconcile", "p.csv", "-o", "people.csv", "--review", "r.html").code == 0
    Path("p.csv").unlink()
    first = run("link", ".", "-o", out, *flat)
    assert first.code == 0
    content = Path(out).read_bytes()
    for _ in range(2):
        again = run("link", ".", "-o", out, *flat)
        assert again.code == 0
        assert Path(out).read_bytes() == content
    ours = {path.name for path in Path().iterdir()} - {"a.txt", "b.jsonl", "r.html"}
    assert f"{len(ours)} files skipped, written by Namesake: " in again.err
    assert run("link", ".", "-o", "run/").code == 0
    assert run("link", ".", "-o", out, *flat).code == 0
    assert Path(out).read_bytes() == content


def test_the_columns_of_our_own_tables_are_known(linker):
    assert {*ours.RECONCILED, "runner_up_label"} == set(ADDED.names)  # older tables lack the label
    assert set(LINKS.names) >= ours.LINKS


def test_one_stray_file_of_a_folder_is_named_and_left_out(run):
    Path("a.txt").write_text(TEXT)
    for name, content in STRAYS.items():
        Path(name).write_bytes(content)
    Path("notes.pdf").write_bytes(b"%PDF")
    Path("table.ods").write_bytes(b"PK\3\4")
    for command in (["link", "."], ["link", ".", "-o", "o.jsonl"], ["link", "*", "-o", "-"]):
        ran = run(*command)
        assert ran.code == 4
        assert "4 files could not be read, or not to the end:" in ran.err
        for name in STRAYS:
            assert sum(line.startswith(f"  {name}") for line in ran.err.splitlines()) == 1
        assert "2 files skipped, not articles: notes.pdf, table.ods" in ran.err
    assert [row["qid"] for row in lines(Path("o.jsonl").read_text())] == ["Q41421"]


@pytest.mark.parametrize("name", [*STRAYS, "links.csv", "links.csv.meta.json"])
def test_a_file_that_is_named_is_never_left_out(run, name):
    Path("a.txt").write_text(TEXT)
    run("link", "a.txt", "-o", "links.csv")
    if name in STRAYS:
        Path(name).write_bytes(STRAYS[name])
    ran = run("link", "a.txt", ".", name, "-o", "out.jsonl")
    if name.endswith(".json"):  # lines that are no articles
        assert f"  {name}:1: not an article" in ran.err
        assert "1 file skipped, written by Namesake: links.csv\n" in ran.err
        return
    assert ran.code == 2
    assert name in ran.err.splitlines()[-1]
    assert not Path("out.jsonl").exists()


def test_a_file_that_breaks_off_is_linked_up_to_there(run):
    rows = "".join(f"{n},{TEXT} {n}\n" for n in range(20_000))
    Path("in").mkdir()
    Path("in/a.csv.gz").write_bytes(gzip.compress(f"id,text\n{rows}".encode())[:-2000])
    ran = run("link", "in", "-o", "o.jsonl")
    assert ran.code == 4
    linked = len(Path("o.jsonl").read_text().splitlines())
    assert 0 < linked < 20_000
    assert f"in/a.csv.gz cannot be read to its end (truncated): is it whole?; {linked:,} articles before" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["link", "nowhere"], "nowhere: no such file or folder"),
        (["link", "a.txt", "-o", "nowhere/o.csv"], "nowhere: no such folder; create it to write nowhere/o.csv"),
        (["link", "t.xlsx"], "save t.xlsx as CSV"),
        (["link", "t.docx"], "save t.docx as plain text"),
        (["reconcile", "t.xlsx", "-o", "o.csv"], "save t.xlsx as CSV"),
    ],
)
def test_what_cannot_be_read_or_written_is_said_with_what_to_do(run, arguments, message):
    Path("a.txt").write_text(TEXT)
    Path("t.xlsx").write_bytes(b"PK\3\4")
    ran = run(*arguments)
    assert ran.code == 2
    assert message in ran.err.splitlines()[-1]


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "'=1"]
PLAIN = ["a=1", "1-2", "'Abd", "", "American"]


@given(st.sampled_from(FORMULAS + PLAIN) | cells)
def test_formulas_are_escaped_and_can_be_had_back(text):
    cell = escaped(text)
    assert cell.startswith("'") or not cell or cell[0] not in "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
    assert (cell != text) == (text.lstrip("'")[:1] in tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"))
    assert text == (cell[1:] if cell != text else cell)
    assert escaped(-0.5) == "-0.5"


@pytest.fixture(scope="module")
def edited_kb(tmp_path_factory):
    """The sample's KB after an edit in Wikidata that makes a formula of a description."""
    folder = tmp_path_factory.mktemp("edited")
    records = [line.rstrip(",") for line in DUMP.read_text("utf-8").splitlines() if line[:1] == "{"]
    for at, record in enumerate(records):
        if (item := json.loads(record))["id"] == "Q41421":
            item["descriptions"]["en"]["value"] = "=HYPERLINK(1)"
            records[at] = json.dumps(item)
    (folder / "dump.json").write_text("\n".join(records))
    build_kb([folder / "dump.json"], folder / "kb", keep="people")
    return folder / "kb"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_what_anybody_may_have_edited_is_no_formula_in_a_spreadsheet(run, edited_kb, suffix):
    Path("a.txt").write_text(TEXT)
    Path("p.csv").write_text("Name,Sum,description\nMichael Jordan,=1+1,-\n")
    assert run("link", "a.txt", "-o", f"links.{suffix}", kb=edited_kb).code == 0
    assert (
        run("reconcile", "p.csv", "--name", "Name", "--threshold", "0", "-o", f"out.{suffix}", kb=edited_kb).code == 0
    )
    found = []
    for name in ("links", "out"):
        text = Path(f"{name}.{suffix}").read_text()
        separator = "\t" if suffix == "tsv" else ","
        rows = lines(text) if suffix == "jsonl" else csv.DictReader(text.splitlines(), delimiter=separator)
        found += list(rows)
    described = "=HYPERLINK(1)" if suffix == "jsonl" else "'=HYPERLINK(1)"
    assert [found[0]["description"], found[1]["namesake_description"]] == [described] * 2
    assert (found[1]["Sum"], found[1]["description"]) == ("=1+1", "-")


def test_tables_go_into_folders_and_other_fields_are_another_run(run):
    Path("news.csv").write_text(NEWS)
    Path("more.jsonl").write_text(json.dumps({"url": "u3", "body": TEXT}))
    command = ["link", "news.csv", "more.jsonl", "--text", "body", "--id", "url", "-o", "out/"]
    assert run(*command).code == 0
    parts = [pq.read_table(part) for part in sorted(Path("out/links").glob("*.parquet"))]
    links = pa.concat_tables(parts).to_pylist()
    assert [(row["article_id"], row["name"], row["qid"], row["label"]) for row in links] == [
        ("u1", "Jordan", "Q41421", "Michael Jordan"),  # in the title
        ("u1", "Michael Jordan", "Q41421", "Michael Jordan"),
        ("u3", "Michael Jordan", "Q41421", "Michael Jordan"),
    ]
    assert run(*command).code == 0
    refused = run(*command, "--title", "headline")
    assert refused.code == 2
    assert "--title" in refused.err


def test_date_is_a_field_or_a_date(run):
    Path("a.jsonl").write_text(json.dumps({"id": "x", "text": TEXT, "published": "1850-01-01"}))
    confidence = {}
    for date in ("published", "1850-01-01", "1996", None):
        ran = run("link", "a.jsonl", "-o", "-", *(["--date", date] if date else []))
        [row] = lines(ran.out)
        confidence[date] = row["confidence"]
    assert confidence["published"] == confidence["1850-01-01"] < confidence["1996"]
    assert run("link", "a.jsonl", "-o", "-", "--date", "2016-13-45").code == 2


def test_tables_go_through_standard_input_and_output(run):
    ran = run("link", "-", "--format", "csv", "-o", "-", "--to", "tsv", stdin=NEWS.encode())
    rows = csv.DictReader(ran.out.splitlines(), delimiter="\t")
    assert {(row["article_id"], row["qid"]) for row in rows} == {("u1", "Q41421")}


def test_files_of_one_name_are_printed_with_ids_that_differ(run):
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "x.csv").write_text(f"body\n{TEXT}\n")
    out = run("link", "a/x.csv", "b/x.csv").out
    assert "a/x.csv:2" in out
    assert "b/x.csv:2" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--flat"], "-o"),
        (["--to", "csv"], "-o"),
        (["--format", "csv", "-o", "-"], "--to"),
        (["--engine", "spark", "-o", "d/", "--text", "body"], "--text"),
        (["--engine", "spark", "-o", "d/", "--flat", "--encoding", "cp1252"], "--encoding, --flat"),
    ],
)
def test_options_that_would_not_be_heeded_are_refused(run, arguments, message):
    Path("a.txt").write_text(TEXT)
    ran = run("link", "a.txt", *arguments)
    assert ran.code == 2
    assert message in ran.err.splitlines()[-1]


def test_explain_reads_as_link_does(run):
    Path("n.csv").write_text(f"url,body,day\nu1,{TEXT},1850-01-01\n")
    ran = run("explain", "n.csv", "--text", "body", "--date", "day", "--json", kb=None)
    assert ran.code == 0
    assert "embedded sample" in ran.err
    assert {row["article_id"] for row in json.loads(ran.out)} == {"u1"}


def test_a_table_without_rows_keeps_its_header(run):
    Path("p.csv").write_text("Name,Job\n")
    assert run("reconcile", "p.csv", "-o", "o.csv").code == 0
    assert Path("o.csv").read_text().startswith("Name,Job,qid,")


def test_a_table_of_which_no_row_can_be_read_is_no_success(run):
    Path("p.csv").write_text("Name,Job\nMichael Jordan\n")
    ran = run("reconcile", "p.csv", "-o", "o.csv")
    assert ran.code == 3
    [row] = csv.DictReader(Path("o.csv").read_text().splitlines())
    assert (row["Name"], row["qid"]) == ("Michael Jordan", "")
    assert row["reason"].startswith("not read: 1 cell,")


def test_a_column_may_be_called_like_a_part_of_the_score(run):
    Path("p.csv").write_text("Name,Born\nMichael Jordan,1963\n")
    assert run("reconcile", "p.csv", "--type", "Born=Born", "-o", "o.csv").code == 0
    [row] = csv.DictReader(Path("o.csv").read_text().splitlines())
    assert row["qid"] == "Q41421"
    assert "Born agrees" in row["reason"]


def test_without_a_kb_the_sample_is_said_to_be_the_world(run):
    Path("a.txt").write_text(TEXT)
    assert (
        "only the 117 people of the embedded sample can be linked" in run("link", "a.txt", "-o", "o.csv", kb=None).err
    )
    assert "sample" not in run("link", "a.txt", "-o", "o.csv").err
    Path("articles.jsonl").write_bytes(ARTICLES.read_bytes())
    assert "WARNING" not in run("link", "articles.jsonl", "-o", "o.csv", kb=None).err


@pytest.mark.parametrize("command", ["evaluate", "threshold", "tune", "errors", "ablate"])
def test_whoever_measures_without_a_kb_is_told_that_it_is_the_sample(command, run):
    own, gold = Path("own.jsonl"), ["--gold", EXPECTED]
    own.write_text("".join(ARTICLES.read_text("utf-8").splitlines(keepends=True)[:-1]))
    labelled = command in ("threshold", "tune")
    arguments = ["--labelled", own] if labelled else ["--articles", own, *gold]
    warned = "people of the embedded sample" in run(command, *arguments, "-o", "out", kb=None).err
    assert warned
    if not labelled:
        assert "WARNING" not in run(command, "--articles", ARTICLES, *gold, "-o", "out", kb=None).err


def test_a_bad_row_is_counted_and_the_rest_linked(run):
    Path("news.csv").write_text(NEWS + "u9,too,many,cells,here\n")
    ran = run("link", "news.csv", "-o", "o.csv")
    assert ran.code == 0
    assert "news.csv:4: not a row: 5 cells" in ran.err
    [reject] = lines(Path("o.csv.rejects.jsonl").read_text())
    assert reject["line"] == 4


def test_plain_text_on_standard_input_is_hinted_at(run):
    for out in ([], ["-o", "o.csv"]):
        ran = run("link", "-", *out, stdin=TEXT.encode())
        assert ran.code == 3
        assert "for plain text add --format text" in ran.err
    assert run("link", "-", "--format", "text", stdin=TEXT.encode()).code == 0
    assert "--format" not in run("link", "-", "--format", "jsonl", stdin=TEXT.encode()).err
