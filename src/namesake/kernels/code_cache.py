"""Compiled code on disk: which folders hold it, which of them are safe, and when it is out of date.

Code is in a folder named after a digest of the sources of all kernels, so a change of a function reaches every kernel
that it is compiled into. It is stored as pickles, and loading a pickle can run anything. So code is loaded only from
files that root or this user has written, in folders to which nobody else can write.
"""

import os
import sys
import time
from functools import cache
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

import llvmlite
import numba
from numba.core.registry import cpu_target

from namesake.machine import cache_folder, cannot_write, danger, make_private, others_write, real_path, warn_once

ROOT = Path(__file__).parent
NAMED = "NUMBA_CACHE_DIR"  # the variable that names the folder for compiled code
VERSIONS = f"{numba.__version__} {llvmlite.__version__} {sys.implementation.cache_tag}{sys.abiflags}"
DAYS_KEPT = 30
"""Days that code of other versions of Namesake is kept in a folder that they share."""


@cache
def folders() -> tuple[Path, ...]:
    """The folders in which compiled code is looked for: NUMBA_CACHE_DIR or beside the sources; the user's if need be.

    New code goes into the last. The first is read, if it is safe, also where this user may not write to it.
    """
    named, beside = os.environ.get(NAMED), ROOT / "__pycache__"
    first = real_path(Path(named or beside))
    problem = make_private(first) if named else danger(first) or cannot_write(beside if beside.exists() else ROOT)
    if not problem:
        return (first,)
    is_read = first.is_dir() and not danger(first)
    if named and not is_read:
        warn_once(f"{NAMED} is not used: {problem}")
    own = cache_folder() / "kernels"
    return (first, own) if is_read else (own,)


@cache
def digest() -> str:
    """A digest of what compiled code depends on, the sources of all kernels and the versions, in 16 letters."""
    hashed = blake2b(VERSIONS.encode(), digest_size=8)
    for path in sorted((*ROOT.glob("*.py"), *ROOT.glob("*/*.py"))):
        hashed.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


class CodeFile:
    """The file of a kernel, compiled for one signature and one kind of processor."""

    def __init__(self, module: str, name: str, signature: object) -> None:
        key = blake2b(f"{module} {signature} {_target()}".encode(), digest_size=8).hexdigest()
        self.path = f"{digest()}/{module.rpartition('.')[2]}.{name}-{key}.obj"

    def found(self) -> str | None:
        """Its path in the first folder where it is there and safe to load; None if there is none."""
        return next(filter(_is_safe, (f"{folder}/{self.path}" for folder in folders())), None)

    def write(self, data: bytes) -> None:
        """Keep compiled code. Where that fails, it is compiled again next time."""
        path = folders()[-1] / self.path
        draft = path.with_name(f"{path.name}.{uuid4().hex[:16]}.tmp")
        try:
            for at in (path.parent.parent, path.parent):
                at.mkdir(0o755, exist_ok=True)
                if others_write(found := at.stat()):
                    at.chmod(found.st_mode & ~0o022)
            with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644), "wb") as file:
                file.write(data)
            draft.replace(path)
        except OSError as problem:
            draft.unlink(missing_ok=True)
            warn_once(f"compiled code cannot be kept in {folders()[-1]} ({problem.strerror})")


@cache
def _target() -> str:
    """The processor, and what the user has set of how to compile for it."""
    return f"{cpu_target.target_context.codegen().magic_tuple()} {(numba.config.OPT, numba.config.BOUNDSCHECK)}"


def prune() -> None:
    """Remove folders of code that this version does not use, after a month where several versions share a folder."""
    folder = folders()[-1]
    oldest = time.time() - (0 if folder.parent == ROOT else DAYS_KEPT * 24 * 3600)
    for found in folder.glob("[0-9a-f]" * 16):
        if found.name != digest() and found.stat().st_mtime < oldest:
            rmtree(found, ignore_errors=True)


def _is_safe(path: str) -> bool:
    """Whether a file in one of `folders()` can be read, and none but root and this user can have written it."""
    if not os.access(path, os.R_OK):
        return False
    trusted = (0, os.geteuid())
    for _ in range(3):  # itself, the folder of its module, and the one of `folders()`
        found = os.stat(path)  # noqa: PTH116 - a Path takes four times as long, for many files
        if found.st_uid not in trusted or others_write(found):
            return False
        path = os.path.dirname(path)  # noqa: PTH120
    return True
