"""Output files that appear complete or not at all, and that never replace an input."""

from __future__ import annotations

import bz2
import ctypes
import errno
import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, cast

import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files.compressed import STDIN
from namesake.files.journal import try_lock, wait_for_lock

PARTIAL = re.compile(r"\.namesake-[0-9a-f]{16}\.partial")
"""Names of temporary files. No other file is ever removed."""


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_place(path: Path) -> None:
    """Refuse a path where no file can be written, or a device or pipe, which a file would replace.

    Call it before long work that ends with writing the file.
    """
    place = _behind_links(path)
    if not place.parent.is_dir():
        raise NamesakeError(f"{place.parent}: no such folder; create it to write {path}")
    if place.is_dir():
        raise NamesakeError(f"{path} is a folder, not a file to write")
    if path.exists() and not path.is_file():
        raise NamesakeError(f"{path} is a device or a pipe, not a file to write; - is standard output")


@contextmanager
def published(path: Path, tidy: bool = True) -> Iterator[Path]:
    """A temporary file that replaces `path` when the block succeeds, and is removed when it fails.

    If `path` is a link, the file that it leads to is written, and the link stays. Temporary files of killed runs in
    the same folder are removed, unless `tidy` is False.
    """
    check_place(path)
    place = _behind_links(path)
    partial = _Partial(place.parent)
    try:
        if tidy:
            remove_stale(place.parent)
        partial.claim()
        yield partial.path
        partial.path.replace(place)
    except OSError as problem:
        raise NamesakeError(f"{path} cannot be written ({problem.strerror or problem})") from None
    finally:
        partial.release()


def _behind_links(path: Path) -> Path:
    """The file that a link leads to; any other path unchanged."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


class _Partial:
    """A temporary file, locked while its process lives.

    Its name is chosen before it is created, so that an interrupt at any moment finds what to remove.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / f".namesake-{secrets.token_hex(8)}.partial"
        self._file: int | None = None

    def claim(self) -> None:
        """Create and lock the file; once more if another process removed it before it was locked."""
        while self._file is None or not os.fstat(self._file).st_nlink:
            if self._file is not None:
                os.close(self._file)
            self._file = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
            wait_for_lock(self._file)

    def release(self) -> None:
        """Unlock the file, and remove it if it still has its temporary name."""
        self.path.unlink(missing_ok=True)
        if self._file is not None:
            os.close(self._file)


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
    """A file opened for writing, compressed by `suffix` (`path` may be a temporary name without it).

    The same content gives the same bytes: the gzip header holds neither a time nor a name.
    """
    if suffix == ".gz":
        file = path.open("wb")
        from isal import igzip

        packed: Any = igzip.IGzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0)  # type: ignore[no-untyped-call]
        packed.myfileobj = file  # closed together with it
        return cast(IO[bytes], packed)
    if suffix == ".bz2":
        return bz2.open(path, "wb")
    if suffix == ".zst":
        return cast(IO[bytes], pa.output_stream(path, compression="zstd"))
    return path.open("wb")


@contextmanager
def to_stdout() -> Iterator[IO[bytes]]:
    """Standard output for bytes; it stays open."""
    if sys.stdout is None:
        raise NamesakeError("standard output is closed: name a file with -o")
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def keep_apart(outputs: Iterable[str | Path], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse an output that is an input, lies in an input folder such as a KB, or is the same file as another output.

    Files are compared by device and inode, because one file can have several paths. Call it before anything is written.
    """
    taken: dict[object, tuple[Path, bool]] = {}
    for path in map(Path, inputs):
        if str(path) != STDIN and path.exists():
            taken |= dict.fromkeys(_identities(path), (path, True))
    for out in map(Path, outputs):
        identities = _identities(out)
        for identity in identities:
            if identity in taken:
                other, is_read = taken[identity]
                overwrites = f"{out} would overwrite {other}, which is read: name another file"
                raise NamesakeError(overwrites if is_read else f"{out} and {other} are one file: give them two names")
        for folder in _resolved(out).parents:
            if folder in taken:
                raise NamesakeError(f"{out} lies in {taken[folder][0]}, which is read: name another folder")
        taken |= dict.fromkeys(identities, (out, False))


def _identities(path: Path) -> list[object]:
    """The path without links and, if the file exists, its device and inode."""
    resolved = _resolved(path)
    try:
        found = resolved.stat()
    except OSError:
        return [resolved]
    return [resolved, (found.st_dev, found.st_ino)]


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle, a name that is too long
        return path.absolute()


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
