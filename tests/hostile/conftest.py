"""Fixtures of the hostile tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hostile.known import BY_CHANCE, KNOWN
from hostile.sandbox import Sandbox
from hostile.tally import Tally
from hostile.world import World, make_world

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Where commands run."""
    with Sandbox() as opened:
        yield opened


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> World:
    """What is attacked."""
    return make_world(tmp_path_factory.mktemp("world"), sandbox)


@pytest.fixture
def tally() -> Iterator[Callable[[str], Tally]]:
    """Makes a tally for a matrix, and writes it down when the test is over."""
    made: list[Tally] = []

    def make(matrix: str) -> Tally:
        made.append(Tally(matrix))
        return made[-1]

    yield make
    for one in made:
        one.write()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one file share a process, and with it a sandbox; cases that are known to fail are marked.

    The marks are strict, so that a mended case must be taken off the list.
    """
    for item in items:
        if not item.path.is_relative_to(HERE):
            continue
        item.add_marker(pytest.mark.xdist_group(f"hostile {item.path.stem}"))
        name = f"{item.path.stem}::{item.name}"
        if name in KNOWN:
            strict = name not in BY_CHANCE
            item.add_marker(pytest.mark.xfail(strict=strict, reason=f"step 6 item {KNOWN[name]}"))
