"""A knowledge base on disk: a folder of memory-mapped columns and a manifest.

Opening reads the manifest and nothing else, so it costs milliseconds; a column is mapped when it is first
asked for, and every process that opens the same folder shares the operating system's page cache.
`docs/kb-format.md` lists the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.kb.columns import Columns, Ragged, Strings, checksum
from namesake.kb.manifest import FORMAT_VERSION, MANIFEST, Manifest, read_manifest

if TYPE_CHECKING:
    from namesake.kb.names import NameIndex

__all__ = ["FORMAT_VERSION", "KB", "MANIFEST", "Columns", "Manifest", "Ragged", "Strings", "read_manifest"]

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
UInt64 = npt.NDArray[np.uint64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

FEW = 256  # QIDs that are not worth loading a kernel for

C = TypeVar("C")
S = TypeVar("S", bound=np.generic)


class Column(Generic[C]):
    """A column of the KB as an attribute: mapped at its first use, an ordinary attribute from then on."""

    def __init__(self, file: str, opener: Callable[[Columns, str], C], doc: str) -> None:
        self.file = file
        self.opener = opener
        self.__doc__ = doc

    def __set_name__(self, owner: type[KB], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, kb: None, owner: type[KB]) -> Column[C]: ...
    @overload
    def __get__(self, kb: KB, owner: type[KB]) -> C: ...
    def __get__(self, kb: KB | None, owner: type[KB]) -> Column[C] | C:
        if kb is None:
            return self
        opened = self.opener(kb.columns, self.file)
        vars(kb)[self.name] = opened  # found before this descriptor from now on
        return opened


def _array(file: str, dtype: type[S], doc: str) -> Column[npt.NDArray[S]]:
    return Column(file, lambda columns, name: columns.array(name, dtype), doc)


def _strings(file: str, doc: str) -> Column[Strings]:
    return Column(file, Columns.strings, doc)


def _ragged(file: str, doc: str) -> Column[Ragged]:
    return Column(file, Columns.ragged, doc)


class KB:
    """A knowledge base, read-only. Rows are entities in the order of their QIDs.

    A pair is a distinct (property, value) that some entity states; items are all that the dump holds or
    names, kept or not. `for name, column in KB.documented(): ...` lists every column with its meaning.
    """

    # entities
    qids = _array("entity.qid", np.int64, "QID numbers, ascending.")
    qid_bits = _array("entity.qid_bits", np.uint64, "The QIDs as a bitmap: bit q of word q // 64 is set for an entity.")
    qid_before = _array("entity.qid_before", np.int32, "How many entities stand before each word of the bitmap.")
    entity_item = _array("entity.item", np.int32, "Each entity's row among the items.")
    sitelinks = _array("entity.sitelinks", np.int32, "NS: Wikimedia pages that are about the entity.")
    properties = _array("entity.properties", np.int32, "NP: distinct properties in the entity's statements.")
    pagerank_wikidata = _array("entity.pagerank_wikidata", np.float64, "PR_WD, mean 1 over all items; 0 if unknown.")
    pagerank_wikipedia = _array("entity.pagerank_wikipedia", np.float64, "PR_WP, mean 1 over all pages; 0 if unknown.")
    person = _array("entity.person", np.bool_, "Whether the entity is a person (P31 = Q5).")
    birth = _array("entity.birth", np.int32, "First day of the birth date's period, in days since 1970-01-01.")
    birth_precision = _array("entity.birth_precision", np.int8, "11 day, 10 month, 9 year, …; 0 where there is none.")
    death = _array("entity.death", np.int32, "First day of the death date's period, in days since 1970-01-01.")
    death_precision = _array("entity.death_precision", np.int8, "11 day, 10 month, 9 year, …; 0 where there is none.")
    descriptions = _strings("entity.description", "Short descriptions; empty where there is none.")
    titles = _strings("entity.title", "English Wikipedia titles; empty where there is none.")
    paragraphs = _strings("entity.paragraph", "Wikipedia first paragraphs; empty where there is none.")
    aliases = _ragged("entity.alias", "Rows of `alias_texts` for each entity.")
    alias_texts = _strings("alias", "The aliases themselves.")

    # statements
    statements = _ragged("entity.statement", "Pair ids of each entity, ascending and unique.")
    pair_property = _array("pair.property", np.int32, "Property number of each distinct (property, value) pair.")
    pair_value = _array("pair.value", np.int32, "Value of each pair: an item row, or `~row` of a string.")
    pair_count = _array("pair.count", np.int32, "How many entities state the pair.")
    tenure_entity = _array("tenure.entity", np.int32, "Dated statements: entity rows, ascending.")
    tenure_pair = _array("tenure.pair", np.int32, "Dated statements: the pair that is dated.")
    tenure_start = _array("tenure.start", np.int32, "Dated statements: first day (P580), or the smallest int32.")
    tenure_end = _array("tenure.end", np.int32, "Dated statements: last day (P582), or the largest int32.")

    # what statements name
    item_qids = _array("item.qid", np.int64, "QID numbers of every item in the dump or named by one, ascending.")
    item_labels = _strings("item.label", "Labels of the items; empty where unknown.")
    strings = _strings("string", "Distinct string values.")
    property_ids = _array("property.id", np.int32, "Property numbers that have a label, ascending.")
    property_labels = _strings("property.label", "Labels of those properties.")

    # words
    words = _strings("word", "The vocabulary: normalised words by id.")
    word_count = _array("word.count", np.int32, "How many entities have the word in D+S.")
    words_d = _ragged("entity.words_d", "D: word ids of each entity's description.")
    words_p = _ragged("entity.words_p", "P: word ids of each entity's Wikipedia first paragraph.")
    words_ds = _ragged("entity.words_ds", "D+S: word ids of description and statement values, ready for the kernel.")
    words_item = _ragged("item.words", "S: word ids of each item's label (where it is a value; else empty).")
    words_item_aliases = _ragged("item.words_aliases", "Word ids of each item's aliases (where it is a value).")
    words_string = _ragged("string.words", "S: word ids of each string value.")
    surface_hash = _array("surface.hash", np.uint64, "Hash table from surface forms to words: the keys.")
    surface_word = _array("surface.word", np.int32, "Hash table from surface forms to words: the word id, or -1.")
    stem_hash = _array("stem.hash", np.uint64, "Hash table from normalised words to ids: the keys.")
    stem_word = _array("stem.word", np.int32, "Hash table from normalised words to ids: the ids.")

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.columns = Columns(path)

    @classmethod
    def open(cls, path: str | Path) -> KB:
        """Open the KB in folder `path`: reads its manifest and maps columns as they are asked for."""
        path = Path(path)
        return cls(path, read_manifest(path))

    @classmethod
    def documented(cls) -> list[tuple[str, Column[Any]]]:
        """Every column by its attribute name, with its file and meaning: what `docs/kb-format.md` must list."""
        return [(name, column) for name, column in vars(cls).items() if isinstance(column, Column)]

    @cached_property
    def names(self) -> NameIndex:
        """The name index: who bears a name."""
        from namesake.kb.names import NameIndex  # its kernels load when a name is first asked for

        return NameIndex(self.columns)

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
        """Compare every file with its checksum in the manifest; an error names the first that differs."""
        for name, expected in self.manifest.files.items():
            path = self.path / name
            if not path.is_file():
                raise NamesakeError(f"{path} is missing: build the KB again")
            if checksum(path) != expected:
                raise NamesakeError(f"{path} is damaged (its checksum differs from {MANIFEST}): build the KB again")


def _find(ascending: Int64, wanted: Int64) -> Int64:
    """Where each wanted number stands in an ascending array, -1 where it does not."""
    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    at = np.searchsorted(ascending, wanted)
    at[at == len(ascending)] = 0
    return np.where(ascending[at] == wanted, at, -1).astype(np.int64, copy=False)
