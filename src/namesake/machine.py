"""What this process may use of the machine it runs on."""

from __future__ import annotations

import os
from pathlib import Path


def cores() -> int:
    """How many cores this process may use: those it is bound to where the system can tell, else all there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cache_folder() -> Path:
    """Where this user's programs keep what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "namesake"
