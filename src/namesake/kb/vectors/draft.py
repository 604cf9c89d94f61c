"""Vectors under construction: `KB/vectors/KIND.building`, which becomes `KB/vectors/KIND` when all are there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.files.draft import FolderDraft
from namesake.kb.check import remember
from namesake.kb.columns.column_files import header
from namesake.kb.manifest import MANIFEST
from namesake.kb.vectors.stored import FOLDER, Kind, VectorManifest, has_vectors, read_vector_manifest, same_kb

if TYPE_CHECKING:
    from namesake.kb.store import KB

TEXTS = "texts"
"""The stage, and the file, of encoded texts."""


class Plan(msgspec.Struct, frozen=True):
    """What a run is to make. A stopped run with the same plan is resumed."""

    kb: str
    made: dict[str, str]
    texts: int
    dimension: int


class VectorDraft(FolderDraft):
    """The folder in which vectors of one kind are made."""

    def __init__(self, kb: KB, kind: Kind, plan: Plan, force: bool) -> None:
        super().__init__(kb.path / FOLDER / kind, force, sha256(msgspec.json.encode(plan)).hexdigest())
        self.kb, self.kind, self.plan = kb, kind, plan

    def listed(self, folder: Path) -> dict[str, str] | None:
        """The digest of each file of a folder of vectors; None if it is not one, or is damaged."""
        try:
            return read_vector_manifest(folder, "").files
        except NamesakeError:
            return None

    def check_free(self, force: bool) -> None:
        """Refuse to replace vectors without `force`."""
        if has_vectors(self.kb, self.kind) and not force:
            raise NamesakeError(f"{self.out} exists: replace it with `force=True`")

    def remove_old(self, folder: Path) -> None:
        """Remove vectors that were replaced, damaged ones included."""
        super().remove_old(folder) if self.listed(folder) is not None else shutil.rmtree(folder)

    def keeps(self, problem: BaseException | None) -> bool:
        """Keep the encoded texts, whatever the problem is."""
        return True

    @property
    def done(self) -> int:
        """The number of texts that are encoded and on the disk."""
        return int(self.stages[TEXTS].facts) if TEXTS in self.stages else 0

    def append(self, done: int, vectors: npt.NDArray[np.float16]) -> None:
        """Add the vectors of the texts from `done` on, and record it."""
        row = self.plan.dimension * 2
        with (self.folder / TEXTS).open("ab") as file:
            file.truncate(done * row)
            file.write(vectors.tobytes())
            file.flush()
            os.fsync(file.fileno())
        now = done + len(vectors)
        self.note(TEXTS, now, sizes={TEXTS: now * row})

    def encoded(self) -> npt.NDArray[np.uint16]:
        """The vectors of all texts, as the bits of half-precision numbers."""
        shape = (self.plan.texts, self.plan.dimension)
        return np.memmap(self.folder / TEXTS, np.uint16, "c", shape=shape) if shape[0] else np.zeros(shape, np.uint16)

    def write(self, name: str, dtype: np.dtype[Any], size: int, blocks: Iterable[npt.NDArray[Any]]) -> None:
        """Write a column of `size` numbers, given in blocks."""
        contents = (np.ascontiguousarray(block, dtype).tobytes() for block in blocks)
        self.write_blocks(f"{name}.npy", chain([header(dtype, size)], contents))

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
        self.put(manifest.sealed())
        return manifest

    def sealed(self) -> None:
        """Remember the state of the files, so that opening the vectors does not check them again."""
        remember({name: (self.folder / name).stat() for name in (*self.files, MANIFEST)})


def halves(vectors: npt.NDArray[np.float32], what: str) -> npt.NDArray[np.float16]:
    """Vectors in half precision; NamesakeError if a number is not finite or too large."""
    with np.errstate(over="ignore"):
        narrow = vectors.astype(np.float16)
    if not np.isfinite(narrow).all():
        raise NamesakeError(f"{what} made a vector that is not finite, or too large for half precision")
    return narrow
