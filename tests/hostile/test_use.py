"""Wrong use of the library raises one error with a sentence; a linker pickles, forks and spawns. First runs agree."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hostile.sandbox import COMMAND, Outcome, Sandbox
from hostile.world import World

TEXT = "Chris Carter met Michael Jordan in New York."
PROGRAM = """
import sys
from namesake import KB, Linker, Mention, NamesakeError
linker = Linker(sys.argv[1])
TEXT = {text!r}
try:
    {call}
except (TypeError, NamesakeError) as problem:
    print("namesake:", problem, file=sys.stderr)
    sys.exit(2)
"""
WRONG = {
    "mentions a text": "linker.link_text(TEXT, 'Chris Carter')",
    "mentions a number": "linker.link_text(TEXT, 5)",
    "a mention that is a number": "linker.link_text(TEXT, [5])",
    "three numbers for a span": "linker.link_text(TEXT, [Mention('Chris Carter', [(0, 12, 13)], None)])",
    "a span of texts": "linker.link_text(TEXT, [Mention('Chris Carter', [('0', '12')], None)])",
    "a span past the text": "linker.link_text(TEXT, [Mention('Chris Carter', [(0, 10**20)], None)])",
    "candidates a text": "linker.link_text(TEXT, [Mention('Chris Carter', [(0, 12)], 'Q5')])",
    "no date": "linker.link_text(TEXT, date='yesterday')",
    "a date that is a number": "linker.link_text(TEXT, date=2010)",
    "text that is bytes": "linker.link_text(TEXT.encode())",
    "text that is nothing": "linker.link_text(None)",
    "articles a list": "linker.link([{'id': '1', 'text': TEXT}])",
    "articles a dictionary": "linker.link({'id': ['1'], 'text': [TEXT]})",
    "a KB that is a number": "Linker(5)",
    "a KB that is nothing": "Linker(None)",
    "a recipe that is a number": "Linker(sys.argv[1], 5)",
    "a threshold that is a text": "Linker(sys.argv[1], 'default', 'high')",
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_types(what: str, world: World, sandbox: Sandbox, tmp_path: Path):
    program = tmp_path / "wrong.py"
    program.write_text(PROGRAM.format(text=TEXT, call=WRONG[what]))
    outcome = sandbox.run(world.kb, program=program)
    assert outcome.kind == "refused", outcome


MOVED = """
import multiprocessing, pickle, sys
from namesake import Linker

TEXT = "Chris Carter met Michael Jordan in New York."

def answers(linker):
    return [(link.name, link.best) for link in linker.link_text(TEXT)]

if __name__ == "__main__":
    linker = Linker(sys.argv[1], "uiscore-paper")
    expected = answers(linker)
    assert expected
    if sys.argv[2] == "pickle":
        assert answers(pickle.loads(pickle.dumps(linker))) == expected
    else:
        with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
            assert pool.map(answers, [linker, linker]) == [expected] * 2
"""


@pytest.mark.parametrize("how", ["pickle", "fork", "spawn"])
def test_a_linker_travels(how: str, world: World, tmp_path: Path):
    (tmp_path / "moved.py").write_text(MOVED)
    argv = [sys.executable, str(tmp_path / "moved.py"), str(world.kb), how]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr[-300:]


def test_two_first_runs_at_once(world: World, tmp_path: Path):
    """Without `--kb` the sample's KB is built; two that do so at once both succeed."""
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def first_run(number: int) -> subprocess.CompletedProcess[str]:
        argv = [*COMMAND, "link", str(world.articles), "-o", str(tmp_path / f"{number}.jsonl")]
        return subprocess.run(argv, capture_output=True, text=True, timeout=120, env=env, check=False)

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(first_run, range(2)))
    assert [run.returncode for run in runs] == [0, 0], [run.stderr[-200:] for run in runs]


def test_a_file_called_demo(sandbox: Sandbox, tmp_path: Path):
    """The command wins."""
    for name in ("demo", "kb", "link"):
        (tmp_path / name).write_text("x")
    assert sandbox.run("demo", cwd=tmp_path).kind == "done"
    assert b"Usage" in sandbox.run("kb", "--help", cwd=tmp_path).out


def link(sandbox: Sandbox, world: World, path: Path, **options: float) -> Outcome:
    return sandbox.run("link", path, "--kb", world.kb, "-o", path.with_name("links.jsonl"), **options)


def test_nothing_but_rejects_is_no_success(world: World, sandbox: Sandbox, tmp_path: Path):
    (tmp_path / "no.jsonl").write_text('{"a": "a", "b": "text"}\n' * 3)
    assert link(sandbox, world, tmp_path / "no.jsonl").kind == "refused"


def test_an_empty_gz_is_no_file_of_articles(world: World, sandbox: Sandbox, tmp_path: Path):
    (tmp_path / "zero.jsonl.gz").write_bytes(b"")
    assert link(sandbox, world, tmp_path / "zero.jsonl.gz").kind == "refused"


def test_a_closed_standard_input(world: World, sandbox: Sandbox, tmp_path: Path):
    outcome = sandbox.run("link", "-", "--kb", world.kb, "-o", tmp_path / "x.jsonl", stdin=None)
    assert outcome.kind == "refused", outcome


@pytest.mark.parametrize("megabytes", [512, pytest.param(10_240, marks=pytest.mark.hostile)])
def test_a_line_without_end(megabytes: int, world: World, sandbox: Sandbox, tmp_path: Path):
    """A gzip bomb: the line is set aside, in memory that does not grow with it."""
    path = tmp_path / "bomb.jsonl.gz"
    zeros = gzip.compress(b"\0" * (64 << 20))
    path.write_bytes(zeros * (megabytes // 64) + gzip.compress(b"\n" + json.dumps({"id": "1", "text": TEXT}).encode()))
    outcome = link(sandbox, world, path, seconds=300)
    assert outcome.kind == "done", outcome
    assert outcome.peak < 1 << 30, f"{outcome.peak >> 20} MB"


@pytest.mark.hostile
@pytest.mark.parametrize("reader", ["nif", "nelight", "aida-tsv", "zelda"])
@pytest.mark.parametrize("byte", [b"\0", b"["])
def test_a_data_set_without_end(reader: str, byte: bytes, sandbox: Sandbox, tmp_path: Path):
    """Also where a file can only be read whole, there is a limit."""
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(byte * (64 << 20)) * 48)
    out = ("--articles", tmp_path / "a.jsonl", "--gold", tmp_path / "g.jsonl")
    outcome = sandbox.run("datasets", "convert", path, "--reader", reader, *out, seconds=120)
    assert outcome.kind == "refused", outcome
    assert outcome.peak < 3 << 30, f"{outcome.peak >> 20} MB"


@pytest.mark.hostile
def test_large_unknown_fields(world: World, sandbox: Sandbox, tmp_path: Path):
    """They are carried once for each article, not once for each mention."""
    mentions = [{"name": "Chris Carter", "spans": [[0, 12]]}] * 20
    article = {"text": TEXT, "html": "x" * 200_000, "mentions": mentions}
    path = tmp_path / "html.jsonl"
    path.write_text("".join(json.dumps({"id": str(k), **article}) + "\n" for k in range(600)))
    outcome = sandbox.run("link", path, "--kb", world.kb, "-o", tmp_path / "links.parquet", seconds=120)
    assert outcome.kind == "done", outcome
