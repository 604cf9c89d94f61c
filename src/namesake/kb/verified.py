"""Remembers which KBs were built or checked on this machine and have not changed since.

The user's cache folder has an empty file for each. Its name is a digest of the state of all files of the KB, so a KB
that was written to is unknown. The KB's own folder has no such mark, because anybody could put it there.
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

CHECKS = 2  # raised when a check is added, so that every KB is checked again
MOST = 1000  # marks; the oldest are deleted first


def mark(states: dict[str, State]) -> Path:
    """The mark of a KB whose files are in these states, for this version of namesake."""
    state = (__version__, FORMAT_VERSION, CHECKS, sorted(states.items(), key=lambda item: item[0]))
    return cache_folder() / "known" / sha256(msgspec.json.encode(state)).hexdigest()


def is_known(states: dict[str, State]) -> bool:
    """Whether a KB was built or checked here and has not changed since."""
    try:
        return mark(states).is_file()
    except (OSError, RuntimeError):  # no home folder
        return False


def remember(states: dict[str, State]) -> None:
    """Mark a KB as checked. If no mark can be written, it is checked again at its next use."""
    with suppress(OSError, RuntimeError):
        path = mark(states)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        marks = list(path.parent.iterdir())
        if len(marks) > MOST:
            for old in sorted(marks, key=lambda one: one.stat().st_mtime)[: MOST // 10]:
                old.unlink(missing_ok=True)
