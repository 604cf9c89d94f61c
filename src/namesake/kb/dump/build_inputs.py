"""The inputs of a build. A resumed build does not read again what an earlier run has read."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.kb.build_options import Options
from namesake.kb.dump.gather import Gathering, Spill, gather_items
from namesake.kb.dump.rejected_lines import Rejects
from namesake.kb.dump.wikipedia import Reader, Wikipedia, read_pages
from namesake.kb.manifest import Reject
from namesake.kb.publish.draft import Draft
from namesake.kb.publish.memory import needs
from namesake.progress import Reporter

DUMPS, WIKIPEDIA = "dumps", "wikipedia"


class ReadInput(msgspec.Struct, frozen=True):
    """An input that was read: the types of its columns in the spill, other facts, and the rejected lines."""

    types: dict[str, str]
    facts: dict[str, Any]
    rejects: list[Reject]
    reasons: dict[str, int]


class Inputs:
    """Reads inputs into the spill of a draft, and records each as a finished stage."""

    def __init__(self, options: Options, draft: Draft, spill: Spill, reporter: Reporter) -> None:
        self.options = options
        self.draft = draft
        self.spill = spill
        self.reporter = reporter
        self.rejects = Rejects()

    def say_needs(self) -> None:
        """Report what the build will need, unless the dumps are already read."""
        if DUMPS not in self.draft.stages and (found := needs(self.options)):
            for line in found.lines(self.options):
                self.reporter.say(line)

    def dumps(self) -> Gathering:
        """The items of the dumps."""
        if known := self._known(DUMPS):
            self.reporter.say("resuming a stopped build, which had read the dumps")
            gathering = Gathering(self.spill)
            gathering.resume(known.facts)
            return gathering
        options = self.options
        with self.reporter.stage("reading the dump"):
            gathering = gather_items(
                options.dumps, options.keep, options.language, options.workers, self.spill, self.rejects, self.reporter
            )
            if not gathering.items and self.rejects.named:
                first = self.rejects.named[0]
                raise NamesakeError(
                    f"{first.file}:{first.line}: {first.reason}; no line is a Wikidata item: is it a dump?"
                )
            self._note(DUMPS, gathering.said)
        return gathering

    def wikipedia(self, qids: npt.NDArray[np.int64]) -> Wikipedia | None:
        """The Wikipedia texts and ranks of the entities `qids`, if a dump was given."""
        if self.options.wikipedia is None:
            return None
        reader = Reader(qids, self.spill, self.rejects)
        if known := self._known(WIKIPEDIA):
            reader.pages = known.facts["pages"]
            return reader.finish()
        with self.reporter.stage("reading Wikipedia"):
            read_pages(reader, self.options.wikipedia, self.options.workers, self.reporter)
            self._note(WIKIPEDIA, {"pages": reader.pages})
            return reader.finish()

    def _known(self, name: str) -> ReadInput | None:
        """An input that the stopped build has read, with its columns and rejected lines."""
        stage = self.draft.stages.get(name)
        if stage is None:
            return None
        known = msgspec.convert(stage.facts, ReadInput)
        self.spill.adopt(known.types)
        self.rejects.restore(known.rejects, known.reasons)
        return known

    def _note(self, name: str, facts: dict[str, Any]) -> None:
        if self.draft.key:
            sizes = {f"spill/{column}": size for column, size in self.spill.keep().items()}
            read = ReadInput(self.spill.types, facts, self.rejects.named, dict(self.rejects.reasons))
            self.draft.note(name, read, sizes=sizes)
