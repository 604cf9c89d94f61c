"""The engine that links into a folder: whatever happens to a run, the result is that of an undisturbed one."""

import bz2
import gzip
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer import Exit

from namesake.apps.cli.link import link_into_folder
from namesake.articles.rejects import Rejects
from namesake.engines import folder as folder_module
from namesake.engines.file_linker import link_files
from namesake.engines.folder import Failed, Run, link_folder, outcomes
from namesake.engines.shards import Ended, Plan, RunJournal, Shard, ShardLinker, difference
from namesake.errors import NamesakeError
from namesake.files import published
from namesake.files.lines import cut_lines
from namesake.formats import read_articles
from namesake.formats.field_names import Reading
from namesake.linker import Linker
from namesake.progress import Reporter
from namesake.recipe import Recipe
from namesake.sample import ARTICLES

LINES = ARTICLES.read_bytes().splitlines()
SMALL = 20_000
"""Bytes of a shard, so that a few hundred articles make many."""


def copies(count: int, tag: str) -> bytes:
    """The sample's articles, so many times, each with an id of its own."""
    records = [json.loads(line) for line in LINES]
    named = [record | {"id": f"{record['id']}-{tag}-{k}"} for k in range(count) for record in records]
    return b"".join(json.dumps(record).encode() + b"\n" for record in named)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> Path:
    """A folder of articles in every packing, and in Parquet with several groups of rows."""
    folder = tmp_path_factory.mktemp("in")
    (folder / "a.jsonl").write_bytes(copies(8, "a"))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(copies(8, "b")))
    (folder / "c.jsonl.bz2").write_bytes(bz2.compress(copies(4, "c")))
    (folder / "README.md").write_text("no articles")
    inner = folder / "inner"
    inner.mkdir()
    (inner / "d.txt").write_text("Chris Carter spoke of the X-Files.")
    [table] = read_articles(ARTICLES, Rejects())
    pq.write_table(pa.concat_tables([table] * 6), inner / "e.parquet", row_group_size=20)
    with pa.output_stream(str(inner / "f.jsonl.zst"), compression="zstd") as stream:
        stream.write(copies(2, "f"))
    return folder


@pytest.fixture(scope="module")
def calm(inputs, linker, tmp_path_factory) -> Path:
    """What a run gives that nothing disturbs, with one worker."""
    out = tmp_path_factory.mktemp("calm") / "out"
    run = link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    assert run.problems == []
    return out


def made(folder: Path) -> dict[str, bytes]:
    """Every file that a run leaves for its user, but the journal and times."""
    kept = sorted((*(folder / "links").iterdir(), *(folder / "rejects").iterdir()))
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def set_aside(out: Path) -> list[dict]:
    return [json.loads(line) for path in sorted((out / "rejects").iterdir()) for line in path.read_text().splitlines()]


def test_links_are_those_of_the_plain_engine(calm, inputs, linker):
    """Part after part, row for row, with each file linked on its own."""
    expected = []
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl.bz2", "inner/d.txt", "inner/e.parquet", "inner/f.jsonl.zst"):
        for table in read_articles(inputs / name, Rejects()):
            expected += linker.link(table).to_pylist()
    parts = sorted((calm / "links").iterdir())
    assert len(parts) > 12
    words = ["label", "description", "url", "best_label", "runner_up_label"]
    assert [row for part in parts for row in pq.read_table(part).drop_columns(words).to_pylist()] == expected
    assert ds.dataset(calm / "links").count_rows() == len(expected)
    facts = json.loads((calm / "run.json").read_text())
    assert facts["complete"]
    assert facts["counts"]["mentions"] == len(expected)
    assert facts["counts"]["linked"] == sum(row["qid"] is not None for row in expected)
    assert facts["counts"]["articles"] == 15 * (8 + 8 + 4 + 6 + 2) + 1
    assert facts["inputs"]["files"] == 6
    assert facts["kb"]["digest"] == linker.kb.manifest.digest


def test_the_number_of_workers_changes_nothing(calm, inputs, linker, tmp_path):
    run = link_folder(linker, [inputs], tmp_path / "out", workers=3, shard_bytes=SMALL)
    assert (run.problems, run.linked_now) == ([], run.counts.articles)
    assert made(tmp_path / "out") == made(calm)


def test_a_second_run_has_nothing_to_do_and_makes_again_what_was_deleted(calm, inputs, linker, tmp_path):
    out = tmp_path / "out"
    link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    again = link_folder(linker, [inputs], out, workers=2, shard_bytes=SMALL)
    assert again.linked_now == 0
    parts = sorted((out / "links").iterdir())
    parts[0].unlink()
    parts[5].write_bytes(b"another size")
    again = link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    assert 0 < again.linked_now < again.counts.articles
    assert made(out) == made(calm)


PROGRAM = """
import sys
from namesake.engines.folder import link_folder
from namesake.linker import Linker
from namesake.progress import Reporter
from namesake.machine import stoppable

class Told(Reporter):
    def advance(self, *_):
        print("part", flush=True)

with stoppable():
    kb, articles, out, size = sys.argv[1:]
    link_folder(Linker(kb), [articles], out, workers=2, shard_bytes=int(size), reporter=Told())
"""


def started(linker: Linker, inputs: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(linker.kb.path), str(inputs), str(out), str(SMALL)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def after(process: subprocess.Popen[str], parts: int) -> None:
    """Wait until so many parts are made."""
    assert process.stdout is not None
    for _ in range(parts):
        process.stdout.readline()


def test_kill_9_at_any_moment_loses_nothing(calm, inputs, linker, tmp_path):
    chance = random.Random(5)
    out = tmp_path / "out"
    for stop in (os.killpg, os.kill, os.killpg):  # all processes at once, or the parent alone
        process = started(linker, inputs, out)
        after(process, chance.randrange(1, 5))
        stop(process.pid, signal.SIGKILL)
        process.communicate()
    run = link_folder(linker, [inputs], out, workers=2, shard_bytes=SMALL)
    assert 0 < run.linked_now < run.counts.articles
    assert made(out) == made(calm)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_leaves_nothing_half_written(number, calm, inputs, linker, tmp_path):
    out = tmp_path / "out"
    process = started(linker, inputs, out)
    after(process, 2)
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    process.communicate(timeout=30)
    assert process.returncode not in (0, None)
    found = made(out)
    assert found
    assert found.items() <= made(calm).items()
    link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    assert made(out) == made(calm)


def test_a_torn_journal_is_mended(calm, inputs, linker, tmp_path):
    out = tmp_path / "out"
    link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    journal = out / "journal.jsonl"
    whole = journal.read_bytes()
    for cut in (len(whole) - 5, (len(whole) + whole.index(b"\n")) // 2):
        journal.write_bytes(whole[:cut])
        link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
        assert made(out) == made(calm)
        assert sorted(journal.read_bytes().splitlines()[1:]) == sorted(whole.splitlines()[1:])


@pytest.mark.parametrize("first", [b"", b"\n", b'{"type": "run"', b"\0" * 100 + b"\n"])
def test_a_journal_that_does_not_say_what_the_run_was_is_refused(first, linker, tmp_path):
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_bytes(copies(1, "x"))
    out.mkdir()
    (out / "journal.jsonl").write_bytes(first)  # as a power cut at the very beginning leaves it
    link_folder(linker, [source], out, workers=1)
    before = made(out)
    lines = (out / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for damaged in (first, b"".join([first, *lines[1:]])):
        (out / "journal.jsonl").write_bytes(damaged)
        with pytest.raises(NamesakeError, match=r"journal\.jsonl is damaged"):
            link_folder(Linker(linker.kb, "ns-paper"), [source], out, workers=1)
        assert (out / "journal.jsonl").read_bytes() == damaged
        assert made(out) == before


def find_nobody(texts):
    return [[] for _ in texts]


def test_another_plan_is_refused(inputs, linker, sample_kb, tmp_path):
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_bytes(copies(1, "x"))
    link_folder(linker, [source], out, workers=1)
    before = made(out)
    other = Linker(sample_kb, "uiscore-paper")
    text = Reading(text="body")
    for refused, articles, options, message in [
        (other, [source], {}, r"with another recipe \(default, not uiscore-paper\)"),
        (Linker(sample_kb, threshold=0.25), [source], {}, r"with another threshold \(0\.\d+, not 0\.25\)"),
        (Linker(sample_kb, mentions="given"), [source], {}, r"with another `mentions=` \(names, not given\)"),
        (Linker(sample_kb, mentions=find_nobody), [source], {}, r"\(names, not <function find_nobody>\)"),
        (linker, [source, inputs], {}, r"of other inputs \(.*a\.jsonl was not one of them\)"),
        (linker, [inputs], {}, r"of other inputs \(.*a\.jsonl was one of them\)"),
        (linker, [source], {"scores": True}, r"with another `scores=` \(False, not True\)"),
        (linker, [source], {"date": "2016"}, r"with another `date=` \(none, not 2016\)"),
        (linker, [source], {"reading": text}, r"with another `text=` \(none, not body\)"),
        (linker, [source], {"most_line": 1 << 20}, r"with another `most_line=` \(256 MB, not 1 MB\)"),
    ]:
        with pytest.raises(NamesakeError, match=message):
            link_folder(refused, articles, out, workers=1, **options)
    source.write_bytes(copies(2, "x"))
    with pytest.raises(NamesakeError, match=r"inputs that have changed since, such as .*a\.jsonl"):
        link_folder(linker, [source], out, workers=1)
    assert made(out) == before
    with pytest.raises(NamesakeError, match="is in the output folder"):
        link_folder(linker, [inputs], inputs, workers=1)
    with pytest.raises(NamesakeError, match="is not empty and has no journal"):
        link_folder(linker, [source], sample_kb.path.parent, workers=1)
    with pytest.raises(NamesakeError, match="no file matches this pattern"):
        link_folder(linker, [tmp_path / "*.absent"], out, workers=1)
    with pytest.raises(NamesakeError, match="standard input"):
        link_folder(linker, ["-"], out, workers=1)


def test_other_vectors_are_another_plan_where_the_recipe_reads_some(sample_kb, tmp_path):
    kb = shutil.copytree(sample_kb.path, tmp_path / "kb")
    manifest = kb / "vectors/text/manifest.json"
    manifest.parent.mkdir(parents=True, exist_ok=True)

    def plan(recipe: str, content: bytes) -> Plan:
        manifest.write_bytes(content)
        return Plan.of(Linker(kb, recipe), [], Reading(), {})

    assert difference(plan("ucse-paper", b"one"), plan("ucse-paper", b"two")).startswith("with another set of vectors")
    assert difference(plan("ns-paper", b"one"), plan("ns-paper", b"two")) is None


def test_all_that_links_depend_on_is_in_run_json(linker, sample_kb, tmp_path):
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_bytes(copies(1, "x"))
    linker = Linker(sample_kb, threshold=0.25, mentions=find_nobody)
    link_folder(linker, [source], out, workers=1, reading=Reading(encoding="cp1252"))
    assert json.loads((out / "run.json").read_text())["options"] == {
        "threshold": 0.25,
        "mentions": "<function find_nobody>",
        "kinds": None,
        "scores": False,
        "date": None,
        "fields": {"encoding": "cp1252"},
        "max_line": 256 << 20,
        "workers": 1,
    }
    [part] = (out / "links").iterdir()
    assert pq.read_schema(part).metadata[b"namesake.mentions"] == b"<function find_nobody>"


class Said(Reporter):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


def test_the_folder_that_is_written_is_none_that_is_read(linker, tmp_path):
    nest = tmp_path / "nest"
    nest.mkdir()
    (nest / "a.jsonl").write_bytes(copies(2, "a"))
    first = link_folder(linker, [nest], nest / "out", workers=1)
    assert link_folder(linker, [nest], nest / "out", workers=1) == Run(first.counts, 0, 0, 0)
    assert link_folder(linker, [f"{nest}/**/*.jsonl"], nest / "out", workers=1).linked_now == 0
    for within in (nest / "out", nest / "out/journal.jsonl", f"{nest}/out/*.jsonl"):
        with pytest.raises(NamesakeError, match=r"is in the output folder .*out"):
            link_folder(linker, [nest, within], nest / "out", workers=1)


def test_a_pipe_is_not_waited_for(linker, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(copies(1, "a"))
    os.mkfifo(tmp_path / "b.jsonl")
    (tmp_path / "c.jsonl").symlink_to("c.jsonl")  # a circle
    for number, articles in enumerate((tmp_path, f"{tmp_path}/[ab].jsonl")):
        run = link_folder(linker, [articles], tmp_path / f"out{number}", workers=1)
        assert (run.counts.articles, len(run.problems)) == (15, 1 - number)
    with pytest.raises(NamesakeError, match=r"b\.jsonl is not a regular file"):
        link_folder(linker, [tmp_path / "b.jsonl"], tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


def test_a_file_with_several_names_is_linked_once(linker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "a.jsonl"
    source.write_bytes(copies(1, "a"))
    Path("b.jsonl").symlink_to(source)
    Path("c.jsonl").hardlink_to(source)
    said = Said()
    run = link_folder(linker, ["a.jsonl", source, "./a.jsonl", "b.jsonl", "c.jsonl"], "out", workers=1, reporter=said)
    assert run.counts.articles == 15
    assert said.lines == [f"{source} is the file a.jsonl, and 2 more such files: linked once"]
    said = Said()
    assert link_files(linker, ["b.jsonl", source], "out.parquet", reporter=said).articles == 15
    assert said.lines == [f"{source} is the file b.jsonl: linked once"]


def test_files_that_cannot_be_read_are_told_and_the_others_linked(linker, tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    packed = bz2.compress(copies(30, "c"), 1)
    (folder / "a.jsonl.bz2").write_bytes(packed[: len(packed) // 2])
    (folder / "b.jsonl.gz").write_bytes(b"")
    (folder / "c.parquet").write_bytes(b"PAR1 nonsense")
    (folder / "d.jsonl").write_bytes(copies(2, "d"))
    (folder / "e.jsonl").write_bytes(b"")
    (folder / "f.jsonl").write_bytes(b"\n\n")
    (folder / "g.jsonl").symlink_to(tmp_path / "nowhere")
    run = link_folder(linker, [folder], out, workers=2, shard_bytes=SMALL)
    assert sorted(Path(line.split()[0].rstrip(":")).name for line in run.problems) == [
        "a.jsonl.bz2",
        "b.jsonl.gz",
        "c.parquet",
        "g.jsonl",
    ]
    ids = ds.dataset(out / "links").to_table().column("article_id").to_pylist()
    assert {f"{json.loads(line)['id']}-d-1" for line in LINES if b"mentions" in line} <= set(ids)
    facts = json.loads((out / "run.json").read_text())
    assert not facts["complete"]
    assert facts["problems"] == run.problems
    assert "a.jsonl.bz2 cannot be read to its end (truncated)" in "".join(run.problems)
    again = link_folder(linker, [folder], out, workers=1, shard_bytes=SMALL)
    assert (again.linked_now, again.problems) == (0, run.problems)
    (folder / "b.jsonl.gz").unlink()  # mended by removing: other inputs, hence another folder
    with pytest.raises(NamesakeError, match="other inputs"):
        link_folder(linker, [folder], out, workers=1, shard_bytes=SMALL)


NOISE = random.Random(3).randbytes(1 << 20)
"""What does not pack, so that a packed file that ends in it can be read up to there."""


def test_a_mended_file_is_taken_in(linker, tmp_path):
    """Also where some of its parts were made, or records of it set aside; the result is that of the whole files."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    good = {
        "a.jsonl.bz2": bz2.compress(copies(12, "a")),
        "b.jsonl": copies(4, "b"),
        "c.jsonl.gz": gzip.compress(copies(6, "c")),
        "d.jsonl": copies(2, "d"),
        "e.jsonl": copies(1, "e"),
        "f.txt": b"Chris Carter spoke.",
    }
    bad = good | {
        "a.jsonl.bz2": good["a.jsonl.bz2"][:-30],
        "c.jsonl.gz": gzip.compress(copies(40, "x") + NOISE)[:-50000],
        "d.jsonl": b"",
        "e.jsonl": None,
    }

    def write(files):
        for name, content in files.items():
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to("nowhere") if content is None else (folder / name).write_bytes(content)

    write(bad)
    first = link_folder(linker, [folder], out, workers=2, shard_bytes=SMALL)
    assert len(first.problems) == 3
    assert first.rejects > 10
    assert len(list((out / "links").glob("part-00002-*"))) > 5
    write({name: good[name] for name in good if bad[name] != good[name]})
    said = Said()
    second = link_folder(linker, [folder], out, workers=2, shard_bytes=SMALL, reporter=said)
    assert said.lines[0].startswith("linked again, because they have changed: ")
    assert [name in said.lines[0] for name in good] == [True, False, True, True, True, False]
    assert second.problems == []
    calm = link_folder(linker, [folder], tmp_path / "calm", workers=1, shard_bytes=SMALL)
    assert (second.counts, second.rejects) == (calm.counts, 0)
    assert made(out) == made(tmp_path / "calm")
    assert link_folder(linker, [folder], out, workers=2, shard_bytes=SMALL).linked_now == 0
    (folder / "a.jsonl.bz2").write_bytes(bz2.compress(copies(1, "other")))
    with pytest.raises(NamesakeError, match=r"changed since, such as .*a\.jsonl\.bz2"):
        link_folder(linker, [folder], out, workers=2, shard_bytes=SMALL)


class Meddler(Reporter):
    """Does something when the first part is made."""

    def __init__(self, act) -> None:
        self.act = act

    def advance(self, *_) -> None:
        self.act()
        self.act = lambda: None


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "txt"])
def test_a_file_that_changes_while_it_is_linked_is_told(suffix, linker, tmp_path):
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(copies(1, "a"))
    source = folder / f"b.{suffix}"
    [table] = read_articles(ARTICLES, Rejects())
    whole = {"jsonl": copies(40, "b"), "txt": b"Chris Carter spoke of the X-Files."}.get(suffix)
    pq.write_table(pa.concat_tables([table] * 40), source) if whole is None else source.write_bytes(whole)
    before, state = source.read_bytes(), source.stat()

    def meddle() -> None:
        source.write_bytes(before[: len(before) // 2] if suffix == "jsonl" else b"PAR1" + before)

    run = link_folder(linker, [folder], out, workers=1, shard_bytes=SMALL, reporter=Meddler(meddle))
    assert f"{source} has changed while it was being linked" in "".join(run.problems)
    assert [path.name for path in (out / "links").iterdir()] == ["part-00000-00000.parquet"]
    assert run.counts.articles == 15
    source.write_bytes(before)  # as if nothing had been
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert link_folder(linker, [folder], out, workers=1, shard_bytes=SMALL).problems == []
    link_folder(linker, [folder], tmp_path / "calm", workers=1, shard_bytes=SMALL)
    assert made(out) == made(tmp_path / "calm")


def test_a_damaged_part_is_made_anew_and_named(calm, inputs, linker, tmp_path):
    out = tmp_path / "out"
    link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    parts = sorted((out / "links").iterdir())
    damaged = bytearray(parts[3].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    parts[3].write_bytes(damaged)
    parts[4].unlink()
    said = Said()
    link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL, reporter=said)
    assert said.lines == [f"made again, because they are missing or damaged: {parts[3].stem}, {parts[4].stem}"]
    assert made(out) == made(calm)


@pytest.mark.parametrize("name", ["part-foreign.parquet", "part-00000-00001.parquet", "part-00001-00000.parquet", "x"])
def test_files_that_are_none_of_the_run_are_refused(name, linker, tmp_path):
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    source.write_bytes(copies(1, "x"))
    link_folder(linker, [source], out, workers=1)
    for hidden in (".hidden", "_SUCCESS"):
        (out / "links" / hidden).touch()
    link_folder(linker, [source], out, workers=1)
    (out / "links" / name).write_bytes(b"theirs")
    with pytest.raises(NamesakeError, match=f"{name}: not part of this run, but would be read with it"):
        link_folder(linker, [source], out, workers=1)
    assert (out / "links" / name).read_bytes() == b"theirs"


def test_what_is_no_folder_is_not_written_to(linker, tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_bytes(copies(1, "x"))
    (tmp_path / "file").write_bytes(b"theirs")
    with pytest.raises(NamesakeError, match=r"file is a file, not a folder to write: name another$"):
        link_folder(linker, [source], f"{tmp_path}/file/", workers=1)
    with pytest.raises(NamesakeError, match=r"file/out cannot be made \(Not a directory\)"):
        link_folder(linker, [source], tmp_path / "file/out", workers=1)


def test_rejects_name_file_line_and_reason(linker, tmp_path):
    source, out = tmp_path / "a.jsonl", tmp_path / "out"
    record = json.loads(LINES[0])
    bad = [b"{", json.dumps(record | {"id": "wrong", "mentions": [{"name": "X", "spans": [[5, 2]]}]}).encode()]
    lines = copies(10, "a").splitlines()
    source.write_bytes(b"\n".join([*lines[:100], bad[0], *lines[100:], bad[1], b"x" * 3000]) + b"\n")
    run = link_folder(linker, [source], out, workers=2, shard_bytes=SMALL, most_line=2500)
    written = set_aside(out)
    places = [(one["file"], one["line"], one["article_id"]) for one in written]
    longest = [k for k, line in enumerate(source.read_bytes().splitlines(), 1) if len(line) > 2500]
    expected = {101: None, len(lines) + 2: "wrong"} | dict.fromkeys(longest)
    assert sorted(places, key=lambda place: place[1]) == [(str(source), at, expected[at]) for at in sorted(expected)]
    assert all(one["reason"] for one in written)
    assert (run.rejects, run.counts.articles) == (len(expected), len(lines) + 3 - len(expected))
    next((out / "rejects").iterdir()).unlink()
    link_folder(linker, [source], out, workers=1, shard_bytes=SMALL, most_line=2500)
    assert set_aside(out) == written


class Fails:
    """A linker of shards that fails, or kills its process, whenever it meets the second shard."""

    def __init__(self, how: str, log: Path) -> None:
        self.how, self.log = how, log

    def link(self, shard, lines):
        assert lines == b"lines"
        if shard.number == 1:
            with self.log.open("a") as log:
                log.write("tried\n")
            if self.how == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(28, "No space left on device") if self.how == "full" else ValueError("a fault")
        from namesake.engines.shards import Done

        return Done(shard.file, shard.number, "", {"articles": 1})


def test_workers_end_where_no_more_of_them_can_be_had(tmp_path, monkeypatch):
    started, start = [], folder_module._Worker._start

    def third_fails(worker):
        if len(started) == 2:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        start(worker)
        started.append(worker.process)

    monkeypatch.setattr(folder_module._Worker, "_start", third_fails)
    with pytest.raises(BlockingIOError):
        next(outcomes(Fails("raises", tmp_path / "log"), iter([]), 3, 64))  # type: ignore[arg-type]
    assert len(started) == 2
    assert all(process.exitcode is not None for process in started)


@pytest.mark.parametrize("room", [1 << 12, 1], ids=["shared", "sent"])
@pytest.mark.parametrize(
    ("how", "tries", "reason"),
    [("raises", 2, "ValueError: a fault"), ("dies", 2, "died (signal 9)"), ("full", 1, "No space left")],
)
def test_a_failing_shard_is_tried_again_and_then_skipped(how, tries, reason, room, tmp_path):
    from namesake.engines.shards import Piece, Shard

    pieces = [Piece(Shard(0, number, "x"), b"lines", 0) for number in range(5)]
    answers = list(outcomes(Fails(how, tmp_path / "log"), iter(pieces), 2, room))  # type: ignore[arg-type]
    failed = {piece.shard.number: answer for piece, answer in answers if isinstance(answer, Failed)}
    assert sorted(piece.shard.number for piece, _ in answers) == [0, 1, 2, 3, 4]
    assert list(failed) == [1]
    assert reason in failed[1].reason
    assert failed[1].hopeless == (how == "full")
    assert (tmp_path / "log").read_text().count("tried") == tries


def test_a_full_disk_is_one_line_and_no_loss(calm, inputs, linker, tmp_path):
    """No file may grow beyond what all but the largest parts need; then it may."""
    out = tmp_path / "out"
    sizes = sorted(path.stat().st_size for path in (calm / "links").iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[-1] - 1, limits[1]))
        with pytest.raises(NamesakeError, match=r"File too large.*the same command resumes"):
            link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert made(out).items() <= made(calm).items()
    link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    assert made(out) == made(calm)


def test_two_runs_in_one_folder_do_not_mix(inputs, linker, tmp_path):
    out = tmp_path / "out"
    process = started(linker, inputs, out)
    after(process, 1)
    process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(NamesakeError, match="another run is at work"):
            link_folder(linker, [inputs], out, workers=1, shard_bytes=SMALL)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_small_file_costs_little_more_than_its_articles(linker, tmp_path, monkeypatch):
    """No table without links, nor what made it, nor a look at all other parts for each part; one wait for the disk."""
    calls: list[str] = []

    def counted(owner, name):
        done = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given: calls.append(name) or done(*given))

    counted(Linker, "empty_links")
    counted(Recipe, "toml")
    counted(os, "fsync")
    counted(sys.modules[published.__module__], "remove_stale")
    (tmp_path / "links").mkdir()
    (tmp_path / "rejects").mkdir()
    work = ShardLinker(linker, tmp_path, False, None)
    for number in range(3):
        work.link(Shard(0, number, "a.jsonl"), LINES[0] + b"\nnot a record\n")
    assert sorted(calls) == ["empty_links"] + ["fsync"] * 3 + ["toml"]
    calls.clear()
    plan = Plan.of(linker, [], Reading(), {})
    (tmp_path / "out").mkdir()
    with RunJournal(tmp_path / "out", plan, "now") as journal:
        for number in range(200):
            journal.record(Ended(number, 0))
    assert calls.count("fsync") < 100


class Trickle(io.BytesIO):
    """A stream that gives as little as it likes."""

    def readinto(self, buffer) -> int:
        return super().readinto(memoryview(buffer)[: random.randrange(1, 9)])


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=40), st.integers(4, 50))
def test_blocks_are_the_lines_in_order(lines, size):
    """Against Python's own splitting; a line too long keeps its place and is still too long."""
    text, most = b"\n".join(lines), 12
    blocks = list(cut_lines(io.BufferedReader(Trickle(text), 8), size, most))
    again = list(cut_lines(io.BytesIO(text), size, most))
    assert blocks == again  # wherever reads end
    joined = b"".join(blocks)
    for cut, line in zip(joined.split(b"\n"), lines or [b""], strict=True):
        assert cut == line or (len(line) > most + 2 and len(cut) > most and line.startswith(cut))
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_the_command(inputs, calm, sample_kb, tmp_path):
    code = "import sys; from namesake.apps.cli.main import main; sys.argv = ['namesake', *sys.argv[1:]]; main()"
    program = [sys.executable, "-c", code]
    out = tmp_path / "new" / "out"

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [*program, "link", str(inputs), "--kb", str(sample_kb.path), "-o", f"{out}/", *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    first = run("--workers", "2")
    assert first.returncode == 0, first.stderr
    assert "421 articles" in first.stderr
    rows = [pq.read_table(folder / "links").num_rows for folder in (out, calm)]
    assert rows[0] == rows[1]
    began = time.monotonic()
    assert "all of them in an earlier run" in run().stderr
    assert time.monotonic() - began < 30
    for option, value, words in [("--recipe", "ns-paper", "another recipe"), ("--mentions", "given", "--mentions")]:
        other = run(option, value)
        assert other.returncode == 2
        assert words in other.stderr
        assert "Traceback" not in other.stderr


def test_a_run_with_problems_does_not_say_that_all_is_done(sample_kb, tmp_path, capsys):
    articles = [tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"]
    articles[0].write_bytes(copies(1, "a"))
    articles[1].write_bytes(b"")
    options = {"workers": 1, "scores": False, "date": None, "most_line": 1 << 20, "reading": Reading()}
    for words in ("/s", "nothing new"):
        with pytest.raises(Exit) as ended:
            link_into_folder(Linker(sample_kb), articles, tmp_path / "out", options)
        assert ended.value.exit_code == 4
        [summary, problems] = capsys.readouterr().err.splitlines()[-2:]
        assert words in summary
        assert "all of them in an earlier run" not in summary
        assert problems.startswith("1 file or part could not be linked: see ")
