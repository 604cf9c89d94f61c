"""What the pages show is what happens.

On every page, a fenced block ```console is run line by line: `$ namesake …` in a folder that holds the sample's
`articles.jsonl`, `expected.jsonl` and `dump.json` and its KB as `kb`, which is also the default KB; so is `$ echo …`,
`$ printf …`, `$ cat …`. What the block shows below a command must be what it prints, standard output before messages;
`…` stands for anything. A block ```python is run as it is. What cannot run here (a dump of a terabyte) goes into a
block ```sh: its commands and options must exist. A block ```py is not run either; the comment above it,
<!-- not run: … -->, says why. ```json and ```toml must be what they say.

All of it is also a site, which must build without a warning, hold no broken link, and need nothing from the network.
"""

import ast
import json
import os
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest
import typer

import namesake as package
from namesake.apps import spacy  # noqa: F401 - what its entry point does where the package is installed with it
from namesake.apps.cli.commands import app
from namesake.apps.sample_kb import sample_kb as cached_sample
from namesake.sample import ARTICLES, DUMP, EXPECTED

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```(?:sh)?\n(.*?)^```$|((?:^    .+\n)+)", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def runs(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    lines = iter(text.splitlines())
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines)
            found.append((command, []))
        else:
            assert found, f"a console block begins with a command, not with {line!r}"
            found[-1][1].append(line)
    return [(command, "\n".join(shown)) for command, shown in found]


def fits(shown: str, printed: str) -> bool:
    """Whether the page's text is what was printed: blanks at line ends aside, `…` for anything."""
    clean = "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")
    pattern = ".*".join(re.escape(part) for part in shown.strip("\n").split("…"))
    return re.fullmatch(pattern, clean, re.DOTALL) is not None


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def desk(tmp_path, monkeypatch, cache) -> Path:
    """A folder to work in, as the page's reader has it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))  # where the sample KB is kept
    monkeypatch.setenv("COLUMNS", "80")
    shutil.copy(ARTICLES, "articles.jsonl")
    shutil.copy(EXPECTED, "expected.jsonl")
    shutil.copy(DUMP, "dump.json")
    shutil.copytree(cached_sample(), "kb")  # of every kind, as `namesake sample` makes it
    return tmp_path


def arguments_of(command: str) -> list[str]:
    arguments = list(takewhile(lambda word: not word.startswith("#"), shlex.split(command)))
    assert not {"|", ">", "<", "&&", ";"} & set(arguments), f"a page's command stands alone: {command}"
    return arguments


def shell(command: str) -> tuple[int, str]:
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_page_shows_is_what_happens(page, desk, run, capfd):
    names: dict[str, object] = {"__name__": "__main__"}
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, page.name, "exec"), names)
            capfd.readouterr()
            continue
        for command, shown in runs(text):
            if command.split()[0] in ("echo", "printf", "cat"):  # writes a small file, or shows one
                code, printed = shell(command)
            elif command.split()[0] == "namesake":
                ran = run(*arguments_of(command)[1:], kb=None)
                code, printed = ran.code, ran.out + ran.err
            else:
                continue  # pip install, make demo: not ours to run
            assert code == 0, f"{command}\n{printed}"
            assert "Traceback" not in printed
            assert not shown.strip() or fits(shown, printed), f"{command} prints\n{printed}"


def shown_commands(page: Path) -> list[list[str]]:
    """The words of each `namesake …` in the page's blocks that are shown and not run."""
    texts = ["".join(found) for found in SHOWN.findall(page.read_text(encoding="utf-8"))]
    lines = "\n".join(texts).replace("\\\n", " ").splitlines()
    commands = [line.strip().partition("#")[0] for line in lines if line.strip().startswith("namesake ")]
    return [shlex.split(command.replace("[", " ").replace("]", " ").replace("...", "")) for command in commands]


def unknown_words(words: list[str]) -> list[str]:
    """The command or options among these words that the command line does not have."""
    group = typer.main.get_command(app)
    words = words[1:]
    while words and hasattr(group, "get_command") and not words[0].startswith("--"):
        command = group.get_command(group.context_class(group), words[0])
        if command is None:
            return words[:1]
        group, words = command, words[1:]
    options = {name for parameter in group.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in options]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_only_shown_exist(page):
    assert [(words, unknown) for words in shown_commands(page) if (unknown := unknown_words(words))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_names_that_a_page_mentions_exist(page):
    text = page.read_text(encoding="utf-8")
    files = {
        name for name in re.findall(r"`((?:src|tests|docs|benchmarks|examples)/[\w./-]+)`", text) if "NAME" not in name
    }
    assert [name for name in sorted(files) if not (ROOT / name).exists()] == []
    links = {link.partition("#")[0] for link in re.findall(r"\]\(([^):]+)\)", text)}
    assert [link for link in sorted(links) if link and not (page.parent / link).exists()] == []
    dotted = sorted(set(re.findall(r"`(namesake(?:\.[A-Za-z_]\w*)+)", text)))
    assert [name for name in dotted if pkgutil.resolve_name(name) is None] == []


def test_unknown_commands_and_options_are_noticed():
    assert unknown_words(["namesake", "lnik", "a.jsonl"]) == ["lnik"]
    assert unknown_words(["namesake", "kb", "build", "dump.json", "--owt", "kb"]) == ["--owt"]
    assert unknown_words(["namesake", "kb", "build", "dump.json", "--out", "kb"]) == []
    assert sum(len(shown_commands(page)) for page in PAGES) > 10


# --- blocks that are not run


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_other_blocks_are_what_they_say(page):
    text = page.read_text(encoding="utf-8")
    known = {
        "console",
        "python",
        "py",
        "sh",
        "json",
        "toml",
        "csv",
        "text",
        "diff",
        "html",
        "http",
        "turtle",
        "sql",
        "",
    }
    fences = re.findall(r"^```(\w*)$", text, re.MULTILINE)
    assert set(fences) <= known
    for kind, block in re.findall(r"^```(json|toml|py)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if kind == "json":
            [json.loads(line) for line in block.splitlines()] if block.startswith("{") else json.loads(block)
        elif kind == "toml":
            tomllib.loads(block)
        else:
            ast.parse(block)
    reasons = re.findall(r"<!-- not run: \S.* -->\n+```py$", text, re.MULTILINE)
    assert len(reasons) == fences.count("py"), "a block ```py needs a comment above it that says why it is not run"


def test_no_page_names_a_package_of_the_index():
    """What is called `namesake` there may be somebody else's: extras are installed from the checkout."""
    told = [*PAGES, *(ROOT / "examples").glob("*.py")]
    assert [page.name for page in told if re.search(r"namesake\\?\[", page.read_text("utf-8"))] == []


# --- the site


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The pages as a site, built with every warning an error."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def test_the_site_holds_every_page_and_function(site):
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} <= {page.stem for page in site.glob("*.html")}
    reference = (site / "reference.html").read_text(encoding="utf-8")
    wanted = [getattr(package, name) for name in package.__all__]
    assert [o for o in wanted if f'id="{o.__module__}.{o.__qualname__}"' not in reference] == []


def test_the_site_needs_nothing_from_the_network(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"<(?:script|img|iframe)[^>]+src=\"?https?:[^>]*", text) == [], page.name
        assert re.findall(r"<link[^>]+href=\"?https?:[^>]*", text) == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?https?:", sheet.read_text(encoding="utf-8")), sheet.name


def test_the_reference_of_commands_is_their_help():
    command = [sys.executable, str(ROOT / "docs" / "commands.py"), "-"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == printed, "run python docs/commands.py"


def test_the_checker_can_tell():
    assert fits("a …\nc", "a b  \nc\n")
    assert not fits("a …\nc", "a b\nd\n")
    assert runs("$ namesake x \\\n  y\nout\n$ namesake z\n") == [("namesake x   y", "out"), ("namesake z", "")]
    assert len({page.name for page in PAGES}) == len(PAGES) > 1
