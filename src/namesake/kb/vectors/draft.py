"""Vectors being made: `KB/vectors/KIND.building`, put in its place whole; what a kill leaves is gone on with."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from io import FileIO
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.kb.columns.column_files import State
from namesake.kb.columns.npy import header, said, seal
from namesake.kb.manifest import MANIFEST
from namesake.kb.publish.lock import LOCK
from namesake.kb.publish.replace import put_in_place
from namesake.kb.vectors.stored import FOLDER, Kind, VectorManifest, has_vectors, is_folder, same_kb
from namesake.kb.verified import remember
from namesake.stops import unstoppable

if TYPE_CHECKING:
    from namesake.kb.store import KB

PLAN, DONE, TEXTS = "plan.json", "done", "texts"


class Plan(msgspec.Struct, frozen=True):
    """What a run is to make; a later run that is to make the same goes on where it was stopped."""

    kb: str
    made: dict[str, str]
    texts: int
    dimension: int


class VectorDraft:
    """The folder in which vectors of one kind are made."""

    def __init__(self, kb: KB, kind: Kind, plan: Plan, force: bool) -> None:
        self.kb, self.kind, self.plan, self.force = kb, kind, plan, force
        self.out = kb.path / FOLDER / kind
        self.folder = self.out.with_name(f"{kind}.building")
        self.files: dict[str, str] = {}

    def __enter__(self) -> VectorDraft:
        if has_vectors(self.kb, self.kind) and not self.force:
            raise NamesakeError(f"{self.out} exists: replace it with `force=True`")
        for path in (self.folder.parent, self.folder):
            if os.path.lexists(path) and not path.is_dir():
                raise NamesakeError(f"{path} is in the way: remove it")
        self.folder.mkdir(parents=True, exist_ok=True)
        if not is_folder(self.folder):
            raise NamesakeError(f"{self.folder} is in the way: remove it")
        self.lock = FileIO(self.folder / LOCK, "a+")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.lock.close()
            raise NamesakeError(f"{self.folder}: another run makes these vectors") from None
        if self._planned() != self.plan:
            for path in self.folder.iterdir():
                if path.name != LOCK:
                    path.unlink()
            (self.folder / PLAN).write_bytes(msgspec.json.encode(self.plan))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.lock.close()

    def _planned(self) -> Plan | None:
        try:
            return msgspec.json.decode((self.folder / PLAN).read_bytes(), type=Plan)
        except (OSError, ValueError):
            return None

    # texts, as far as they are encoded
    @property
    def done(self) -> int:
        """How many texts are encoded, for certain: their vectors are on the disk."""
        try:
            done, held = int((self.folder / DONE).read_bytes()), (self.folder / TEXTS).stat().st_size
        except (OSError, ValueError):
            return 0
        return done if 0 <= done <= self.plan.texts and held >= done * self.plan.dimension * 2 else 0

    def append(self, done: int, vectors: npt.NDArray[np.float16]) -> None:
        """Add the vectors of the texts from `done` on, and remember that they are there."""
        with (self.folder / TEXTS).open("r+b" if (self.folder / TEXTS).exists() else "w+b") as file:
            file.seek(done * self.plan.dimension * 2)
            file.write(vectors.tobytes())
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        fresh = self.folder / f"{DONE}.new"
        fresh.write_text(str(done + len(vectors)))
        fresh.replace(self.folder / DONE)

    def encoded(self) -> npt.NDArray[np.uint16]:
        """The vectors of all texts, as the bits of halves."""
        if not self.plan.texts:
            return np.zeros((0, self.plan.dimension), np.uint16)
        shape = (self.plan.texts, self.plan.dimension)
        return np.memmap(self.folder / TEXTS, np.uint16, "c", shape=shape)

    # columns
    def write(self, name: str, dtype: np.dtype[Any], size: int, blocks: Iterable[npt.NDArray[Any]]) -> None:
        """Write a column of `size` numbers, given in blocks."""
        hashed = sha256()
        with (self.folder / f"{name}.npy").open("wb") as file:
            contents = (np.ascontiguousarray(block, dtype).tobytes() for block in blocks)
            for raw in chain([header(dtype, size)], contents):
                hashed.update(raw)
                file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        self.files[f"{name}.npy"] = said(hashed.hexdigest())

    def publish(self, entities: int, values: int = 0, pairs: int = 0) -> VectorManifest:
        """Write the manifest, and put the folder in its place in one step."""
        manifest = VectorManifest(
            kind=self.kind,
            kb=self.plan.kb,
            made=self.plan.made,
            dimension=self.plan.dimension,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            files=dict(sorted(self.files.items())),
            entities=entities,
            values=values,
            pairs=pairs,
        )
        same_kb(self.kb)
        with unstoppable():
            for name in (PLAN, DONE, TEXTS):
                (self.folder / name).unlink(missing_ok=True)
            (self.folder / MANIFEST).write_bytes(manifest.sealed())
            for name in (*self.files, MANIFEST):
                seal(self.folder / name)
            states = {name: State.of((self.folder / name).stat()) for name in (*self.files, MANIFEST)}
            (self.folder / LOCK).unlink()
            old = put_in_place(self.folder, self.out, self.out.with_name(f"{self.kind}.building.old"))
            remember(states)
            if old is not None:
                shutil.rmtree(old)
        return manifest


def halves(vectors: npt.NDArray[np.float32], what: str) -> npt.NDArray[np.float16]:
    """Vectors in half precision; NamesakeError where a number is not finite or too large for it."""
    with np.errstate(over="ignore"):
        narrow = vectors.astype(np.float16)
    if not np.isfinite(narrow).all():
        raise NamesakeError(f"{what} made a vector that is not finite, or too large for half precision")
    return narrow
