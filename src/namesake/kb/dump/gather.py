"""Parse whole dumps on several threads; their columns wait on disk."""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Int64
from namesake.files.draft import write_all
from namesake.kb.columns import large
from namesake.kb.columns.column_files import Strings
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.parse import FIELDS, TEXT_COLUMNS, DumpFile, Items, Keep, Parsed, parse_chunk
from namesake.kb.dump.rejected_lines import Rejects
from namesake.language import Language
from namesake.progress import Reporter
from namesake.threads import in_order


class Spill:
    """A folder of raw columns: appended to while dumps are parsed, mapped afterwards."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, io.FileIO] = {}
        self._types: dict[str, np.dtype[Any]] = {}

    def adopt(self, types: dict[str, str]) -> None:
        """Use columns of these types, which a stopped build wrote."""
        self._types |= {name: np.dtype(kind) for name, kind in types.items()}

    def keep(self) -> dict[str, int]:
        """Write all columns to the disk; returns the size of each. They are complete."""
        for file in self._files.values():
            os.fsync(file.fileno())
            file.close()
        self._files.clear()
        return {name: (self.folder / name).stat().st_size for name in self._types}

    @property
    def types(self) -> dict[str, str]:
        """The type of the numbers in each column."""
        return {name: kind.str for name, kind in self._types.items()}

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *problem: object) -> None:
        for file in self._files.values():
            file.close()

    def append(self, name: str, array: npt.NDArray[Any]) -> None:
        """Add an array to the end of a column."""
        if name not in self._files:
            self._files[name] = io.FileIO(self.folder / name, "wb")
            self._types[name] = array.dtype
        assert array.dtype == self._types[name], f"{name} changes its type"
        if array.size:
            write_all(self._files[name], np.ascontiguousarray(array).data.cast("B"))

    @property
    def size(self) -> int:
        """Bytes of all columns."""
        return sum((self.folder / name).stat().st_size for name in self._types)

    def column(self, name: str) -> npt.NDArray[Any]:
        """A whole column, mapped copy-on-write."""
        if name in self._files:
            self._files[name].close()
        with (self.folder / name).open("rb") as file:
            if not file.seek(0, io.SEEK_END):
                return np.empty(0, self._types[name])
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        large.room().add(pages)
        return np.frombuffer(pages, self._types[name])


class Gathering:
    """Takes parsed chunks in the order of the dumps."""

    def __init__(self, spill: Spill) -> None:
        self.spill = spill
        self.items = 0
        self.dates_dropped = 0
        self.files: list[DumpFile] = []
        self._strings = 0
        self._ends: dict[str, int] = {}
        self._properties = 0

    @property
    def said(self) -> dict[str, Any]:
        """Everything besides the columns, for the journal."""
        return {"items": self.items, "dates_dropped": self.dates_dropped, "files": self.files}

    def resume(self, said: dict[str, Any]) -> None:
        """Continue with what another run gathered in the same spill."""
        self.items, self.dates_dropped = said["items"], said["dates_dropped"]
        self.files = [DumpFile(*file) for file in said["files"]]

    def add(self, parsed: Parsed, file: str) -> None:
        """Append one chunk's columns; strings are numbered through all chunks."""
        if not self.files or self.files[-1].name != file:
            self.files.append(DumpFile(self.items, self._properties, file))
        value = parsed.statement_value
        parsed.statement_value = np.where(value < 0, value - self._strings, value)
        for name in FIELDS:
            column = getattr(parsed, name)
            if isinstance(column, Strings):
                self._append_offsets(f"{name}.offsets", column.offsets)
                self.spill.append(f"{name}.bytes", column.data)
            elif name.endswith("_indptr"):
                self._append_offsets(name, column)
            else:
                self.spill.append(name, column)
        self._strings += len(parsed.strings)
        self.items += len(parsed.qid)
        self._properties += len(parsed.property_id)
        self.dates_dropped += parsed.dates_dropped

    def _append_offsets(self, name: str, offsets: Int64) -> None:
        """Offsets continue those of the chunk before; on disk they can be mapped, and take no memory."""
        end = self._ends.get(name)
        self.spill.append(name, offsets if end is None else offsets[1:] + end)
        self._ends[name] = int(offsets[-1]) + (end or 0)

    def finish(self) -> Items:
        """Map everything."""
        column = self.spill.column
        texts = {name: Strings(column(f"{name}.offsets"), column(f"{name}.bytes")) for name in TEXT_COLUMNS}
        return Items({name: texts[name] if name in texts else column(name) for name in FIELDS}, self.files)


def gather_items(
    dumps: Sequence[str],
    keep: Keep,
    language: Language,
    workers: int,
    spill: Spill,
    rejects: Rejects,
    reporter: Reporter,
) -> Gathering:
    """Parse `dumps` on `workers` threads: the scanner is compiled and releases the GIL.

    The items that `keep` selects become entities, with texts in `language`. Few chunks are in memory at a time. Columns
    go to `spill` in the order of the dumps, rejected lines to `rejects`.
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
