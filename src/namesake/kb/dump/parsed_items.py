"""What the dumps say, in dump order: gathered from parsed chunks into spilled columns, then mapped as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from namesake.arrays import Int64
from namesake.kb.columns.column_files import Strings
from namesake.kb.columns.large import running
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.parse import Parsed, parse_chunk
from namesake.kb.dump.rejected_lines import Rejects
from namesake.kb.dump.scanner_tables import FIELDS, Number, Scanned, TextAt
from namesake.kb.dump.spill import Spill
from namesake.language import Language
from namesake.progress import Reporter
from namesake.threads import in_order


class DumpFile(NamedTuple):
    """A dump, and which item and which property is the first of it."""

    item: int
    property: int
    name: str


@dataclass(frozen=True)
class Items(Scanned):
    """All items of the dumps, with one numbering of strings throughout."""

    files: list[DumpFile]
    """The dumps, in the order in which they were given."""

    def file_of(self, row: int) -> str:
        """The dump that an item comes from."""
        return next(file.name for file in reversed(self.files) if file.item <= row)


class Gathering:
    """Takes parsed chunks in the order of the dump."""

    def __init__(self, spill: Spill) -> None:
        self.spill = spill
        self.items = 0
        self.dates_dropped = 0
        self._strings = 0
        self._ends: dict[str, int] = {}
        self._files: list[DumpFile] = []
        self._properties = 0

    @property
    def said(self) -> dict[str, Any]:
        """What is known of the items beside their columns, for the journal."""
        return {"items": self.items, "dates_dropped": self.dates_dropped, "files": self._files}

    def resume(self, said: dict[str, Any]) -> None:
        """Know what another had gathered in the same spill."""
        self.items, self.dates_dropped = said["items"], said["dates_dropped"]
        self._files = [DumpFile(*file) for file in said["files"]]

    def add(self, parsed: Parsed, file: str) -> None:
        """Append one chunk's columns."""
        if not self._files or self._files[-1].name != file:
            self._files.append(DumpFile(self.items, self._properties, file))
        value, strings = parsed.statement_value, self._strings
        parsed = replace(parsed, statement_value=np.where(value < 0, value - strings, value))
        for name, field in FIELDS.items():
            column = getattr(parsed, name)
            if isinstance(column, Strings):
                self._append_offsets(f"{name}.offsets", column.offsets)
                self.spill.append(f"{name}.bytes", column.data)
            elif isinstance(field.place, Number) and field.place.is_end:
                self._append_offsets(name, column)
            else:
                self.spill.append(name, column)
        self._strings += len(parsed.strings)
        self.items += len(parsed.qid)
        self._properties += len(parsed.property_id)
        self.dates_dropped += parsed.dates_dropped

    def _append_offsets(self, name: str, offsets: Int64) -> None:
        """Offsets go on where those of the chunk before ended; on disk they can be mapped, and take no memory."""
        end = self._ends.get(name)
        self.spill.append(name, offsets if end is None else offsets[1:] + end)
        self._ends[name] = int(offsets[-1]) + (end or 0)

    def finish(self) -> Items:
        """Map everything."""
        columns = {name: self._column(name) for name in FIELDS}
        return Items(**columns, files=self._files)

    def _column(self, name: str) -> Any:
        if isinstance(FIELDS[name].place, TextAt):
            return Strings(self.spill.column(f"{name}.offsets"), self.spill.column(f"{name}.bytes"))
        return self.spill.column(name)


def gather_items(
    dumps: Sequence[str],
    keep: Literal["people", "all"],
    language: Language,
    workers: int,
    spill: Spill,
    rejects: Rejects,
    reporter: Reporter,
) -> Gathering:
    """Parse `dumps` on `workers` threads: the scanner is compiled and releases the GIL.

    Items that `keep` names become entities, with texts in `language`. Few chunks are in memory at a time; they go to
    `spill` in the order of the dump, rejected lines to `rejects`, and progress to `reporter`.
    """
    gathering = Gathering(spill)

    def parse(chunk: Chunk) -> tuple[Parsed, str, float | None]:
        return parse_chunk(chunk, keep, language), chunk.file, chunk.done

    with closing(in_order(parse, read_chunks(dumps, workers), workers)) as results:
        for parsed, file, done in results:
            gathering.add(parsed, file)
            rejects.add(parsed.rejected)
            reporter.advance(done, gathering.items)
    return gathering


def ranges(starts: Int64, counts: Int64) -> Int64:
    """The numbers start … start + count − 1 of each row, one row after the other."""
    ends = running(counts)
    return np.repeat(starts - ends[:-1], counts) + np.arange(ends[-1])
