"""An updated KB is the KB that a build from the dump and the changes makes, and the one of a dump without history."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake import KB, NamesakeError, build_kb, diff_kbs, get_kb, pack_kb, update_kb
from namesake.kb.left import unchanged
from namesake.kb.manifest import MANIFEST, SOURCES, read_manifest
from test_build import HUMAN, claim, dump, item
from test_cli_kb import namesake
from test_memory import NOTHING, Stages

BASE = [
    *(item(5, "human"), item(30, "Freedonia", description="country"), item(31, "Sylvania", description="country")),
    item(1, "Ann Example", HUMAN, claim("P27", 30), description="singer from Freedonia", aliases=("Annie",)),
    item(2, "Bob Example", HUMAN, claim("P27", 31), claim("P26", 1), claim("P1", "some words")),
    item(3, "Cid Example", HUMAN, claim("P26", 2, P580="1990")),
]
KINDS = {"added", "removed", "merged", "relabelled", "new alias", "removed alias"}


def columns(kb: Path) -> dict[str, bytes]:
    """The files of a KB that do not depend on how it was made."""
    paths = [path for path in kb.iterdir() if path.name != MANIFEST and not path.name.startswith(SOURCES)]
    return {path.name: path.read_bytes() for path in paths}


def revised(line: str, revision: int | None) -> str:
    return line if revision is None else json.dumps(json.loads(line) | {"lastrevid": revision})


def answer(*entities: dict[str, Any], keys: tuple[str, ...] = ()) -> str:
    """An answer of the API, one line."""
    named = zip(keys or (str(entity["id"]) for entity in entities), entities, strict=True)
    return json.dumps({"entities": dict(named), "success": 1})


def missing(qid: int) -> dict[str, Any]:
    return {"id": f"Q{qid}", "missing": ""}


def redirect(source: int, target: int) -> str:
    return json.dumps({"entity": f"Q{source}", "redirect": f"Q{target}"})


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A small dump and its KB, which can be updated."""
    folder = tmp_path_factory.mktemp("base")
    file = dump(folder / "base.json", *BASE)
    build_kb(file, folder / "kb", updatable=True)
    return file, folder / "kb"


def resolved(lines: list[str]) -> list[str]:
    """The oracle: one dump without history, in which each item occurs at most once and no redirect is left."""
    records: dict[str, dict[str, Any] | None] = {}
    moved: dict[str, str] = {}
    for line in lines:
        record = json.loads(line)
        for key, one in record.get("entities", {"": record}).items():
            if "redirect" in one:
                records[one["entity"]], moved[one["entity"]] = None, one["redirect"]
                continue
            if "missing" in one:
                records[one["id"]] = None
                moved.pop(one["id"], None)
                continue
            if key and key != one["id"]:
                records[key], moved[key] = None, one["id"]
            known = records.get(one["id"]) or {}
            if 0 < one.get("lastrevid", 0) < known.get("lastrevid", 0):
                continue
            records[one["id"]] = one
            moved.pop(one["id"], None)

    def end(qid: str) -> str:
        return end(moved[qid]) if qid in moved else qid

    for record in filter(None, records.values()):
        for statements in record["claims"].values():
            for statement in statements:
                value = statement["mainsnak"].get("datavalue", {}).get("value")
                if isinstance(value, dict) and "id" in value:
                    value["id"] = end(value["id"])
    return [json.dumps(record) for record in records.values() if record]


numbers = st.integers(11, 17)
names = st.sampled_from(["Ann Example", "Bob Other", "Cid (singer)", "Freedonia", "Dee, Jr."])
revisions = st.none() | st.integers(1, 5)


@st.composite
def records(draw: st.DrawFn) -> str:
    claims = draw(st.lists(st.builds(claim, st.sampled_from(["P26", "P27", "P279"]), numbers), max_size=3))
    texts = draw(st.lists(st.sampled_from(["Annie", "Bobby", "The Cid"]), max_size=2, unique=True))
    line = item(draw(numbers), draw(names), *([HUMAN] if draw(st.booleans()) else []), *claims, aliases=tuple(texts))
    return revised(line, draw(revisions))


@st.composite
def events(draw: st.DrawFn) -> str:
    """A line of changes: a record, an answer of the API, a deletion, or a redirect to an item with a smaller number."""
    kind = draw(st.sampled_from(["record", "answer", "merged", "deleted", "redirect"]))
    if kind == "record":
        return draw(records())
    if kind == "answer":
        chosen = {one["id"]: one for one in map(json.loads, draw(st.lists(records(), min_size=1, max_size=3)))}
        return answer(*chosen.values())
    one = json.loads(draw(records()))
    number = int(one["id"][1:])
    if kind == "deleted":
        return answer(missing(number))
    if kind == "merged":
        return answer(one, keys=(f"Q{number + 1 + draw(st.integers(0, 2))}",))
    return redirect(number + 1, number)


@settings(max_examples=25, deadline=None)
@given(first=st.lists(records(), min_size=1, max_size=6), later=st.lists(st.lists(events(), max_size=4), max_size=3))
def test_updates_equal_a_build_of_everything(
    tmp_path_factory: pytest.TempPathFactory, first: list[str], later: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("random")
    later = [lines for lines in later if lines]
    files = [dump(folder / "base.json", *first)]
    files += [dump(folder / f"changes{i}.json", *lines) for i, lines in enumerate(later)]
    build_kb(files[0], folder / "kb", updatable=True)
    for file in files[1:]:
        update_kb(folder / "kb", file)
    build_kb(files, folder / "all")
    assert columns(folder / "kb") == columns(folder / "all")
    last = resolved([line for lines in [first, *later] for line in lines])
    if last:
        build_kb(dump(folder / "last.json", *last), folder / "last")
        assert columns(folder / "kb") == columns(folder / "last")


def test_an_update_in_bounded_memory_with_wikipedia_and_deleted_items(base: tuple[Path, Path], tmp_path: Path) -> None:
    changes = dump(tmp_path / "changes.json", item(8, "Dee New", HUMAN, claim("P26", 3)), redirect(3, 1))
    (tmp_path / "ids.txt").write_text("Q2\n\n Q31\n")
    made = update_kb(base[1], changes, tmp_path / "new", deleted=tmp_path / "ids.txt", memory=NOTHING)
    build_kb([base[0], changes], tmp_path / "all", deleted=tmp_path / "ids.txt")
    assert columns(tmp_path / "new") == columns(tmp_path / "all")
    kb = KB.open(tmp_path / "new")
    kb.verify()
    assert kb.qids.tolist() == [1, 5, 8, 30]
    update = made.updates[-1]
    assert (update.added, update.changed, update.deleted, update.redirected, update.outdated) == (1, 0, 2, 1, 0)
    assert (made.generation, read_manifest(base[1]).generation) == (2, 1)
    assert update.files == [str(changes), str(tmp_path / "ids.txt")]
    assert made.dumps == [str(base[0]), str(changes)]


def test_a_damaged_column_is_computed_anew(
    base: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an update keeps of the old KB comes from sound columns of the same version only."""
    kept: list[object] = []
    monkeypatch.setattr("namesake.kb.build.unchanged", lambda *given: kept.append(unchanged(*given)) or kept[-1])
    changes = dump(tmp_path / "changes.json", item(4, "Dee Example", HUMAN), item(1, "Ann Other", HUMAN))
    build_kb([base[0], changes], tmp_path / "whole")
    copied = tmp_path / "copied"
    for damaged in (False, True):
        shutil.copytree(base[1], copied, dirs_exist_ok=True)
        if damaged:
            path = copied / "name.text.bytes.npy"
            path.chmod(0o644)
            path.write_bytes(path.read_bytes().replace(b"example", b"xxxxxxx"))
        update_kb(copied, changes, tmp_path / "new", force=True)
        assert (kept.pop() is None) == damaged
        assert columns(tmp_path / "new") == columns(tmp_path / "whole")
    nothing = dump(tmp_path / "nothing.json", *(answer(missing(qid)) for qid in (1, 2, 3, 5, 30, 31)))
    assert update_kb(base[1], nothing, tmp_path / "empty").entities == 0
    assert kept.pop() is None
    monkeypatch.setattr("namesake.kb.left.__version__", "another")
    update_kb(base[1], changes, tmp_path / "new", force=True)
    assert kept.pop() is None
    assert columns(tmp_path / "new") == columns(tmp_path / "whole")


def test_readers_keep_the_old_kb(base: tuple[Path, Path], tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    build_kb(base[0], kb, updatable=True)
    opened = KB.open(kb)
    update_kb(kb, dump(tmp_path / "changes.json", item(1, "Ann Renamed", HUMAN)))
    assert (opened.label(0), KB.open(kb).label(0)) == ("Ann Example", "Ann Renamed")
    opened.check_unchanged(at_once=True)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("kb")] == ["kb"]


def test_the_later_revision_counts(base: tuple[Path, Path], tmp_path: Path) -> None:
    def label(*lines: str) -> str:
        update_kb(base[1], dump(tmp_path / "changes.json", *lines), tmp_path / "new", force=True)
        return KB.open(tmp_path / "new").label(0)

    newer, older = revised(item(1, "Newer", HUMAN), 3_000_000_000), revised(item(1, "Older", HUMAN), 2_999_999_999)
    assert label(newer, older) == label(older, newer) == label(answer(json.loads(newer)), older) == "Newer"
    assert label(newer, item(1, "Unknown", HUMAN)) == "Unknown"
    assert label(newer, revised(item(1, "Again", HUMAN), 3_000_000_000)) == "Again"
    assert label(newer, revised(item(1, "Large", HUMAN), 10**30)) == "Large", "no revision that counts"


def test_changes_that_are_older_are_counted_and_ignored(tmp_path: Path) -> None:
    build_kb(dump(tmp_path / "base.json", revised(item(1, "Ann", HUMAN), 9)), tmp_path / "kb", updatable=True)
    changes, heard = dump(tmp_path / "old.json", revised(item(1, "Old", HUMAN), 8)), Stages()
    before = columns(tmp_path / "kb")
    made = update_kb(tmp_path / "kb", changes, reporter=heard)
    assert made.updates[-1].outdated == 1
    assert "1 change is older than the KB and was ignored" in heard.said
    assert columns(tmp_path / "kb") == before


@pytest.mark.parametrize("stage", ["assemble.number", "derive_all", "Spill.digest"])
def test_a_killed_update_is_resumed(base: tuple[Path, Path], tmp_path: Path, stage: str) -> None:
    changes = dump(tmp_path / "changes.json", item(1, "Ann Renamed", HUMAN), redirect(3, 1))
    kb = tmp_path / "kb"
    build_kb(base[0], kb, updatable=True)
    old = {path.name: path.read_bytes() for path in kb.iterdir()}
    killed = (
        "import os, namesake.kb.build as build; from namesake.apps.cli.main import main; "
        f"build.{stage} = lambda *_: os.kill(os.getpid(), {int(signal.SIGKILL)}); main()"
    )
    command = ["kb", "update", str(kb), str(changes)]
    assert subprocess.run([sys.executable, "-c", killed, *command], capture_output=True).returncode == -signal.SIGKILL
    assert {path.name: path.read_bytes() for path in kb.iterdir()} == old, "the old KB stays in place"
    done = namesake(*command)
    assert done.returncode == 0, done.stderr
    assert "resuming" in done.stderr
    build_kb([base[0], changes], tmp_path / "all")
    assert columns(kb) == columns(tmp_path / "all")


def test_a_malformed_change_is_rejected(base: tuple[Path, Path], tmp_path: Path) -> None:
    whole = answer(
        json.loads(item(8, "Dee", HUMAN)), missing(2), {"missing": "", "title": "X"}, keys=("Q8", "Q2", "-1")
    )
    changes = dump(tmp_path / "c.jsonl", "{no json", whole, '{"entities": {"Q9": {"labels": {}}}}', '{"error": 1}')
    made = update_kb(base[1], changes, tmp_path / "new")
    assert KB.open(tmp_path / "new").qids.tolist() == [1, 3, 5, 8, 30, 31]
    lines = [json.loads(line) for line in (tmp_path / "new" / "rejects.jsonl").read_text().splitlines()]
    assert [line["line"] for line in lines] == [2, 3, 4, 5]
    assert made.rejected == 4


def test_redirects_as_the_api_writes_them(base: tuple[Path, Path], tmp_path: Path) -> None:
    ann = json.loads(item(1, "Ann Example", HUMAN))
    moved = {"redirects": {"from": "Q2", "to": "Q1"}}
    plain = [answer(ann | moved), answer(ann, keys=("Q2",)), json.dumps(ann | moved), answer(moved, keys=("Q2",))]
    for number, line in enumerate(plain):
        update_kb(base[1], dump(tmp_path / "c.jsonl", line), tmp_path / str(number))
        kb = KB.open(tmp_path / str(number))
        assert 2 not in kb.qids
        row = kb.qids.tolist().index(3)
        stated = {int(kb.item_qids[kb.pair_value[pair]]) for pair in kb.statements[row]}
        assert 1 in stated, "Q3 was married to Q2"


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([redirect(1, 2), redirect(2, 3), redirect(3, 1)], "redirects form a cycle: Q1 → Q2 → Q3 → Q1; remove one"),
        (["{no json"], "no line is a Wikidata item"),
        (["nothing"], "contains no entity"),
    ],
)
def test_bad_changes_are_one_line(base: tuple[Path, Path], tmp_path: Path, lines: list[str], problem: str) -> None:
    done = namesake("kb", "update", base[1], dump(tmp_path / "c.json", *lines), "--out", tmp_path / "new")
    assert done.returncode == 2
    assert problem in done.stderr.strip().splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.json"]


def test_kbs_that_cannot_be_updated(base: tuple[Path, Path], tmp_path: Path) -> None:
    changes = dump(tmp_path / "c.json", item(8, "Dee", HUMAN))
    build_kb(base[0], tmp_path / "kb")
    with pytest.raises(NamesakeError, match="was built without `updatable=True` and cannot be updated"):
        update_kb(tmp_path / "kb", changes)
    pack_kb(base[1], tmp_path / "kb.tar.zst")
    folder, _ = get_kb(tmp_path / "kb.tar.zst", tmp_path / "unpacked")
    assert columns(folder) == columns(base[1])
    with pytest.raises(NamesakeError, match="was built without `updatable=True`"):
        update_kb(folder, changes)
    old = tmp_path / "old"
    build_kb(base[0], old, updatable=True)
    (old / MANIFEST).chmod(0o644)
    (old / MANIFEST).write_bytes((old / MANIFEST).read_bytes().replace(b'"format_version": 8', b'"format_version": 7'))
    with pytest.raises(NamesakeError, match="has KB format 7"):
        update_kb(old, changes)
    (tmp_path / "ids.txt").write_text("Q1\nP31\n")
    with pytest.raises(NamesakeError, match=r"ids.txt:2: 'P31' is not a QID such as Q42"):
        update_kb(base[1], changes, tmp_path / "x", deleted=tmp_path / "ids.txt")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("forged", [False, True])
def test_damaged_sources_are_refused(base: tuple[Path, Path], tmp_path: Path, forged: bool) -> None:
    from namesake.files.digests import file_digest

    kb = tmp_path / "kb"
    manifest = build_kb(base[0], kb, updatable=True)
    file = kb / "sources.statement_indptr"
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-8] + (1 << 40).to_bytes(8, "little"))
    if forged:
        files = manifest.files | {file.name: file_digest(file)}
        (kb / MANIFEST).chmod(0o644)
        (kb / MANIFEST).write_bytes(msgspec.structs.replace(manifest, files=files).sealed())
    with pytest.raises(NamesakeError, match=r"sources\.statement_indptr is damaged"):
        update_kb(kb, dump(tmp_path / "c.json", item(8, "Dee", HUMAN)), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_changed(base: tuple[Path, Path], tmp_path: Path) -> None:
    ann = item(1, "Ann Renamed", HUMAN, aliases=("Nan", "Ann Example"))
    changes = tmp_path / "c.jsonl.gz"
    changes.write_bytes(gzip.compress("\n".join([ann, item(8, "Dee", HUMAN), redirect(3, 2)]).encode()))
    (tmp_path / "ids").write_text("Q31")
    update_kb(base[1], changes, tmp_path / "new", deleted=tmp_path / "ids")
    found = diff_kbs(base[1], tmp_path / "new").to_pylist()
    assert {(one["change"], one["qid"], one["label"], one["before"], one["after"]) for one in found} == {
        ("added", "Q8", "Dee", "", ""),
        ("removed", "Q31", "Sylvania", "", ""),
        ("merged", "Q3", "Cid Example", "", "Q2"),
        ("relabelled", "Q1", "Ann Renamed", "Ann Example", "Ann Renamed"),
        ("new alias", "Q1", "Ann Renamed", "", "Nan"),
        ("new alias", "Q1", "Ann Renamed", "", "Ann Example"),
        ("removed alias", "Q1", "Ann Renamed", "Annie", ""),
    }
    done = namesake("kb", "diff", base[1], tmp_path / "new", "-o", tmp_path / "d.parquet")
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "d.parquet").to_pylist() == found
    assert all(change in done.stderr for change in KINDS)
    assert "nothing changed" in namesake("kb", "diff", base[1], base[1]).stdout
    shown = namesake("kb", "info", tmp_path / "new").stdout
    assert "generation" in shown
    assert "1 added, 1 changed, 1 deleted, 1 redirected" in shown
