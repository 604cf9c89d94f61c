"""Link any number of files into a folder, with several worker processes. A stopped run is resumed by the same call.

DIR/links/part-FILE-SHARD.parquet    the links; the order of the names is the order of the articles
DIR/rejects/part-FILE-SHARD.jsonl    rejected records: file, line, reason
DIR/journal.jsonl                    the finished parts
DIR/run.json                         the description of the run, written at its end
"""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from namesake import __version__
from namesake.articles.days import check_date
from namesake.engines.article_files import Input, find_files, look_at, reading_for
from namesake.engines.crew import Crew, Failed
from namesake.engines.file_linker import Counts
from namesake.engines.run_journal import LINKS, REJECTS, Changed, Done, Ended, Plan, RunJournal
from namesake.engines.shards import SHARD_BYTES, Piece, ShardLinker, pieces_of
from namesake.errors import NamesakeError
from namesake.files import keep_apart, published
from namesake.files.lines import MOST_LINE
from namesake.files.outputs import remove_stale, sync
from namesake.files.several import Paths, several
from namesake.formats import cut_of
from namesake.formats.field_names import Reading
from namesake.linker import Linker
from namesake.machine import cores
from namesake.printable import listed
from namesake.progress import Reporter

RUN = "run.json"
COUNTED = ("articles", "mentions", "linked", "rejects", "undated")


@dataclass
class Run:
    """The result of a run into a folder."""

    counts: Counts
    """Of everything in the folder, stopped runs included."""
    rejects: int
    undated: int
    linked_now: int
    """Articles that this call linked."""
    problems: list[str] = field(default_factory=list)
    """Files that could not be read to their end, and shards that failed: the same call tries them again."""
    unread_date: str | None = None
    """The first date that could not be read."""
    notes: list[str] = field(default_factory=list)
    """What was skipped in the folders of articles."""


def link_folder(
    linker: Linker,
    articles: Paths,
    out: str | Path,
    *,
    workers: int = 0,
    scores: bool = False,
    date: str | None = None,
    most_line: int = MOST_LINE,
    shard_bytes: int = SHARD_BYTES,
    reading: Reading | None = None,
    reporter: Reporter | None = None,
) -> Run:
    """Link the articles of any number of files into a folder; the same call resumes a stopped run.

    Args:
        linker: links the articles.
        articles: as for `link_files`. JSON lines of our layouts and Parquet are cut into parts; one worker reads all
            of any other file. Standard input is refused.
        out: the folder. It holds the links of one run: another KB, another recipe or other articles are refused.
        workers: the number of processes; 0 is one per core. It does not change the result.
        scores: also write every candidate with its scores.
        date: the ISO date of articles without one.
        most_line: the maximum size of a line of JSON or of a text file, in bytes; longer ones are rejected.
        shard_bytes: the number of bytes of text in a part.
        reading: the names of the fields, and other settings that the suffix does not tell.
        reporter: shows progress.
    """
    check_date(date)
    out, reporter = Path(out), reporter or Reporter()
    listing = find_files(several(articles), out, reporter.say)
    inputs = [look_at(path) for path in listing.paths]
    reading = reading_for(listing.paths, reading)
    keep_apart([out], [*(one.path for one in inputs), linker.kb.path])
    sizes = {"most_line": f"{most_line / 2**20:g} MB", "shard_bytes": f"{shard_bytes:,} bytes"}
    plan = Plan.of(linker, inputs, reading, {"scores": str(scores), "date": date or "", **sizes})
    work = ShardLinker(linker, out, scores, date, most_line, reading)
    if out.exists() and not out.is_dir():
        raise NamesakeError(f"{out} is a file, not a folder to write: name another")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise NamesakeError(f"{out} cannot be made ({problem.strerror or problem}): name another folder") from None
    try:
        with RunJournal(out, plan, now()) as journal:
            run = _Folder(inputs, work, journal, reporter, shard_bytes).run(workers or cores())
            return replace(run, notes=listing.notes)
    except OSError as problem:
        where = problem.filename or out
        raise NamesakeError(f"{where}: {problem.strerror or problem}; the same command resumes the run") from None


def made_by(linker: Linker) -> dict[str, Any]:
    """The program, the KB and the recipe, for `run.json`."""
    kb, recipe = linker.kb, linker.recipe
    return {
        "versions": {"namesake": __version__, "python": platform.python_version(), "pyarrow": pa.__version__},
        "kb": {"path": str(kb.path), "digest": kb.manifest.digest, "created": kb.manifest.created, "entities": len(kb)},
        "recipe": {"name": recipe.name, "toml": recipe.toml()},
    }


def now() -> str:
    """The current time, as `run.json` writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class _Folder:
    """One run, part of which may be done already."""

    def __init__(
        self, inputs: list[Input], work: ShardLinker, journal: RunJournal, reporter: Reporter, shard_bytes: int
    ) -> None:
        self.inputs, self.work, self.journal = inputs, work, journal
        self.reporter, self.shard_bytes = reporter, shard_bytes
        self.problems: list[str] = []
        self.articles = 0
        """Linked by this call."""
        self.totals: Counter[str] = Counter()
        """Of everything in the folder."""
        self.sizes = [one.size for one in inputs]
        self.size = sum(self.sizes)
        self.read = 0
        """Bytes of the files before the one that is being read."""
        self.in_progress: Counter[int] = Counter()
        """The number of shards of each file that are being linked."""
        self.shards: dict[int, int | None] = {}
        """The number of shards of each file that was read; None if it could not be read to its end."""

    def run(self, workers: int) -> Run:
        """Do what is left to do."""
        began, out = time.monotonic(), self.work.out
        self._check_folder()
        self._add_up()
        left = [file for file in range(len(self.sizes)) if not self.journal.is_complete(file)]
        self.read = self.before = self.size - sum(self.sizes[file] for file in left)
        if left:
            _ = self.work.nothing, self.work.metadata  # once for all workers: loads the kernels
            try:
                with self.reporter.stage("linking"), Crew(workers, self.work) as crew:
                    self._link(crew, left)
            finally:
                for folder in (out / LINKS, out / REJECTS):
                    remove_stale(folder)
                    sync(folder)
            self.journal.remove_leftovers()
            self._add_up()
        result = self._result()
        self._write_run(result, time.monotonic() - began, workers)
        return result

    def _check_folder(self) -> None:
        """Compare the folder with the journal, and report what has to be made again."""
        out = self.work.out
        for folder in (out / LINKS, out / REJECTS):
            folder.mkdir(exist_ok=True)
            remove_stale(folder)
        self.journal.refuse_foreign()
        if self.journal.changed:
            self.reporter.say(f"linked again, because they have changed: {listed(self.journal.changed)}")
        if damaged := self.journal.forget_damaged():
            self.reporter.say(f"made again, because they are missing or damaged: {listed(damaged)}")
        self.journal.remove_leftovers()

    def _add_up(self) -> None:
        self.totals = Counter()
        for done in self.journal.done.values():
            self._count(done)

    def _count(self, done: Done) -> None:
        self.totals.update({name: getattr(done, name) for name in COUNTED})

    def _link(self, crew: Crew, left: list[int]) -> None:
        for piece, answer in crew.outcomes(self._pieces(left)):
            file = piece.shard.file
            self.in_progress[file] -= 1
            if isinstance(answer, Failed) and answer.hopeless:
                raise NamesakeError(f"{answer.reason}; make room, and the same command resumes the run")
            if isinstance(answer, Failed):
                shard, unit = piece.shard, "row" if piece.shard.groups else "line"
                place = f"{shard.path}, after {unit} {shard.before:,}: {shard.name}"
                self._problem(f"{place} is skipped, because it failed twice: {answer.reason}")
            else:
                self.journal.add(answer)
                self._count(answer)
                self.articles += answer.articles
                self._report(piece)
            self._end(file)

    def _pieces(self, left: list[int]) -> Iterator[Piece]:
        """The shards that are not done. A file that cannot be read is a problem, and the others are still linked."""
        memory = bytearray()
        for file in left:
            path, number = Path(self.inputs[file].path), 0
            try:
                cut = cut_of(path, self.work.reading)
                for piece in pieces_of(file, path, self.shard_bytes, self.work.most_line, memory, cut):
                    number += 1
                    if (file, piece.shard.number) not in self.journal.done:
                        self.in_progress[file] += 1
                        yield piece
                self.shards[file] = number
            except NamesakeError as problem:
                self.shards[file] = None
                self._problem(str(problem))
            self._end(file)
            self.read += self.sizes[file]

    def _end(self, file: int) -> None:
        """Record the end of a file when it is read and all its shards are linked, unless it has changed."""
        if file not in self.shards or self.in_progress[file]:
            return
        shards, planned = self.shards[file], self.inputs[file]
        found = look_at(Path(planned.path))
        if found == planned and shards is not None:
            self.journal.add(Ended(file, shards))
        elif found != planned:
            self.journal.add(Changed(file, found))
            self._problem(f"{planned.path} has changed while it was being linked: the same command links it again")

    def _problem(self, line: str) -> None:
        self.problems.append(line)
        self.reporter.say(line)

    def _report(self, piece: Piece) -> None:
        total, count = max(self.size, 1), self.totals
        nil = 100 * (1 - count["linked"] / max(count["mentions"], 1))
        more = f"{count['linked']:,} links, {nil:.0f} % NIL, {count['rejects']:,} rejected"
        read = min(self.read + min(piece.position, self.sizes[piece.shard.file]), total)
        self.reporter.advance(read / total, self.articles, "articles", more, self.before / total)

    def _result(self) -> Run:
        count = self.totals
        counts = Counts(count["articles"], count["mentions"], count["linked"])
        parts = [done for _, done in sorted(self.journal.done.items())]
        unread = next((done.unread_date for done in parts if done.unread_date is not None), None)
        return Run(counts, count["rejects"], count["undated"], self.articles, self.problems, unread)

    def _write_run(self, result: Run, seconds: float, workers: int) -> None:
        """`run.json`: what made these links, and how many there are."""
        work, rule = self.work, self.work.linker.recipe.decide
        facts: dict[str, Any] = {
            "complete": not result.problems,
            **made_by(work.linker),
            "options": {
                "threshold": rule.threshold if rule else None,
                "mentions": work.linker.detector,
                "scores": work.scores,
                "date": work.date,
                "fields": work.reading.named | ({"encoding": work.reading.encoding} if work.reading.encoding else {}),
                "max_line": work.most_line,
                "workers": workers,
            },
            "inputs": {"files": len(self.inputs), "bytes": self.size},
            "counts": {"parts": len(self.journal.done), **{name: self.totals[name] for name in COUNTED}},
            "times": {
                "begun": self.journal.begun,
                "ended": now(),
                "last_run_seconds": round(seconds, 3),
                "last_run_articles": result.linked_now,
            },
            "problems": result.problems,
        }
        with published(work.out / RUN) as partial:
            partial.write_bytes(msgspec.json.format(msgspec.json.encode(facts), indent=1) + b"\n")
