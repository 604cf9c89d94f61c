"""Read the inputs of a build: dumps on several threads, whose columns wait on disk, and Wikipedia.

A resumed build does not read again what an earlier run has read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shutil import copyfile
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.arrays import Int64
from namesake.errors import NamesakeError
from namesake.files.digests import as_digest, hasher
from namesake.files.lines import Meter
from namesake.kb.build_options import Options, needs
from namesake.kb.columns import Strings
from namesake.kb.dump.chunks import read_chunks
from namesake.kb.dump.parse import FIELDS, GONE, STATEMENT_COLUMNS, TEXT_COLUMNS, Items, parse_chunk
from namesake.kb.dump.repair import read_ids
from namesake.kb.dump.wikipedia import Reader, Wikipedia
from namesake.kb.manifest import Gathered, Manifest, Reject, Rejects
from namesake.kb.publish.draft import Draft, Spill
from namesake.kernels.dump.entity import ITEM_COLUMNS
from namesake.kernels.dump.wikidata import LARGEST_ID
from namesake.machine import in_order
from namesake.progress import Reporter


class Gathering:
    """Takes parsed chunks in the order of the dumps."""

    def __init__(self, spill: Spill) -> None:
        self.spill, self.content = spill, Gathered({}, {})

    def read(self, options: Options, rejects: Rejects, reporter: Reporter) -> None:
        """Parse the dumps on several threads: columns go to the spill in the order of the dumps."""
        content, workers = self.content, options.workers
        before, rejected = content.items + content.gone, len(rejects.named)
        parse = partial(parse_chunk, keep=options.keep, language=options.language)
        results = in_order(parse, read_chunks(options.dumps, workers), workers)
        with Meter(options.dumps) as meter, closing(results):
            for parsed in results:
                self.add(parsed)
                rejects.add(parsed.rejected)
                reporter.advance(meter.fraction(), content.items)
        if content.items + content.gone == before and len(rejects.named) > rejected:
            first = rejects.named[rejected]
            raise NamesakeError(f"{first.file}:{first.line}: {first.reason}; no line is a Wikidata item: is it a dump?")

    def add(self, parsed: Items) -> None:
        """Append one chunk's columns; strings are numbered through all chunks."""
        content, value = self.content, parsed.statement_value
        parsed.statement_value = np.where(value < 0, value - content.strings, value)
        parsed.gone_before = parsed.gone_before + content.items
        for name in FIELDS:
            column = getattr(parsed, name)
            if isinstance(column, Strings):
                self._append_offsets(f"{name}.offsets", column.offsets)
                self.spill.append(f"{name}.bytes", column.data)
            elif name.endswith("_indptr"):
                self._append_offsets(name, column)
            else:
                self.spill.append(name, column)
        content.strings += len(parsed.strings)
        content.items += len(parsed.qid)
        content.gone += len(parsed.gone_qid)
        content.dates_dropped += parsed.dates_dropped

    def delete(self, qids: Int64) -> None:
        """Append deletions of these items."""
        columns = qids, np.zeros_like(qids), np.full_like(qids, self.content.items)
        for name, column in zip(GONE, columns, strict=True):
            self.spill.append(name, column)
        self.content.gone += len(qids)

    def _append_offsets(self, name: str, offsets: Int64) -> None:
        """Offsets continue those of the chunk before; on disk they can be mapped, and take no memory."""
        end = self.content.ends.get(name)
        self.spill.append(name, offsets if end is None else offsets[1:] + end)
        self.content.ends[name] = int(offsets[-1]) + (end or 0)

    def restore(self, known: Gathered) -> None:
        """Continue with the columns that the spill already has."""
        self.spill.types |= known.types
        self.content = msgspec.structs.replace(known, ends=dict(known.ends))

    def copy(self, kb: Path, manifest: Manifest) -> None:
        """Begin with the content of the dumps from which a KB was built."""
        assert manifest.sources, "a KB that can be updated"
        known = manifest.sources.gathered
        for name in known.types:
            path = self.spill.path(name)
            copyfile(kb / path.name, path)
            expected = manifest.files.get(path.name, "")
            with path.open("rb") as file:
                self.spill.hashes[name] = hashlib.file_digest(file, partial(hasher, expected))
            if as_digest(self.spill.hashes[name]) != expected:
                raise NamesakeError(f"{kb / path.name} is damaged (its digest differs): build the KB again")
        self.restore(known)
        if wrong := next(problems_of(self.finish(), known), None):
            raise NamesakeError(f"{kb / self.spill.path(wrong).name} is damaged: build the KB again")

    def finish(self) -> Items:
        """Map everything."""
        column = self.spill.column
        texts = {name: Strings(column(f"{name}.offsets"), column(f"{name}.bytes")) for name in TEXT_COLUMNS}
        return Items({name: texts[name] if name in texts else column(name) for name in FIELDS})


def problems_of(items: Items, known: Gathered) -> Iterator[str]:
    """Columns of the content of dumps that kernels must not read: wrong lengths, bounds or numbers."""
    ends = {"alias_indptr": len(items.alias.offsets) - 1, "statement_indptr": len(items.statement_value)}
    sizes = dict.fromkeys((*ITEM_COLUMNS, "label", "description", "title"), known.items)
    sizes |= dict.fromkeys(ends, known.items + 1) | dict.fromkeys(GONE, known.gone) | {"strings": known.strings}
    sizes |= dict.fromkeys(STATEMENT_COLUMNS, len(items.statement_value)) | {"property_label": len(items.property_id)}
    least = {"qid": 1, "gone_qid": 1, "gone_target": 0, "gone_before": 0, "property_id": 1, "statement_property": 1}
    least |= {"statement_value": -known.strings}
    for name in FIELDS:
        column = getattr(items, name)
        size = len(column.offsets) - 1 if isinstance(column, Strings) else len(column)
        is_sound = size == sizes.get(name, size)
        if isinstance(column, Strings):
            is_sound = is_sound and column.is_valid()
        elif name in ends:
            falls = (column[1:] < column[:-1]).any()
            is_sound = is_sound and column[0] == 0 and column[-1] == ends[name] and not falls
        elif name in least and len(column):
            is_sound = is_sound and least[name] <= column.min() <= column.max() <= LARGEST_ID
        if not is_sound:
            yield f"{name}.offsets" if isinstance(column, Strings) else name


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
            if self.options.base:
                kb, manifest = self.options.base
                gathering.copy(kb, manifest)
                self.rejects.restore(kb, manifest)
            elif found := needs(self.options):
                for line in found.lines(self.options):
                    self.reporter.say(line)
            with self.reporter.stage("reading the changes" if self.options.base else "reading the dump"):
                gathering.read(self.options, self.rejects, self.reporter)
                if self.options.deleted:
                    gathering.delete(read_ids(self.options.deleted))
            gathering.content.types = dict(self.spill.types)
            return {"content": gathering.content}

        if known := self._known("dumps", read):
            self.reporter.say("resuming a stopped build, which had read the dumps")
            gathering.restore(msgspec.convert(known["content"], Gathered))
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
            found = ReadInput(self.spill.types, facts, self.rejects.named, dict(self.rejects.reasons))
            self.draft.note(name, found, sizes=self.spill.sizes)
        return None
