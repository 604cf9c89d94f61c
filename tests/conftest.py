"""Fixtures every test may use, and the rule that in CI a skip is a failure."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    import pyarrow as pa

    from namesake.kb.store import KB
    from oracle import Oracle

SHARED = Path(__file__).resolve().parents[2] / "shared"
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
        pytest.skip("no ../shared folder beside the project: real-data tests need it")
    return SHARED


@pytest.fixture(scope="session")
def sample_kb(tmp_path_factory: pytest.TempPathFactory) -> "KB":
    """The KB of the embedded sample, built by the product."""
    from namesake.kb.build import build
    from namesake.kb.store import KB
    from namesake.sample import DUMP, WIKIPEDIA

    folder = tmp_path_factory.mktemp("kb") / "sample"
    build([DUMP], folder, wikipedia=WIKIPEDIA)
    return KB.open(folder)


@pytest.fixture(scope="session")
def vector_kb(sample_kb: "KB", tmp_path_factory: pytest.TempPathFactory) -> "KB":
    """The sample's KB with vectors: of its texts, by random word vectors of 24 dimensions, and of its graph."""
    from namesake.kb.embed import embed
    from namesake.kb.store import KB
    from namesake.kb.walk import walk
    from small_vectors import write_words

    folder = tmp_path_factory.mktemp("vectors") / "kb"
    shutil.copytree(sample_kb.path, folder)
    embed(folder, f"static:{write_words(folder.parent / 'words.txt')}")
    walk(folder, dimensions=16, walks=4)
    return KB.open(folder)


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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Turn a skip into a failure where CI=true: nothing may pass there by not running."""
    outcome = yield
    report = outcome.get_result()
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
