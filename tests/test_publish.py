"""Builds end with the old KB or the new one in its place, whatever stops them, and touch nothing that is not theirs."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest

from namesake.errors import NamesakeError
from namesake.kb.build import build
from namesake.kb.columns.layout import ENTITY, ITEM
from namesake.kb.publish import draft as publish
from namesake.kb.publish import replace
from namesake.kb.publish.draft import Draft
from namesake.kb.publish.leftovers import building, replaced, settle
from namesake.kb.publish.lock import LOCK, Owner, owner_of, sign, take
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
    with pytest.raises(NamesakeError, match="is no KB"):
        build([DUMP], tmp_path / "thesis", force=True)
    assert names(tmp_path / "thesis") == ["manifest.json", "thesis.txt"]


def test_a_kb_with_somebodys_file_in_it_is_not_replaced(tmp_path: Path) -> None:
    make(tmp_path / "kb", [5])
    (tmp_path / "kb" / "thesis.txt").write_text("…")
    with pytest.raises(NamesakeError, match=r"thesis\.txt in it is no part of the KB"):
        build([DUMP], tmp_path / "kb", force=True)
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


@pytest.mark.parametrize(
    "neighbour",
    ["kb.building-plans", "kb.building-12345", "kb.building-0123456789abcdef", "kb.replaced-0123456789abcdef", "kbx"],
)
@pytest.mark.parametrize("inside", ["plan.txt", "manifest.json", "lock"])
def test_neighbours_are_left_alone(tmp_path: Path, neighbour: str, inside: str) -> None:
    (tmp_path / neighbour).mkdir()
    (tmp_path / neighbour / inside).write_text("{}")
    (tmp_path / neighbour / "house").mkdir()
    assert settle(tmp_path / "kb") == []
    make(tmp_path / "kb", [5])
    assert names(tmp_path / neighbour) == sorted(["house", inside])


def test_the_root_is_no_place_for_a_kb() -> None:
    with pytest.raises(NamesakeError, match="/ cannot be a KB"):
        build([DUMP], "/")


# builds at work, and killed ones
def test_remains_are_told_from_a_build_at_work(tmp_path: Path) -> None:
    out = tmp_path / "kb"
    die = (
        "import os, sys, pathlib, namesake.kb.publish.draft as p\nwith p.Draft(pathlib.Path(sys.argv[1])): os._exit(9)"
    )
    with Draft(out) as draft:
        assert subprocess.run([sys.executable, "-c", die, str(out)], check=False).returncode == 9
        [remains] = [path for path in tmp_path.iterdir() if path != draft.folder]
        assert settle(out) == [f"removed {remains}, which a stopped build had left"]
        assert list(tmp_path.iterdir()) == [draft.folder]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("begun", ["folder", "lock"])
def test_a_build_that_was_killed_as_it_began_is_cleared_away(tmp_path: Path, begun: str) -> None:
    building(tmp_path / "kb", "0123456789abcdef").mkdir()
    if begun == "lock":
        (building(tmp_path / "kb", "0123456789abcdef") / LOCK).touch()
    settle(tmp_path / "kb")
    assert list(tmp_path.iterdir()) == []


def test_a_lock_names_its_owner_whenever_it_changes_hands(tmp_path: Path) -> None:
    """Nothing is left to do behind the one write: a kill may come there."""
    first = Owner(token="0123456789abcdef", host="a-host-with-a-long-name", boot="b", pid=1, force=True)
    second = Owner(token="0123456789abcdef", host="h", boot="b", pid=2, force=True)

    class Dying(FileIO):
        def write(self, said: bytes) -> int:
            super().write(said)
            raise KeyboardInterrupt

    take(tmp_path, first).close()
    with pytest.raises(KeyboardInterrupt), Dying(tmp_path / LOCK, "r+") as lock:
        sign(lock, second)
    assert owner_of(tmp_path) == second


def test_a_build_of_another_machine_is_left_alone(tmp_path: Path) -> None:
    folder = building(tmp_path / "kb", "0123456789abcdef")
    folder.mkdir()
    owner = Owner(token="0123456789abcdef", host="elsewhere", boot="another", pid=os.getpid(), force=False)
    (folder / LOCK).write_bytes(json.dumps({name: getattr(owner, name) for name in owner.__struct_fields__}).encode())
    [told] = settle(tmp_path / "kb")
    assert "elsewhere may be at work" in told
    assert folder.is_dir()


def test_threads_of_one_process_build_side_by_side(tmp_path: Path) -> None:
    """They have one process id, as builds in containers may."""
    together = Barrier(4)
    drafts = []

    def work(qid: int) -> None:
        settle(tmp_path / "kb")
        with Draft(tmp_path / "kb", force=True) as draft:
            drafts.append(draft.folder)
            together.wait()
            fill(draft, [qid])
            settle(tmp_path / "kb")
            draft.publish(manifest(entities=1, items=1))

    threads = [Thread(target=work, args=(qid,)) for qid in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drafts)) == 4
    assert KB.open(tmp_path / "kb").qids.tolist()[0] in range(1, 5)
    assert names(tmp_path) == ["kb"]


# the moment of replacing
def test_replacing_leaves_nothing_behind(tmp_path: Path, way: str) -> None:
    make(tmp_path / "kb", [5])
    make(tmp_path / "kb", [7, 8], force=True)
    assert KB.open(tmp_path / "kb").qids.tolist() == [7, 8]
    assert names(tmp_path) == ["kb"]
    assert LOCK not in names(tmp_path / "kb")


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
        if ".building-" in path.name:
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
    out, token = tmp_path / "kb", "0123456789abcdef"
    make(out, [5])
    shutil.copytree(out, replaced(out, token))
    if new == "damaged":
        shutil.rmtree(out)
    told = settle(out)
    assert KB.open(out).qids.tolist() == [5]
    assert names(tmp_path) == ["kb"]
    assert told == [
        f"put {out} back, which a killed build had moved away"
        if new == "damaged"
        else f"removed {replaced(out, token)}, the KB that a killed build had replaced"
    ]


def test_a_kill_after_the_exchange_leaves_a_kb_that_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "kb", [5])
    killed_at(monkeypatch, publish, "remove_kb", tmp_path / "kb", force=True)
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


def test_of_two_builds_of_one_kb_the_first_stays(tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match="exists"), Draft(tmp_path / "kb") as draft:  # noqa: PT012
        fill(draft, [7, 8])
        make(tmp_path / "kb", [5])
        draft.publish(manifest(entities=2, items=2))
    assert KB.open(tmp_path / "kb").qids.tolist() == [5]
    assert names(tmp_path) == ["kb"]


def test_a_finished_kb_that_cannot_be_put_in_its_place_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(publish, "put_in_place", refuse)
    with pytest.raises(NamesakeError, match="finished and waits in") as error:
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
    build([DUMP], tmp_path / "kb", force=True)
    assert (tmp_path / "kb").readlink() == Path("disk") / "kb"
    assert len(KB.open(tmp_path / "kb")) > 1
    assert names(tmp_path) == ["disk", "kb"]
    assert names(tmp_path / "disk") == ["kb"]
