"""Linking any number of files into a folder, by several workers, with a journal: what is stopped goes on.

DIR/links/part-FILE-SHARD.parquet    the links, in the order of the articles by name
DIR/rejects/part-FILE-SHARD.jsonl    records that could not be used: file, line, reason
DIR/journal.jsonl                    what is done
DIR/run.json                         what the run was, when it is over
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
from namesake.engines.article_files import reading_for
from namesake.engines.crew import Crew, Failed
from namesake.engines.file_linker import Counts
from namesake.engines.inputs import find_files, look_at
from namesake.engines.journal import Changed, Done, Ended, Journal
from namesake.engines.parts import LINKS, REJECTS, forget_damaged, refuse_foreign, remove_leftovers
from namesake.engines.plan import Plan
from namesake.engines.shard_linker import ShardLinker
from namesake.engines.shards import SHARD_BYTES, Piece, pieces_of
from namesake.errors import NamesakeError
from namesake.files import keep_apart, published
from namesake.files.durable import sync
from namesake.files.lines import MOST_LINE
from namesake.files.partial import remove_stale
from namesake.files.several import Paths, several
from namesake.formats import cut_of
from namesake.formats.field_names import Reading
from namesake.linker import Linker
from namesake.machine import cores
from namesake.printable import listed
from namesake.progress import Reporter

RUN = "run.json"


@dataclass
class Run:
    """What a run into a folder came to."""

    counts: Counts
    """Of all that the folder holds, by whichever run."""
    rejects: int
    undated: int
    linked_now: int
    """Articles that this run linked."""
    problems: list[str] = field(default_factory=list)
    """Files that could not be read to their end, and shards that failed: the same command tries them again."""
    unread_date: str | None = None
    """The first of the dates that cannot be read."""
    notes: list[str] = field(default_factory=list)
    """What was passed over in the folders of articles."""


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
    """Link the articles of any number of files into a folder; the same call goes on where an earlier one was stopped.

    Args:
        linker: what links them.
        articles: one or several files (JSONL, JSON, CSV, TSV or text, also `.gz .bz2 .zst`, or Parquet), patterns, and
            folders. JSON lines of our layouts and Parquet are cut into parts; of any other file one worker reads all.
        out: the folder. It holds the links of one run: another KB, recipe or other articles are refused.
        workers: how many processes link; 0 is one for each core. They change nothing in the result.
        scores: also write every candidate with its scores.
        date: the ISO date of articles that have none.
        most_line: how many bytes a line of JSON, or a text file, may have; longer ones are set aside.
        shard_bytes: how many bytes of text make a part.
        reading: what the fields of the articles are called, and what else the files do not tell.
        reporter: told how far the work is.
    """
    check_date(date)
    out, reporter = Path(out), reporter or Reporter()
    listing = find_files(several(articles), out, reporter.say)
    inputs = [look_at(path) for path in listing.paths]
    reading = reading_for(listing.paths, reading)
    keep_apart([out], [*(one.path for one in inputs), linker.kb.path])
    plan = Plan.of(linker, inputs, reading, scores=scores, date=date, most_line=most_line, shard_bytes=shard_bytes)
    work = ShardLinker(linker, out, scores, date, most_line, reading)
    _make(out)
    try:
        with Journal(out, plan, now()) as journal:
            run = _Folder(plan, work, journal, reporter).run(workers or cores())
            return replace(run, notes=listing.notes)
    except OSError as problem:
        where = problem.filename or out
        raise NamesakeError(f"{where}: {problem.strerror or problem}; the same command goes on from here") from None


def _make(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise NamesakeError(f"{out} is a file, not a folder to write: name another")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise NamesakeError(f"{out} cannot be made ({problem.strerror or problem}): name another folder") from None


def _counted(done: Done) -> Counter[str]:
    return Counter({name: getattr(done, name) for name in ("articles", "mentions", "linked", "rejects", "undated")})


def made_by(linker: Linker) -> dict[str, Any]:
    """What `run.json` says of the program, the KB and the recipe."""
    kb, recipe = linker.kb, linker.recipe
    return {
        "versions": {"namesake": __version__, "python": platform.python_version(), "pyarrow": pa.__version__},
        "kb": {"path": str(kb.path), "digest": kb.manifest.digest, "created": kb.manifest.created, "entities": len(kb)},
        "recipe": {"name": recipe.name, "toml": recipe.toml()},
    }


def now() -> str:
    """This moment, as `run.json` writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class _Folder:
    """One run, of which some may be done already."""

    def __init__(self, plan: Plan, work: ShardLinker, journal: Journal, reporter: Reporter) -> None:
        self.plan = plan
        self.work = work
        self.journal = journal
        self.reporter = reporter
        self.problems: list[str] = []
        self.articles = 0
        """Linked by this run."""
        self.totals: Counter[str] = Counter()
        """Of all that the folder holds."""
        self.sizes = [one.size for one in plan.inputs]
        self.size = sum(self.sizes)
        self.read = 0
        """Bytes of the files before the one that is being read."""
        self.at_work: Counter[int] = Counter()
        """How many shards of each file are being linked."""
        self.shards: dict[int, int | None] = {}
        """How many shards the files have that were read; None where one could not be read to its end."""

    def run(self, workers: int) -> Run:
        """Do what is left to do."""
        began, out = time.monotonic(), self.work.out
        self._look_around()
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
            remove_leftovers(out, self.journal)
            self._add_up()
        result = self._result()
        self._write_run(result, time.monotonic() - began, workers)
        return result

    def _look_around(self) -> None:
        """Compare what is in the folder with the journal, and say what is to be made anew."""
        out = self.work.out
        for folder in (out / LINKS, out / REJECTS):
            folder.mkdir(exist_ok=True)
            remove_stale(folder)
        refuse_foreign(out, self.journal)
        if self.journal.changed:
            self.reporter.say(f"linked anew, as they have changed since: {listed(self.journal.changed)}")
        damaged = forget_damaged(out, self.journal)
        if damaged:
            self.reporter.say(f"made anew, as they are gone or damaged: {listed(damaged)}")
        remove_leftovers(out, self.journal)

    def _add_up(self) -> None:
        self.totals = sum((_counted(done) for done in self.journal.done.values()), Counter())

    def _link(self, crew: Crew, left: list[int]) -> None:
        for outcome in crew.outcomes(self._pieces(left)):
            file = outcome.piece.shard.file
            self.at_work[file] -= 1
            if isinstance(outcome.answer, Failed):
                self._set_aside(outcome.piece, outcome.answer)
            else:
                self.journal.add(outcome.answer)
                self.totals += _counted(outcome.answer)
                self.articles += outcome.answer.articles
                self._report(outcome.piece)
            self._end(file)

    def _pieces(self, left: list[int]) -> Iterator[Piece]:
        """What is left of the files, shard by shard; a file that cannot be read is a problem of its own."""
        memory = bytearray()
        for file in left:
            path, number = Path(self.plan.inputs[file].path), 0
            try:
                cut = cut_of(path, self.work.reading)
                for piece in pieces_of(file, path, self.plan.shard_bytes, self.plan.most_line, memory, cut):
                    number += 1
                    if not self.journal.is_done(file, piece.shard.number):
                        self.at_work[file] += 1
                        yield piece
                self.shards[file] = number
            except NamesakeError as problem:
                self.shards[file] = None
                self._problem(str(problem))
            self._end(file)
            self.read += self.sizes[file]

    def _end(self, file: int) -> None:
        """When a file is read and its last shard is linked, write so down, unless it has changed in the meantime."""
        if file not in self.shards or self.at_work[file]:
            return
        shards, planned = self.shards[file], self.plan.inputs[file]
        found = look_at(Path(planned.path))
        if found == planned and shards is not None:
            self.journal.add(Ended(file, shards))
        elif found != planned:
            self.journal.add(Changed(file, found))
            self._problem(f"{planned.path} has changed while it was being linked: the same command links it anew")

    def _set_aside(self, piece: Piece, failed: Failed) -> None:
        if failed.hopeless:
            raise NamesakeError(f"{failed.reason}; make room, and the same command goes on from here")
        shard = piece.shard
        where = f"{shard.path}, after {'row' if shard.groups else 'line'} {shard.before:,}"
        self._problem(f"{where}: {shard.name} is set aside, having failed twice: {failed.reason}")

    def _problem(self, line: str) -> None:
        self.problems.append(line)
        self.reporter.say(line)

    def _report(self, piece: Piece) -> None:
        total, count = max(self.size, 1), self.totals
        nobody = 100 * (1 - count["linked"] / max(count["mentions"], 1))
        more = f"{count['linked']:,} links, {nobody:.0f} % nobody, {count['rejects']:,} set aside"
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
        rule, plan = self.work.linker.recipe.decide, self.plan
        facts: dict[str, Any] = {
            "complete": not result.problems,
            **made_by(self.work.linker),
            "options": {
                "threshold": rule.threshold if rule else None,
                "mentions": plan.mentions,
                "scores": plan.scores,
                "date": plan.date,
                "fields": plan.fields,
                "max_line": plan.most_line,
                "workers": workers,
            },
            "inputs": {"files": len(plan.inputs), "bytes": self.size},
            "counts": {
                "parts": len(self.journal.done),
                "articles": result.counts.articles,
                "mentions": result.counts.mentions,
                "linked": result.counts.linked,
                "rejects": result.rejects,
                "undated": result.undated,
            },
            "times": {
                "begun": self.journal.begun,
                "ended": now(),
                "last_run_seconds": round(seconds, 3),
                "last_run_articles": result.linked_now,
            },
            "problems": result.problems,
        }
        with published(self.work.out / RUN) as partial:
            partial.write_bytes(msgspec.json.format(msgspec.json.encode(facts), indent=1) + b"\n")
