"""What `link` and `convert` leave on the disk: when they are stopped, when names collide, when nothing was linked."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from namesake import Linker
from namesake.formats.link_writers import LinkWriter
from namesake.sample import ARTICLES

LINES = ARTICLES.read_bytes().splitlines()
COMMAND = (sys.executable, "-c", "from namesake.apps.cli.main import main; main()")


def listed(folder: Path = Path()) -> set[str]:
    return {path.name for path in folder.iterdir()}


def heed_ctrl_c() -> None:
    """What runs in the background of a shell ignores Ctrl-C, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
def test_a_link_that_is_stopped_leaves_what_was_there(sample_kb, tmp_path, ending):
    out = tmp_path / "links.jsonl"
    out.write_bytes(b"old")
    command = [*COMMAND, "link", "-", "-o", str(out), "--kb", str(sample_kb.path)]
    options = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": heed_ctrl_c}
    with subprocess.Popen(command, **options) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"no article\n" + b"\n".join(LINES))
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while len(listed(tmp_path)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(listed(tmp_path)) >= 3, "no file in the making"
        process.send_signal(ending)
        try:
            assert process.wait(60) == 130
        finally:
            process.kill()
        last = process.stderr.read().splitlines()[-1]
        assert last == b"namesake: interrupted; no partial output was left"
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("links.jsonl", b"old")]


@pytest.mark.parametrize("name", ["o.jsonl", "o.jsonl.rejects.jsonl", "o.jsonl.meta.json"])
@pytest.mark.parametrize("linked", [False, True])
def test_link_never_overwrites_what_it_reads(run, name, linked):
    content = b"no article\n" + b"\n".join(LINES)
    path = Path("there.json") if linked else Path(name)
    path.write_bytes(content)
    if linked:
        Path(name).symlink_to(path)
    ran = run("link", path, "-o", "o.jsonl")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "would overwrite" in ran.err
    assert path.read_bytes() == content
    assert listed() == {name, str(path)}


def test_link_never_writes_into_its_kb(run, sample_kb):
    ran = run("link", ARTICLES, "-o", sample_kb.path / "links.parquet")
    assert (ran.code, "lies in" in ran.err) == (2, True)


ZELDA = {"id": 1, "text": "Ann spoke.", "index": [[0, 3]], "wikipedia_titles": ["Ann"], "wikipedia_ids": [1]}


@pytest.mark.parametrize(
    ("articles", "gold"), [("d.jsonl", "g.jsonl"), ("a.jsonl", "d.jsonl"), ("a.jsonl", "x/a.jsonl")]
)
def test_convert_never_overwrites_its_input_nor_one_output_with_the_other(run, articles, gold):
    Path("d.jsonl").write_text(json.dumps(ZELDA), encoding="utf-8")
    Path("x").symlink_to(".")
    ran = run("datasets", "convert", "x/d.jsonl", "--reader", "zelda", "--articles", articles, "--gold", gold, kb=None)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert json.loads(Path("d.jsonl").read_text(encoding="utf-8")) == ZELDA
    assert listed() == {"d.jsonl", "x"}


def test_a_report_never_overwrites_the_gold(run):
    Path("tables.json").write_text('{"articleID": "1", "name": "x", "gold": 0}\n', encoding="utf-8")
    scores = '{"articleID": "1", "name": "x", "candidate": 0, "qid": "Q1", "NS": 1}\n'
    Path("scores.jsonl").write_text(scores, encoding="utf-8")
    ran = run("evaluate", "--scores", "scores.jsonl", "--gold", "tables.json", "--out", ".", "--samples", 100, kb=None)
    assert (ran.code, "would overwrite" in ran.err) == (2, True), ran.err
    assert listed() == {"tables.json", "scores.jsonl"}


# exit codes
@pytest.mark.parametrize(
    "lines", [b'{"url": "a"}\n' * 3, b'{"id": "1", "text": "x", "mentions": [{"name": "A", "spans": [[5, 9]]}]}']
)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("out", [True, False])
def test_every_record_set_aside_is_no_success(run, lines, threads, out):
    Path("a.jsonl").write_bytes(lines)
    where = ["-o", "o.jsonl"] if out else []
    ran = run("link", "a.jsonl", "--threads", threads, *where)
    assert (ran.code, "no article could be linked" in ran.err) == (3, True)
    Path("b.jsonl").write_bytes(LINES[0])
    assert run("link", "a.jsonl", "b.jsonl", *where).code == 0


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_a_packed_file_without_a_byte_is_an_error(run, suffix):
    path = Path(f"a.jsonl{suffix}")
    path.write_bytes(b"")
    ran = run("link", path, "-o", "o.jsonl")
    assert (ran.code, "is empty" in ran.err) == (2, True)


def test_a_command_is_a_command_whatever_lies_in_the_folder(run):
    Path("datasets").write_bytes(b"x")
    assert run("datasets", "list", kb=None).code == 0


# what articles carry through
NAME = {"name": "Chris Carter", "spans": [[0, 12]]}


def parquet(**columns: list) -> Path:
    pq.write_table(pa.table({"id": ["1"], "text": ["Chris Carter is back."], **columns}), "a.parquet")
    return Path("a.parquet")


def extras(out: str) -> list:
    if out.endswith(".parquet"):
        return [None if text is None else json.loads(text) for text in pq.read_table(out).column("extra").to_pylist()]
    return [json.loads(line)["extra"] for line in Path(out).read_bytes().splitlines()]


CARRIED = {
    "text": ({"extra": ["hello\nthere"], "source": ["desk"]}, {"extra": "hello\nthere", "source": "desk"}),
    "text alone": ({"extra": ["hello"]}, {"extra": "hello"}),
    "a text that is JSON": ({"extra": ["[1]"]}, {"extra": "[1]"}),
    "ours": ({"extra": ['{"a":\n 1}'], "source": ["desk"]}, {"a": 1, "source": "desk"}),
    "ours alone": ({"extra": ['{"a":\r\n 1}']}, {"a": 1}),
    "ours with a field of that name": (
        {"extra": ['{"source": 1}'], "source": ["desk"]},
        {"extra": '{"source": 1}', "source": "desk"},
    ),
    "ours without a field": ({"extra": ["{}"]}, {}),
    "a struct": ({"extra": [{"a": 1}]}, {"extra": {"a": 1}}),
    "null": ({"extra": [None], "source": ["desk"]}, {"source": "desk"}),
    "columns alone": ({"source": ["desk"], "n": [1]}, {"source": "desk", "n": 1}),
}


@pytest.mark.parametrize(("columns", "wanted"), CARRIED.values(), ids=CARRIED)
@pytest.mark.parametrize("out", ["o.jsonl", "o.parquet"])
def test_every_unknown_column_is_carried_and_the_output_is_json(run, columns, wanted, out):
    assert run("link", parquet(**columns), "-o", out).code == 0
    assert extras(out) == [wanted]


def test_extra_from_python_that_is_no_json_is_written_as_a_text(sample_kb, tmp_path):
    articles = pa.table({"id": ["1"], "text": ["Chris Carter is back."], "extra": ["no JSON"]})
    links = Linker(sample_kb).link(articles)
    assert links.column("extra").to_pylist() == ["no JSON"]
    with LinkWriter(tmp_path / "o.jsonl", {}) as writer:
        writer.write(links)
    assert extras(str(tmp_path / "o.jsonl")) == ["no JSON"]


def test_long_fields_are_carried_once_for_all_mentions_of_an_article(run):
    """60 articles with 200 KB and 200 names each would repeat 2.4 GB."""
    long = "x" * 200_000
    rows = [{"id": str(k), "text": "Chris Carter spoke.", "k": k // 3, "mentions": [NAME] * 200} for k in range(60)]
    Path("a.jsonl").write_text("".join(json.dumps(row | {"html": long}) + "\n" for row in rows), encoding="utf-8")
    for out in ("o.parquet", "o.jsonl"):
        assert run("link", "a.jsonl", "-o", out).code == 0
        assert Path(out).stat().st_size < 20_000_000
    column = pq.read_table("o.parquet").column("extra")
    assert len(column) == 60 * 200
    for k in (0, 199, 200, 11_999):
        assert json.loads(column[k].as_py()) == {"k": k // 600, "html": long}
    lines = extras("o.jsonl")
    assert [row["k"] for row in lines[::200]] == [k // 3 for k in range(60)]
    assert {row for k, row in enumerate(lines) if k % 200} == {None}


def test_a_dictionary_is_for_what_comes_again(sample_kb, tmp_path):
    """In Parquet names, QIDs and the parts of scores have one; scores of links and the places of names have not."""
    articles = pa.table({"id": ["1", "2"], "text": ["Chris Carter met Chris Carter.", "Chris Carter is back."]})
    links = Linker(sample_kb).link(articles, scores=True)
    with LinkWriter(tmp_path / "o.parquet", {}) as writer:
        writer.write(links)
    file = pq.ParquetFile(tmp_path / "o.parquet")
    assert file.read().equals(links)
    group = file.metadata.row_group(0)
    chunks = [group.column(k) for k in range(group.num_columns)]
    plain = {chunk.path_in_schema.split(".")[0] for chunk in chunks if not chunk.has_dictionary_page}
    assert plain == {"spans", "title_spans", "score", "margin", "confidence", "known"}
    by_name = {chunk.path_in_schema: chunk.statistics for chunk in chunks}
    ids, scores = links.column("article_id").to_pylist(), links.column("score").to_pylist()
    assert (by_name["article_id"].min, by_name["article_id"].max) == (min(ids), max(ids))
    assert (by_name["score"].min, by_name["score"].max) == (min(scores), max(scores))
    assert by_name["name"] is None


# lines without end
def test_a_line_longer_than_allowed_is_set_aside_and_the_rest_is_linked(run):
    long = b'{"id": "long", "text": "' + b"x" * (1 << 20) + b'"}'
    Path("a.jsonl").write_bytes(b"\n".join([LINES[0], long, LINES[1]]))
    Path("b.txt").write_bytes(b"x" * (1 << 20) + b"x")
    Path("c.txt").write_bytes(b"Chris Carter spoke.")
    arguments = ("link", "a.jsonl", "b.txt", "c.txt", "-o", "o.jsonl")
    assert run(*arguments, "--max-line", 1).code == 0
    reasons = [json.loads(line) for line in Path("o.jsonl.rejects.jsonl").read_bytes().splitlines()]
    assert [(r["file"], r["line"], r["article_id"]) for r in reasons] == [
        ("a.jsonl", 2, None),
        ("b.txt", None, "b.txt"),
    ]
    assert {r["reason"] for r in reasons} == {"not an article: longer than 1 MB"}
    linked = {json.loads(line)["article_id"] for line in Path("o.jsonl").read_bytes().splitlines()}
    assert linked == {json.loads(LINES[0])["id"], json.loads(LINES[1])["id"], "c.txt"}
    assert run(*arguments).code == 0
    assert not Path("o.jsonl.rejects.jsonl").exists()


# growth: what was quadratic took minutes here
def seconds(run, *arguments: object, **options: object) -> float:
    began = time.process_time()
    assert run(*arguments, **options).code == 0
    return time.process_time() - began


@pytest.mark.parametrize("shape", ["mentions of all", "spans of all", "overlapping"])
def test_contexts_that_overlap_cost_no_more_than_their_spans(run, shape):
    text = "Chris Carter. " * 10_000
    all_of_it = [0, len(text)]
    mentions = {
        "mentions of all": [{"name": "Chris Carter", "spans": [all_of_it]}] * 10_000,
        "spans of all": [{"name": "Chris Carter", "spans": [all_of_it] * 100_000}],
        "overlapping": [{"name": "Chris Carter", "spans": [[14 * k, len(text)]]} for k in range(10_000)],
    }[shape]
    Path("a.jsonl").write_text(json.dumps({"id": "1", "text": text, "mentions": mentions}), encoding="utf-8")
    assert seconds(run, "link", "a.jsonl", "-o", "o.parquet") < 10


def test_data_sets_with_one_surface_many_times_or_one_long_article(run):
    n = 100_000
    spans = [[7 * k, 7 * k + 6] for k in range(n)]
    record = {"id": 1, "text": "Carter " * n, "index": spans, "wikipedia_titles": ["X"] * n, "wikipedia_ids": [1] * n}
    Path("z.jsonl").write_text(json.dumps(record), encoding="utf-8")
    Path("a.tsv").write_text("-DOCSTART- (1 EU)\n" + "Carter\tB\tCarter\tX\nspoke\n" * n, encoding="utf-8")
    for path, reader in (("z.jsonl", "zelda"), ("a.tsv", "aida-tsv")):
        out = ("--articles", "articles.jsonl", "--gold", "gold.jsonl")
        assert seconds(run, "datasets", "convert", path, "--reader", reader, *out, kb=None) < 20
        names = [row["name"] for row in map(json.loads, Path("gold.jsonl").read_bytes().splitlines())]
        assert names == ["Carter", *(f"Carter #{k}" for k in range(2, n + 1))]
