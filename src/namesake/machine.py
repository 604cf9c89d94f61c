"""What this process may use of the machine it runs on, and what its user has set up there."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

NAMESAKE_KB = "NAMESAKE_KB"
"""The variable that names the KB of whoever names none."""


def cores() -> int:
    """How many cores this process may use: those it is bound to where the system can tell, else all there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


MOST_FOR_A_CORE = 4


def threads_for(asked: int) -> int:
    """As many threads as are asked for, for 0 or less one for each core.

    More than a few for each core gain nothing, and thousands may not be had.
    """
    return min(asked if asked > 0 else cores(), MOST_FOR_A_CORE * cores())


def named_kb() -> Path | None:
    """The KB that the variable NAMESAKE_KB names."""
    folder = os.environ.get(NAMESAKE_KB)
    return from_home(folder) if folder else None


def from_home(path: str | Path) -> Path:
    """A path whose `~` is the user's home; it stays as it is where there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def cache_folder() -> Path:
    """Where this user's programs keep what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "namesake"


def _home() -> Path:
    """The user's home; for a user who has none, as in some containers, a folder that goes with the process."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(_own_folder().name)


@cache
def _own_folder() -> Any:
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="namesake-")
