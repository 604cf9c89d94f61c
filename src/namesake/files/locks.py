"""Locks on files and folders. The kernel releases a lock when its process ends, whatever ends it.

A lock holds for all processes under one kernel, containers included, and over NFS for other machines too.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def try_lock(descriptor: int) -> bool:
    """Lock an open file. Returns False if another process holds the lock; OSError if the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(descriptor: int) -> None:
    """Lock an open file, and wait for it if need be. On a file system without locks, return at once."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time run the block for this folder, or for this lock file, which is created if missing."""
    handle = os.open(path, os.O_CLOEXEC | (os.O_RDONLY if path.is_dir() else os.O_CREAT | os.O_RDWR), 0o666)
    try:
        wait_for_lock(handle)
        yield
    finally:
        os.close(handle)
