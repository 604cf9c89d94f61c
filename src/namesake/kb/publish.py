"""A KB under construction: written beside its place, published by one rename, or gone without a trace.

The draft is the folder `OUT.building-<pid>` on the file system of OUT. It holds a lock that dies with its process,
so a later build can tell the remains of a killed one, and removes them.
"""

from __future__ import annotations

import fcntl
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from namesake.errors import NamesakeError
from namesake.kb.columns import BLOCK
from namesake.kb.declare import Column, Made
from namesake.kb.manifest import MANIFEST, Manifest

LOCK = "lock"
C = TypeVar("C")


class Draft:
    """A folder that becomes the KB `out` when it is published, and is removed when anything goes wrong before."""

    def __init__(self, out: Path, force: bool = False) -> None:
        """Draft the KB `out`, which may replace an older one with `force`."""
        self.out = out
        self.force = force
        self.folder = building(out, str(os.getpid()))
        self.spill = self.folder / "spill"
        self.files: dict[str, str] = {}

    def __enter__(self) -> Draft:
        check_free(self.out, self.force)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.spill.mkdir(parents=True)
            self.lock = (self.folder / LOCK).open("wb")
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.lock.close()
        if self.folder.exists():
            shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, column: Column[C], value: C) -> None:
        """Write a column: one `.npy` file, or two for strings and ragged lists."""
        for name, array in column.arrays(value).items():
            self._write_array(f"{name}.npy", np.ascontiguousarray(array))

    def write_all(self, made: Made) -> None:
        """Write several columns."""
        for column, value in made.items():
            self.write(column, value)

    def holds(self, column: Column[Any]) -> bool:
        """Whether a column has been written."""
        return all(f"{name}.npy" in self.files for name in column.files)

    def write_bytes(self, name: str, content: bytes) -> None:
        """Write a file that is no column."""
        (self.folder / name).write_bytes(content)
        self.files[name] = f"crc32:{isal_zlib.crc32(content):08x}"

    def _write_array(self, name: str, array: npt.NDArray[Any]) -> None:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
        crc = isal_zlib.crc32(header.getvalue())
        with (self.folder / name).open("wb", buffering=0) as file:
            file.write(header.getvalue())
            body = array.data.cast("B") if array.size else memoryview(b"")
            for start in range(0, len(body), BLOCK):
                block = body[start : start + BLOCK]
                crc = isal_zlib.crc32(block, crc)
                write_all(file, block)
        self.files[name] = f"crc32:{crc:08x}"

    def publish(self, manifest: Manifest) -> Manifest:
        """Make everything durable, the manifest last, and put the folder in its place."""
        shutil.rmtree(self.spill)
        for name in sorted(self.files):
            _sync(self.folder / name)
        complete = msgspec.structs.replace(manifest, files=self.files)
        text = msgspec.json.format(msgspec.json.encode(complete), indent=1)
        (self.folder / MANIFEST).write_bytes(text)
        _sync(self.folder / MANIFEST)
        _sync(self.folder)
        self._move_into_place()
        (self.out / LOCK).unlink()
        _sync(self.out.parent)
        return complete

    def _move_into_place(self) -> None:
        """One rename; where an old KB stands in the way, it steps aside first and goes when the new one is in."""
        if not self.out.exists() or not any(self.out.iterdir()):
            self.folder.rename(self.out)
            return
        check_free(self.out, self.force)  # it may have appeared while we were building
        aside = self.out.with_name(f"{self.out.name}.replaced-{os.getpid()}")
        self.out.rename(aside)
        try:
            self.folder.rename(self.out)
        except OSError:
            aside.rename(self.out)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def building(out: Path, mark: str) -> Path:
    """The folder beside `out` where a build with this mark works."""
    return out.with_name(f"{out.name}.building-{mark}")


def check_free(out: Path, force: bool) -> None:
    """Refuse to overwrite: a KB only with `force`, anything else never."""
    if out.is_symlink() and not out.exists():
        raise NamesakeError(f"{out} is a link to nowhere: choose another --out")
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / MANIFEST).is_file():
        raise NamesakeError(f"{out} exists and is no KB: choose another --out")
    if not force:
        raise NamesakeError(f"{out} exists: choose another --out, or replace it with --force")


def leftovers(out: Path) -> Iterator[Path]:
    """Folders of earlier builds of `out` whose process has died: their lock is free."""
    if not out.parent.is_dir():
        return
    for folder in sorted(out.parent.glob(f"{out.name}.building-*")):
        try:
            with (folder / LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            yield folder  # killed before it held the lock
        except OSError:
            continue  # a build at work
        else:
            yield folder


def clear_leftovers(out: Path) -> list[Path]:
    """Remove what killed builds of `out` left, and say which folders that were."""
    found = list(leftovers(out))
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def write_all(file: io.FileIO, block: memoryview) -> None:
    """Write every byte: an unbuffered file may take fewer at a time, and say so instead of raising."""
    while len(block):
        block = block[file.write(block) :]


def _sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
