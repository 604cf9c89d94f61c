"""Which KBs are known to hold what `layout.py` declares: those built or checked here, and untouched since.

The user's cache folder has a mark for each. A mark stands for the state of every file, so that a KB which anybody wrote
to is a new one; a folder cannot vouch for itself.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from namesake import __version__
from namesake.kb.columns.column_files import State
from namesake.kb.manifest import FORMAT_VERSION
from namesake.machine import cache_folder

CHECKS = 2  # raised with every check that is added: what passed the fewer is checked again
MOST = 1000  # marks; the oldest go first


def mark(states: dict[str, State]) -> str:
    """The mark of a KB whose files are in these states, for this version of namesake."""
    stands_for = (__version__, FORMAT_VERSION, CHECKS, sorted(states.items(), key=lambda item: item[0]))
    return sha256(msgspec.json.encode(stands_for)).hexdigest()


def is_known(states: dict[str, State]) -> bool:
    """Whether a KB was built or checked here and is as it was then."""
    try:
        return (_folder() / mark(states)).is_file()
    except (OSError, RuntimeError):  # no home
        return False


def remember(states: dict[str, State]) -> None:
    """Let a KB be known. Where no mark can be left, it is checked again at its next use."""
    with suppress(OSError, RuntimeError):
        _folder().mkdir(parents=True, exist_ok=True)
        (_folder() / mark(states)).touch()
        marks = list(_folder().iterdir())
        if len(marks) > MOST:
            for old in sorted(marks, key=lambda path: path.stat().st_mtime)[: MOST // 10]:
                old.unlink(missing_ok=True)


def _folder() -> Path:
    return cache_folder() / "known"
