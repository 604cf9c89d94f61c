"""A knowledge base on disk: a folder of memory-mapped columns and a manifest.

Opening reads the manifest and nothing else, so it costs milliseconds; a column is mapped when it is first
asked for, and every process that opens the same folder shares the operating system's page cache.
`layout.py` declares the columns, and docs/kb-format.md lists them.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from namesake import language as languages
from namesake.errors import NamesakeError
from namesake.kb.check import problems
from namesake.kb.columns import Columns, Ragged, Strings, checksum
from namesake.kb.declare import Column
from namesake.kb.layout import KBColumns, columns
from namesake.kb.manifest import FORMAT_VERSION, MANIFEST, Manifest, read_manifest

if TYPE_CHECKING:
    from namesake.kb.names import NameIndex
    from namesake.language import Language
    from namesake.text import Lexicon

__all__ = ["FORMAT_VERSION", "KB", "MANIFEST", "Columns", "Manifest", "Ragged", "Strings", "read_manifest"]

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

FEW = 256  # QIDs that are not worth loading a kernel for


class KB(KBColumns):
    """A knowledge base, read-only. Rows are entities in the order of their QIDs.

    A pair is a distinct (property, value) that some entity states; items are all that the dump holds or
    names, kept or not. `KB.declared()` has every column with its meaning.
    """

    path: Path
    manifest: Manifest
    language: Language

    def __init__(self, path: Path, manifest: Manifest) -> None:
        super().__init__(Columns(path))
        self.path = path
        self.manifest = manifest
        self.language = languages.of(manifest.language)

    @classmethod
    def open(cls, path: str | Path) -> KB:
        """Open the KB in folder `path`: reads its manifest and maps columns as they are asked for."""
        path = Path(path)
        return cls(path, read_manifest(path))

    @cached_property
    def names(self) -> NameIndex:
        """The name index: who bears a name."""
        from namesake.kb.names import NameIndex  # its kernels load when a name is first asked for

        return NameIndex(self.columns, self.language)

    def lexicon(self) -> Lexicon:
        """A lexicon of its words; each thread needs its own."""
        from namesake.text import Lexicon  # its kernels load when words are first asked for

        tables = self.surface_hash, self.surface_word, self.stem_hash, self.stem_word
        return Lexicon(*tables, self.language, self.manifest.words_how)

    def __len__(self) -> int:
        return self.manifest.entities

    def __repr__(self) -> str:
        return f"KB({str(self.path)!r}, {len(self):,} entities)"

    def rows(self, qids: Int64) -> Int64:
        """The entity row of each QID number, -1 where the KB does not have it."""
        if len(qids) < FEW:
            return _find(self.qids, qids)
        from namesake.kernels.columns.bitmap import find  # constant time a QID, once it is loaded

        found: Int32 = find(self.qid_bits, self.qid_before, np.ascontiguousarray(qids))
        return found.astype(np.int64)

    def items(self, qids: Int64) -> Int64:
        """The item row of each QID number, -1 where neither the dump nor a statement had it."""
        return _find(self.item_qids, qids)

    def label(self, row: int) -> str:
        """The label of an entity."""
        return self.item_labels[int(self.entity_item[row])]

    def verify(self) -> None:
        """Compare every file with its checksum in the manifest, and every column with its declaration.

        Raises NamesakeError, which names the first that differs.
        """
        for name, expected in self.manifest.files.items():
            path = self.path / name
            if not path.is_file():
                raise NamesakeError(f"{path} is missing: build the KB again")
            if checksum(path) != expected:
                raise NamesakeError(f"{path} is damaged (its checksum differs from {MANIFEST}): build the KB again")
        for column, wrong in problems(self._opened(), self.manifest):
            raise NamesakeError(f"{self.path / column.file} is damaged ({wrong}): build the KB again")

    def _opened(self) -> dict[Column[Any], Any]:
        """Every column that the manifest lists, with what it holds."""
        listed = self.manifest.files
        return {
            column: column.open(self.columns)
            for column in columns().values()
            if all(f"{name}.npy" in listed for name in column.files)
        }


def _find(ascending: Int64, wanted: Int64) -> Int64:
    """Where each wanted number stands in an ascending array, -1 where it does not."""
    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    at = np.searchsorted(ascending, wanted)
    at[at == len(ascending)] = 0
    return np.where(ascending[at] == wanted, at, -1).astype(np.int64, copy=False)
