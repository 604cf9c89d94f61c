"""Read the inputs of a build, each once: dumps on several threads, whose columns wait on disk, and Wikipedia."""

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

from namesake.arrays import Int64
from namesake.errors import NamesakeError
from namesake.files.digests import as_digest, hasher
from namesake.files.draft import Stage
from namesake.files.lines import Meter
from namesake.files.outputs import sync
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
    content: Gathered = field(default_factory=lambda: Gathered({}, {}))  # of the columns of the dumps

    def dumps(self) -> None:
        """Read the dumps, after the content of the KB that they update."""

        def read() -> dict[str, Any]:
            if self.options.base:
                self._copy(*self.options.base)
            elif found := needs(self.options):
                for line in found.lines(self.options):
                    self.reporter.say(line)
            with self.reporter.stage("reading the changes" if self.options.base else "reading the dump"):
                self.parse()
                if self.options.deleted:
                    gone = read_ids(self.options.deleted)
                    columns = gone, np.zeros_like(gone), np.full_like(gone, self.content.items)
                    for name, column in zip(GONE, columns, strict=True):
                        self.spill.append(name, column)
                    self.content.gone += len(gone)
            self.content.types = dict(self.spill.types)
            return {"content": self.content}

        if known := self._known("dumps", read):
            self.reporter.say("resuming a stopped build, which had read the dumps")
            self.content = msgspec.convert(known["content"], Gathered)

    def _copy(self, kb: Path, manifest: Manifest) -> None:
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
        self.spill.types |= known.types
        self.content = msgspec.structs.replace(known, ends=dict(known.ends))
        if wrong := next(problems_of(self.items(), known), None):
            raise NamesakeError(f"{kb / self.spill.path(wrong).name} is damaged: build the KB again")
        self.rejects.restore(kb, manifest)

    def parse(self) -> None:
        """Parse the dumps on several threads: columns go to the spill in the order of the dumps."""
        options, content, rejects = self.options, self.content, self.rejects
        before, rejected = content.items + content.gone, len(rejects.named)
        of_chunk = partial(parse_chunk, keep=options.keep, language=options.language)
        results = in_order(of_chunk, read_chunks(options.dumps, options.workers), options.workers)
        with Meter(options.dumps) as meter, closing(results):
            for parsed in results:
                self._add(parsed)
                rejects.add(parsed.rejected)
                self.reporter.advance(meter.fraction(), content.items)
        if content.items + content.gone == before and len(rejects.named) > rejected:
            first = rejects.named[rejected]
            raise NamesakeError(f"{first.file}:{first.line}: {first.reason}; no line is a Wikidata item: is it a dump?")

    def _add(self, parsed: Items) -> None:
        """Append one chunk's columns. Strings, items and offsets are numbered through all chunks."""
        content, value = self.content, parsed.statement_value
        parsed.statement_value = np.where(value < 0, value - content.strings, value)
        parsed.gone_before = parsed.gone_before + content.items
        for name, array in parsed.arrays().items():
            if name.endswith(("_indptr", ".offsets")):  # on disk they can be mapped, and take no memory
                end = content.ends.get(name)
                content.ends[name] = int(array[-1]) + (end or 0)
                array = array if end is None else array[1:] + end
            self.spill.append(name, array)
        content.strings += len(parsed.strings)
        content.items += len(parsed.qid)
        content.gone += len(parsed.gone_qid)
        content.dates_dropped += parsed.dates_dropped

    def items(self) -> Items:
        """The content of the dumps, mapped."""
        column = self.spill.column
        texts = {name: Strings(column(f"{name}.offsets"), column(f"{name}.bytes")) for name in TEXT_COLUMNS}
        return Items({name: texts[name] if name in texts else column(name) for name in FIELDS})

    def wikipedia(self, qids: Int64) -> Wikipedia:
        """The Wikipedia texts and ranks of the entities `qids`, as far as a dump was given."""
        if (path := self.options.wikipedia) is None:
            return Wikipedia(Strings.empty(len(qids)))
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
            for column in self.spill.types:
                sync(self.spill.path(column))
            found = ReadInput(self.spill.types, facts, self.rejects.named, dict(self.rejects.reasons))
            self.draft.note(Stage(name, found, sizes=self.spill.sizes))
        return None


def problems_of(items: Items, known: Gathered) -> Iterator[str]:
    """Columns of the content of dumps that kernels must not read: wrong lengths, bounds or numbers."""
    ends = {"alias_indptr": len(items.alias), "statement_indptr": len(items.statement_value)}
    sizes = dict.fromkeys((*ITEM_COLUMNS, "label", "description", "title"), known.items)
    sizes |= dict.fromkeys(ends, known.items + 1) | dict.fromkeys(GONE, known.gone) | {"strings": known.strings}
    sizes |= dict.fromkeys(STATEMENT_COLUMNS, len(items.statement_value)) | {"property_label": len(items.property_id)}
    least = {"qid": 1, "gone_qid": 1, "gone_target": 0, "gone_before": 0, "property_id": 1, "statement_property": 1}
    least |= {"statement_value": -known.strings}
    for name in FIELDS:
        column = getattr(items, name)
        is_sound = len(column) == sizes.get(name, len(column))
        if isinstance(column, Strings):
            is_sound = is_sound and column.is_valid()
        elif name in ends:
            falls = (column[1:] < column[:-1]).any()
            is_sound = is_sound and column[0] == 0 and column[-1] == ends[name] and not falls
        elif name in least and len(column):
            is_sound = is_sound and least[name] <= column.min() <= column.max() <= LARGEST_ID
        if not is_sound:
            yield f"{name}.offsets" if isinstance(column, Strings) else name
