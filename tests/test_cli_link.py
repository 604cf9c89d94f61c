"""`namesake link` and `namesake explain` on good and on bad input: exit codes, one-line messages, whole files."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from namesake.recipe import Recipe
from namesake.sample import ARTICLES

TEXT = "The basketball player Michael Jordan spoke."
GOOD = {"id": "good", "text": TEXT, "mentions": [{"name": "Michael Jordan", "spans": [[22, 36]]}]}
UNKNOWN = "Q999999999"


def written(name: str, *records: dict | bytes | str) -> Path:
    lines = [r if isinstance(r, bytes) else (r if isinstance(r, str) else json.dumps(r)).encode() for r in records]
    path = Path(name)
    raw = b"\n".join(lines)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


def read(name: str) -> list[dict]:
    return [json.loads(line) for line in Path(name).read_bytes().splitlines()]


def mention(**fields) -> dict:
    return {"name": "Michael Jordan", "spans": [[22, 36]]} | fields


def article(identifier: str, text: str = TEXT, **fields) -> dict:
    return {"id": identifier, "text": text, "mentions": [mention(**fields)]}


# good input
def test_parquet_and_jsonl_hold_the_same_links_with_their_metadata(run):
    for out in ("links.parquet", "links.jsonl", "links.jsonl.gz"):
        ran = run("link", ARTICLES, "-o", out, "--scores", "--recipe", "uiscore-paper")
        assert ran.code == 0
        assert "mentions of 15 articles" in ran.err
    table = pq.read_table("links.parquet")
    lines = read("links.jsonl")
    assert table.to_pylist() == [{"title_spans": None} | line for line in lines]
    packed = gzip.decompress(Path("links.jsonl.gz").read_bytes())
    assert [json.loads(line) for line in packed.splitlines()] == lines
    asked = [(a["id"], m["name"]) for a in map(json.loads, ARTICLES.read_bytes().splitlines()) for m in a["mentions"]]
    assert [(row["article_id"], row["name"]) for row in lines] == asked
    recipe = table.schema.metadata[b"namesake.recipe"].decode()
    assert Recipe.parse(recipe) == Recipe.load("uiscore-paper")
    beside = json.loads(Path("links.jsonl.meta.json").read_text())
    assert beside == {key: table.schema.metadata[f"namesake.{key}".encode()].decode() for key in ("kb", "recipe")}
    names = {p.name for p in Path().iterdir()}
    assert names == {"links.parquet", *(f"links.jsonl{s}" for s in ("", ".gz", ".meta.json", ".gz.meta.json"))}


def test_several_files_and_threads_keep_the_order(run):
    lines = ARTICLES.read_bytes().splitlines()
    written("a.jsonl.gz", *lines[:5])
    written("b.jsonl", *lines[5:])
    outputs = []
    for threads in (1, 3):
        assert run("link", "a.jsonl.gz", "b.jsonl", "-o", "links.jsonl", "--threads", threads).code == 0
        outputs.append(read("links.jsonl"))
    assert run("link", ARTICLES, "-o", "links.jsonl").code == 0
    assert outputs[0] == outputs[1] == read("links.jsonl")


def test_extra_fields_are_carried_through(run):
    written("a.jsonl", GOOD | {"quotations": [{"quotation": "x", "n": 1.5}], "phase": "E"})
    assert run("link", "a.jsonl", "-o", "o.jsonl").code == 0
    assert read("o.jsonl")[0]["extra"] == {"quotations": [{"quotation": "x", "n": 1.5}], "phase": "E"}
    assert run("link", "a.jsonl", "-o", "o.parquet").code == 0
    assert json.loads(pq.read_table("o.parquet").column("extra")[0].as_py())["phase"] == "E"


def test_without_out_a_table_is_printed_and_bad_articles_are_named(run):
    written("a.jsonl", GOOD, article("bad", spans=[[5, 2]]), GOOD | {"id": "after"})
    ran = run("link", "a.jsonl", "--recipe", "uiscore-paper")
    assert ran.code == 0
    assert "good" in ran.out
    assert "after" in ran.out
    assert "basketball" in ran.out
    assert "article bad: span [5, 2] of 'Michael Jordan'" in ran.err


def test_standard_input(run):
    assert run("link", "-", "-o", "o.jsonl", stdin=json.dumps(GOOD).encode()).code == 0
    assert [row["article_id"] for row in read("o.jsonl")] == ["good"]


def test_a_file_alone_means_link(run):
    written("a.jsonl", GOOD)
    assert run("a.jsonl", "-o", "o.jsonl").code == 0
    assert len(read("o.jsonl")) == 1


# odd articles that are linked
ODD = {
    "no mentions": ({"id": "x", "text": "x", "mentions": []}, 0),
    "mentions null": ({"id": "x", "text": "nothing to see", "mentions": None}, 0),
    "no candidates": (article("x", candidates=[]), 1),
    "unknown QIDs": (article("x", candidates=[UNKNOWN, "Q999999998"]), 1),
    "overlapping spans": (article("x", spans=[[22, 36], [22, 29], [30, 36]]), 1),
    "no spans": (article("x", spans=[]), 1),
    "empty text": ({"id": "x", "text": "", "mentions": [{"name": "Michael Jordan"}]}, 1),
    "lone surrogate": (json.dumps(article("x", "\ud800" + TEXT)), 1),
    "NULs": (article("x", TEXT + "\0\0", name="Michael\0Jordan"), 1),
    "bytes that are no UTF-8": (json.dumps(article("x", "?" + TEXT)).encode().replace(b"?", b"\xe9"), 1),
    "byte order mark": (b"\xef\xbb\xbf" + json.dumps(article("x")).encode(), 1),
    "5,000 candidates": (article("x", candidates=[f"Q{n}" for n in range(1, 5001)]), 1),
}


@pytest.mark.parametrize(("record", "rows"), ODD.values(), ids=ODD)
@pytest.mark.parametrize("out", ["o.jsonl", "o.parquet"])
def test_odd_articles_are_linked(run, record, rows, out):
    written("a.jsonl", record, GOOD)
    ran = run("link", "a.jsonl", "-o", out, "--scores")
    assert ran.code == 0, ran.err
    links = read(out) if out == "o.jsonl" else pq.read_table(out).to_pylist()
    assert [link["article_id"] for link in links] == ["x"] * rows + ["good"]
    assert not Path(f"{out}.rejects.jsonl").exists()
    if links[0]["candidates"] == []:
        assert (links[0]["qid"], links[0]["reason"]) == (None, "no candidates")


@pytest.mark.parametrize("text", ["Michael Jordan, a basketball player. ", "x", "é ", "😀", "a.b!\n"])
def test_ten_megabytes_in_one_article(run, text):
    size = 10_000_000 // len(text.encode())
    spans = [[0, 5], [size // 2, size // 2 + 9]]
    written("a.jsonl", article("x", text * size, spans=spans), GOOD)
    assert run("link", "a.jsonl", "-o", "o.jsonl").code == 0
    assert [(row["article_id"], row["spans"]) for row in read("o.jsonl")] == [("x", spans), ("good", [[22, 36]])]


def test_an_id_may_be_a_number(run):
    written("a.jsonl", GOOD | {"id": 17})
    assert run("link", "a.jsonl", "-o", "o.jsonl").code == 0
    assert read("o.jsonl")[0]["article_id"] == "17"


def test_duplicate_ids_stay_apart(run):
    written("a.jsonl", article("x", candidates=["Q1"]), article("x", candidates=["Q2"]))
    assert run("link", "a.jsonl", "-o", "o.jsonl", "--recipe", "uiscore-paper").code == 0
    assert [row["qid"] for row in read("o.jsonl")] == ["Q1", "Q2"]


@pytest.mark.parametrize("content", [b"", b"\n\n  \n"])
@pytest.mark.parametrize("out", ["o.jsonl", "o.parquet"])
def test_an_empty_file_makes_an_empty_file_of_links(run, content, out):
    Path("a.jsonl").write_bytes(content)
    assert run("link", "a.jsonl", "-o", out, "--scores").code == 0
    if out == "o.parquet":
        assert "candidates" in pq.read_table(out).column_names
    else:
        assert Path(out).read_bytes() == b""


# bad articles: set aside, counted, named; the others are linked
BAD = {
    "not JSON": ("not json", "not an article"),
    "cut off": ('{"id": "x", "text": "a', "not an article"),
    "no text": ({"id": "x"}, "no `text`"),
    "no id": ({"text": "x"}, "no `id`"),
    "a list": ([1, 2], "not an article"),
    "reversed span": (article("x", spans=[[36, 22]]), "span [36, 22] of 'Michael Jordan' does not fit"),
    "span past the end": (article("x", spans=[[22, 3600]]), "span [22, 3600] of 'Michael Jordan' does not fit"),
    "negative span": (article("x", spans=[[-5, 3]]), "does not fit"),
    "span in empty text": (article("x", ""), "span [22, 36] of 'Michael Jordan' does not fit"),
    "span beyond 64 bits": (article("x", spans=[[0, 2**70]]), "`mentions`"),
    "span of three": (article("x", spans=[[0, 1, 2]]), "`mentions`"),
    "no QID": (article("x", candidates=["Q1", "Jordan"]), "candidate 'Jordan' of 'Michael Jordan' is no QID"),
    "a property": (article("x", candidates=["P31"]), "candidate 'P31'"),
    "nested without end": ('{"id": "x", "text": "a", "deep": ' + "[" * 200_000, "not an article"),
    "tokens past the end": (
        {"articleID": "x", "content": "a b", "names": [{"name": "b", "ids": ["Q1"], "offsets": [[1, 9]]}]},
        "article x: a span of 'b' does not fit",
    ),
}


@pytest.mark.parametrize(("record", "reason"), BAD.values(), ids=BAD)
def test_bad_articles_are_set_aside_and_the_rest_is_linked(run, record, reason):
    written("a.jsonl", GOOD, record if isinstance(record, str) else json.dumps(record), GOOD | {"id": "after"})
    ran = run("link", "a.jsonl", "-o", "o.jsonl", "--threads", 2)
    assert ran.code == 0
    assert [row["article_id"] for row in read("o.jsonl")] == ["good", "after"]
    [reject] = read("o.jsonl.rejects.jsonl")
    assert reason in f"article {reject['article_id']}: {reject['reason']}"
    assert reject["article_id"] == "x" or (reject["file"], reject["line"]) == ("a.jsonl", 2)
    assert isinstance(record, str | list) or reject["article_id"] == record.get("id", record.get("articleID"))
    assert "1 record rejected; all of them are in o.jsonl.rejects.jsonl" in ran.err
    assert reason in ran.err


def test_rejects_of_an_earlier_run_do_not_stay(run):
    written("a.jsonl", GOOD, "not json")
    run("link", "a.jsonl", "-o", "o.jsonl")
    assert len(read("o.jsonl.rejects.jsonl")) == 1
    written("a.jsonl", GOOD)
    run("link", "a.jsonl", "-o", "o.jsonl")
    assert not Path("o.jsonl.rejects.jsonl").exists()


def test_every_reject_is_written_for_any_number_of_threads(run):
    records = [article(str(n), spans=[[5, 2]]) if n % 3 else article(str(n)) for n in range(5000)]
    written("a.jsonl", *records, "not json")
    for threads in (1, 4):
        assert run("link", "a.jsonl", "-o", "o.jsonl", "--threads", threads).code == 0
        rejects = read("o.jsonl.rejects.jsonl")
        bad = [r["article_id"] for r in rejects if r["article_id"]]
        assert bad == [r["id"] for n, r in enumerate(records) if n % 3]
        assert [r["line"] for r in rejects if r["line"]] == [5001]
        assert [row["article_id"] for row in read("o.jsonl")] == [r["id"] for n, r in enumerate(records) if not n % 3]


def test_bad_rows_of_parquet_are_set_aside(run):
    """As other tools write it: 64-bit plain lists; one row without a text, one with a span of three."""
    rows = [
        article("a"),
        article("b") | {"text": None},
        article("c", spans=[[1, 2, 3]]),
        article("d", spans=[[0, 2**40]]),
        article("e", spans=[[22, None]]),
        article("f"),
    ]
    pq.write_table(pa.Table.from_pylist(rows), "a.parquet")
    ran = run("link", "a.parquet", "-o", "o.jsonl")
    assert ran.code == 0
    assert [row["article_id"] for row in read("o.jsonl")] == ["a", "f"]
    rejects = {r["article_id"]: r for r in read("o.jsonl.rejects.jsonl")}
    assert set(rejects) == {"b", "c", "d", "e"}
    assert (rejects["b"]["file"], rejects["b"]["line"], rejects["b"]["reason"]) == ("a.parquet", 2, "no `text`")


# what no run can do: exit code 2, one line, nothing written
RECIPE = 'name = "mine"\n[[parts]]\nscorer = "IScore"\n'
REFUSED = {
    "unknown recipe": (["--recipe", "nonsense"], "no recipe named 'nonsense'"),
    "recipe missing": (["--recipe", "none.toml"], "none.toml"),
    "unknown scorer": (["--recipe", "scorer.toml"], "scorer.toml: unknown scorer 'Wisdom'"),
    "negative weight": (["--recipe", "weight.toml"], "weight.toml: weight of IScore = -1: must be"),
    "broken TOML": (["--recipe", "broken.toml"], "broken.toml: not TOML"),
    "neural scorer": (["--recipe", "ucse-paper"], "CSE"),
    "folder missing": (["-o", "no/o.jsonl"], "no: no such folder"),
    "suffix unknown": (["-o", "o.xls"], "o.xls: links are written as"),
    "a folder for output": (["-o", "folder.jsonl"], "folder.jsonl is a folder"),
    "output over input": (["-o", "a.jsonl"], "a.jsonl would overwrite a.jsonl"),
    "second file missing": (["none.jsonl"], "none.jsonl: no such file"),
    "second file no articles": (["b.doc"], "b.doc: articles come as"),
    "second file a folder": (["folder.jsonl"], "folder.jsonl: no file of articles found"),
    "second file a folder of Parquet": (["folder.parquet"], "folder.parquet"),
    "truncated gzip": (["cut.jsonl.gz"], "cut.jsonl.gz cannot be read to its end"),
    "no gzip": (["fake.jsonl.gz"], "fake.jsonl.gz cannot be read"),
    "no bzip2": (["fake.jsonl.bz2"], "fake.jsonl.bz2 cannot be read"),
    "no zstandard": (["fake.jsonl.zst"], "fake.jsonl.zst cannot be read"),
    "no Parquet": (["fake.parquet"], "fake.parquet cannot be read as Parquet"),
    "Parquet without text": (["textless.parquet"], "textless.parquet: which field is the text?"),
    "Parquet with numbers for text": (["lists.parquet"], "lists.parquet: column `text`"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_with_one_line_and_nothing_written(run, arguments, message):
    written("a.jsonl", GOOD)
    written("scorer.toml", RECIPE + '[[parts]]\nscorer = "Wisdom"\n')
    written("weight.toml", RECIPE + "weight = -1\n")
    written("broken.toml", RECIPE + "[[[")
    Path("folder.jsonl").mkdir()
    Path("folder.parquet").mkdir()
    whole = gzip.compress(b"\n".join(json.dumps(article(str(n), TEXT * 9)).encode() for n in range(3000)))
    Path("cut.jsonl.gz").write_bytes(whole[:-40])
    for name in ("fake.jsonl.gz", "fake.jsonl.bz2", "fake.jsonl.zst", "fake.parquet", "b.doc"):
        written(name, GOOD).write_bytes(json.dumps(GOOD).encode())
    pq.write_table(pa.table({"id": ["a"]}), "textless.parquet")
    pq.write_table(pa.table({"id": ["a"], "text": [[1]]}), "lists.parquet")
    before = sorted(Path().rglob("*"))
    out = [] if "-o" in arguments else ["-o", "o.jsonl"]
    ran = run("link", "a.jsonl", *arguments, *out)
    assert ran.code == 2
    assert ran.out == ""
    [line] = [line for line in ran.err.splitlines() if line.startswith("namesake: ")]
    assert message in line
    assert ran.err.splitlines()[-1] == line
    assert sorted(Path().rglob("*")) == before


def test_a_missing_kb_and_what_is_no_kb(run):
    written("a.jsonl", GOOD)
    assert "no-kb: no such KB" in run("link", "a.jsonl", "-o", "o.jsonl", kb="no-kb").err
    Path("not-kb").mkdir()
    for kb in ("not-kb", "a.jsonl", "no-kb"):
        ran = run("link", "a.jsonl", "-o", "o.jsonl", kb=kb)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1)
        assert kb in ran.err


def test_a_refused_run_leaves_an_earlier_result_alone(run):
    written("a.jsonl", GOOD, "not json")
    run("link", "a.jsonl", "-o", "o.jsonl")
    earlier = {path: path.read_bytes() for path in Path().iterdir()}
    assert run("link", "a.jsonl", "none.jsonl", "-o", "o.jsonl").code == 2
    assert {path: path.read_bytes() for path in Path().iterdir()} == earlier


# explain
def test_explain_json_is_one_row_a_candidate_and_part(run):
    ran = run("explain", ARTICLES, "--article", "amazon-pilots", "--name", "chris carter", "--json")
    assert ran.code == 0
    rows = json.loads(ran.out)
    assert {row["name"] for row in rows} == {"Chris Carter"}
    places = {(row["qid"], row["part"]) for row in rows}
    assert len(places) == len(rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--article", "zz"], "no article with the id 'zz'"),
        (["--article", "good", "--name", "Joe"], "its names are: Michael Jordan"),
        (["--article", "bad"], "article bad: span [5, 2] of 'Michael Jordan'"),
        (["--article", "empty"], "its names are: none"),
        (["--name", "Joe"], "a.jsonl: no mention 'Joe' in its 3 articles"),
    ],
)
def test_explain_refuses_with_one_line(run, arguments, message):
    written("a.jsonl", GOOD, article("bad", spans=[[5, 2]]), {"id": "empty", "text": "", "mentions": []})
    ran = run("explain", "a.jsonl", *arguments)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert message in ran.err


@pytest.mark.parametrize("asked", ["Name 77x", "qqq", None])
def test_explain_lists_a_few_of_many_names(run, asked):
    """Those that are most like the one asked for, and how many there are."""
    names = [f"Name {number}" for number in range(1374)]
    spans = [{"name": name, "spans": [[0, 1]], "candidates": []} for name in names]
    written("a.jsonl", {"id": "big", "text": "A text.", "mentions": spans})
    ran = run("explain", "a.jsonl", "--article", "big", *(["--name", asked] if asked else []))
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "1,374 names" in ran.err
    listed = [name for name in names if f" {name}," in ran.err]
    assert 3 <= len(listed) <= 10
    assert "Name 77" in listed or asked != "Name 77x"


def test_explain_finds_the_one_article_that_has_the_name(run):
    rows = [("a", "Michael Jordan played basketball."), ("b", "Adam Smith wrote."), ("c", "Adam Smith sang.")]
    Path("a.csv").write_text("id,text\n" + "".join(f"{id},{text}\n" for id, text in rows))
    ran = run("explain", "a.csv", "--name", "Michael Jordan", "--json")
    assert ran.code == 0
    assert {row["article_id"] for row in json.loads(ran.out)} == {"a"}
    several = run("explain", "a.csv", "--name", "Adam Smith")
    assert several.code == 2
    assert "which article? Name it with --article; 'Adam Smith' occurs in b, c" in several.err


# the real command
def test_the_installed_command(sample_kb, tmp_path):
    command = [sys.executable, "-c", "from namesake.apps.cli.main import main; main()"]
    out = tmp_path / "o.jsonl"
    arguments = ["link", "-", "--kb", sample_kb.path, "-o", out]
    ran = subprocess.run([*command, *arguments], input=json.dumps(GOOD).encode(), capture_output=True, check=True)
    assert len(out.read_bytes().splitlines()) == 1
    ran = subprocess.run([*command, *arguments, "--recipe", "nonsense"], capture_output=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"namesake: no recipe named")
    assert len(ran.stderr.splitlines()) == 1


def test_a_text_file_is_printed_with_its_links(tmp_path, sample_kb):
    from namesake.apps.terminal.explanations import linked_text

    text = "Chris Carter and Ann Lee spoke.\nCarter left.\x1b[31m"
    links = [
        {"name": "Chris Carter", "spans": [[0, 12], [32, 38]], "qid": "Q437267", "reason": None},
        {"name": "Ann Lee", "spans": [[17, 24]], "qid": None, "reason": "none fits"},
        {"name": "Ann", "spans": [[17, 20]], "qid": None, "reason": "none fits"},
        {"name": "Carter", "spans": [[32, 38]], "qid": "Q437267", "reason": None},
    ]
    shown = linked_text(text, links).plain
    assert shown.startswith("Chris Carter [Q437267] and Ann")
    assert "Carter left." in shown.replace(" [Q437267]", "")
    assert "\x1b" not in shown
    assert "\n" in shown


def test_a_text_file_is_explained_as_it_was_linked(run):
    Path("a.txt").write_text("Chris Carter, who created The X-Files, is back.", encoding="utf-8")
    options = ("--date", "1960-01-01", "--threshold", "0.9")
    ran = run("link", "a.txt", *options, "-o", "o.jsonl")
    [link] = read("o.jsonl")
    ran = run("explain", "a.txt", "--article", "a.txt", *options, "--json")
    best = next(row for row in json.loads(ran.out) if row["qid"] is not None)
    assert (best["qid"], best["score"], best["reason"]) == (link["best"], link["score"], link["reason"])
    undated = run("explain", "a.txt", "--article", "a.txt", "--json")
    now = next(row for row in json.loads(undated.out) if row["qid"] is not None)
    assert now["score"] > best["score"]


def test_scores_want_a_file(run):
    Path("a.txt").write_text("Nobody.", encoding="utf-8")
    ran = run("link", "a.txt", "--scores")
    assert (ran.code, ran.out) == (2, "")
    assert "-o" in ran.err


def test_dates_that_cannot_be_read_are_counted(run):
    dates = ["last week", "2999-01-01", None]
    written("a.jsonl", *({"id": str(i), "text": "Nobody.", "date": date} for i, date in enumerate(dates)))
    for out in (["-o", "out.jsonl"], ["-o", "out/"], []):
        ran = run("link", "a.jsonl", *out)
        assert ran.code == 0
        assert ran.err.count("1 article with a date that cannot be read, such as 'last week': linked as undated") == 1


@pytest.mark.parametrize("date", ["yesterday", "2016-13-45", "hello"])
@pytest.mark.parametrize("command", ["link a.txt", "link a.txt -o o.csv", "link .", "link . -o o/", "explain a.txt"])
def test_a_date_that_is_none_ends_the_run_of_a_text(run, command, date):
    Path("a.txt").write_text("Chris Carter, who created The X-Files, is back.")
    ran = run(*command.split(), "--date", date)
    assert (ran.code, ran.out) == (2, "")
    assert f"--date {date}: not a date" in ran.err.splitlines()[-1]
    assert not Path("o.csv").exists()


def test_dates_are_read_as_tables_write_them(run):
    scores = {}
    for date in ("1850-03-31", "March 1850", "31.03.1850", "31 March 1850"):
        written("a.jsonl", {"id": "a", "text": TEXT, "date": date})
        for given in (["a.jsonl"], ["b.jsonl", "--date", date]):
            written("b.jsonl", {"id": "a", "text": TEXT})
            assert run("link", *given, "-o", "o.jsonl").code == 0
            scores[date, given[0]] = [row["score"] for row in read("o.jsonl")]
    assert len({tuple(score) for score in scores.values()}) == 1
    written("b.jsonl", {"id": "a", "text": TEXT, "date": 1850}, {"id": "b", "text": TEXT, "date": "1850"})
    run("link", "b.jsonl", "-o", "o.jsonl")
    by_number, by_text = ([row["score"] for row in read("o.jsonl") if row["article_id"] == id] for id in "ab")
    assert by_number == by_text != []
