"""A KB under construction: written beside its place and put there in one step; else gone, or kept to go on with.

The draft is the folder `OUT.building-TOKEN` on the file system of OUT, with a lock in it that dies with its process:
see `lock` and `remains`.
"""

from __future__ import annotations

import io
import secrets
import shutil
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.files.durable import sync
from namesake.kb import verified as known
from namesake.kb.columns.column_files import State
from namesake.kb.columns.declaration import Column, Made
from namesake.kb.columns.npy import BLOCK, header, said, seal
from namesake.kb.manifest import MANIFEST, REJECTS, Manifest
from namesake.kb.publish.clean_exit import lacks_room
from namesake.kb.publish.journal import ASIDE, JOURNAL, Journal, goes_on
from namesake.kb.publish.leftovers import building, replaced, spill_of, unfinished
from namesake.kb.publish.lock import LOCK, Owner, alone, sign, take
from namesake.kb.publish.replace import check_free, put_in_place, remove_draft, remove_kb
from namesake.stops import unstoppable

C = TypeVar("C")


class Draft:
    """A folder that becomes the KB `out` when it is published, and is removed when anything goes wrong before.

    What is finished is kept where somebody stops it, or room is lacking: the same build goes on there.
    """

    def __init__(self, out: Path, force: bool = False, key: str = "") -> None:
        """Draft the KB `out`, which may replace an older one with `force`.

        A build with the same `key` that was stopped left its draft: this one goes on in it.
        """
        self.out = out
        self.force = force
        self.key = key
        self.files: dict[str, str] = {}
        self.finished = False
        self.lock: io.FileIO | None = None
        self._work_in(secrets.token_hex(8))

    def __enter__(self) -> Draft:
        check_free(self.out, self.force)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        try:
            with alone(self.out.parent):
                self._begin()
            self.spill.mkdir(exist_ok=True)
            self.journal = Journal(self.folder, self.key)
            for part in self.journal.sound_parts().values():
                self.files |= part.files
        except BaseException as problem:
            self._leave(problem)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._leave(error)

    def _work_in(self, token: str) -> None:
        self.token, self.folder = token, building(self.out, token)
        self.spill = spill_of(self.folder)

    def _begin(self) -> None:
        """Take over the folder of the same build, if it was stopped, or make a new one; either is locked."""
        if left := unfinished(self.out, self.key):
            token, self.lock = left
            self._work_in(token)
            sign(left[1], Owner.here(token, self.force))
        else:
            self.folder.mkdir()
            self.lock = take(self.folder, Owner.here(self.token, self.force))

    def _leave(self, problem: BaseException | None) -> None:
        """Remove the folder, unless it is finished, or the build was stopped or lacked room and can go on there."""
        with unstoppable():
            no_fault = isinstance(problem, KeyboardInterrupt) or lacks_room(problem)
            if not self.finished and not (no_fault and goes_on(self.folder, self.spill, self.key)):
                remove_draft(self.folder)
            if self.lock:
                self.lock.close()

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
        self.files[name] = said(sha256(content).hexdigest())

    def _write_array(self, name: str, array: npt.NDArray[Any]) -> None:
        hashed = sha256()
        with (self.folder / name).open("wb", buffering=0) as file:
            body = array.data.cast("B") if array.size else memoryview(b"")
            for block in (memoryview(header(array.dtype, len(array))), *_blocks(body)):
                hashed.update(block)
                write_all(file, block)
        self.files[name] = said(hashed.hexdigest())

    def publish(self, manifest: Manifest) -> Manifest:
        """Make everything durable, the manifest last, and put the folder in its place.

        Once the files are durable nothing stops it: what is left to do takes a moment.
        """
        for name in sorted(self.files):
            sync(self.folder / name)
        complete = msgspec.structs.replace(manifest, files=dict(sorted(self.files.items())))
        with unstoppable(), alone(self.out.parent):
            check_free(self.out, self.force)  # it may have appeared while we were building
            for name in (JOURNAL, f"{JOURNAL}{ASIDE}"):
                (self.folder / name).unlink(missing_ok=True)
            shutil.rmtree(self.spill)
            (self.folder / MANIFEST).write_bytes(complete.sealed())
            sync(self.folder / MANIFEST)
            for name in (*self.files, MANIFEST):
                seal(self.folder / name)
            sync(self.folder)
            self.finished = True
            self._put_in_place()
        return complete

    def _put_in_place(self) -> None:
        """Let the KB be known, and where it belongs."""
        names = [name for name in (*self.files, MANIFEST) if name != REJECTS]
        states = {name: State.of((self.folder / name).stat()) for name in names}
        try:
            old = put_in_place(self.folder, self.out, replaced(self.out, self.token))
        except OSError as problem:
            raise NamesakeError(f"{problem}; the new KB is finished and waits in {self.folder}: move it") from None
        known.remember(states)
        (self.out / LOCK).unlink()
        sync(self.out.parent)
        if old:
            remove_kb(old)


def _blocks(body: memoryview) -> list[memoryview]:
    return [body[start : start + BLOCK] for start in range(0, len(body), BLOCK)]


def write_all(file: io.FileIO, block: memoryview) -> None:
    """Write every byte: an unbuffered file may take fewer at a time, and say so instead of raising."""
    while len(block):
        block = block[file.write(block) :]
