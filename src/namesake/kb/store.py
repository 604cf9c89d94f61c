"""A knowledge base on disk: a folder of memory-mapped columns and a manifest.

Opening maps every column without reading it, so it takes milliseconds, and all processes that open the same folder
share the page cache. An open KB does not change when its folder is replaced.
`layout.py` declares the columns, and docs/kb-format.md lists them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from namesake import language as languages
from namesake.arrays import Int32, Int64, positions
from namesake.errors import NamesakeError, must_be
from namesake.files.digests import damaged_file
from namesake.files.draft import JOURNAL
from namesake.kb.check import derived_problems, is_known, manifest_problem, problems, remember
from namesake.kb.columns import Column, Columns, KBColumns, columns
from namesake.kb.columns.column_files import folder_identity
from namesake.kb.ids import Ids
from namesake.kb.manifest import MANIFEST, OWN_FILE, Manifest, read_manifest
from namesake.kb.vectors.stored import FOLDER as VECTORS
from namesake.kb.vectors.stored import Vectors, open_vectors, verify_vectors
from namesake.kernels.dump.wikidata import FIRST_OWN
from namesake.kernels.kinds import PERSON
from namesake.kinds import Kind, all_kinds, listed, parse_kinds
from namesake.machine import from_home

if TYPE_CHECKING:
    from namesake.kb.names.index import NameIndex
    from namesake.kb.records import Entity, Found
    from namesake.text import Lexicon

LOOKS_APART = 0.1
"""Least number of seconds between two checks whether the files of an open KB have changed."""
LOOKS_SHARE = 0.01  # largest part of the time that these checks may take
FEW = 256  # number of QIDs below which the kernel is not loaded


class KBChangedError(NamesakeError):
    """The files of a KB were written to while it was in use."""


class KB(KBColumns):
    """A knowledge base, read-only. Rows are entities in the order of their QIDs.

    A pair is a distinct (property, value) of the entities' statements; items are all that the dump contains or names,
    kept or not. `KB.declared()` lists every column with its meaning.
    """

    def __init__(self, path: Path, manifest: Manifest | None = None) -> None:
        if manifest is None:
            raise TypeError(f"a KB is opened with KB.open({str(path)!r})")
        super().__init__(Columns(path))
        self.columns.digests = manifest.files
        self.manifest: Manifest = manifest
        self.path, self.language = path, languages.of(manifest.language)
        self.watched = [self.columns]  # the columns of the KB, and of its vectors once they are open
        self._next_look = 0.0
        self._written: Path | None = None

    @classmethod
    def open(cls, path: str | Path) -> KB:
        """Open the KB in folder `path`: map its columns and check their lengths, in milliseconds.

        A KB that was neither built nor checked on this machine, or has changed since, is read once and compared with
        its declaration and its digests. NamesakeError names the problem. `~` at the beginning is the user's home
        folder.
        """
        path = from_home(path)
        while True:
            folder = folder_identity(path)
            try:
                kb = cls(path, read_manifest(path))
                kb._open_columns()
            except NamesakeError:
                if folder == folder_identity(path):
                    raise
            else:
                if folder == folder_identity(path):  # otherwise it was replaced at this moment
                    return kb

    def _open_columns(self) -> None:
        """Map and check all columns. Once they are mapped, changes of the folder do not affect them."""
        for column in columns().values():
            column.open(self.columns)
        try:
            states = self.columns.opened | {MANIFEST: (self.path / MANIFEST).stat()}
        except OSError:
            raise NamesakeError(f"{self.path / MANIFEST} is missing: build the KB again") from None
        self._check(problems(self.columns, self.manifest, quick=True))
        if not is_known(states):
            self._check_all()
            remember(states)

    def check_unchanged(self, at_once: bool = False) -> None:
        """Raise KBChangedError if a file was written to (not replaced or removed) since it was opened.

        It checks at most ten times a second, and less often if checks take more than a hundredth of the time; `at_once`
        checks in any case.
        """
        now = time.monotonic()
        if self._written is None and (at_once or now >= self._next_look):
            self._next_look = now + LOOKS_APART  # for other threads
            found = ((columns.folder, columns.written()) for columns in self.watched)
            self._written = next((folder / name for folder, name in found if name), None)
            took = time.monotonic() - now
            self._next_look = now + max(LOOKS_APART, took / LOOKS_SHARE)
        if self._written is not None:
            raise KBChangedError(
                f"{self._written} was written to while the KB was in use: replace a KB as a whole, with `namesake kb "
                "build --force`, `kb get --force` or a renamed folder, then start again"
            )

    @cached_property
    def names(self) -> NameIndex:
        """The name index: the entities with a name."""
        from namesake.kb.names.index import NameIndex  # loads kernels

        return NameIndex(self.columns, self.language)

    @cached_property
    def text_vectors(self) -> Vectors:
        """The vectors of its texts; NamesakeError explains how to make them if it has none."""
        return open_vectors(self, "text")

    @cached_property
    def walk_vectors(self) -> Vectors:
        """The vectors of its graph; NamesakeError explains how to make them if it has none."""
        return open_vectors(self, "walk")

    def lexicon(self) -> Lexicon:
        """A lexicon of its words; each thread needs its own."""
        from namesake.text import Lexicon  # loads kernels

        tables = self.surface_hash, self.surface_word, self.stem_hash, self.stem_word
        return Lexicon(tables, self.language, self.manifest.words_how)

    def entity(self, qid: str) -> Entity | None:
        """The entity with a QID such as "Q76", or with the id of an own entity: label, description, statements …

        None if the KB does not have it. A text that is neither raises NamesakeError; `search` finds names.
        """
        must_be(qid, (str,), "qid", 'a QID such as "Q76"')
        if self.ids.number(qid) < 0 and ":" not in qid:
            raise NamesakeError(f"{qid!r:.60} is not a QID such as Q76; KB.search finds entities by name")
        from namesake.kb.records import describe

        row = self.row(qid)
        return None if row < 0 else describe(self, row)

    def search(self, name: str, limit: int | None = 20, kinds: str | Iterable[str] | None = None) -> list[Found]:
        """The entities with a name, those with the most sitelinks first: label, description, dates, sitelinks, kind.

        At most `limit` entities are returned; None returns all. `kinds` selects kinds, such as "people,places". A name
        that no entity has gives an empty list.
        """
        must_be(name, (str,), "name", "a text")
        must_be(limit, (int, None), "limit", "a number")
        if limit is not None and limit < 0:
            raise NamesakeError(f"limit must not be negative, and is {limit}")
        from namesake.kb.records import found, rows_named

        rows = rows_named(self, name)
        if kinds is not None:
            asked = parse_kinds(kinds)
            rows = [row for row in rows if self.kind[row] in asked]
        return [found(self, row) for row in rows[:limit]]

    def __reduce__(self) -> tuple[Callable[[str], KB], tuple[str]]:
        """A copy, or another process, opens the folder again; the columns are not copied."""
        return KB.open, (str(self.path.absolute()),)

    @property
    def generation(self) -> str:
        """Distinguishes this KB from others in the same folder: the beginning of the digest of its manifest."""
        return self.manifest.digest.partition(":")[2][:12]

    def __len__(self) -> int:
        return self.manifest.entities

    def __repr__(self) -> str:
        return f"KB({str(self.path)!r}, {len(self):,} entities)"

    def rows(self, qids: Int64) -> Int64:
        """The entity row of each QID number, -1 if the KB does not have it."""
        if len(qids) < FEW:
            return positions(self.qids, qids)
        from namesake.kernels.columns.bitmap import find  # constant time per QID

        found: Int32 = find(self.qid_bits, self.qid_before, np.ascontiguousarray(qids))
        rows, own = found.astype(np.int64), qids >= FIRST_OWN
        if own.any():
            rows[own] = positions(self.qids, qids[own])
        return rows

    def row(self, qid: str) -> int:
        """The entity row of a QID or an own id, -1 if the KB does not have it or the text is neither."""
        return int(self.rows(np.array([self.ids.number(qid)], np.int64))[0])

    @cached_property
    def ids(self) -> Ids:
        """The texts of ids: QIDs, and the ids of its own entities, which are in the file `own.jsonl`."""
        if OWN_FILE not in self.manifest.files:
            return Ids()
        from namesake.kb.own.records import read_records

        records = read_records(self.path)
        prefixes = [record.iri for record in records if record.iri]
        return Ids([record.id for record in records if record.is_own], prefixes[-1] if prefixes else "")

    @cached_property
    def redirects(self) -> dict[str, str]:
        """The QIDs of items by the QIDs of those that were merged with them; empty if the KB cannot be updated."""
        if self.manifest.sources is None:
            return {}
        from namesake.kb.publish.draft import Spill

        spill = Spill(self.path)
        spill.types = self.manifest.sources.gathered.types
        merged = zip(*(spill.column(name).tolist() for name in ("gone_qid", "gone_target")), strict=True)
        return {f"Q{old}": f"Q{new}" for old, new in merged if new}

    def id_of(self, row: int) -> str:
        """The id of an entity: a QID, or that of an own entity."""
        return self.ids.text(int(self.qids[row]))

    def items(self, qids: Int64) -> Int64:
        """The item row of each QID number, -1 if neither the dump nor a statement had it."""
        return positions(self.item_qids, qids)

    def label(self, row: int) -> str:
        """The label of an entity."""
        return self.item_labels[int(self.entity_item[row])]

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of its entities, with `other` at the end; people if it is empty."""
        return listed(self.manifest.kinds) or [all_kinds()[PERSON]]

    def kind_of(self, row: int) -> Kind:
        """The kind of an entity."""
        return all_kinds()[int(self.kind[row])]

    def verify(self) -> None:
        """Compare every file in the folder with its digest in the manifest, and every column with its declaration.

        Raises NamesakeError, which names the first difference, or a file that is no part of the KB.
        """
        for file in sorted(self.path.iterdir()):
            if file.name not in self.manifest.files and file.name not in (MANIFEST, JOURNAL, VECTORS):
                raise NamesakeError(f"{file} is no part of the KB ({MANIFEST} does not list it): remove it")
        if wrong := manifest_problem(self.manifest):
            raise NamesakeError(f"{self.path}: {wrong}: build the KB again")
        self._check_all()
        verify_vectors(self)

    def _check_all(self) -> None:
        """Raise NamesakeError if a column differs from its declaration, its digest, or its derivation."""
        self._check(problems(self.columns, self.manifest))
        listed = self.manifest.files
        unlisted = self.columns.opened.keys() - listed.keys()
        if unlisted or (self.path / MANIFEST).read_bytes() != self.manifest.sealed():
            raise NamesakeError(f"{self.path / MANIFEST} is damaged (its digest differs): build the KB again")
        if wrong := damaged_file(self.path, listed):
            raise NamesakeError(f"{self.path / wrong}: build the KB again")
        self._check(derived_problems(self.columns))

    def _check(self, found: Iterator[tuple[Column[Any], str]]) -> None:
        """Raise the first problem found."""
        for column, wrong in found:
            files = " or ".join(f"{name}.npy" for name in column.files)
            raise NamesakeError(f"{self.path / files} is damaged ({wrong}): build the KB again")
