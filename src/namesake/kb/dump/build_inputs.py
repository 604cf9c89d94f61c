"""The inputs of a build. A resumed build does not read again what an earlier run has read."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError
from namesake.kb.build_options import Options
from namesake.kb.dump.gather import Gathering, Spill, gather_items
from namesake.kb.dump.rejected_lines import Rejects
from namesake.kb.dump.wikipedia import Reader, Wikipedia, read_pages
from namesake.kb.publish.draft import Draft
from namesake.kb.publish.journal import Stage
from namesake.kb.publish.memory import needs
from namesake.progress import Reporter

DUMPS, WIKIPEDIA = "dumps", "wikipedia"


class Inputs:
    """Reads inputs into the spill of a draft, and records in its journal what has been read."""

    def __init__(self, options: Options, draft: Draft, spill: Spill, reporter: Reporter) -> None:
        self.options = options
        self.journal = draft.journal
        self.spill = spill
        self.reporter = reporter
        self.rejects = Rejects()

    def say_needs(self) -> None:
        """Report the estimated needs of the build, unless the dumps have been read."""
        if DUMPS not in self.journal.finished.stages and (found := needs(self.options)):
            for line in found.lines(self.options):
                self.reporter.say(line)

    def dumps(self) -> Gathering:
        """The content of the dumps."""
        if known := self._known(DUMPS):
            self.reporter.say("resuming a stopped build, which had read the dumps")
            gathering = Gathering(self.spill)
            gathering.resume(known.said)
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
            reader.pages = known.said["pages"]
            return reader.finish()
        with self.reporter.stage("reading Wikipedia"):
            read_pages(reader, self.options.wikipedia, self.options.workers, self.reporter)
            self._note(WIKIPEDIA, {"pages": reader.pages})
            return reader.finish()

    def _known(self, name: str) -> Stage | None:
        """The stage of this name in the journal, if an earlier run finished it."""
        known = self.journal.finished.stages.get(name)
        if known is not None:
            self.spill.adopt(known.columns)
            self.rejects.restore(known.rejects, known.reasons)
        return known

    def _note(self, name: str, said: dict[str, Any]) -> None:
        if self.journal.finished.key:
            stage = Stage(self.spill.keep(), said, self.rejects.named, dict(self.rejects.reasons))
            self.journal.note_stage(name, stage)
