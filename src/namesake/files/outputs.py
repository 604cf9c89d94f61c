"""Output files that appear complete or not at all and never replace an input, and journals of finished work.

A journal is a file of JSON lines, which one process at a time holds and only appends to. A line that was being written
when the process was killed is cut off before the next line is added, and its work is done again.
"""

import bz2
import ctypes
import errno
import fcntl
import os
import re
import secrets
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, Generic, Self, TypeVar, cast

import msgspec
import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files.lines import STDIN
from namesake.machine import real_path


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
            held = os.fstat(self._file.fileno())
            with suppress(OSError):  # a file system without locks
                if not try_lock(self._file.fileno()):
                    raise NamesakeError(busy)
            if identity(path) != (held.st_dev, held.st_ino):  # another process has removed it in the meantime
                raise NamesakeError(busy)
            self.entries: list[E] = []
            self._end = 0
            decoder = msgspec.json.Decoder(kind)
            for line in self._file:  # up to the first line that is not an entry
                try:
                    entry = decoder.decode(line)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    break
                if not line.endswith(b"\n"):
                    break
                self.entries.append(entry)
                self._end += len(line)
        except BaseException:
            self._file.close()
            raise
        self._synced = 0.0

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


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors of a disk that accepts no more data


def out_of_space(problem: BaseException | None) -> bool:
    """Whether the cause is a full disk or a lack of memory."""
    return isinstance(problem, MemoryError) or (isinstance(problem, OSError) and problem.errno in FULL)


PARTIAL = re.compile(r"\.namesake-[0-9a-f]{16}\.partial")
"""Names of temporary files. No other file is ever removed."""


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_place(path: Path) -> Path:
    """The path, or what a link there leads to; refuse a place for no file, or a device, which a file would replace."""
    place = real_path(path) if path.is_symlink() else path
    if not place.parent.is_dir():
        raise NamesakeError(f"{place.parent}: no such folder; create it to write {path}")
    if place.is_dir():
        raise NamesakeError(f"{path} is a folder, not a file to write")
    if path.exists() and not path.is_file():
        raise NamesakeError(f"{path} is a device or a pipe, not a file to write; - is standard output")
    return place


@contextmanager
def published(path: Path, tidy: bool = True) -> Iterator[Path]:
    """A temporary file that replaces `path`, or the file that a link leads to, when the block succeeds."""
    place = check_place(path)
    # The name is chosen before the file is created, so that an interrupt at any moment finds what to remove.
    partial, file = place.parent / f".namesake-{secrets.token_hex(8)}.partial", None
    try:
        if tidy:  # temporary files of killed runs are removed
            remove_stale(place.parent)
        while file is None or not os.fstat(file).st_nlink:  # once more if it was removed before it was locked
            if file is not None:
                os.close(file)
            file = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
            wait_for_lock(file)
        yield partial
        partial.replace(place)
    except OSError as problem:
        raise NamesakeError(f"{path} cannot be written ({problem.strerror or problem})") from None
    finally:
        partial.unlink(missing_ok=True)
        if file is not None:
            os.close(file)


def remove_stale(folder: Path) -> None:
    """Remove the temporary files of killed runs. Files that cannot be read or removed stay."""
    try:
        found = [folder / name for name in os.listdir(folder) if PARTIAL.fullmatch(name)]  # noqa: PTH208 - of many files
    except OSError:
        return
    for path in found:
        with suppress(OSError):
            file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(file, "rb"):
                if S_ISREG(os.fstat(file).st_mode) and try_lock(file):
                    path.unlink(missing_ok=True)


def create(path: Path, suffix: str) -> IO[bytes]:
    """A file opened for writing, compressed by `suffix` (`path` may be a temporary name without it)."""
    if suffix == ".gz":
        file = path.open("wb")
        from isal import igzip

        # Its header holds neither a time nor a name: the same content gives the same bytes.
        packed: Any = igzip.IGzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0)  # type: ignore[no-untyped-call]
        packed.myfileobj = file  # closed together with it
        return cast(IO[bytes], packed)
    if suffix == ".bz2":
        return bz2.open(path, "wb")
    if suffix == ".zst":
        return cast(IO[bytes], pa.output_stream(path, compression="zstd"))
    return path.open("wb")


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """A file for writing, compressed by its suffix, that appears when the block succeeds; `-` is standard output."""
    if str(path) != STDIN:
        with published(path) as partial, create(partial, path.suffix) as file:
            yield file
        return
    if sys.stdout is None:
        raise NamesakeError("standard output is closed: name a file with -o")
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def keep_apart(outputs: Iterable[str | Path], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse an output that is an input, lies in an input folder such as a KB, or is the same file as another one."""
    taken: dict[object, tuple[Path, bool]] = {}
    for path in map(Path, inputs):
        if str(path) != STDIN and path.exists():
            taken |= dict.fromkeys((real_path(path), identity(path)), (path, True))
    for out in map(Path, outputs):
        identities = (real_path(out), identity(out))
        for one in identities:
            if one in taken:
                other, is_read = taken[one]
                overwrites = f"{out} would overwrite {other}, which is read: name another file"
                raise NamesakeError(overwrites if is_read else f"{out} and {other} are one file: give them two names")
        for folder in real_path(out).parents:
            if folder in taken:
                raise NamesakeError(f"{out} lies in {taken[folder][0]}, which is read: name another folder")
        taken |= dict.fromkeys(identities, (out, False))


def identity(path: Path) -> object:
    """The device and inode of a file, which can have several paths; the path if there is no such file."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return path


RENAME_EXCHANGE, AT_FDCWD = 2, -100  # of Linux
CANNOT_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def is_folder(path: Path) -> bool:
    """Whether it is a folder itself, not a link to one."""
    return path.is_dir() and not path.is_symlink()


def is_vacant(out: Path) -> bool:
    """Whether nothing is at `out`, or an empty folder."""
    return not out.exists() or (out.is_dir() and not any(out.iterdir()))


def put_in_place(folder: Path, out: Path, aside: Path) -> Path | None:
    """Make `folder` the one at `out`, in one step if the system can; returns where the old one is now."""
    if is_vacant(out):
        folder.rename(out)
        return None
    if exchange(folder, out):
        return folder
    out.rename(aside)  # a system that cannot exchange two folders needs two renames
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
