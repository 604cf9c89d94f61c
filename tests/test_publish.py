"""Builds end with the old KB or the new one in its place, whatever stops them, and touch nothing that is not theirs."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from namesake.errors import NamesakeError
from namesake.files import draft as publish
from namesake.files import outputs as replace
from namesake.files.draft import JOURNAL, Begun, Stage
from namesake.files.outputs import Journal
from namesake.kb.build import build
from namesake.kb.columns.layout import ENTITY, ITEM
from namesake.kb.publish.draft import Draft
from namesake.kb.store import KB
from namesake.sample import DUMP
from small_kb import manifest, write_rest

Step = Callable[..., object]


def fill(draft: Draft, qids: list[int]) -> None:
    draft.write(KB.qids, np.array(qids, np.int64))
    draft.write(KB.item_qids, np.array(qids, np.int64))
    write_rest(draft, {ENTITY: len(qids), ITEM: len(qids)})


def make(out: Path, qids: list[int], force: bool = False) -> None:
    with Draft(out, force) as draft:
        fill(draft, qids)
        draft.publish(manifest(entities=len(qids), items=len(qids)))


def settle(out: Path) -> list[str]:
    """What the next run says about leftovers."""
    said: list[str] = []
    Draft(out, say=said.append).settle()
    return said


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def killed_at(monkeypatch: pytest.MonkeyPatch, module: object, step: str, out: Path, force: bool) -> None:
    """Fork a build that is killed as it comes to `step`."""
    pid = os.fork()
    if pid == 0:
        setattr(module, step, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        make(out, [7, 8], force)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


@pytest.fixture(params=["exchange", "two renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How folders change places."""
    if request.param == "two renames":
        monkeypatch.setattr(replace, "exchange", lambda *_: False)
    return request.param


# what is not ours
@pytest.mark.parametrize("content", ["{}", '{"format_version": 1}', '{"manifest_version": 3, "files": {}}', "no json"])
def test_a_folder_with_somebody_elses_manifest_is_never_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "manifest.json").write_text(content)
    (tmp_path / "thesis" / "thesis.txt").write_text("…")
    with pytest.raises(NamesakeError, match="is not a KB"):
        build([DUMP], tmp_path / "thesis", keep="people", force=True)
    assert names(tmp_path / "thesis") == ["manifest.json", "thesis.txt"]


def test_a_kb_with_somebodys_file_in_it_is_not_replaced(tmp_path: Path) -> None:
    make(tmp_path / "kb", [5])
    (tmp_path / "kb" / "thesis.txt").write_text("…")
    with pytest.raises(NamesakeError, match=r"thesis\.txt in it is not part of the KB"):
        build([DUMP], tmp_path / "kb", keep="people", force=True)
    assert (tmp_path / "kb" / "thesis.txt").exists()
    assert KB.open(tmp_path / "kb").qids.tolist() == [5]


def test_kbs_of_older_formats_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    old = {"format_version": 2, "entities": 1, "files": {"entity.qid.npy": "crc32:00000000"}}
    (tmp_path / "kb" / "manifest.json").write_text(json.dumps(old))
    (tmp_path / "kb" / "entity.qid.npy").write_bytes(b"old")
    make(tmp_path / "kb", [5], force=True)
    assert KB.open(tmp_path / "kb").qids.tolist() == [5]
    assert names(tmp_path) == ["kb"]


@pytest.mark.parametrize("neighbour", ["kb.building-plans", "kb.replaced", "kbx"])
@pytest.mark.parametrize("inside", ["plan.txt", "manifest.json", JOURNAL])
def test_neighbours_are_left_alone(tmp_path: Path, neighbour: str, inside: str) -> None:
    (tmp_path / neighbour).mkdir()
    (tmp_path / neighbour / inside).write_text("{}")
    (tmp_path / neighbour / "house").mkdir()
    assert settle(tmp_path / "kb") == []
    make(tmp_path / "kb", [5])
    assert names(tmp_path / neighbour) == sorted(["house", inside])


@pytest.mark.parametrize("inside", ["plan.txt", "manifest.json", JOURNAL])
def test_a_folder_of_others_in_the_place_of_the_draft_is_refused(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "kb.building"
    folder.mkdir()
    (folder / inside).write_text("{}")
    (folder / "house").mkdir()
    with pytest.raises(NamesakeError, match=r"kb\.building is in the way: remove it"):
        make(tmp_path / "kb", [5])
    assert names(tmp_path) == ["kb.building"]
    assert names(folder) == sorted(["house", inside])


def test_the_root_is_no_place_for_a_kb() -> None:
    with pytest.raises(NamesakeError, match="/ cannot be a KB"):
        build([DUMP], "/", keep="people")


# builds at work, and killed ones
def test_a_second_build_is_refused_and_a_killed_one_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "kb"
    die = "import os, sys\nfrom namesake.kb.publish.draft import *\nwith Draft(Path(sys.argv[1])): os._exit(9)"
    with Draft(out) as draft:
        for _ in range(2):
            with pytest.raises(NamesakeError, match=r"kb\.building: another process is at work there; wait"):
                make(out, [5])
        assert draft.folder.is_dir()
    assert list(tmp_path.iterdir()) == []
    assert subprocess.run([sys.executable, "-c", die, str(out)], check=False).returncode == 9
    assert names(tmp_path) == ["kb.building"]
    said: list[str] = []
    with Draft(out, say=said.append):
        assert said == [f"removed {out}.building, which a stopped run had left"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("begun", ["folder", "journal"])
def test_a_build_that_was_killed_as_it_began_is_cleared_away(tmp_path: Path, begun: str) -> None:
    (tmp_path / "kb.building").mkdir()
    if begun == "journal":
        (tmp_path / "kb.building" / JOURNAL).write_text('{"type": "dra')
    make(tmp_path / "kb", [5])
    assert names(tmp_path) == ["kb"]


def test_a_build_of_another_machine_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "kb.building"
    folder.mkdir()
    with Journal[Begun | Stage](folder / JOURNAL, Begun | Stage, "busy") as journal:
        journal.add(Begun("", False, "elsewhere", "another"))
    with pytest.raises(NamesakeError, match="elsewhere may be at work there; if it is not, remove it"):
        make(tmp_path / "kb", [5])
    assert names(folder) == [JOURNAL]


# the moment of replacing
def test_replacing_leaves_nothing_behind(tmp_path: Path, way: str) -> None:
    make(tmp_path / "kb", [5])
    make(tmp_path / "kb", [7, 8], force=True)
    assert KB.open(tmp_path / "kb").qids.tolist() == [7, 8]
    assert names(tmp_path) == ["kb"]
    assert JOURNAL not in names(tmp_path / "kb")


@pytest.mark.parametrize("force", [False, True])
def test_a_finished_draft_is_put_in_its_place_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, force: bool
) -> None:
    if force:
        make(tmp_path / "kb", [5])
    killed_at(monkeypatch, publish, "put_in_place", tmp_path / "kb", force)
    assert [told.partition(", which")[0] for told in settle(tmp_path / "kb")] == [f"put {tmp_path / 'kb'} in its place"]
    assert KB.open(tmp_path / "kb").qids.tolist() == [7, 8]
    assert names(tmp_path) == ["kb"]


def test_a_kill_between_the_two_renames_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "kb", [5])
    monkeypatch.setattr(replace, "exchange", lambda *_: False)
    rename = Path.rename

    def first_only(path: Path, to: Path) -> Path:
        if path.name.endswith(".building"):
            os.kill(os.getpid(), signal.SIGKILL)
        return rename(path, to)

    pid = os.fork()
    if pid == 0:
        Path.rename = first_only  # type: ignore[method-assign, assignment]
        make(tmp_path / "kb", [7, 8], force=True)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "kb").exists()
    settle(tmp_path / "kb")
    assert KB.open(tmp_path / "kb").qids.tolist() == [7, 8]
    assert names(tmp_path) == ["kb"]


@pytest.mark.parametrize("new", ["whole", "damaged"])
def test_the_old_kb_comes_back_where_the_new_one_is_no_good(tmp_path: Path, new: str) -> None:
    """As the two renames could leave it."""
    out, aside = tmp_path / "kb", tmp_path / "kb.replaced"
    make(out, [5])
    shutil.copytree(out, aside)
    if new == "damaged":
        shutil.rmtree(out)
    told = settle(out)
    assert KB.open(out).qids.tolist() == [5]
    assert names(tmp_path) == ["kb"]
    assert told == [
        f"put {out} back, which a killed run had moved away"
        if new == "damaged"
        else f"removed {aside}, which a killed run had replaced"
    ]


def test_a_kill_after_the_exchange_leaves_a_kb_that_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "kb", [5])
    killed_at(monkeypatch, Draft, "remove_old", tmp_path / "kb", force=True)
    KB.open(tmp_path / "kb").verify()
    settle(tmp_path / "kb")
    assert KB.open(tmp_path / "kb").qids.tolist() == [7, 8]
    assert names(tmp_path) == ["kb"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_a_finished_build_comes_too_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    make(tmp_path / "kb", [5])
    put: Step = publish.put_in_place

    def interrupted(*arguments: object) -> object:
        os.kill(os.getpid(), number)
        return put(*arguments)

    monkeypatch.setattr(publish, "put_in_place", interrupted)
    make(tmp_path / "kb", [7, 8], force=True)
    assert KB.open(tmp_path / "kb").qids.tolist() == [7, 8]
    assert names(tmp_path) == ["kb"]


def test_a_kb_that_appears_during_a_build_stays(tmp_path: Path) -> None:
    make(tmp_path / "other", [5])
    with pytest.raises(NamesakeError, match="exists"), Draft(tmp_path / "kb") as draft:  # noqa: PT012
        fill(draft, [7, 8])
        (tmp_path / "other").rename(tmp_path / "kb")
        draft.publish(manifest(entities=2, items=2))
    assert KB.open(tmp_path / "kb").qids.tolist() == [5]
    assert names(tmp_path) == ["kb"]


def test_a_finished_kb_that_cannot_be_put_in_its_place_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(publish, "put_in_place", refuse)
    with pytest.raises(NamesakeError, match="is finished: the next run puts it in its place") as error:
        make(tmp_path / "kb", [7, 8])
    monkeypatch.undo()
    [folder] = tmp_path.iterdir()
    assert str(folder) in str(error.value)
    settle(tmp_path / "kb")
    assert KB.open(tmp_path / "kb").qids.tolist() == [7, 8]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    make(tmp_path / "disk" / "kb", [5])
    (tmp_path / "kb").symlink_to(Path("disk") / "kb")
    build([DUMP], tmp_path / "kb", keep="people", force=True)
    assert (tmp_path / "kb").readlink() == Path("disk") / "kb"
    assert len(KB.open(tmp_path / "kb")) > 1
    assert names(tmp_path) == ["disk", "kb"]
    assert names(tmp_path / "disk") == ["kb"]
