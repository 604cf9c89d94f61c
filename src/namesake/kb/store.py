"""A knowledge base on disk: a folder of memory-mapped columns and a manifest.

Opening maps files and reads nothing else, so it costs milliseconds, and every process that opens the
same folder shares the operating system's page cache. `docs/kb-format.md` lists the columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from namesake.errors import NamesakeError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
UInt64 = npt.NDArray[np.uint64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Strings:
    """A column of strings in Arrow's layout: UTF-8 bytes and the offsets between them."""

    offsets: Int64
    data: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes().decode("utf-8", "replace")

    def arrow(self) -> pa.LargeStringArray:
        """The same column as an Arrow array, without a copy."""
        return pa.LargeStringArray.from_buffers(len(self), pa.py_buffer(self.offsets), pa.py_buffer(self.data))


@dataclass(frozen=True)
class Ragged:
    """Lists of numbers of any length, one after the other: row i is `values[indptr[i]:indptr[i + 1]]`."""

    indptr: Int64
    values: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> npt.NDArray[Any]:
        return self.values[self.indptr[row] : self.indptr[row + 1]]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a KB is: how it was made, what it holds, and the checksum of every file."""

    format_version: int
    created: str
    dumps: list[str]
    dump_date: str | None = None
    """Last modification named by the dump, or of its file."""
    keep: str = "people"
    words_how: str = "stem"
    ranks: list[str] = []
    """Where PR_WD and PR_WP come from, such as `wikidata: computed`, `wikipedia: FILE`."""
    entities: int
    people: int
    items: int
    statements: int
    names: int
    words: int
    rejected: int
    rejected_reasons: dict[str, int] = {}
    files: dict[str, str] = {}
    """Checksum by file name; `KB.verify` compares them."""


class Columns:
    """The files of one KB folder, mapped when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def array(self, name: str) -> npt.NDArray[Any]:
        """The column `name`, mapped read-only."""
        path = self.folder / f"{name}.npy"
        try:
            mapped: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:
            try:  # an empty column cannot be mapped
                mapped = np.load(path, allow_pickle=False)
            except (ValueError, EOFError) as problem:
                raise NamesakeError(f"{path} is damaged ({problem}): build the KB again") from None
        except (OSError, EOFError) as problem:
            raise NamesakeError(f"{path} cannot be read ({problem}): build the KB again") from None
        # A plain array over the map: np.memmap's Python-level hooks would slow every slice.
        return mapped.view(np.ndarray)

    def strings(self, name: str) -> Strings:
        """The string column `name`: two files."""
        return Strings(self.array(f"{name}.offsets"), self.array(f"{name}.bytes"))

    def ragged(self, name: str) -> Ragged:
        """The ragged column `name`: two files."""
        return Ragged(self.array(f"{name}.indptr"), self.array(f"{name}.values"))


def read_manifest(path: Path) -> Manifest:
    """The manifest of a KB folder, or an error that says what the folder is instead."""
    file = path / MANIFEST
    if not path.exists():
        raise NamesakeError(f"{path}: no such KB; make one with `namesake kb build DUMP --out {path}`")
    if not file.is_file():
        raise NamesakeError(f"{path} is no KB (it has no {MANIFEST}); make one with `namesake kb build DUMP --out KB`")
    try:
        raw = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        version = raw.get("format_version")
        if version != FORMAT_VERSION:
            raise NamesakeError(
                f"{path} has KB format {version}, this version of namesake reads {FORMAT_VERSION}: build the KB again"
            )
        return msgspec.convert(raw, Manifest)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise NamesakeError(f"{file} is damaged ({problem}): build the KB again") from None


class KB:
    """A knowledge base, read-only. Rows are entities in the order of their QIDs.

    Columns by entity row: `qids`, `sitelinks` (NS), `properties` (NP), `pagerank_wikidata`,
    `pagerank_wikipedia`, `birth`, `death` (days since 1970-01-01) with `birth_precision`,
    `death_precision` (11 day, 10 month, 9 year, …; 0 none), `person`, `descriptions`, `titles`
    (English Wikipedia), `paragraphs`, `aliases` with `alias_texts`, `statements` (pair ids).
    A pair is a (property, value): `pair_property`, `pair_value` (row of an item, or `~row` of a string)
    and `pair_count`, how many entities state it. Items, kept or not: `item_qids`, `item_labels`.
    Words: `words` (the normalised forms), `word_count` (entities that have it in D+S), `words_d`,
    `words_p`, `words_ds` by entity row, `words_item`, `words_item_aliases` by item row, `words_string` by string row.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._columns = Columns(path)

    @classmethod
    def open(cls, path: str | Path) -> KB:
        """Open the KB in folder `path`: maps its columns, reads almost nothing."""
        path = Path(path)
        return cls(path, read_manifest(path))

    def __len__(self) -> int:
        return self.manifest.entities

    # entities
    @cached_property
    def qids(self) -> Int64:
        """QID numbers, ascending."""
        return self._columns.array("entity.qid")

    @cached_property
    def entity_item(self) -> Int32:
        """Each entity's row among the items."""
        return self._columns.array("entity.item")

    @cached_property
    def sitelinks(self) -> Int32:
        """NS: Wikimedia pages that are about the entity."""
        return self._columns.array("entity.sitelinks")

    @cached_property
    def properties(self) -> Int32:
        """NP: distinct properties in the entity's statements."""
        return self._columns.array("entity.properties")

    @cached_property
    def pagerank_wikidata(self) -> Float64:
        """PR_WD; 0 where unknown."""
        return self._columns.array("entity.pagerank_wikidata")

    @cached_property
    def pagerank_wikipedia(self) -> Float64:
        """PR_WP; 0 where unknown."""
        return self._columns.array("entity.pagerank_wikipedia")

    @cached_property
    def person(self) -> Bool:
        """Whether the entity is a person (P31 = Q5)."""
        return self._columns.array("entity.person")

    @cached_property
    def birth(self) -> Int32:
        """First day of the stated birth date's period, in days since 1970-01-01."""
        return self._columns.array("entity.birth")

    @cached_property
    def birth_precision(self) -> Int8:
        """Wikidata's precision of the birth date; 0 where there is none."""
        return self._columns.array("entity.birth_precision")

    @cached_property
    def death(self) -> Int32:
        """First day of the stated death date's period."""
        return self._columns.array("entity.death")

    @cached_property
    def death_precision(self) -> Int8:
        """Wikidata's precision of the death date; 0 where there is none."""
        return self._columns.array("entity.death_precision")

    @cached_property
    def descriptions(self) -> Strings:
        """Short descriptions; empty where there is none."""
        return self._columns.strings("entity.description")

    @cached_property
    def titles(self) -> Strings:
        """English Wikipedia titles; empty where there is none."""
        return self._columns.strings("entity.title")

    @cached_property
    def paragraphs(self) -> Strings:
        """Wikipedia first paragraphs; empty where there is none."""
        return self._columns.strings("entity.paragraph")

    @cached_property
    def aliases(self) -> Ragged:
        """Rows of `alias_texts` for each entity."""
        return self._columns.ragged("entity.alias")

    @cached_property
    def alias_texts(self) -> Strings:
        """The aliases themselves."""
        return self._columns.strings("alias")

    @cached_property
    def statements(self) -> Ragged:
        """Pair ids of each entity, ascending and unique."""
        return self._columns.ragged("entity.statement")

    @cached_property
    def pair_property(self) -> Int32:
        """Property number of each distinct (property, value) pair."""
        return self._columns.array("pair.property")

    @cached_property
    def pair_value(self) -> Int32:
        """Value of each pair: an item row, or `~row` of a string."""
        return self._columns.array("pair.value")

    @cached_property
    def pair_count(self) -> Int32:
        """How many entities state the pair."""
        return self._columns.array("pair.count")

    @cached_property
    def tenure_entity(self) -> Int32:
        """Dated statements: entity rows, ascending."""
        return self._columns.array("tenure.entity")

    @cached_property
    def tenure_pair(self) -> Int32:
        """Dated statements: the pair that is dated."""
        return self._columns.array("tenure.pair")

    @cached_property
    def tenure_start(self) -> Int32:
        """Dated statements: first day (P580), or the smallest int32."""
        return self._columns.array("tenure.start")

    @cached_property
    def tenure_end(self) -> Int32:
        """Dated statements: last day (P582), or the largest int32."""
        return self._columns.array("tenure.end")

    @cached_property
    def item_qids(self) -> Int64:
        """QID numbers of every item in the dump or named by one, ascending."""
        return self._columns.array("item.qid")

    @cached_property
    def item_labels(self) -> Strings:
        """Labels of the items; empty where unknown."""
        return self._columns.strings("item.label")

    @cached_property
    def strings(self) -> Strings:
        """Distinct string values."""
        return self._columns.strings("string")

    @cached_property
    def property_ids(self) -> Int32:
        """Property numbers that have a label, ascending."""
        return self._columns.array("property.id")

    @cached_property
    def property_labels(self) -> Strings:
        """Labels of those properties."""
        return self._columns.strings("property.label")

    @cached_property
    def words(self) -> Strings:
        """The vocabulary: normalised words by id, most frequent first."""
        return self._columns.strings("word")

    @cached_property
    def word_count(self) -> Int32:
        """How many entities have the word in D+S."""
        return self._columns.array("word.count")

    @cached_property
    def words_d(self) -> Ragged:
        """D: word ids of each entity's description."""
        return self._columns.ragged("entity.words_d")

    @cached_property
    def words_p(self) -> Ragged:
        """P: word ids of each entity's Wikipedia first paragraph."""
        return self._columns.ragged("entity.words_p")

    @cached_property
    def words_ds(self) -> Ragged:
        """D+S: word ids of description and statement values, ready for the kernel."""
        return self._columns.ragged("entity.words_ds")

    @cached_property
    def words_item(self) -> Ragged:
        """Word ids of each item's label (where it is a value; else empty)."""
        return self._columns.ragged("item.words")

    @cached_property
    def words_item_aliases(self) -> Ragged:
        """Word ids of each item's aliases (where it is a value; else empty)."""
        return self._columns.ragged("item.words_aliases")

    @cached_property
    def words_string(self) -> Ragged:
        """Word ids of each string value."""
        return self._columns.ragged("string.words")

    @cached_property
    def surface_hash(self) -> UInt64:
        """Hash table from surface forms to words: the keys."""
        return self._columns.array("surface.hash")

    @cached_property
    def surface_word(self) -> Int32:
        """Hash table from surface forms to words: the word id, or -1."""
        return self._columns.array("surface.word")

    @cached_property
    def stem_hash(self) -> UInt64:
        """Hash table from normalised words to ids: the keys."""
        return self._columns.array("stem.hash")

    @cached_property
    def stem_word(self) -> Int32:
        """Hash table from normalised words to ids: the ids."""
        return self._columns.array("stem.word")

    # look-ups
    def rows(self, qids: Int64) -> Int64:
        """The entity row of each QID number, -1 where the KB does not have it."""
        at = np.searchsorted(self.qids, qids)
        at[at == len(self)] = 0
        return np.where(self.qids[at] == qids, at, -1) if len(self) else np.full(len(qids), -1, np.int64)

    def label(self, row: int) -> str:
        """The label of an entity."""
        return self.item_labels[int(self.entity_item[row])]
