"""A KB under construction: its columns are written to `OUT.building`, which becomes OUT when all are there."""

import io
import mmap
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.files.digests import as_digest, file_digest
from namesake.files.draft import JOURNAL, FolderDraft
from namesake.files.outputs import is_vacant
from namesake.kb.check import remember
from namesake.kb.columns import Column, Made, columns, header, large
from namesake.kb.manifest import MANIFEST, SOURCES, Manifest, listed_files

C = TypeVar("C")


class Draft(FolderDraft):
    """The draft of a KB."""

    def listed(self, folder: Path) -> dict[str, str] | None:
        """The digest of each file of a KB; None if the folder is not a KB."""
        return listed_files(folder)

    def check_free(self, force: bool) -> None:
        """Refuse to overwrite: a KB only with `force`, anything else never."""
        out = self.out
        if out.is_symlink() and not out.exists():
            raise NamesakeError(f"{out} is a link to nowhere: choose another `out=`")
        if is_vacant(out):
            return
        files = listed_files(out)
        if files is None:
            raise NamesakeError(f"{out} exists and is not a KB: choose another `out=`")
        if not force:
            raise NamesakeError(f"{out} exists: choose another `out=`, or replace it with `force=True`")
        others = {path.name for path in out.iterdir()} - {*files, MANIFEST, JOURNAL}
        if others:
            raise NamesakeError(f"{out} is not replaced, because {min(others)} in it is not part of the KB: move it")

    def write(self, column: Column[C], value: C) -> None:
        """Write a column: one `.npy` file, or two for strings and ragged lists."""
        for name, array in column.arrays(value).items():
            array = np.ascontiguousarray(array)
            body = array.data.cast("B") if array.size else b""
            self.write_blocks(f"{name}.npy", (header(array.dtype, len(array)), body))

    def write_all(self, made: Made) -> None:
        """Write several columns."""
        for column, value in made.items():
            self.write(column, value)

    def holds(self, column: Column[Any]) -> bool:
        """Whether a column has been written."""
        return all(f"{name}.npy" in self.files for name in column.files)

    def publish(self, manifest: Manifest) -> Manifest:
        """Put the KB in its place; returns the manifest with the digests of all files."""
        complete = msgspec.structs.replace(manifest, files=dict(sorted(self.files.items())))
        self.put(complete.sealed())
        return complete

    def sealed(self) -> None:
        """Remember the state of the files, so that opening the KB does not check them again."""
        self.remember(self.folder)

    def remember(self, folder: Path) -> None:
        """Remember the state of the columns in a folder."""
        names = [f"{name}.npy" for column in columns().values() for name in column.files]
        remember({name: (folder / name).stat() for name in (*names, MANIFEST)})


class Spill:
    """Raw columns in files of a folder: appended to while dumps are parsed, mapped afterwards."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.types: dict[str, str] = {}  # of the numbers in each column
        self.hashes: dict[str, Any] = {}  # what computes the digest of a column that was copied from a KB

    def path(self, name: str) -> Path:
        """The file of a column."""
        return self.folder / f"{SOURCES}{name}"

    def append(self, name: str, array: npt.NDArray[Any]) -> None:
        """Add an array to the end of a column."""
        with self.path(name).open("ab" if name in self.types else "wb") as file:
            content = np.ascontiguousarray(array).data
            file.write(content)
            if hashed := self.hashes.get(name):
                hashed.update(content)
        assert array.dtype.str == self.types.setdefault(name, array.dtype.str), f"{name} changes its type"

    def replace(self, name: str, array: npt.NDArray[Any]) -> None:
        """Write a column anew."""
        self.types.pop(name, None)
        self.hashes.pop(name, None)
        self.append(name, array)

    def digest(self, name: str) -> str:
        """The digest of a column."""
        hashed = self.hashes.get(name)
        return as_digest(hashed) if hashed else file_digest(self.path(name), "crc32:")

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each file."""
        return {path.name: path.stat().st_size for path in map(self.path, self.types)}

    def column(self, name: str) -> npt.NDArray[Any]:
        """A whole column, mapped copy-on-write."""
        with self.path(name).open("rb") as file:
            if not file.seek(0, io.SEEK_END):
                return np.empty(0, self.types[name])
            return large.room().map(file.fileno(), self.types[name], access=mmap.ACCESS_COPY)
