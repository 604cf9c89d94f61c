"""Putting a finished KB in its place, and removing what is ours, and nothing else, afterwards."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.kb.manifest import MANIFEST, listed_files
from namesake.kb.publish.lock import LOCK

EXCHANGE = 2  # RENAME_EXCHANGE of Linux
HERE = -100  # AT_FDCWD
CANNOT = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def check_free(out: Path, force: bool) -> None:
    """Refuse to overwrite: a KB only with `force`, anything else never."""
    if out.is_symlink() and not out.exists():
        raise NamesakeError(f"{out} is a link to nowhere: choose another `out=`")
    if is_vacant(out):
        return
    files = listed_files(out)
    if files is None:
        raise NamesakeError(f"{out} exists and is no KB: choose another `out=`")
    if not force:
        raise NamesakeError(f"{out} exists: choose another `out=`, or replace it with `force=True`")
    if strange := strangers(out, files):
        raise NamesakeError(f"{out} is not replaced, as {strange[0]} in it is no part of the KB: move it elsewhere")


def is_vacant(out: Path) -> bool:
    """Whether nothing is at `out`, or an empty folder."""
    return not out.exists() or (out.is_dir() and not any(out.iterdir()))


def strangers(folder: Path, files: dict[str, str]) -> list[str]:
    """Names in the folder of a KB that are no part of it."""
    return sorted({path.name for path in folder.iterdir()} - files.keys() - {MANIFEST, LOCK})


def put_in_place(folder: Path, out: Path, aside: Path) -> Path | None:
    """Make `folder` the one at `out`; returns where the KB that was there is now.

    In one step, so that `out` is the old KB or the new one at any moment. Where the system cannot exchange two
    folders, the old one steps aside first, and `remains.settle` puts right what a kill in between leaves.
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
    """Let two paths change places in one step; False where the system or the file system cannot."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    if function(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(other))


def remove_kb(folder: Path) -> None:
    """Remove the files that a KB lists, the manifest last, and the folder if nothing else is in it."""
    files = listed_files(folder)
    with suppress(OSError):
        for name in (*(files or ()), LOCK, MANIFEST) if files is not None else ():
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def remove_draft(folder: Path) -> None:
    """Remove the folder of a build, its mark last."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name != LOCK:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()
