"""Fixtures for all tests, which tests are slow, and the rule that in CI a skip is a failure."""

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    import pyarrow as pa

    from namesake.kb.store import KB
    from namesake.linker import Linker
    from oracle import Oracle
    from serving import Client

SHARED = Path(__file__).resolve().parents[2] / "shared"
NO_SHARED = "no ../shared folder beside the project: real-data tests need it"
SLOW_FILES = {"test_spark.py", "test_page.py", "test_stops.py"}
SLOW_WORDS = ("killed", "kill", "stopped_again")
"""Tests for `make test-all` alone: in these files, with these words in their names, hostile ones, or with a browser."""
IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}

# No deadlines: machines are shared, and timing belongs in benchmarks. In CI the examples are the same every time.
settings.register_profile(
    "namesake",
    deadline=None,
    derandomize=IN_CI,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("namesake")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project: a Wikidata slice, the paper's articles, gold and scores."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


@pytest.fixture(scope="session")
def sample_kb(tmp_path_factory: pytest.TempPathFactory) -> "KB":
    """The KB of the embedded sample, built by the product."""
    from namesake.kb.build import build
    from namesake.kb.store import KB
    from namesake.sample import DUMP, WIKIPEDIA

    folder = tmp_path_factory.mktemp("kb") / "sample"
    build([DUMP], folder, keep="people", wikipedia=WIKIPEDIA)
    return KB.open(folder)


@pytest.fixture(scope="session")
def vector_kb(sample_kb: "KB", tmp_path_factory: pytest.TempPathFactory) -> "KB":
    """The sample's KB with vectors: of its texts, by random word vectors of 24 dimensions, and of its graph."""
    from namesake.kb.store import KB
    from namesake.kb.vectors.make import embed, walk
    from small_vectors import write_words

    folder = tmp_path_factory.mktemp("vectors") / "kb"
    shutil.copytree(sample_kb.path, folder)
    embed(folder, f"static:{write_words(folder.parent / 'words.txt')}")
    walk(folder, dimensions=16, walks=4)
    return KB.open(folder)


@pytest.fixture(scope="session")
def world_kb(tmp_path_factory: pytest.TempPathFactory) -> "KB":
    """A KB of a few entities of every kind."""
    from several_kinds import build_world

    return build_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def oracle() -> "Oracle":
    """The sample's dump and first paragraphs, and the paper's scores, in plain Python."""
    from namesake.sample import DUMP, WIKIPEDIA
    from oracle import Oracle

    return Oracle.load(DUMP, WIKIPEDIA)


@pytest.fixture(scope="session")
def articles() -> "pa.Table":
    """The sample's articles."""
    from namesake.articles.rejects import Rejects
    from namesake.formats import read_articles
    from namesake.sample import ARTICLES

    [table] = read_articles(ARTICLES, Rejects())
    return table


@pytest.fixture(scope="session")
def linker(sample_kb: "KB") -> "Linker":
    """The default recipe on the sample."""
    from namesake.linker import Linker

    return Linker(sample_kb)


@pytest.fixture(scope="module")
def client(linker: "Linker") -> Iterator["Client"]:
    """A client of a server that links by it."""
    from serving import running

    with running(linker) as one:
        yield one


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """All that was printed, as one line: whatever the width of the terminal."""
        return " ".join((self.out + self.err).split())


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], sample_kb: "KB", tmp_path: Path
) -> Callable[..., Ran]:
    """Runs a command in an empty folder, with `--kb` and the sample; another KB, or None where it takes none."""
    from namesake.apps.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NAMESAKE_KB", raising=False)

    def call(*arguments: object, kb: Path | str | None = sample_kb.path, stdin: bytes = b"") -> Ran:
        named = [] if kb is None else ["--kb", kb]
        monkeypatch.setattr(sys, "argv", ["namesake", *map(str, [*arguments, *named])])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main()
        ran = Ran(stop.value.code or 0, *capfd.readouterr())
        assert "Traceback" not in ran.out + ran.err
        return ran

    return call


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests, before pytest selects by marks."""
    for item in items:
        fixtures: list[str] = getattr(item, "fixturenames", [])
        has_word = any(word in item.name for word in SLOW_WORDS)
        if item.path.name in SLOW_FILES or item.path.parent.name == "hostile" or "browser" in fixtures or has_word:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Turn a skip into a failure where CI=true, unless the reason is that a fork has no real data beside it."""
    outcome = yield
    report = outcome.get_result()
    lacks_data = not SHARED.is_dir() and "../shared" in str(report.longrepr)
    if IN_CI and report.skipped and not lacks_data and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
