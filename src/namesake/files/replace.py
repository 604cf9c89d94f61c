"""Put a finished folder in its place, in one step where the system can."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

RENAME_EXCHANGE, AT_FDCWD = 2, -100  # of Linux
CANNOT_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def is_folder(path: Path) -> bool:
    """Whether it is a folder itself, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def is_vacant(out: Path) -> bool:
    """Whether nothing is at `out`, or an empty folder."""
    return not out.exists() or (out.is_dir() and not any(out.iterdir()))


def put_in_place(folder: Path, out: Path, aside: Path) -> Path | None:
    """Make `folder` the one at `out`, in one step if the system can; returns where the old one is now.

    A system that cannot exchange two folders needs two renames: the old one moves to `aside` first.
    """
    if is_vacant(out):
        folder.rename(out)
        return None
    if exchange(folder, out):
        return folder
    out.rename(aside)
    try:
        folder.rename(out)
    except OSError:
        aside.rename(out)
        raise
    return aside


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths in one step; False if the system or the file system cannot."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    if function(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))
