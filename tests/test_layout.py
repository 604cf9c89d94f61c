"""The layout is data: pages, parser, writer and reader follow from the declarations, and what is built obeys them."""

import os
import shutil
from collections.abc import Callable
from importlib import util
from operator import attrgetter
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from namesake.errors import NamesakeError
from namesake.files.digests import file_digest as digest
from namesake.kb import check, store
from namesake.kb import check as known
from namesake.kb.build import build
from namesake.kb.columns.column_files import HEADER
from namesake.kb.columns.declaration import ASCENDING, NEVER_FALLING, Array, Column
from namesake.kb.columns.derived import DERIVED
from namesake.kb.columns.layout import ENTITY, TENURE, KBColumns, columns
from namesake.kb.dump.parse import FIELDS, GONE, STATEMENT_COLUMNS, TEXT_COLUMNS
from namesake.kb.manifest import FORMAT_VERSION, read_manifest
from namesake.kb.store import KB
from namesake.kernels.dump import tables
from namesake.kernels.dump.entity import ITEM_COLUMNS
from namesake.sample import DUMP
from small_kb import writable

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("layout") / "kb"
    build([DUMP], out, keep="people")
    return out


def test_the_page_lists_what_is_declared() -> None:
    spec = util.spec_from_file_location("columns_page", DOCS / "columns.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (DOCS / "kb-format.md").read_text(encoding="utf-8")
    assert page == module.page(page), "run python docs/columns.py"
    assert f"(this page describes {FORMAT_VERSION})" in page
    assert all(f"| `{name}` | `{column.file}` |" in page for name, column in columns().items())


@pytest.mark.parametrize("column", [column for column in columns().values() if column.dump_field])
def test_a_column_of_the_dump_has_the_type_of_its_field(column: Column) -> None:
    assert FIELDS[column.dump_field] == column.dtype


def test_every_column_of_the_scanners_tables_is_read_once() -> None:
    assert sorted([*ITEM_COLUMNS, *STATEMENT_COLUMNS, *TEXT_COLUMNS, *GONE, "property_id"]) == sorted(FIELDS)
    assert (len(TEXT_COLUMNS), len(STATEMENT_COLUMNS)) == (tables.TEXT_COLUMNS, tables.STATEMENT_COLUMNS)


def test_a_kb_has_the_declared_files_and_no_others(built: Path) -> None:
    declared = {f"{name}.npy" for column in columns().values() for name in column.files}
    assert {file.name for file in built.iterdir()} == declared | {"manifest.json", "rejects.jsonl"}


def test_what_is_built_is_what_is_declared(built: Path) -> None:
    kb = KB.open(built)
    kb.verify()
    for name, column in columns().items():
        assert len(attrgetter(name)(kb)) > 0 or column.rows is TENURE, name  # the sample dates no statement
        for file, dtype in column.files.items():
            assert np.load(built / f"{file}.npy").dtype == dtype, file


def first_to(value: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: np.concatenate([np.array([value], array.dtype), array[1:]])


def last_to(value: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: np.concatenate([array[:-1], np.array([value], array.dtype)])


def cut(array: np.ndarray) -> np.ndarray:
    return array[:-1]


def backwards(array: np.ndarray) -> np.ndarray:
    return array[::-1].copy()


HOSTILE = [
    ("entity.qid", backwards),
    ("entity.qid", first_to(-5)),
    ("entity.qid_before", last_to(1 << 30)),
    ("entity.qid_before", cut),
    ("entity.qid_bits", cut),
    ("entity.item", last_to(1 << 20)),
    ("entity.sitelinks", cut),
    ("entity.pagerank_wikidata", lambda array: array * np.nan),
    ("entity.pagerank_wikidata", lambda array: array + np.inf),
    ("entity.birth_precision", first_to(99)),
    ("entity.statement.indptr", last_to(1 << 40)),
    ("entity.statement.indptr", first_to(-1)),
    ("entity.statement.indptr", backwards),
    ("entity.statement.values", first_to(1 << 30)),
    ("entity.statement.values", backwards),
    ("entity.words_ds.values", first_to(-1)),
    ("entity.words_ds.values", cut),
    ("entity.statement.indptr", lambda array: array[:0]),
    ("entity.title.offsets", last_to(1 << 40)),
    ("entity.title.offsets", lambda array: array[:0]),
    ("pair.value", last_to(1 << 30)),
    ("pair.value", last_to(-(1 << 30))),
    ("word.count", first_to(1 << 30)),
    ("surface.word", first_to(1 << 30)),
    ("surface.word", cut),
    ("surface.hash", lambda array: np.concatenate([array, array[:1]])),
    ("stem.word", first_to(-2)),
    ("name.slot", first_to(1 << 30)),
    ("name.entity.indptr", first_to(5)),
    ("name.entity.values", first_to(-1)),
    ("name.entity.kind", cut),
    ("name.entity.kind", first_to(4)),
    ("name.filed", first_to(-1)),
    ("name.drawer", backwards),
    ("entity.fame", lambda array: array * np.nan),
    ("short.slot", first_to(1 << 30)),
    ("short.key", cut),
    ("short.entity.values", first_to(-1)),
    ("short.entity.form", first_to(22)),
    ("token.first", first_to(-1)),
    ("token.lower", cut),
    ("thing.fame", cut),
    ("slip.name", first_to(-1)),
    ("slip.key", backwards),
    ("name.key", lambda array: np.where(array == 0, 1, array)),  # a search would never end
    ("name.slot", lambda array: np.where(array == array.max(), -1, array)),
    ("stem.word", lambda array: np.full_like(array, -1)),
    ("entity.qid_bits", lambda array: ~array),
    ("entity.qid_before", lambda array: np.zeros_like(array)),
    ("pair.count", lambda array: np.zeros_like(array)),
    ("word.count", lambda array: np.zeros_like(array)),
    ("entity.person", lambda array: np.full(len(array), 255, np.uint8).view(np.bool_)),
    ("item.label.bytes", first_to(0xFF)),
]


@pytest.mark.parametrize(("file", "change"), HOSTILE, ids=[f"{n} {file}" for n, (file, _) in enumerate(HOSTILE)])
def test_a_column_that_breaks_its_declaration_is_named(
    built: Path, tmp_path: Path, file: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Although its checksum is right: whoever wrote it wrote the manifest too."""
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    path = out / f"{file}.npy"
    np.save(path, change(np.load(path)))
    manifest = read_manifest(out)
    files = manifest.files | {path.name: digest(path)}
    writable(out / "manifest.json").write_bytes(msgspec.structs.replace(manifest, files=files).sealed())
    with pytest.raises(NamesakeError, match=r"is damaged \(.*build the KB again") as error:
        KB.open(out)
    table = {"surface.hash": "surface", "entity.qid_bits": "entity.qid_b", "name.key": "name."}
    named = table.get(file, file.removesuffix(".indptr").removesuffix(".values").removesuffix(".offsets"))
    assert f"/{named.removesuffix('.bytes')}" in str(error.value)  # the one or its neighbour


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks look at four numbers at a time, and four slots in a row are too many."""
    monkeypatch.setattr(check, "BLOCK", 4)
    monkeypatch.setattr(check, "LONGEST_RUN", 4)


@pytest.mark.usefixtures("small_blocks")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 5).flatmap(lambda bits: st.lists(st.booleans(), min_size=1 << bits, max_size=1 << bits)))
def test_a_search_in_a_table_ends_soon(taken: list[bool]) -> None:
    twice = "".join("x" if one else " " for one in taken * 2)
    longest = max(map(len, twice.split(" ")))
    wrong = check._table_problem(np.array(taken, np.uint64))
    assert (wrong is not None) == (longest >= 4 or all(taken))
    assert all(taken) == (wrong == "it has no free slot")


@pytest.mark.usefixtures("small_blocks")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=6), st.sampled_from([ASCENDING, NEVER_FALLING]))
def test_order_is_that_of_each_row(rows: list[list[int]], order: str) -> None:
    bounds = np.cumsum([0, *map(len, rows)])
    numbers = np.array([number for row in rows for number in row], np.int32)
    sorted_rows = [sorted(set(row)) if order == ASCENDING else sorted(row) for row in rows]
    assert (check._order_problem(order, numbers, bounds) is None) == (rows == sorted_rows)


def test_whoever_writes_to_a_kb_makes_it_unknown(built: Path, tmp_path: Path) -> None:
    """Neither length nor dates tell that a value was changed."""
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    KB.open(out)
    path = out / "entity.statement.values.npy"
    before = path.stat()
    with writable(path).open("r+b") as file:
        file.seek(HEADER)
        file.write(b"\xff\xff\xff\x7f")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(NamesakeError, match=r"entity\.statement\.values\.npy is damaged"):
        KB.open(out)


def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one whenever a KB is read through."""
    made: list[str] = []
    whole = store.problems

    def counted(*given: object, quick: bool = False) -> object:
        made.extend([] if quick else ["check"])
        return whole(*given, quick=quick)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "problems", counted)
    return made


def test_a_kb_is_read_through_once_and_never_where_it_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = checks(monkeypatch)
    build([DUMP], tmp_path / "kb", keep="people")
    KB.open(tmp_path / "kb")
    assert made == []
    shutil.copytree(tmp_path / "kb", tmp_path / "copy")
    for _ in range(3):
        KB.open(tmp_path / "copy")
    assert made == ["check"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another user"))
    KB.open(tmp_path / "kb")
    assert made == ["check", "check"]
    monkeypatch.setattr(known, "__version__", "another version")
    KB.open(tmp_path / "kb")
    assert made == ["check", "check", "check"]


def test_without_a_cache_every_opening_reads_through(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_cache() -> Path:
        raise OSError("nothing can be written, temporary files neither")

    monkeypatch.setattr(known, "cache_folder", no_cache)
    made = checks(monkeypatch)
    KB.open(built)
    KB.open(built)
    assert made == ["check", "check"]


def test_every_byte_of_a_header_counts(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    path = out / "entity.sitelinks.npy"
    whole = path.read_bytes()
    for at in range(HEADER):
        writable(path).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(NamesakeError, match=r"entity\.sitelinks\.npy cannot be read"):
            KB.open(out)


@pytest.mark.parametrize("odd", ["a folder", "a pipe", "a link to itself", "/dev/zero"])
@pytest.mark.parametrize("file", ["manifest.json", "name.slot.npy"])
def test_a_file_that_is_none_is_refused(built: Path, tmp_path: Path, file: str, odd: str) -> None:
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    path = out / file
    path.unlink()
    if odd == "a folder":
        path.mkdir()
    elif odd == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(file if odd == "a link to itself" else odd)
    with pytest.raises(NamesakeError, match="build the KB again"):
        KB.open(out)


def test_verify_knows_every_byte_of_the_manifest(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    path = out / "manifest.json"
    whole = path.read_bytes()
    for at in range(0, len(whole), 61):
        writable(path).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(NamesakeError):
            KB.open(out).verify()


@pytest.mark.parametrize("file", ["entity.sitelinks", "entity.birth", "name.prefix"])
def test_values_that_are_possible_but_wrong_are_told_by_the_digest(built: Path, tmp_path: Path, file: str) -> None:
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    path = out / f"{file}.npy"
    np.save(path, np.roll(np.load(path), 1))
    with pytest.raises(NamesakeError, match=rf"{file}\.npy is damaged \(its digest differs"):
        KB.open(out)


def test_verify_refuses_what_the_manifest_does_not_list(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    (out / "entity.extra.npy").write_bytes(b"x")
    with pytest.raises(NamesakeError, match=r"entity\.extra\.npy is no part of the KB"):
        KB.open(out).verify()


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "..", "a\0b"])
def test_a_manifest_that_lists_files_elsewhere_is_refused(built: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "kb"
    shutil.copytree(built, out)
    manifest = read_manifest(out)
    files = manifest.files | {name: "sha256:00"}
    writable(out / "manifest.json").write_bytes(msgspec.structs.replace(manifest, files=files).sealed())
    with pytest.raises(NamesakeError, match=r"manifest\.json is damaged"):
        KB.open(out)


@pytest.fixture
def decade(monkeypatch: pytest.MonkeyPatch) -> Array:
    """A new column, declared as `layout.py` would."""
    column = Array("entity.decade", np.int16, ENTITY, "Decade of birth, 0 if unknown.")
    monkeypatch.setattr(KBColumns, "decade", column, raising=False)
    column.__set_name__(KBColumns, "decade")
    return column


def test_a_derived_column_costs_a_declaration_and_a_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decade: Array
) -> None:
    def births(kb: KBColumns) -> np.ndarray:
        years = kb.birth.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970
        return np.where(kb.birth_precision >= 9, years // 10, 0).astype(np.int16)

    monkeypatch.setitem(DERIVED, decade, births)
    build([DUMP], tmp_path / "kb", keep="people")
    kb = KB.open(tmp_path / "kb")
    kb.verify()
    assert "entity.decade.npy" in kb.manifest.files
    expected = [
        int(str(np.datetime64(int(day), "D"))[:3]) if precision >= 9 else 0
        for day, precision in zip(kb.birth, kb.birth_precision, strict=True)
    ]
    assert kb.decade.tolist() == expected  # type: ignore[attr-defined]
    assert any(expected)


def test_a_declared_column_that_nobody_makes_stops_the_build(tmp_path: Path, decade: Array) -> None:
    with pytest.raises(AssertionError, match=r"but not built: \['entity.decade'\]"):
        build([DUMP], tmp_path / "kb", keep="people")
    assert list(tmp_path.iterdir()) == []


def test_a_value_of_another_type_than_declared_is_not_written() -> None:
    with pytest.raises(AssertionError, match=r"entity\.qid is declared as int64, not int32"):
        KB.qids.arrays(np.array([1], np.int32))
