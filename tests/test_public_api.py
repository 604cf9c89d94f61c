"""The public API: what `import namesake` shows, and that the library offers what the command line does."""

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import namesake
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.evaluation.gold import read_gold
from namesake.formats import read_articles
from namesake.sample import ARTICLES, DUMP, EXPECTED


def test_dir_shows_the_names_people_need_and_no_others():
    assert {"KB", "Linker", "Recipe", "scorer", "build_kb", "evaluate", "tune", "NamesakeError"} <= set(dir(namesake))
    assert sorted(dir(namesake)) == sorted([*namesake.__all__, "__version__"])
    for name in dir(namesake):
        assert getattr(namesake, name) is not None


def test_the_public_api_lists_each_name_once():
    """What type checkers see, what is exported and what is imported on demand are the same names."""
    checked = re.findall(r"^    from .* import (.+)$", inspect.getsource(namesake), re.MULTILINE)
    names = {part.split(" as ")[-1].strip() for line in checked for part in line.split(",")}
    assert names == set(namesake._HOMES) == set(namesake.__all__) - {"NamesakeError"}
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = namesake.nonsense


@pytest.mark.parametrize(
    "first", ["namesake.analysis.evaluate", "namesake.evaluation.gold", "namesake.apps.cli.evaluation"]
)
def test_functions_stay_functions_whatever_was_imported_before(first):
    program = f"import {first}, namesake\n"
    program += "assert callable(namesake.evaluate) and callable(namesake.tune) and callable(namesake.ablate)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_package_has_the_name_of_a_function():
    """Importing a package sets it as an attribute of the package: it would hide the function."""
    for name in namesake._HOMES:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"namesake.{name}")


FUNCTIONS = [name for name in namesake.__all__ if inspect.isfunction(getattr(namesake, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_document_and_type_their_arguments(name):
    function = getattr(namesake, name)
    for argument, parameter in inspect.signature(function).parameters.items():
        assert parameter.annotation is not inspect.Parameter.empty
        assert re.search(rf"\b{argument}\b", function.__doc__), f"{name}: {argument} is not documented"


def test_the_library_offers_what_the_command_line_does():
    assert set(FUNCTIONS) >= {"reconcile", "reconcile_frame", "embed", "walk", "disambiguate", "evaluate", "tune"}
    assert set(FUNCTIONS) >= {"build_kb", "list_datasets", "get_dataset", "convert_dataset", "link_files"}


def test_a_table_is_matched_from_python(sample_kb, tmp_path):
    table, out = tmp_path / "people.csv", tmp_path / "out.csv"
    table.write_text("Full name,Team,Job\nMichael Jordan,Chicago Bulls,basketball player\n")
    linker = namesake.Linker(sample_kb)
    with pytest.warns(UserWarning, match="'Full name' .guessed"):
        done = namesake.reconcile(linker, table, out, context="Team", type={"occupation": "Job"})
    assert (done.table.num_rows, done.matched, done.chosen, done.unread) == (1, 1, 0, 0)
    assert out.read_text().splitlines()[1].split(",")[3] == "Q41421"
    with pytest.raises(NamesakeError, match=r"out\.csv"):
        namesake.reconcile(linker, out, out, name="Full name")


def test_wrong_calls_say_what_to_do(sample_kb, tmp_path):
    with pytest.raises(TypeError, match=r"KB.open\('kb'\)"):
        namesake.KB("kb")
    with pytest.raises(NamesakeError, match="`articles=` is empty"):
        namesake.link_files(namesake.Linker(sample_kb), [], tmp_path / "o.jsonl")
    assert not (tmp_path / "o.jsonl").exists()


def test_version_loads_nothing_heavy():
    program = (
        "import sys; sys.argv = ['namesake', '--version']\n"
        "from namesake.apps.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted({'typer', 'rich', 'numpy', 'pyarrow', 'numba'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout.split("\n")[:2] == [f"namesake {namesake.__version__}", "[]"]


NEEDLESS = ("numba.np.npyimpl", "pandas", "pyarrow.parquet", "pydantic", "rich.console", "scipy.linalg")
"""What takes long to load, is perhaps installed, and linking a text does without: the first is part of the compiler."""


def test_linking_loads_nothing_needless(tmp_path, sample_kb):
    (tmp_path / "a.txt").write_text("Chris Carter, who created The X-Files, is back.")
    program = (
        f"import sys; sys.argv = ['namesake', 'link', 'a.txt', '--kb', {str(sample_kb.path)!r}, '-o', 'o.jsonl']\n"
        "from namesake.apps.cli.main import main\n"
        "try: main()\n"
        f"except SystemExit: print(sorted(set({NEEDLESS}) & set(sys.modules)))"
    )
    for _ in range(2):  # the first time kernels may have to be compiled
        ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout.strip() == "[]"
    assert json.loads((tmp_path / "o.jsonl").read_text())["name"] == "Chris Carter"


# the sample's gold as a file, and articles of which one line is none


@pytest.fixture
def gold(tmp_path):
    rows = [json.loads(line) for line in EXPECTED.read_text().splitlines()]
    path = tmp_path / "gold.jsonl"
    lines = [json.dumps({"articleID": row["id"], "name": row["name"], "gold": row["qid"]}) for row in rows]
    path.write_text("\n".join(lines))
    assert read_gold(path)
    return path


@pytest.fixture
def spoilt(tmp_path):
    path = tmp_path / "spoilt.jsonl"
    path.write_text(ARTICLES.read_text().rstrip("\n") + "\nnot json\n")
    return path


def test_evaluate_from_python(gold, sample_kb):
    report = namesake.evaluate(gold, articles=ARTICLES, kb=sample_kb, methods=["default", "Random"], samples=200)
    figures = {(row["method"], row["metric"]): row["value"] for row in report.rows}
    linker = namesake.Linker(sample_kb)
    linked = {
        (row["article_id"], row["name"]): row["best"]
        for table in read_articles(ARTICLES, Rejects())
        for row in linker.link(table).to_pylist()
    }
    truth = {row.mention: row.gold for row in read_gold(gold) if row.gold is not None}
    hits = [linked[mention] == qid for mention, qid in truth.items()]
    assert figures["default", "P@1"] == pytest.approx(sum(hits) / len(hits))
    assert figures["Random", "P@1"] < figures["default", "P@1"]


def test_articles_that_cannot_be_used_are_an_error_or_set_aside_once(gold, spoilt, sample_kb):
    with pytest.raises(NamesakeError, match=r"spoilt.jsonl:\d+: not an article"):
        namesake.evaluate(gold, articles=spoilt, kb=sample_kb, methods=["default"], samples=200)
    rejects = Rejects()
    namesake.evaluate(gold, articles=spoilt, kb=sample_kb, methods=["default", "NS"], samples=200, rejects=rejects)
    assert rejects.count == 1  # though linked with two recipes
    rejects = Rejects()
    namesake.ablate(spoilt, gold, [sample_kb, sample_kb], rejects=rejects)
    assert rejects.count == 1
    rejects = Rejects()
    namesake.mistakes(spoilt, gold, sample_kb, rejects=rejects)
    assert rejects.count == 1


def test_a_path_alone_is_one_path(gold, sample_kb, tmp_path):
    """As a text and as a Path, wherever several may be given."""
    linker = namesake.Linker(sample_kb)
    for number, kind in enumerate((str, Path)):
        out = tmp_path / f"{number}.parquet"
        assert namesake.link_files(linker, kind(ARTICLES), out, scores=True).articles > 10
        assert (
            namesake.link_folder(linker, kind(ARTICLES), tmp_path / f"folder{number}", workers=1).counts.articles > 10
        )
        assert namesake.build_kb(kind(DUMP), tmp_path / f"kb{number}", keep="people").entities == len(sample_kb)
        assert namesake.tune(kind(out), kind(gold)).mentions > 10
        labelled = tmp_path / f"labelled{number}.jsonl"
        label = {"span": [0, 14], "qid": "Q41421", "type": "PER"}
        labelled.write_text(json.dumps({"id": "a", "text": "Michael Jordan dunked for the Bulls.", "labels": [label]}))
        assert namesake.evaluate_text(labelled=kind(labelled), kb=sample_kb, samples=20).rows
        assert namesake.threshold(kind(labelled), sample_kb, samples=20).lines
    by_name = namesake.evaluate(gold, articles=ARTICLES, kb=sample_kb, methods="default", samples=20)
    assert {row["method"] for row in by_name.rows} == {"default", "ceiling"}
