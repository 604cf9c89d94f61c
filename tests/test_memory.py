"""A KB is the same in any memory and however often its build is stopped or killed; of two dumps the later wins."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake import language
from namesake.errors import NamesakeError
from namesake.kb.build import build
from namesake.kb.build_options import LEAST, Options, duration_text, memory_bound, needs, parse_size
from namesake.kb.columns import large
from namesake.kb.columns.column_files import Strings, concatenate
from namesake.kb.manifest import MANIFEST
from namesake.kb.store import KB
from namesake.progress import Reporter
from namesake.sample import DUMP, WIKIPEDIA
from test_build import HUMAN, claim, dump, item

NOTHING = large.Room(bound=1, block=1 << 14, small=0)
"""All arrays go to files, in blocks of some rows, and pages leave whenever they are looked for."""


def content(kb: Path) -> dict[str, bytes]:
    """The files of a KB but for its manifest, which says when it was made."""
    return {path.name: path.read_bytes() for path in kb.iterdir() if path.name != MANIFEST}


class Stages(Reporter):
    """Remembers what a build says it does."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.said: list[str] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.names.append(name)
        yield

    def say(self, line: str) -> None:
        self.said.append(line)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up dump of a few thousand people."""
    made = tmp_path_factory.mktemp("dump") / "people.json.gz"
    command = [sys.executable, "-m", "benchmarks.synthetic", "--people", "3000", "--out", str(made)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    return made


@pytest.fixture(scope="module")
def plain(people: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the KB of these people holds, built in memory."""
    out = tmp_path_factory.mktemp("plain") / "kb"
    build([people], out, keep="people", workers=2)
    return content(out)


@pytest.mark.parametrize("block", [1 << 13, 1 << 16])
def test_a_kb_of_the_sample_is_the_same_in_any_memory(tmp_path: Path, block: int, sample_kb: KB) -> None:
    build([DUMP], tmp_path / "kb", keep="people", wikipedia=WIKIPEDIA, memory=large.Room(1, block, small=0), workers=1)
    build([DUMP], tmp_path / "blocks", keep="people", wikipedia=WIKIPEDIA, memory=large.Room(1 << 40, block))
    assert content(tmp_path / "kb") == content(sample_kb.columns.folder)
    assert content(tmp_path / "blocks") == content(sample_kb.columns.folder)
    KB.open(tmp_path / "kb").verify()


def test_a_kb_of_many_people_is_the_same_in_no_memory(tmp_path: Path, people: Path, plain: dict[str, bytes]) -> None:
    build([people], tmp_path / "kb", keep="people", memory=NOTHING, workers=1)
    assert content(tmp_path / "kb") == plain


NUMBERING = ["numbering items and statements", "finding the kinds of items"]
"""Stages that a resumed build repeats."""

KILLED = """
import os, signal, sys
from contextlib import contextmanager
from namesake.kb.build import build
from namesake.kb.columns.large import Room
from namesake.progress import Reporter

class Killer(Reporter):
    @contextmanager
    def stage(self, name):
        if name == sys.argv[3]:
            os.kill(os.getpid(), signal.SIGKILL)
        yield

build([sys.argv[1]], sys.argv[2], keep="people", memory=Room(1, 1 << 16, small=0), reporter=Killer())
"""


def killed(dump: Path, out: Path, stage: str) -> list[Path]:
    """Build and be killed where a stage begins; what is left beside `out`."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(dump), str(out), stage], capture_output=True)
    assert done.returncode == -9, done.stderr.decode()
    assert not out.exists()
    return sorted(out.parent.iterdir())


def test_a_build_that_is_killed_again_and_again_goes_on(tmp_path: Path, people: Path, plain: dict[str, bytes]) -> None:
    out = tmp_path / "kb"
    [draft] = killed(people, out, "indexing names")
    assert killed(people, out, "writing entities") == [draft], "the second build worked where the first had"
    heard = Stages()
    build([people], out, keep="people", memory=NOTHING, reporter=heard)
    assert heard.names == [*NUMBERING, "writing entities", "publishing"]
    assert content(out) == plain
    assert list(tmp_path.iterdir()) == [out]


class Stopper(Stages):
    """Sends this process a signal where a stage begins."""

    def __init__(self, stage: str, number: signal.Signals) -> None:
        super().__init__()
        self.last, self.number = stage, number

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.names.append(name)
        if name == self.last:
            os.kill(os.getpid(), self.number)
        yield


STOPS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@STOPS
def test_a_build_that_is_stopped_again_and_again_goes_on(
    tmp_path: Path, people: Path, plain: dict[str, bytes], number: signal.Signals
) -> None:
    out, told = tmp_path / "kb", []
    for stage in ("indexing names", "writing entities"):
        with pytest.raises(KeyboardInterrupt) as stop:
            build([people], out, keep="people", memory=NOTHING, reporter=Stopper(stage, number))
        told.append(str(stop.value))
        [draft] = tmp_path.iterdir()
        assert told[-1] == f"stopped; finished stages are kept in {draft}: the same command resumes there, or delete it"
    assert told[0] == told[1], "the second build worked where the first had"
    heard = Stages()
    build([people], out, keep="people", memory=NOTHING, reporter=heard)
    assert heard.names == [*NUMBERING, "writing entities", "publishing"]
    assert content(out) == plain
    assert list(tmp_path.iterdir()) == [out]


@STOPS
@pytest.mark.parametrize("stage", ["reading the dump", "publishing"])
def test_what_is_kept_of_a_build_in_memory(tmp_path: Path, number: signal.Signals, stage: str) -> None:
    """Nothing before the dumps are read; in memory, what they say."""
    neighbour = tmp_path / "kb.building-mine"
    neighbour.mkdir()
    with pytest.raises(KeyboardInterrupt) as stop:
        build([DUMP], tmp_path / "kb", keep="people", reporter=Stopper(stage, number))
    left = [path for path in tmp_path.iterdir() if path != neighbour]
    if stage == "reading the dump":
        assert str(stop.value) == f"stopped; {tmp_path / 'kb'} was not built and nothing is left of it"
        assert left == []
    else:
        assert f"kept in {left[0]}:" in str(stop.value)
        heard = Stages()
        build([DUMP], tmp_path / "kb", keep="people", reporter=heard)
        assert heard.said == ["resuming a stopped build, which had read the dumps"]
        assert sorted(tmp_path.iterdir()) == [tmp_path / "kb", neighbour]


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left on device"), MemoryError()])
@pytest.mark.parametrize("memory", [NOTHING, None])
def test_a_build_without_room_goes_on_once_there_is_some(
    tmp_path: Path,
    people: Path,
    plain: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    problem: Exception,
    memory: large.Room | None,
) -> None:
    out = tmp_path / "kb"
    with monkeypatch.context() as full:
        full.setattr("namesake.kb.build.build_misspellings", Mock(side_effect=problem))
        with pytest.raises(NamesakeError) as told:
            build([people], out, keep="people", memory=memory)
    [draft] = tmp_path.iterdir()
    assert str(told.value).endswith(
        f"; finished stages are kept in {draft}: the same command resumes there, or delete it"
    )
    heard = Stages()
    build([people], out, keep="people", memory=memory, reporter=heard)
    assert "reading the dump" not in heard.names
    assert content(out) == plain
    assert list(tmp_path.iterdir()) == [out]


def test_a_build_without_room_for_its_dumps_leaves_nothing(
    tmp_path: Path, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("namesake.kb.dump.gather.Spill.append", Mock(side_effect=full))
    with pytest.raises(NamesakeError, match=r"the disk is full: free some space .* nothing is left of it"):
        build([people], tmp_path / "kb", keep="people")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.1, "2 seconds"), (4, "4 seconds"), (121, "2 minutes"), (3600, "60 minutes"), (9000, "2.5 hours")],
)
def test_lengths_of_time_are_told_as_people_do(seconds: float, said: str) -> None:
    assert duration_text(seconds) == said


def test_a_stop_before_a_build_goes_on_keeps_what_is_there(
    tmp_path: Path, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [draft] = killed(people, tmp_path / "kb", "indexing names")
    monkeypatch.setattr("namesake.files.draft.damaged_file", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt, match=f"kept in {draft}:"):
        build([people], tmp_path / "kb", keep="people")
    assert list(tmp_path.iterdir()) == [draft]


def test_a_journal_that_was_being_written_is_no_part_of_the_kb(tmp_path: Path, people: Path) -> None:
    [draft] = killed(people, tmp_path / "kb", "indexing names")
    with (draft / "journal.jsonl").open("ab") as journal:
        journal.write(b"{")
    build([people], tmp_path / "kb", keep="people")
    KB.open(tmp_path / "kb").verify()


def test_a_part_that_was_damaged_is_made_again(tmp_path: Path, people: Path, plain: dict[str, bytes]) -> None:
    [draft] = killed(people, tmp_path / "kb", "indexing names")
    (draft / "word.bytes.npy").write_bytes(b"spilt ink")
    heard = Stages()
    build([people], tmp_path / "kb", keep="people", reporter=heard)
    assert heard.names[0] == "numbering items and statements"
    assert content(tmp_path / "kb") == plain


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dump, and the draft of a build that was killed behind reading it."""
    folder = tmp_path_factory.mktemp("left")
    path = dump(folder / "dump.json", item(5, "human"), item(9, "Ann Example", HUMAN), item(7, "Bob", HUMAN))
    killed(path, folder / "kb", "numbering items and statements")
    return folder


@pytest.mark.parametrize("change", ["none", "newer dump", "cut spill", "other options"])
def test_a_draft_of_another_build_is_not_gone_on_with(tmp_path: Path, left: Path, change: str) -> None:
    [there] = left.glob("kb.building")
    path, draft = left / "dump.json", tmp_path / there.name
    shutil.copytree(there, draft)
    before = path.stat()
    if change == "newer dump":
        os.utime(path, (1, 1))
    if change == "cut spill":
        (draft / "sources.qid").write_bytes(b"")
    heard = Stages()
    build([path], tmp_path / "kb", reporter=heard, keep="all" if change == "other options" else "people")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    if change != "none":
        assert heard.said[0] == f"removed {draft}, which a stopped run had left"
    assert (heard.names[0] == "reading the dump") == (change != "none")
    assert len(KB.open(tmp_path / "kb")) == (3 if change == "other options" else 2)
    assert list(tmp_path.iterdir()) == [tmp_path / "kb"]


def test_the_later_dump_wins(tmp_path: Path) -> None:
    prop = (
        '{"type":"property","datatype":"string","id":"P1","labels":{"en":{"language":"en","value":"%s"}},"claims":{}}'
    )
    old = [
        *(item(5, "human"), item(9, "Ann Example", HUMAN, claim("P1", 77), description="old words"), prop % "old"),
        *(item(7, "Bob Stays", HUMAN, claim("P1", 9)), item(3, "Cid Was a Person", HUMAN), item(9, "Impostor", HUMAN)),
    ]
    new = [
        *(item(9, "Impostor", HUMAN), item(3, "Cid"), prop % "newer", prop % "new"),
        *(item(9, "Ann Newer", HUMAN, claim("P1", 78), aliases=("Annie",)), item(11, "Dee New", HUMAN)),
    ]
    files = [dump(tmp_path / "old.json", *old), dump(tmp_path / "new.json", *new)]
    manifest = build(files, tmp_path / "kb", keep="people")
    patched = patch([json.loads(line) for line in old], [json.loads(line) for line in new])
    build([dump(tmp_path / "patched.json", *map(json.dumps, patched))], tmp_path / "oracle", keep="people")
    assert manifest.superseded == 4
    assert manifest.rejected == 0
    ours, theirs = content(tmp_path / "kb"), content(tmp_path / "oracle")
    del ours["rejects.jsonl"], theirs["rejects.jsonl"]
    assert ours == theirs
    kb = KB.open(tmp_path / "kb")
    assert [kb.label(row) for row in range(len(kb))] == ["Bob Stays", "Ann Newer", "Dee New"]
    assert kb.property_labels[0] == "new"
    build(files[::-1], tmp_path / "reverse", keep="people")
    assert KB.open(tmp_path / "reverse").qids.tolist() == [3, 7, 9, 11]


def patch(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One dump of what counts: the last record of each id."""
    return list({record["id"]: record for record in old + new}.values())


@pytest.mark.parametrize(
    ("text", "size"), [("512M", 512 << 20), ("8G", 8 << 30), ("1.5g", 3 << 29), ("1 GiB", 1 << 30), ("4096", 4096)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "8X", "-1G", "1e9", "G"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(NamesakeError, match="not a size of memory; write it as 512M or 8G"):
        parse_size(text)


def test_too_little_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match="memory of 100M is too little: a build takes at least 512M"):
        build([DUMP], tmp_path / "kb", keep="people", memory="100M")
    assert memory_bound(None).bound >= LEAST


def options_of(path: Path) -> Options:
    return Options(
        dumps=(str(path),),
        out=path.parent / "kb",
        keep="people",
        wikipedia=None,
        ranks={},
        language=language.of("en"),
        words="stem",
        workers=2,
        room=memory_bound("1G"),
        force=False,
    )


@pytest.fixture(scope="module")
def well_known() -> list[str]:
    """Lines that begin as Wikidata's do, with well-known items: they have names in many languages, and say little."""
    many = {f"x{i}": {"language": f"x{i}", "value": "some name " * 20} for i in range(100)}
    known = json.dumps({"type": "item", "id": "Q1", "labels": many, "claims": {}})
    return [known] * 200 + [item(qid, f"Ann Example {qid}", HUMAN) for qid in range(9, 60_009)]


def test_a_slow_clock_changes_nothing_of_what_is_told(
    tmp_path: Path, well_known: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = dump(tmp_path / "dump.json", *well_known)
    told = needs(options_of(path))
    clock = iter(range(1_000_000))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    assert needs(options_of(path)) == told


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_beginning_that_says_little_does_not_tell_of_the_whole(
    tmp_path: Path, well_known: list[str], suffix: str
) -> None:
    both, others = tmp_path / f"both{suffix}", dump(tmp_path / "others.json", *well_known[200:])
    text = dump(tmp_path / "all", *well_known).read_bytes()
    both.write_bytes(gzip.compress(text, 1) if suffix == ".json.gz" else text)
    told, expected = needs(options_of(both)), needs(options_of(others))
    assert told is not None
    assert expected is not None
    assert expected.disk / 1.5 < told.disk < 1.5 * expected.disk


def test_what_a_build_takes_is_told_from_a_part_of_the_dump(
    tmp_path: Path, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Stages()
    build([people], tmp_path / "kb", keep="people", memory="1G", workers=2, reporter=heard)
    [told] = heard.said
    disk = int(re.fullmatch(r"takes about (\d+) MB of disk, \d+ MB of memory, and \d+ seconds on .*", told)[1])
    kb = sum(path.stat().st_size for path in (tmp_path / "kb").iterdir()) >> 20
    assert kb < disk < 5 * kb
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    build([people], tmp_path / "other", keep="people", reporter=heard)
    assert heard.said[-1] == f"only 1 MB are free on the disk of {tmp_path / 'other'}, which may not be enough"


def test_a_large_array_has_its_room_on_the_disk_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of a mapped file for which there is no room would be the end of the process (SIGBUS)."""
    files, make = [], large.Room.file

    def kept_open(room: large.Room) -> FileIO:
        made = make(room)
        files.append(os.dup(made.fileno()))
        return made

    monkeypatch.setattr(large.Room, "file", kept_open)
    with large.Room(folder=tmp_path).used():
        array = large.zeros(1 << 20, np.int64)
    assert os.fstat(files[0]).st_blocks * 512 >= array.nbytes
    assert not array.any()
    os.close(files[0])


def test_pages_may_leave_while_arrays_are_made(tmp_path: Path) -> None:
    room, pages = large.Room(1, folder=tmp_path), tmp_path / "pages"
    pages.write_bytes(bytes(4096))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(1) as others, pages.open("r+b") as file:
            made = [room.map(file.fileno(), np.uint8) for _ in range(200)]
            leaving = others.submit(lambda: [room.release() for _ in range(500)])
            while not leaving.done():
                made = [*made[1:], room.map(file.fileno(), np.uint8)]
            leaving.result()
    finally:
        sys.setswitchinterval(before)


def test_pages_leave_where_there_is_no_room_and_come_back(tmp_path: Path) -> None:
    size, before = 200 << 20, large.held()[1]
    with large.Room(1, folder=tmp_path).used():
        array = large.zeros(size // 8, np.int64)
        array[:] = np.arange(len(array))
        time.sleep(10 * large.INTERVAL)
        assert large.held()[1] < before + size // 2
        np.testing.assert_array_equal(array[:: 1 << 10], np.arange(0, len(array), 1 << 10))
    assert not any(tmp_path.iterdir()), "the file has no name"


@given(sizes=st.lists(st.integers(0, 9)), block=st.integers(1, 64), width=st.integers(1, 9))
def test_spans_cover_all_rows_a_block_at_a_time(sizes: list[int], block: int, width: int) -> None:
    ends = np.cumsum([0, *sizes])
    with large.Room(block=block).used():
        spans, blocks = list(large.spans(ends, width)), list(large.blocks(len(sizes), width))
    for found in (spans, blocks):
        assert [row for low, high in found for row in range(low, high)] == list(range(len(sizes)))
    assert all(high == low + 1 or width * (ends[high] - ends[low]) <= block for low, high in spans)
    assert all(high == low + 1 or width * (high - low) <= block for low, high in blocks)


@given(texts=st.lists(st.text(max_size=5)), block=st.integers(1, 200), data=st.data())
def test_strings_are_taken_block_by_block(texts: list[str], block: int, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(-1, len(texts) - 1)))
    with large.Room(block=block).used():
        taken = Strings.of(texts).take(np.array(rows, np.int64))
        both = concatenate([taken, Strings.of(texts)])
    expected = ["" if row < 0 else texts[row].encode("utf-8", "replace").decode() for row in rows]
    assert [taken[row] for row in range(len(taken))] == expected
    assert [both[row] for row in range(len(both))][: len(rows)] == expected
    assert len(both) == len(rows) + len(texts)
