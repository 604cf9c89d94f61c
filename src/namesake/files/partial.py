"""Files in the making: each with a name of its own, locked while its run lives, removed when the run is dead.

The lock is the kernel's and dies with its process, whatever ends that. It holds for all processes under one kernel,
containers included, and where the disk is shared by NFS for other machines, too.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from pathlib import Path
from stat import S_ISREG

OURS = re.compile(r"\.namesake-[0-9a-f]{16}\.partial")
"""What files in the making are called: nothing else is ever removed."""


class Partial:
    """A new file in `folder`, once it is claimed, that nobody removes as long as this process holds it.

    It has its name before it is there, so that a stop at any moment finds what to release.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = _new_name(folder)
        self._lock: int | None = None

    def claim(self) -> None:
        """Make the file and lock it; once more where somebody took it for left behind."""
        while True:
            self._lock = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
            _try_to_lock(self._lock, wait=True)
            if os.fstat(self._lock).st_nlink:
                return
            os.close(self._lock)
            self.path, self._lock = _new_name(self.folder), None

    def release(self) -> None:
        """Let the file go, and remove it if it still has its name."""
        self.path.unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)


def _new_name(folder: Path) -> Path:
    return folder / f".namesake-{secrets.token_hex(8)}.partial"


def remove_stale(folder: Path) -> None:
    """Remove the files in the making of runs that are dead. What cannot be looked at or removed stays."""
    try:
        found = [folder / name for name in os.listdir(folder) if OURS.fullmatch(name)]  # noqa: PTH208 - of many files
    except OSError:
        return
    for path in found:
        try:
            lock = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if S_ISREG(os.fstat(lock).st_mode) and _try_to_lock(lock, wait=False):
                path.unlink(missing_ok=True)
        except OSError:
            continue
        finally:
            os.close(lock)


def _try_to_lock(descriptor: int, wait: bool) -> bool:
    """Whether the file is ours now; False where another has it, or the disk knows no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
