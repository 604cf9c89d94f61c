"""The mark of a build: a file in its folder, locked as long as the build lives, that says whose it is.

The lock dies with its process. It holds for all processes under one kernel, containers included; of another machine
that shares the disk nothing can be known, so the file also names host and boot.
"""

from __future__ import annotations

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

import msgspec

LOCK = "lock"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Who builds: the token in the folder's name, the machine and the process, and whether it may replace a KB."""

    token: str
    host: str
    boot: str
    pid: int
    force: bool

    @staticmethod
    def here(token: str, force: bool) -> Owner:
        """This process."""
        return Owner(token=token, host=platform.node(), boot=_boot(), pid=os.getpid(), force=force)

    def is_of_another_machine(self) -> bool:
        """Whether its lock means nothing here: neither the same kernel nor an earlier run of the same host."""
        return self.boot != _boot() and self.host != platform.node()


def _boot() -> str:
    """What tells this run of the kernel from all others; empty where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@contextmanager
def alone(parent: Path) -> Iterator[None]:
    """One build at a time begins, is put in its place, or is looked after, among those beside each other in `parent`.

    File systems that cannot lock a folder let them all do so at once.
    """
    handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def take(folder: Path, owner: Owner) -> FileIO:
    """Lock a new folder and write down whose it is."""
    file = FileIO(folder / LOCK, "x+")
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(msgspec.json.encode(owner))
    return file


def take_over(folder: Path) -> FileIO | None:
    """The lock of a folder whose build has died, held; None where it lives or may live, or there is no lock."""
    try:
        file = FileIO(folder / LOCK, "r+")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def sign(file: FileIO, owner: Owner) -> None:
    """Write down who holds a lock now that was another's: in one step, blanks over the rest of what stood there."""
    file.seek(0)
    file.write(msgspec.json.encode(owner).ljust(os.fstat(file.fileno()).st_size))


def owner_of(folder: Path) -> Owner | None:
    """Whose folder it is, by the file in it; None where there is none, or it says nothing."""
    try:
        return msgspec.json.decode((folder / LOCK).read_bytes(), type=Owner)
    except (OSError, ValueError, RecursionError):
        return None
