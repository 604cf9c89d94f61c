"""What a KB folder promises: columns come back as they were written, and damage is named."""

import copy
import json
import os
import pickle
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.errors import NamesakeError
from namesake.kb.build_options import place
from namesake.kb.columns.column_files import Columns, Ragged, Strings
from namesake.kb.columns.declaration import Array
from namesake.kb.columns.layout import ENTITY, ITEM, PAIR
from namesake.kb.manifest import FORMAT_VERSION
from namesake.kb.publish.draft import Draft
from namesake.kb.store import KB, KBChangedError
from namesake.sample import DUMP
from small_kb import manifest, writable, write_rest

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=12)


def small_kb(out: Path, qids: list[int], force: bool = False) -> KB:
    with Draft(out, force) as draft:
        draft.write(KB.qids, np.array(qids, np.int64))
        draft.write(KB.item_qids, np.array([1, *qids], np.int64))
        draft.write(KB.titles, Strings.of(f"Page {qid}" for qid in qids))
        draft.write(KB.statements, Ragged(np.arange(len(qids) + 1), np.arange(len(qids), dtype=np.int32)))
        draft.write(KB.pair_property, np.ones(len(qids), np.int32))
        write_rest(draft, {ENTITY: len(qids), ITEM: len(qids) + 1, PAIR: len(qids)})
        draft.publish(manifest(entities=len(qids), items=len(qids) + 1))
    return KB.open(out)


@given(column=texts)
def test_strings_read_as_arrow_reads_them(column: list[str]) -> None:
    strings = Strings.of(column)
    assert [strings[row] for row in range(len(strings))] == column
    assert strings.arrow().to_pylist() == column


@given(column=texts, data=st.data())
def test_take_picks_rows_and_leaves_gaps_empty(column: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(-1, len(column) - 1), max_size=8))
    taken = Strings.of(column).take(np.array(rows, np.int64))
    assert [taken[i] for i in range(len(taken))] == [column[row] if row >= 0 else "" for row in rows]


def test_a_tilde_is_the_home_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    small_kb(place("~/kb"), [5])
    assert KB.open("~/kb").path == tmp_path / "kb"
    with pytest.raises(NamesakeError, match="~nobody-of-this-name"):
        KB.open("~nobody-of-this-name/kb")


def test_columns_come_back(tmp_path: Path) -> None:
    kb = small_kb(tmp_path / "kb", [5, 42, 76])
    assert kb.qids.tolist() == [5, 42, 76]
    assert kb.titles[2] == "Page 76"
    assert kb.statements[1].tolist() == [1]
    assert kb.rows(np.array([42, 6, 76, 77, 0])).tolist() == [1, -1, 2, -1, -1]
    assert kb.items(np.array([1, 2, 42])).tolist() == [0, -1, 2]
    assert kb.qids is kb.qids, "a column is mapped once"
    kb.verify()


def test_an_empty_kb_opens(tmp_path: Path) -> None:
    kb = small_kb(tmp_path / "kb", [])
    assert len(kb) == 0
    assert len(kb.titles) == 0
    assert kb.rows(np.array([42])).tolist() == [-1]
    kb.verify()


def test_what_a_program_writes_never_reaches_the_file(tmp_path: Path) -> None:
    kb = small_kb(tmp_path / "kb", [5, 42])
    kb.qids[0] = 7
    assert KB.open(kb.path).qids.tolist() == [5, 42]


def test_a_kb_that_lacks_a_column_is_not_opened(tmp_path: Path) -> None:
    kb = small_kb(tmp_path / "kb", [5])
    (kb.path / "entity.qid.npy").unlink()
    with pytest.raises(NamesakeError, match=r"entity\.qid\.npy cannot be read .*build the KB again"):
        KB.open(kb.path)


def test_a_kb_that_is_open_stays_what_it_is(tmp_path: Path) -> None:
    """Whatever becomes of its folder: no column was read before."""
    kb = small_kb(tmp_path / "kb", [5, 42])
    small_kb(tmp_path / "kb", [7, 8, 9], force=True)
    assert kb.qids.tolist() == [5, 42]
    shutil.rmtree(kb.path)
    assert [kb.titles[row] for row in range(2)] == ["Page 5", "Page 42"]
    assert kb.names.lookup("Page 5")[0].tolist() == []


def test_a_kb_that_is_replaced_while_it_is_opened_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    out = tmp_path / "kb"
    known = {2: [5, 42], 3: [7, 8, 9]}
    small_kb(out, known[2])
    done = Event()

    def replace_again_and_again() -> None:
        for turn in range(40):
            small_kb(out, known[3 - turn % 2], force=True)
        done.set()

    replacing = Thread(target=replace_again_and_again)
    replacing.start()
    while not done.is_set():
        kb = KB.open(out)
        assert kb.qids.tolist() == known[len(kb)]
    replacing.join()


def written_in_place(path: Path) -> None:
    path.write_bytes(path.read_bytes())


def written_and_dated_back(path: Path) -> None:
    before = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    os.utime(path, ns=(0, before))


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (written_in_place, True),
        (lambda path: os.truncate(path, 200), True),
        (written_and_dated_back, True),
        (lambda path: os.utime(path, ns=(0, path.stat().st_mtime_ns)), False),
        (lambda path: path.chmod(0o600), False),
        (lambda path: path.with_suffix(".link").hardlink_to(path), False),
        (lambda path: path.rename(path.with_suffix(".old")), False),
        (Path.unlink, False),
        (lambda path: shutil.rmtree(path.parent), False),
        (lambda path: small_kb(path.parent, [7], force=True), False),
    ],
)
def test_only_what_is_written_into_an_open_kb_is_a_change(
    tmp_path: Path, change: Callable[[Path], None], noticed: bool
):
    kb = small_kb(tmp_path / "kb", [5, 42])
    path = writable(kb.path / "entity.qid.npy")
    kb.check_unchanged(at_once=True)
    change(path)
    if noticed:
        for _ in range(2):  # it stays so
            with pytest.raises(KBChangedError, match=r"entity\.qid\.npy was written to while the KB was in use"):
                kb.check_unchanged(at_once=True)
    else:
        kb.check_unchanged(at_once=True)
        assert kb.qids.tolist() == [5, 42]


@pytest.mark.parametrize(("cost", "looks"), [(0.0, 100), (0.005, 20)])
def test_an_open_kb_is_looked_at_for_a_hundredth_of_the_time(tmp_path, monkeypatch, cost: float, looks: int) -> None:
    """And ten times a second at most."""
    kb = small_kb(tmp_path / "kb", [5])
    looked, now = [], [100.0]

    def look(columns: Columns) -> None:
        looked.append(now[0])
        now[0] += cost

    monkeypatch.setattr(Columns, "written", look)
    monkeypatch.setattr("namesake.kb.store.time.monotonic", lambda: now[0])
    while now[0] < 110:
        kb.check_unchanged()
        now[0] += 0.0001
    assert len(looked) == pytest.approx(looks, abs=1)


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder of a user without rights; what is done meanwhile is done by that user."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        small_kb(folder / "warm-up", [5])  # loads the kernels
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        shutil.rmtree(folder)


def test_a_published_kb_cannot_be_written_into(nobody: Path) -> None:
    """But replaced and removed by its owner, and filled with vectors."""
    kb = small_kb(nobody / "kb", [5, 42])
    for path in kb.path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o444
        with pytest.raises(PermissionError):
            path.open("r+b")
    (kb.path / "vectors").mkdir()
    (kb.path / "vectors").rmdir()
    assert small_kb(kb.path, [7, 8, 9], force=True).qids.tolist() == [7, 8, 9]
    assert kb.qids.tolist() == [5, 42]
    Draft(kb.path).remove_old(kb.path)
    assert [path.name for path in nobody.iterdir() if path.name != "warm-up"] == []


def test_opening_costs_no_file_handles(tmp_path: Path) -> None:
    handles = Path("/proc/self/fd")
    if not handles.is_dir():
        pytest.skip("the system does not list open files")
    before = len(list(handles.iterdir()))
    kept = [small_kb(tmp_path / str(number), [5]) for number in range(3)]
    assert len(kept) == 3
    assert len(list(handles.iterdir())) == before


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "type", "pickle"])
def test_a_damaged_column_is_named(tmp_path: Path, damage: str) -> None:
    kb = small_kb(tmp_path / "kb", [5, 42])
    file = kb.path / "entity.qid.npy"
    if damage == "cut":
        writable(file).write_bytes(file.read_bytes()[:-1])
    elif damage == "empty":
        writable(file).write_bytes(b"")
    elif damage == "text":
        writable(file).write_bytes(b"not a column")
    elif damage == "type":
        np.save(file, np.array([1.5, 2.5]))
    else:
        np.save(file, np.array([{}], object), allow_pickle=True)
    with pytest.raises(NamesakeError, match=r"entity\.qid\.npy .*build the KB again"):
        _ = KB.open(kb.path).qids


def test_verify_names_what_differs_or_is_missing(tmp_path: Path) -> None:
    kb = small_kb(tmp_path / "kb", [5, 42])
    file = kb.path / "entity.title.bytes.npy"
    body = bytearray(file.read_bytes())
    body[-1] ^= 1
    writable(file).write_bytes(body)
    with pytest.raises(NamesakeError, match=r"entity\.title\.bytes\.npy is damaged"):
        kb.verify()
    file.unlink()
    with pytest.raises(NamesakeError, match=r"entity\.title\.bytes\.npy is missing"):
        kb.verify()


def test_a_folder_that_is_no_kb_and_other_versions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match="no such KB"):
        KB.open(tmp_path / "absent")
    with pytest.raises(NamesakeError, match="is not a KB"):
        KB.open(tmp_path)
    kb = small_kb(tmp_path / "kb", [5])
    file = kb.path / "manifest.json"
    fields = json.loads(file.read_text())
    writable(file).write_text(json.dumps({**fields, "format_version": FORMAT_VERSION + 1}))
    with pytest.raises(NamesakeError, match=f"has KB format {FORMAT_VERSION + 1}"):
        KB.open(kb.path)
    writable(file).write_text(json.dumps(fields)[:-5])
    with pytest.raises(NamesakeError, match="damaged"):
        KB.open(kb.path)


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), Draft(tmp_path / "kb") as draft:  # noqa: PT012
        draft.write(KB.qids, np.array([1]))
        draft.write(Array("no/such/folder", np.int64, ENTITY, ""), np.array([1]))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    small_kb(tmp_path / "kb", [5])
    with pytest.raises(NamesakeError, match="`force=True`"), Draft(tmp_path / "kb"):
        pass
    assert small_kb(tmp_path / "kb", [42], force=True).qids.tolist() == [42]
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


def test_a_folder_that_is_no_kb_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("…")
    with pytest.raises(NamesakeError, match="is not a KB"), Draft(tmp_path / "thesis", force=True):
        pass
    assert (tmp_path / "thesis" / "chapter1.tex").exists()


def test_the_row_of_a_qid(sample_kb: KB) -> None:
    """By QID as people write it; what is no QID, or of no entity, has none."""
    assert [sample_kb.row(f"Q{qid}") for qid in sample_kb.qids] == list(range(len(sample_kb)))
    for qid in ("Q1", "Q999999999999999999", "Q9999999999999999999999", "Q", "", "76", "q76", "Q٧٦", "Q076", "P31"):
        assert sample_kb.row(qid) == -1


# copies, and other processes


def test_a_pickled_kb_is_its_path(sample_kb: KB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample_kb.path.parent)
    relative = KB.open(sample_kb.path.name)
    pickled = pickle.dumps(relative)
    assert len(pickled) < 1000
    monkeypatch.chdir(tmp_path)
    for copied in (pickle.loads(pickled), copy.copy(sample_kb), copy.deepcopy({"kb": sample_kb})["kb"]):
        assert copied.path == sample_kb.path.absolute()
        assert copied.qids.tolist() == sample_kb.qids.tolist()
        assert copied.search("Michael Jordan") == sample_kb.search("Michael Jordan")


def test_a_pickled_kb_that_is_gone_is_one_line(tmp_path: Path) -> None:
    pickled = pickle.dumps(small_kb(tmp_path / "kb", [5]))
    shutil.rmtree(tmp_path / "kb")
    with pytest.raises(NamesakeError, match="no such KB"):
        pickle.loads(pickled)


def test_a_process_that_is_spawned_opens_the_kb(sample_kb: KB) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(KB.search, sample_kb, "Michael Jordan").result() == sample_kb.search("Michael Jordan")


# entities by QID and by name


def dumped() -> dict[str, dict[str, Any]]:
    """The items of the sample's dump by QID, as Wikidata writes them."""
    lines = (line.strip().rstrip(",") for line in DUMP.read_text("utf-8").splitlines())
    return {one["id"]: one for one in (json.loads(line) for line in lines if line.startswith("{"))}


def test_an_entity_is_what_the_dump_says(sample_kb: KB) -> None:
    items = dumped()
    for qid in (f"Q{number}" for number in sample_kb.qids):
        item, entity = items[qid], sample_kb.entity(qid)
        assert entity is not None
        assert (entity.qid, entity.label) == (qid, item["labels"]["en"]["value"])
        assert entity.description == item["descriptions"].get("en", {"value": ""})["value"]
        assert {one["value"] for one in item["aliases"].get("en", ())} <= {*entity.aliases, entity.label}
        assert entity.sitelinks == len(item["sitelinks"])
        for one in entity.statements:
            value = items.get(one.value)
            assert value is None or one.label == value["labels"]["en"]["value"]
    jordan = sample_kb.entity("Q41421")
    assert jordan is not None
    assert (jordan.birth, jordan.death) == ("1963-02-17", None)
    stated = {one["mainsnak"]["datavalue"]["value"]["id"] for one in items["Q41421"]["claims"]["P106"]}
    assert {one.value for one in jordan.statements if one.property == "P106"} == stated


def test_an_entity_that_is_not_there_is_none_and_what_is_no_qid_an_error(sample_kb: KB) -> None:
    assert sample_kb.entity("Q1") is None
    assert sample_kb.entity("Q999999999999999999") is None
    for text in ("Michael Jordan", "", "q76", "P31", "Q076"):
        with pytest.raises(NamesakeError, match=r"is not a QID such as Q76; KB\.search finds"):
            sample_kb.entity(text)
    with pytest.raises(TypeError, match="qid must be a QID"):
        sample_kb.entity(76)  # type: ignore[arg-type]


def test_names_are_found_with_the_most_sitelinks_first(sample_kb: KB) -> None:
    found = sample_kb.search("michael jordan")
    named = [
        (-len(item["sitelinks"]), int(qid[1:]), qid)
        for qid, item in dumped().items()
        if sample_kb.row(qid) >= 0
        and "Michael Jordan" in [item["labels"]["en"]["value"], *(a["value"] for a in item["aliases"].get("en", ()))]
    ]
    assert [one.qid for one in found] == [qid for *_, qid in sorted(named)]
    assert len(found) > 2
    assert found[0].url == f"https://www.wikidata.org/wiki/{found[0].qid}"
    assert (found[0].label, found[0].sitelinks) == ("Michael Jordan", -min(named)[0])
    assert sample_kb.search("Michael Jordan", 1) == found[:1]
    assert sample_kb.search("Michael Jordan", None) == found
    assert sample_kb.search("Xyzzy Qwertyuiop") == sample_kb.search("") == []
    with pytest.raises(TypeError, match="name must be a text"):
        sample_kb.search(None)  # type: ignore[arg-type]
    with pytest.raises(NamesakeError, match="limit must not be negative"):
        sample_kb.search("Michael Jordan", -1)
