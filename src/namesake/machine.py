"""What this process may use of the machine it runs on, and what its user has set up there."""

from __future__ import annotations

import os
from pathlib import Path

NAMESAKE_KB = "NAMESAKE_KB"
"""The variable that names the KB of whoever names none."""


def cores() -> int:
    """How many cores this process may use: those it is bound to where the system can tell, else all there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "namesake"
