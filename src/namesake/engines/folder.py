"""Link any number of files into a folder, with several worker processes. A stopped run is resumed by the same call.

DIR/links/part-FILE-SHARD.parquet    the links; the order of the names is the order of the articles
DIR/rejects/part-FILE-SHARD.jsonl    rejected records: file, line, reason
DIR/journal.jsonl                    the finished parts
DIR/run.json                         the description of the run, written at its end

Each worker links one shard at a time, which it receives and answers through a pipe. Processes, not threads: reading
JSON makes Python objects, and the GIL lets one thread do that at a time. Processes are forked if possible, so that all
share the loaded code and the map of the KB.
"""

import errno
import multiprocessing
import os
import platform
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from mmap import mmap
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from namesake import __version__
from namesake.articles.days import check_date
from namesake.engines import shards
from namesake.engines.file_linker import Counts, Input, find_files, look_at, reading_for
from namesake.engines.shards import SHARD_BYTES, Done, Piece, RunJournal, ShardLinker
from namesake.errors import NamesakeError
from namesake.files import Paths, keep_apart, published, several
from namesake.files.lines import MOST_LINE
from namesake.files.outputs import FULL, remove_stale, sync
from namesake.formats import cut_of
from namesake.formats.field_names import Reading
from namesake.linker import Linker
from namesake.machine import cores
from namesake.progress import Reporter

TRIES = 2
SHARED_BYTES = SHARD_BYTES + (4 << 20)
"""Memory that a worker shares with its parent: a block may be longer than others by a line."""
PATIENCE = 5.0  # seconds for a dying worker to end


class Failed(NamedTuple):
    """A shard could not be linked."""

    reason: str
    hopeless: bool = False  # whether all other shards would fail as well


def outcomes(
    work: ShardLinker, pieces: Iterator[Piece], workers: int, shared: int = SHARED_BYTES
) -> Generator[tuple[Piece, Done | Failed], None, None]:
    """Link the pieces with several worker processes, in any order; a piece that fails is tried again."""
    idle: list[_Worker] = []
    busy: dict[Connection, _Worker] = {}
    with ExitStack() as ended:
        for _ in range(workers):
            idle.append(_Worker(work, shared))
            ended.callback(idle[-1].end)
        while True:
            while idle and (piece := next(pieces, None)) is not None:
                worker = idle.pop()
                worker.take(piece)
                busy[worker.pipe] = worker
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker = busy.pop(pipe)  # type: ignore[call-overload]
                answer = worker.answer()
                if isinstance(answer, Failed) and worker.tries < TRIES and not answer.hopeless:
                    worker.ask()
                    busy[worker.pipe] = worker
                else:
                    idle.append(worker)
                    yield worker.piece, answer


class _Worker:
    """A process, the pipe to it, and shared memory for the lines of one piece."""

    def __init__(self, work: ShardLinker, shared: int) -> None:
        forks = sys.platform == "linux"
        self.context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self.work, self.memory, self.tries = work, mmap(-1, shared) if forks else None, 0
        self._start()

    def _start(self) -> None:
        self.pipe, other = self.context.Pipe()
        arguments = (other, self.work, self.memory, os.getpid())
        self.process: BaseProcess = self.context.Process(target=_serve, args=arguments, daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about forking with threads: ours are not Python's
            self.process.start()
        other.close()

    def take(self, piece: Piece) -> None:
        """Request a piece. Its lines are put into the shared memory, unless they are too long for it."""
        self.piece, self.tries, lines, size = piece._replace(lines=None), 0, piece.lines, 0
        if lines is not None and self.memory is not None and len(lines) <= len(self.memory):
            size = len(lines)
            self.memory[:size] = lines
        self.order = piece.shard, None if size else lines, size
        self.ask()

    def ask(self) -> None:
        """Send the request: the shard, and its lines or their size in the shared memory."""
        self.tries += 1
        with suppress(OSError):  # a dead worker does not answer
            self.pipe.send(self.order)

    def answer(self) -> Done | Failed:
        """The worker's answer; a dead worker is replaced."""
        try:
            answer: Done | Failed = self.pipe.recv()
            return answer
        except (EOFError, OSError):
            failed = Failed(f"its worker died ({self.end(PATIENCE)})")
            self._start()
            return failed

    def end(self, patience: float = 0.0) -> str:
        """Stop the worker after this many seconds, whatever it is doing; returns how it ended."""
        self.pipe.close()
        self.process.join(patience)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _serve(pipe: Connection, work: ShardLinker, memory: Any, parent: int) -> None:
    """Answer requests until the pipe is closed or its other end is dead."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":  # the system kills this process when its parent ends, however that ends
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
    pa.set_cpu_count(1)
    with suppress(EOFError, OSError):
        while True:
            shard, lines, size = pipe.recv()
            answer: Done | Failed
            try:
                answer = work.link(shard, memory[:size] if size else lines)
            except Exception as problem:
                cause = problem if isinstance(problem, OSError) else problem.__context__
                hopeless = isinstance(cause, OSError) and cause.errno in (*FULL, errno.EROFS)
                what = str(problem) if isinstance(problem, NamesakeError) else f"{type(problem).__name__}: {problem}"
                answer = Failed(what.partition("\n")[0], hopeless)
            pipe.send(answer)


RUN = "run.json"


@dataclass
class Run:
    """The result of a run into a folder."""

    counts: Counts  # of everything in the folder, stopped runs included
    rejects: int
    undated: int
    linked_now: int  # articles that this call linked
    problems: list[str] = field(default_factory=list)
    """Files that could not be read to their end, and shards that failed: the same call tries them again."""
    unread_date: str | None = None
    notes: list[str] = field(default_factory=list)  # what was skipped in the folders of articles


def link_folder(
    linker: Linker,
    articles: Paths,
    out: str | Path,
    *,
    workers: int = 0,
    scores: bool = False,
    linked_only: bool = False,
    date: str | None = None,
    most_line: int = MOST_LINE,
    shard_bytes: int = SHARD_BYTES,
    reading: Reading | None = None,
    reporter: Reporter | None = None,
) -> Run:
    """Link the articles of any number of files into a folder; the same call resumes a stopped run.

    `scores`, `linked_only`, `date`, `most_line` and `reading` are as for `link_files`.

    Args:
        linker: links the articles.
        articles: as for `link_files`. JSON lines of our layouts and Parquet are cut into parts; one worker reads all
            of any other file. Standard input is refused.
        out: the folder. It holds the links of one run: another KB, another recipe or other articles are refused.
        workers: the number of processes; 0 is one per core. It does not change the result.
        shard_bytes: the number of bytes of text in a part.
        reporter: shows progress.
    """
    check_date(date)
    out, reporter = Path(out), reporter or Reporter()
    listing = find_files(several(articles), out, reporter.say)
    inputs = [look_at(path) for path in listing.paths]
    reading = reading_for(listing.paths, reading, most_line)
    keep_apart([out], [*(one.path for one in inputs), linker.kb.path])
    options = {"scores": str(scores), "date": date or "", "linked_only": "True" if linked_only else ""}
    options |= {"most_line": f"{most_line / 2**20:g} MB", "shard_bytes": f"{shard_bytes:,} bytes"}
    plan = shards.Plan.of(linker, inputs, reading, options)
    work = ShardLinker(linker, out, scores, date, reading, linked_only)
    if out.exists() and not out.is_dir():
        raise NamesakeError(f"{out} is a file, not a folder to write: name another")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise NamesakeError(f"{out} cannot be made ({problem.strerror or problem}): name another folder") from None
    try:
        with RunJournal(out, plan, now()) as journal:
            run = _Folder(work, journal, reporter, shard_bytes).run(workers or cores())
            return replace(run, notes=listing.notes)
    except OSError as problem:
        where = problem.filename or out
        raise NamesakeError(f"{where}: {problem.strerror or problem}; the same command resumes the run") from None


def describe_run(
    linker: Linker, inputs: list[Input], begun: str, began: float, articles: int, problems: list[str], **more: Any
) -> bytes:
    """The content of `run.json`: what made the links, when, and of which files; `more` are other facts."""
    kb, recipe = linker.kb, linker.recipe
    versions = {"namesake": __version__, "python": platform.python_version(), "pyarrow": pa.__version__}
    facts = {
        "complete": not problems,
        "versions": versions | more.pop("versions", {}),
        "kb": {"path": str(kb.path), "digest": kb.manifest.digest, "created": kb.manifest.created, "entities": len(kb)},
        "recipe": {"name": recipe.name, "toml": recipe.toml()},
        "inputs": {"files": len(inputs), "bytes": sum(one.size for one in inputs)},
        "times": {
            "begun": begun,
            "ended": now(),
            "last_run_seconds": round(time.monotonic() - began, 3),
            "last_run_articles": articles,
        },
        "problems": problems,
        **more,
    }
    return msgspec.json.format(msgspec.json.encode(facts), indent=1) + b"\n"


def now() -> str:
    """The current time, as `run.json` writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class _Folder:
    """One run, part of which may be done already."""

    def __init__(self, work: ShardLinker, journal: RunJournal, reporter: Reporter, shard_bytes: int) -> None:
        self.work, self.journal, self.reporter, self.shard_bytes = work, journal, reporter, shard_bytes
        self.inputs = journal.plan.inputs
        self.problems: list[str] = []
        self.articles = 0  # linked by this call
        self.size = sum(one.size for one in self.inputs)
        self.in_progress: Counter[int] = Counter()
        """The number of shards of each file that are being linked, and one more while it is read."""
        self.shards: dict[int, int] = {}  # how many each file has that was read to its end

    def run(self, workers: int) -> Run:
        """Do what is left to do."""
        began, journal = time.monotonic(), self.journal
        folders = [journal.folder / name for name in shards.SUFFIXES]
        for folder in folders:
            folder.mkdir(exist_ok=True)
            remove_stale(folder)
        journal.settle(self.reporter.say)
        self.totals = journal.totals()
        left = [file for file in range(len(self.inputs)) if not journal.is_complete(file)]
        self.read = self.before = self.size - sum(self.inputs[file].size for file in left)
        if left:
            _ = self.work.nothing, self.work.metadata  # once for all workers: loads the kernels
            try:
                with self.reporter.stage("linking"):
                    self._link(workers, left)
            finally:
                for folder in folders:
                    remove_stale(folder)
                    sync(folder)
            journal.remove_leftovers()
            self.totals = journal.totals()
        self._write_run(began, workers)
        parts = [done for _, done in sorted(journal.done.items())]
        unread = next((done.unread_date for done in parts if done.unread_date is not None), None)
        articles, mentions, linked, rejects, undated = self.totals.values()
        return Run(Counts(articles, mentions, linked), rejects, undated, self.articles, self.problems, unread)

    def _link(self, workers: int, left: list[int]) -> None:
        with closing(outcomes(self.work, self._pieces(left), workers)) as answers:
            for piece, answer in answers:
                shard = piece.shard
                if isinstance(answer, Done):
                    self.journal.record(answer)
                    self.totals.update(answer.counts)
                    self.articles += answer.counts["articles"]
                    self._report(piece)
                elif answer.hopeless:
                    raise NamesakeError(f"{answer.reason}; free disk space, and the same command resumes the run")
                else:
                    place = f"{shard.path}, after {'row' if shard.groups else 'line'} {shard.before:,}"
                    part = shards.part_name(shard.file, shard.number)
                    self._problem(f"{place}: {part} is skipped, because it failed twice: {answer.reason}")
                self._end(shard.file)

    def _pieces(self, left: list[int]) -> Iterator[Piece]:
        """The shards that are not done. A file that cannot be read is a problem, and the others are still linked."""
        for file in left:
            path, number = Path(self.inputs[file].path), 0
            self.in_progress[file] = 1
            try:
                cut = cut_of(path, self.work.reading)
                for piece in shards.pieces_of(file, path, self.shard_bytes, self.work.reading.most_line, cut):
                    number += 1
                    if (file, piece.shard.number) not in self.journal.done:
                        self.in_progress[file] += 1
                        yield piece
                self.shards[file] = number
            except NamesakeError as problem:
                self._problem(str(problem))
            self._end(file)
            self.read += self.inputs[file].size

    def _end(self, file: int) -> None:
        """Record the end of a file when it is read and all its shards are linked, unless it has changed."""
        self.in_progress[file] -= 1
        if self.in_progress[file]:
            return
        count, planned = self.shards.get(file), self.inputs[file]
        found = look_at(Path(planned.path))
        if found != planned:
            self.journal.record(shards.Changed(file, found))
            self._problem(f"{planned.path} has changed while it was being linked: the same command links it again")
        elif count is not None:
            self.journal.record(shards.Ended(file, count))

    def _problem(self, line: str) -> None:
        self.problems.append(line)
        self.reporter.say(line)

    def _report(self, piece: Piece) -> None:
        total, count = max(self.size, 1), self.totals
        nil = 100 * (1 - count["linked"] / max(count["mentions"], 1))
        more = f"{count['linked']:,} links, {nil:.0f} % NIL, {count['rejects']:,} rejected"
        read = min(self.read + min(piece.position, self.inputs[piece.shard.file].size), total)
        self.reporter.advance(read / total, self.articles, "articles", more, self.before / total)

    def _write_run(self, began: float, workers: int) -> None:
        work, rule = self.work, self.work.linker.recipe.decide
        options = {
            "threshold": rule.threshold if rule else None,
            "mentions": work.linker.detector,
            "kinds": work.linker.kind_names,
            "scores": work.scores,
            "date": work.date,
            "fields": work.reading.named | ({"encoding": work.reading.encoding} if work.reading.encoding else {}),
            "max_line": work.reading.most_line,
            "workers": workers,
        }
        counts = {"parts": len(self.journal.done)} | self.totals
        facts = self.journal.begun, began, self.articles, self.problems
        with published(work.out / RUN) as partial:
            partial.write_bytes(describe_run(work.linker, self.inputs, *facts, options=options, counts=counts))
