"""Read the inputs of a build: dumps on several threads, whose columns wait on disk, and Wikipedia.

A resumed build does not read again what an earlier run has read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.arrays import Int64
from namesake.errors import NamesakeError
from namesake.kb.build_options import Options, needs
from namesake.kb.columns import Strings
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.parse import FIELDS, TEXT_COLUMNS, DumpFile, Items, parse_chunk
from namesake.kb.dump.wikipedia import Reader, Wikipedia
from namesake.kb.manifest import Reject, Rejects
from namesake.kb.publish.draft import Draft, Spill
from namesake.machine import in_order
from namesake.progress import Reporter


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

    def read(self, options: Options, rejects: Rejects, reporter: Reporter) -> None:
        """Parse the dumps on several threads: columns go to the spill in the order of the dumps."""

        def parse(chunk: Chunk) -> tuple[Items, str, float | None]:
            return parse_chunk(chunk, options.keep, options.language), chunk.file, chunk.done

        with closing(in_order(parse, read_chunks(options.dumps, options.workers), options.workers)) as results:
            for parsed, file, done in results:
                self.add(parsed, file)
                rejects.add(parsed.rejected)
                reporter.advance(done, self.items)
        if not self.items and rejects.named:
            first = rejects.named[0]
            raise NamesakeError(f"{first.file}:{first.line}: {first.reason}; no line is a Wikidata item: is it a dump?")

    def add(self, parsed: Items, file: str) -> None:
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


class ReadInput(msgspec.Struct, frozen=True):
    """An input that was read: the types of its columns in the spill, other facts, and the rejected lines."""

    types: dict[str, str]
    facts: dict[str, Any]
    rejects: list[Reject]
    reasons: dict[str, int]


@dataclass
class Inputs:
    """Reads inputs into the spill of a draft, and records each as a finished stage."""

    options: Options
    draft: Draft
    spill: Spill
    reporter: Reporter
    rejects: Rejects = field(default_factory=Rejects)

    def dumps(self) -> Gathering:
        """The items of the dumps."""
        gathering = Gathering(self.spill)

        def read() -> dict[str, Any]:
            if found := needs(self.options):
                for line in found.lines(self.options):
                    self.reporter.say(line)
            with self.reporter.stage("reading the dump"):
                gathering.read(self.options, self.rejects, self.reporter)
            return {"items": gathering.items, "dates_dropped": gathering.dates_dropped, "files": gathering.files}

        if known := self._known("dumps", read):
            self.reporter.say("resuming a stopped build, which had read the dumps")
            gathering.items, gathering.dates_dropped = known["items"], known["dates_dropped"]
            gathering.files = [DumpFile(*file) for file in known["files"]]
        return gathering

    def wikipedia(self, qids: npt.NDArray[np.int64]) -> Wikipedia | None:
        """The Wikipedia texts and ranks of the entities `qids`, if a dump was given."""
        if (path := self.options.wikipedia) is None:
            return None
        reader = Reader(qids, self.spill, self.rejects)

        def read() -> dict[str, Any]:
            reader.read(path, self.options.workers, self.reporter)
            return {"pages": reader.pages}

        with self.reporter.stage("reading Wikipedia"):
            if known := self._known("wikipedia", read):
                reader.pages = known["pages"]
            return reader.finish()

    def _known(self, name: str, read: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
        """The facts about an input that the stopped build had read. If it had not, `read` is called and recorded."""
        if stage := self.draft.stages.get(name):
            known = msgspec.convert(stage.facts, ReadInput)
            self.spill.types |= known.types
            self.rejects.named, self.rejects.reasons = list(known.rejects), Counter(known.reasons)
            return known.facts
        facts = read()
        if self.draft.key:
            self.spill.keep()
            sizes = {f"spill/{column}": size for column, size in self.spill.sizes.items()}
            found = ReadInput(self.spill.types, facts, self.rejects.named, dict(self.rejects.reasons))
            self.draft.note(name, found, sizes=sizes)
        return None
