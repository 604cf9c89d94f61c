"""What the pages show is what happens.

In the PAGES below, a fenced block ```console is run line by line: `$ namesake …` in a folder that holds the sample's
`articles.jsonl` and `dump.json` and its KB as `kb`, which is also the default KB. What the block shows below a command
must be what it prints, standard output before messages; `…` stands for anything. A block ```python is run as it is.
What cannot run here (a dump of a terabyte) goes into a block ```sh.
"""

import re
import shlex
import shutil
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from namesake.sample import ARTICLES, DUMP

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "linking.md"]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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
def desk(tmp_path, monkeypatch, cache, sample_kb) -> Path:
    """A folder to work in, as the page's reader has it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))  # where the sample KB is kept
    monkeypatch.setenv("COLUMNS", "80")
    shutil.copy(ARTICLES, "articles.jsonl")
    shutil.copy(DUMP, "dump.json")
    shutil.copytree(sample_kb.path, "kb")
    return tmp_path


def namesake(command: str, monkeypatch, capfd) -> tuple[int, str]:
    from namesake.apps.cli.main import main

    arguments = list(takewhile(lambda word: not word.startswith("#"), shlex.split(command)))
    assert not {"|", ">", "<", "&&", ";"} & set(arguments), f"a page's command stands alone: {command}"
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stop:
        main()
    out, err = capfd.readouterr()
    return stop.value.code or 0, out + err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_page_shows_is_what_happens(page, desk, monkeypatch, capfd):
    names: dict[str, object] = {"__name__": "__main__"}
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, page.name, "exec"), names)
            capfd.readouterr()
            continue
        for command, shown in runs(text):
            if command.split()[0] != "namesake":
                continue  # pip install, make demo: not ours to run
            code, printed = namesake(command, monkeypatch, capfd)
            assert code == 0, f"{command}\n{printed}"
            assert "Traceback" not in printed
            assert not shown.strip() or fits(shown, printed), f"{command} prints\n{printed}"


def test_the_checker_can_tell():
    assert fits("a …\nc", "a b  \nc\n")
    assert not fits("a …\nc", "a b\nd\n")
    assert runs("$ namesake x \\\n  y\nout\n$ namesake z\n") == [("namesake x   y", "out"), ("namesake z", "")]
    assert len({page.name for page in PAGES}) == len(PAGES) > 1
