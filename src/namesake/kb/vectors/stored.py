"""Vectors of a KB: `KB/vectors/text`, made by `kb embed`, and `KB/vectors/walk`, made by `kb walk`.

Each is a folder of mapped columns in half precision, with a manifest that names the KB and the encoder. Vectors of
another KB and numbers that are not finite are refused. docs/vectors.md describes the layout.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.files.digests import damaged_file
from namesake.files.draft import FolderDraft, Stage
from namesake.files.outputs import sync
from namesake.kb.check import is_known, remember
from namesake.kb.columns import Columns, header
from namesake.kb.manifest import LARGEST, MANIFEST, Sealed, read_manifest

if TYPE_CHECKING:
    from namesake.kb.store import KB

FOLDER = "vectors"
FORMAT = "namesake vectors"
VERSION = 1

Kind = Literal["text", "walk"]
KINDS: tuple[Kind, ...] = ("text", "walk")
MADE_BY = {"text": "namesake kb embed {} --encoder ENCODER", "walk": "namesake kb walk {}"}

ENTITY, VALUE, PAIR = "entity.vector", "value.vector", "pair.vector"
HALF, INT32 = np.dtype(np.float16), np.dtype(np.int32)
TEXTS = "texts"  # the stage, and the file, of encoded texts in a draft
BLOCK = 1 << 22  # numbers checked at a time

Halves = npt.NDArray[np.uint16]  # half-precision numbers as 16-bit integers; kernels convert them


class VectorManifest(Sealed, frozen=True, kw_only=True):
    """The KB that vectors belong to, how they were made, and the digest of every file."""

    format: str = FORMAT
    version: int = VERSION
    kind: Kind
    kb: str  # the digest of the KB's manifest
    made: dict[str, str]
    """For text: `encoder`, its `digest`, `long` (chunks or truncate). For walks: the settings and the seed."""
    dimension: int
    entities: int
    values: int = 0
    pairs: int = 0
    created: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    digest: str = ""

    @property
    def columns(self) -> dict[str, tuple[np.dtype[Any], int]]:
        """Type and number of values of every file."""
        entities = {ENTITY: (HALF, self.entities * self.dimension)}
        if self.kind == "walk":
            return entities
        return entities | {VALUE: (HALF, self.values * self.dimension), PAIR: (INT32, self.pairs)}


@dataclass(frozen=True)
class Vectors:
    """One kind of a KB's vectors, mapped. A row of zeros is an entity without a vector."""

    manifest: VectorManifest
    entities: Halves  # a row for each entity
    values: Halves  # a unit vector for each distinct text of a statement's value; empty for walks
    pair_rows: npt.NDArray[np.int32]  # the row of `values` for each pair, -1 if it has none; empty for walks

    def value(self, row: int) -> npt.NDArray[np.float32]:
        """The unit vector of a value's text."""
        return wide(self.values[row])


def wide(vectors: Halves) -> npt.NDArray[np.float32]:
    """Half-precision numbers in single precision."""
    return np.asarray(vectors.view(np.float16), np.float32)


def has_vectors(kb: KB, kind: Kind) -> bool:
    """Whether there are vectors of a kind in the KB's folder, valid or not."""
    return (kb.path / FOLDER / kind / MANIFEST).exists()


def open_vectors(kb: KB, kind: Kind, verify: bool = False) -> Vectors:
    """A KB's vectors, checked at first and with `verify`; NamesakeError names the problem, or how to make them."""
    folder = kb.path / FOLDER / kind
    again = f"make them again with `{MADE_BY[kind].format(kb.path)} --force`"
    if not has_vectors(kb, kind):
        raise NamesakeError(f"{kb.path} has no {kind} vectors: make them with `{MADE_BY[kind].format(kb.path)}`")
    manifest = read_vector_manifest(folder, again)
    if manifest.kind != kind or manifest.kb != kb.manifest.digest:
        raise NamesakeError(f"{folder} has the vectors of another KB, or of an earlier build of this one: {again}")
    if manifest.entities != len(kb) or (kind == "text" and manifest.pairs != len(kb.pair_value)):
        raise NamesakeError(f"{folder / MANIFEST} is damaged (its counts are not the KB's): {again}")
    columns = Columns(folder)
    arrays: dict[str, npt.NDArray[Any]] = {VALUE: np.zeros(0, HALF), PAIR: np.zeros(0, INT32)}
    for name, (dtype, size) in manifest.columns.items():
        try:
            arrays[name] = columns.array(name, dtype)
        except NamesakeError as problem:
            raise NamesakeError(str(problem).replace("build the KB again", again)) from None
        if len(arrays[name]) != size:
            raise NamesakeError(f"{folder / name}.npy is damaged (its length is not what {MANIFEST} says): {again}")
    states = columns.opened | {MANIFEST: (folder / MANIFEST).stat()}
    if verify or not is_known(states):
        _read_through(folder, manifest, arrays, again)
        remember(states)
    kb.watched.append(columns)
    entities, values = (arrays[name].view(np.uint16).reshape(-1, manifest.dimension) for name in (ENTITY, VALUE))
    return Vectors(manifest, entities, values, arrays[PAIR])


def read_vector_manifest(folder: Path, again: str) -> VectorManifest:
    """The manifest of a folder of vectors."""
    try:
        raw = (folder / MANIFEST).read_bytes()[:LARGEST]
        manifest = msgspec.json.decode(raw, type=VectorManifest)
        whole = manifest.sealed() == raw and manifest.format == FORMAT and manifest.version == VERSION
    except (OSError, ValueError, RecursionError) as problem:
        raise NamesakeError(f"{folder / MANIFEST} is damaged ({problem}): {again}") from None
    if not whole or manifest.dimension < 1:
        raise NamesakeError(f"{folder / MANIFEST} is damaged (its digest differs), or of another version: {again}")
    return manifest


def _read_through(folder: Path, manifest: VectorManifest, arrays: dict[str, npt.NDArray[Any]], again: str) -> None:
    """Refuse files that differ from their digests, numbers that are not finite, and rows that do not exist."""
    for name, array in arrays.items():
        blocks = (array[at : at + BLOCK] for at in range(0, len(array), BLOCK))
        if array.dtype == HALF and not all(np.isfinite(block).all() for block in blocks):
            raise NamesakeError(f"{folder / name}.npy contains a number that is not finite: {again}")
    if arrays[PAIR].min(initial=-1) < -1 or arrays[PAIR].max(initial=-1) >= manifest.values:
        raise NamesakeError(f"{folder / PAIR}.npy is damaged (it names rows that do not exist): {again}")
    listed = {f"{name}.npy": manifest.files.get(f"{name}.npy", "") for name in manifest.columns}
    if wrong := damaged_file(folder, listed):
        raise NamesakeError(f"{folder / wrong}: {again}")


def verify_vectors(kb: KB) -> None:
    """Check all vectors in a KB's folder, and that it contains nothing else except drafts."""
    folder = kb.path / FOLDER
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise NamesakeError(f"{folder} is not a folder and no part of the KB: remove it")
    for path in sorted(folder.iterdir()):
        if path.name.removesuffix(".building") not in KINDS or not path.is_dir():
            raise NamesakeError(f"{path} is no part of the KB's vectors: remove it")
        if path.name in KINDS:
            listed = {*read_vector_manifest(path, "make them again").files, MANIFEST}
            for file in sorted(path.iterdir()):
                if file.name not in listed:
                    raise NamesakeError(f"{file} is no part of the KB's vectors ({MANIFEST} does not list it)")
            open_vectors(kb, path.name, verify=True)


class VectorDraft(FolderDraft):
    """The folder in which vectors of one kind are made."""

    def __init__(
        self, kb: KB, kind: Kind, made: dict[str, str], dimension: int, force: bool, texts: int = 0, **counts: Any
    ) -> None:
        """`texts` is the number of texts to encode; `counts` are those of values and pairs, for the manifest."""
        plan = msgspec.json.encode((kb.manifest.digest, made, texts, dimension))
        super().__init__(kb.path / FOLDER / kind, force, sha256(plan).hexdigest())
        self.kb, self.texts = kb, texts
        self.manifest = VectorManifest(
            kind=kind, kb=kb.manifest.digest, made=made, dimension=dimension, entities=len(kb), **counts
        )

    def listed(self, folder: Path) -> dict[str, str] | None:
        """The digest of each file of a folder of vectors; None if it is not one, or is damaged."""
        try:
            return read_vector_manifest(folder, "").files
        except NamesakeError:
            return None

    def check_free(self, force: bool) -> None:
        """Refuse to replace vectors without `force`."""
        if has_vectors(self.kb, self.manifest.kind) and not force:
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
        row = self.manifest.dimension * HALF.itemsize
        with (self.folder / TEXTS).open("ab") as file:
            file.truncate(done * row)
            file.write(vectors.tobytes())
        sync(self.folder / TEXTS)
        now = done + len(vectors)
        self.note(Stage(TEXTS, now, sizes={TEXTS: now * row}))

    def encoded(self) -> npt.NDArray[np.uint16]:
        """The vectors of all texts, as the bits of half-precision numbers."""
        shape = (self.texts, self.manifest.dimension)
        return np.memmap(self.folder / TEXTS, np.uint16, "c", shape=shape) if shape[0] else np.zeros(shape, np.uint16)

    def write(self, name: str, blocks: Iterable[npt.NDArray[Any]]) -> None:
        """Write a column, given in blocks."""
        dtype, size = self.manifest.columns[name]
        contents = (np.ascontiguousarray(block, dtype).tobytes() for block in blocks)
        self.write_blocks(f"{name}.npy", chain([header(dtype, size)], contents))

    def publish(self) -> VectorManifest:
        """Write the manifest, and put the folder in its place in one step."""
        if read_manifest(self.kb.path).digest != self.manifest.kb:
            raise NamesakeError(f"{self.kb.path} was replaced in the meantime: run the command again")
        created, files = datetime.now(UTC).isoformat(timespec="seconds"), dict(sorted(self.files.items()))
        manifest = msgspec.structs.replace(self.manifest, created=created, files=files)
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
