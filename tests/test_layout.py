"""The layout is data: pages, parser, writer and reader follow from the declarations, and what is built obeys them."""

import shutil
from collections.abc import Callable
from importlib import import_module, util
from operator import attrgetter
from pathlib import Path

import msgspec
import numpy as np
import pytest

from namesake.errors import NamesakeError
from namesake.kb import scanned
from namesake.kb.axes import ENTITY, TENURE
from namesake.kb.build import build
from namesake.kb.columns import checksum
from namesake.kb.declare import Array, Column, made_by
from namesake.kb.derive import DERIVED
from namesake.kb.layout import KBColumns, columns
from namesake.kb.store import KB
from namesake.kernels.dump import tables
from namesake.sample import DUMP

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("layout") / "kb"
    build([DUMP], out)
    return out


def test_the_page_lists_what_is_declared() -> None:
    spec = util.spec_from_file_location("columns_page", DOCS / "columns.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (DOCS / "kb-format.md").read_text(encoding="utf-8")
    assert page == module.page(page), "run python docs/columns.py"
    assert all(f"| `{name}` | `{column.file}` |" in page for name, column in columns().items())


@pytest.mark.parametrize("column", columns().values(), ids=columns())
def test_a_column_comes_from_where_its_declaration_says(column: Column) -> None:
    source = column.source
    assert bool(source.dump) != bool(source.function)
    if source.dump:
        assert scanned.FIELDS[source.dump].dtype == column.dtype
    else:
        module, _, name = source.function.partition(".")
        assert callable(attrgetter(name)(import_module(f"namesake.kb.{module}")))
        assert (column in DERIVED) == (module == "derive")


def test_every_place_of_the_scanners_tables_is_read_once() -> None:
    places = [field.place for field in scanned.FIELDS.values()]
    for table, (_, size) in scanned.TABLES.items():
        found = [place.place for place in places if isinstance(place, scanned.Number) and place.table == table]
        assert sorted(found) == list(range(size))
    assert sorted(p.place for p in places if isinstance(p, scanned.TextAt)) == list(range(tables.TEXT_COLUMNS))


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
    ("entity.title.offsets", last_to(1 << 40)),
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
    ("name.person", first_to(101)),
    ("name.filed", first_to(-1)),
    ("name.drawer", backwards),
    ("item.kind", first_to(6)),
    ("entity.fame", lambda array: array * np.nan),
    ("short.slot", first_to(1 << 30)),
    ("short.key", cut),
    ("short.entity.values", first_to(-1)),
    ("short.entity.form", first_to(10)),
    ("short.entity.weight", cut),
    ("short.count", first_to(1 << 30)),
    ("token.first", first_to(-1)),
    ("token.lower", cut),
    ("thing.kind", first_to(-1)),
    ("thing.fame", cut),
    ("slip.name", first_to(-1)),
    ("slip.key", backwards),
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
    manifest = KB.open(out).manifest
    files = manifest.files | {path.name: checksum(path)}
    (out / "manifest.json").write_bytes(msgspec.json.encode(msgspec.structs.replace(manifest, files=files)))
    with pytest.raises(NamesakeError, match=r"is damaged \(.*build the KB again") as error:
        KB.open(out).verify()
    axis = {"surface.hash": "surface", "entity.qid_bits": "entity.qid_b"}.get(file, file)  # the one or its neighbour
    assert f"/{axis.removesuffix('.indptr').removesuffix('.values').removesuffix('.offsets')}" in str(error.value)


@pytest.fixture
def decade(monkeypatch: pytest.MonkeyPatch) -> Array:
    """A new column, declared as `layout.py` would."""
    column = Array("entity.decade", np.int16, ENTITY, "Decade of birth, 0 if unknown.", made_by("derive.decade"))
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
    build([DUMP], tmp_path / "kb")
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
    with pytest.raises(AssertionError, match=r"made by nobody: \['entity.decade'\]"):
        build([DUMP], tmp_path / "kb")
    assert list(tmp_path.iterdir()) == []


def test_a_value_of_another_type_than_declared_is_not_written() -> None:
    with pytest.raises(AssertionError, match=r"entity\.qid is declared as int64, not int32"):
        KB.qids.arrays(np.array([1], np.int32))
