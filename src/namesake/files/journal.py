"""A journal: a file of JSON lines that records finished work. One process at a time holds it, and only appends to it.

A line that was being written when the process was killed is cut off before the next line is added. The work that it
would have recorded is done again.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, Self, TypeVar

import msgspec

from namesake.errors import NamesakeError
from namesake.stops import stoppable

if TYPE_CHECKING:
    from namesake.files.draft import FolderDraft


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


E = TypeVar("E")

SYNC_EVERY = 1.0
"""Seconds between two waits for the disk, for entries that may be lost in a power cut."""


class Journal(Generic[E]):
    """The journal in the file `path`, locked until it is closed."""

    def __init__(self, path: Path, kind: Any, busy: str) -> None:
        """Open or create the journal of entries of the type `kind`; `busy` is the error if another process holds it."""
        self.path = path
        self._file: IO[bytes] = os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666), "r+b")
        try:
            if not self._is_ours():
                raise NamesakeError(busy)
            self.entries = self._read(msgspec.json.Decoder(kind))
        except BaseException:
            self._file.close()
            raise
        self._synced = 0.0

    def _is_ours(self) -> bool:
        """Lock the file; False if another process holds it, or has removed it in the meantime."""
        with suppress(OSError):  # a file system without locks
            if not try_lock(self._file.fileno()):
                return False
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False

    def _read(self, decoder: msgspec.json.Decoder[E]) -> list[E]:
        """The entries of earlier runs, up to the first line that is not one."""
        entries: list[E] = []
        self._end = 0
        for line in self._file:
            try:
                entry = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                break
            if not line.endswith(b"\n"):
                break
            entries.append(entry)
            self._end += len(line)
        return entries

    def add(self, entry: E, wait: bool = True) -> None:
        """Append an entry. It is on the disk when this returns or, without `wait`, about a second later."""
        self._file.seek(self._end)
        self._file.truncate()
        self._file.write(msgspec.json.encode(entry) + b"\n")
        self._file.flush()
        self._end = self._file.tell()
        now = time.monotonic()
        if wait or now - self._synced >= SYNC_EVERY:
            os.fsync(self._file.fileno())
            self._synced = now

    def clear(self) -> None:
        """Forget all entries."""
        self.entries, self._end = [], 0
        self._file.truncate(0)

    def remove(self) -> None:
        """Delete the file. The lock is held until the journal is closed."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk that accepts no more data."""


class HinderedError(NamesakeError):
    """The machine is the cause, not the input: the same command may succeed later."""


def lacks_room(problem: BaseException | None) -> bool:
    """Whether the cause is a full disk or a lack of memory."""
    return isinstance(problem, MemoryError) or (isinstance(problem, OSError) and problem.errno in FULL)


@contextmanager
def clean_exit(draft: FolderDraft) -> Iterator[None]:
    """Handle SIGTERM as Ctrl-C, and turn errors of the disk and the memory into one line that says what is kept."""
    try:
        with stoppable():
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; {_left(draft)}") from None
    except OSError as problem:
        where = problem.filename or draft.out
        if lacks_room(problem):
            raise HinderedError(f"{where}: the disk is full: make room and try again; {_left(draft)}") from None
        raise HinderedError(f"{where}: {problem.strerror or problem}; {draft.out} was not built") from None
    except MemoryError:
        raise HinderedError(f"out of memory, and more of it is needed; {_left(draft)}") from None


def _left(draft: FolderDraft) -> str:
    if not draft.folder.exists():
        return f"{draft.out} was not built and nothing is left of it"
    return f"finished stages are kept in {draft.folder}: the same command resumes there, or delete it"
