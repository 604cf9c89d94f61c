"""The commands `kb build`, `kb info` and `kb show` as a user meets them, signals and full disks among them."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from namesake.apps.cli.main import main
from namesake.compiling import NOTICE
from namesake.kb.records import Statement, gist
from namesake.sample import DUMP
from small_kb import writable
from test_build import HUMAN, claim, dump, item

MAIN = [sys.executable, "-c", "from namesake.apps.cli.main import main; main()"]
SMALL_FILES = (
    "import resource, namesake.kb.build; from namesake.apps.cli.main import main; "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000)); main()"
)
STOPPED_BEHIND_READING = (
    "import os, namesake.kb.build as build; from namesake.apps.cli.main import main; "
    "build.assemble.number = lambda _: os.kill(os.getpid(), {number}); main()"
)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def namesake(*arguments: str | Path) -> Done:
    """Run a command in this process: as `main` does, up to its exit code."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with mock.patch.object(sys, "argv", ["namesake", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True, scope="module")
def wide_terminal() -> Iterator[None]:
    with mock.patch.dict(os.environ, COLUMNS="100", TERM="dumb"):
        yield


@pytest.fixture(scope="module")
def sample_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "kb"
    done = namesake("kb", "build", DUMP, "--keep", "people", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "entities (117 people)" in done.stderr
    return out


def test_info_for_programs_and_for_people(sample_kb: Path) -> None:
    info = json.loads(namesake("kb", "info", sample_kb, "--json").stdout)
    for name in ("format_version", "entities", "people", "statements", "names", "words", "rejected"):
        assert isinstance(info[name], int), name
    assert info["people"] == info["entities"] > 50
    drawn = namesake("kb", "info", sample_kb).stdout
    assert f"{info['names']:,}" in drawn
    assert "dump.json" in drawn


def test_a_damaged_file_is_found(sample_kb: Path, tmp_path: Path) -> None:
    copy = tmp_path / "kb"
    shutil.copytree(sample_kb, copy)
    assert namesake("kb", "info", copy, "--verify").returncode == 0
    column = copy / "entity.sitelinks.npy"
    raw = bytearray(column.read_bytes())
    raw[-1] ^= 1
    writable(column).write_bytes(raw)
    done = namesake("kb", "info", copy, "--verify")
    assert done.returncode == 2
    assert "entity.sitelinks.npy" in done.stderr


def test_show_by_name_lists_the_namesakes(sample_kb: Path) -> None:
    shown = json.loads(namesake("kb", "show", sample_kb, "michael jordan", "--json").stdout)
    assert len(shown) > 1
    for entity in shown:
        for name in ("qid", "label", "description", "aliases", "birth", "death", "sitelinks", "properties"):
            assert name in entity
        assert all({"property", "value", "label"} <= set(statement) for statement in entity["statements"])
    assert [entity["sitelinks"] for entity in shown] == sorted((e["sitelinks"] for e in shown), reverse=True)
    drawn = namesake("kb", "show", sample_kb, "Michael Jordan").stdout
    assert f"{len(shown)} entities named Michael Jordan" in drawn
    assert all(entity["qid"] in drawn for entity in shown)


def test_show_by_qid(sample_kb: Path) -> None:
    (first, *_) = json.loads(namesake("kb", "show", sample_kb, "michael jordan", "--json").stdout)
    (entity,) = json.loads(namesake("kb", "show", sample_kb, first["qid"], "--json").stdout)
    assert entity == first
    drawn = namesake("kb", "show", sample_kb, first["qid"]).stdout
    assert entity["label"] in drawn
    assert entity["description"] in drawn


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("P21 male, P54 Inter Milan, P27 Italy, P106 footballer", "footballer, Italy"),
        ("P27 Italy, P106 a, P106 b, P106 c, P106 d", "a, b, c, Italy"),
        ("P31 human, P21 male, P54 Inter Milan", "Inter Milan"),
        ("P31 human, P21 male", ""),
    ],
)
def test_who_has_no_description_is_told_by_occupation_then_country_never_by_sex(stated: str, told: str) -> None:
    pairs = [one.split(" ", 1) for one in stated.split(", ")]
    assert gist([Statement(property=p, property_label=p, value="Q1", label=label) for p, label in pairs]) == told


def test_show_says_what_it_knows_of_what_is_not_kept(tmp_path: Path) -> None:
    dump(tmp_path / "d.json", item(9, "Ann", HUMAN, claim("P27", 30)), item(30, "United States of America"))
    assert namesake("kb", "build", tmp_path / "d.json", "--keep", "people", "-o", tmp_path / "kb").returncode == 0
    for asked, answer in [
        ("Q30", "Q30 is 'United States of America' but not kept"),
        ("Q31", "has no Q31"),
        ("Nobody Atall", "has no entity with the name"),
        ("Q" + "9" * 40, "has no Q"),
        ("x" * 10_000, "has no entity with the name 'xxx"),
    ]:
        done = namesake("kb", "show", tmp_path / "kb", asked)
        assert done.returncode == 2
        assert answer in done.stderr
        told = done.stderr.replace(f"{NOTICE}\n", "")
        assert len(told.splitlines()) == 1
        assert len(told) < len(str(tmp_path)) + 200


def test_a_folder_that_is_no_kb(tmp_path: Path) -> None:
    for command in (["kb", "info", tmp_path], ["kb", "show", tmp_path, "Q42"]):
        done = namesake(*command)
        assert done.returncode == 2
        assert "is not a KB" in done.stderr
        assert "Traceback" not in done.stderr


def test_a_dump_from_stdin(tmp_path: Path) -> None:
    command = [*MAIN, "kb", "build", "-", "--out", str(tmp_path / "kb")]
    done = subprocess.run(command, input=DUMP.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(namesake("kb", "info", tmp_path / "kb", "--json").stdout)["dumps"] == ["-"]


def test_an_existing_kb_stays_unless_forced(tmp_path: Path) -> None:
    dump(tmp_path / "d.json", item(9, "Ann", HUMAN))
    assert namesake("kb", "build", tmp_path / "d.json", "-o", tmp_path / "kb").returncode == 0
    refused = namesake("kb", "build", DUMP, "-o", tmp_path / "kb")
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    failed = namesake("kb", "build", tmp_path / "absent.json", "-o", tmp_path / "kb", "--force")
    assert failed.returncode == 2
    assert json.loads(namesake("kb", "info", tmp_path / "kb", "--json").stdout)["entities"] == 1
    assert namesake("kb", "build", DUMP, "-o", tmp_path / "kb", "--force").returncode == 0
    assert json.loads(namesake("kb", "info", tmp_path / "kb", "--json").stdout)["entities"] > 50


def test_rejects_are_told(tmp_path: Path) -> None:
    dump(tmp_path / "d.json", item(9, "Ann", HUMAN), "{no json")
    done = namesake("kb", "build", tmp_path / "d.json", "-o", tmp_path / "kb")
    assert done.returncode == 0
    assert "1 rejected" in done.stderr
    assert f"{tmp_path / 'd.json'}:3: no JSON" in done.stderr


def test_impossible_dates_and_an_absence_of_people_are_told(tmp_path: Path) -> None:
    absurd = claim("P39", 7, P580="2001-02-31", P582="2005-13-01")
    dump(tmp_path / "d.json", item(9, "Ann", HUMAN, absurd))
    done = namesake("kb", "build", tmp_path / "d.json", "-o", tmp_path / "kb")
    assert "2 impossible dates were dropped" in done.stderr
    assert json.loads(namesake("kb", "info", tmp_path / "kb", "--json").stdout)["dates_dropped"] == 2
    assert "2 impossible dates" in namesake("kb", "info", tmp_path / "kb").stdout
    dump(tmp_path / "one.json", item(9, "Ann", HUMAN, claim("P39", 7, P580="2001-02-31")))
    namesake("kb", "build", tmp_path / "one.json", "-o", tmp_path / "one")
    assert "1 impossible date " in namesake("kb", "info", tmp_path / "one").stdout
    dump(tmp_path / "things.json", item(9, "thing"))
    done = namesake("kb", "build", tmp_path / "things.json", "--keep", "people", "-o", tmp_path / "things")
    assert done.returncode == 0
    assert "none of the 1 items is kept (--keep people)" in done.stderr
    assert "--keep all" in done.stderr


def test_a_file_of_other_json_is_no_dump(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text('{"id": "a-story", "text": "It rained."}\n{"id": "another"}\n')
    done = namesake("kb", "build", tmp_path / "news.jsonl", "-o", tmp_path / "kb")
    assert done.returncode == 2
    assert "news.jsonl:1: the id 'a-story'" in done.stderr.splitlines()[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["news.jsonl"]


def test_a_column_of_nonsense_is_named(tmp_path: Path) -> None:
    dump(tmp_path / "d.json", item(9, "Ann", HUMAN))
    assert namesake("kb", "build", tmp_path / "d.json", "-o", tmp_path / "kb").returncode == 0
    file = tmp_path / "kb" / "entity.item.npy"
    writable(file).write_bytes(file.read_bytes()[:-4] + b"\xff\xff\xff\x7f")
    done = namesake("kb", "show", tmp_path / "kb", "Q9")
    assert done.returncode == 2
    assert f"{file} is damaged" in done.stderr


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SMALL_FILES, "kb", "build", str(DUMP), "--out", str(tmp_path / "kb")]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 2
    last = done.stderr.decode().splitlines()[-1]
    assert "disk is full" in last
    assert "free some space" in last
    assert b"Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def start_a_build_that_waits(out: Path) -> subprocess.Popen[bytes]:
    """A build of stdin, at work in its folder and waiting for the rest of the dump."""
    build = subprocess.Popen(
        [*MAIN, "kb", "build", "-", "--out", str(out)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert build.stdin is not None
    build.stdin.write(DUMP.read_bytes()[:10_000])
    build.stdin.flush()
    deadline = time.monotonic() + 60
    while not list(out.parent.glob(f"{out.name}.building/journal.jsonl")):
        assert build.poll() is None
        assert time.monotonic() < deadline, "the build did not begin"
        time.sleep(0.02)
    time.sleep(0.2)
    return build


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_stopped_behind_reading_is_kept(tmp_path: Path, number: signal.Signals) -> None:
    arguments = ["kb", "build", str(DUMP), "--out", str(tmp_path / "kb")]
    code = STOPPED_BEHIND_READING.format(number=int(number))
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    (left,) = tmp_path.iterdir()
    told = f"namesake: stopped; finished stages are kept in {left}: the same command resumes there, or delete it"
    assert done.stderr.splitlines()[-1] == told
    again = namesake(*arguments)
    assert again.returncode == 0
    assert "resuming a stopped build, which had read the dumps" in again.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_stopped_while_reading_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    build = start_a_build_that_waits(tmp_path / "kb")
    build.send_signal(number)
    _, said = build.communicate(timeout=60)
    assert build.returncode == 130
    assert said.decode().splitlines()[-1].endswith("kb was not built and nothing is left of it")
    assert b"Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_a_killed_build_leaves_no_kb_and_the_next_one_clears_up(tmp_path: Path) -> None:
    out = tmp_path / "kb"
    build = start_a_build_that_waits(out)
    build.kill()
    build.communicate(timeout=60)
    (left,) = tmp_path.iterdir()
    assert left.name == "kb.building"
    asked = namesake("kb", "info", out)
    assert asked.returncode == 2
    assert str(left) in asked.stderr, "says what a killed build left"
    done = namesake("kb", "build", DUMP, "--out", out)
    assert done.returncode == 0
    assert f"removed {left}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]
