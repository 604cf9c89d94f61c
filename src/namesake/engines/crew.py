"""Worker processes, each with one piece of work at a time: sent through a pipe, answered through it.

Processes, not threads: reading JSON makes Python objects, which one interpreter makes one after the other. They are
forked where that can be done, so that all share what is loaded and the map of the KB. A worker that dies is replaced.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any

import msgspec
import pyarrow as pa

from namesake.engines.journal import Done
from namesake.engines.shard_linker import ShardLinker
from namesake.engines.shards import Piece, Shard
from namesake.errors import NamesakeError

TRIES = 2
PATIENCE = 5.0  # seconds, for one that is dying to be dead
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""What no second try mends: the disk takes no more."""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """A shard could not be linked."""

    reason: str
    hopeless: bool = False
    """Whether all others would fail as well."""


class _Order(msgspec.Struct, frozen=True):
    """What is asked of a worker: a shard, and whether its lines follow."""

    shard: Shard
    with_lines: bool


@dataclass(frozen=True)
class Outcome:
    """A piece, and what became of it."""

    piece: Piece
    answer: Done | Failed


class Crew:
    """So many workers, for the time of a `with` block."""

    def __init__(self, size: int, work: ShardLinker) -> None:
        self.size = size
        self.work = work
        self.context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")

    def __enter__(self) -> Crew:
        self.workers = [_Worker(self.context, self.work) for _ in range(self.size)]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for worker in self.workers:
            worker.end()

    def outcomes(self, pieces: Iterator[Piece]) -> Iterator[Outcome]:
        """Have the pieces linked, as workers get round to them; one that fails is tried again."""
        idle = list(self.workers)
        again: deque[tuple[Piece, int]] = deque()
        busy: dict[Connection, tuple[_Worker, Piece, int]] = {}
        while True:
            while idle:
                piece, tries = again.popleft() if again else (next(pieces, None), 0)
                if piece is None:
                    break
                worker = idle.pop()
                worker.ask(piece)
                busy[worker.pipe] = (worker, piece, tries + 1)
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker, piece, tries = busy.pop(pipe)  # type: ignore[call-overload]
                answer = worker.answer()
                if answer is None:
                    answer = Failed(f"its worker died ({worker.end(PATIENCE)})")
                    self.workers.remove(worker)
                    worker = _Worker(self.context, self.work)
                    self.workers.append(worker)
                idle.append(worker)
                if isinstance(answer, Failed) and tries < TRIES and not answer.hopeless:
                    again.append((piece, tries))
                else:
                    yield Outcome(piece, answer)


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, context: Any, work: ShardLinker) -> None:
        self.pipe, other = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(other, work, os.getpid()), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: ours are not Python's
            self.process.start()
        other.close()

    def ask(self, piece: Piece) -> None:
        """Send a piece. A worker that is dead already will not answer it."""
        order = _Order(piece.shard, piece.lines is not None)
        try:
            self.pipe.send_bytes(msgspec.json.encode(order))
            if piece.lines is not None:
                self.pipe.send_bytes(piece.lines)
        except OSError:
            return

    def answer(self) -> Done | Failed | None:
        """What the worker answers; None where it is dead."""
        try:
            return _answers.decode(self.pipe.recv_bytes())
        except (EOFError, OSError):
            return None

    def end(self, patience: float = 0.0) -> str:
        """Stop the worker, whatever it is doing, after so many seconds; returns how it ended."""
        self.pipe.close()
        self.process.join(patience)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        return f"signal {-code}" if code < 0 else f"exit code {code}"


_answers: msgspec.json.Decoder[Done | Failed] = msgspec.json.Decoder(Done | Failed)


def _serve(pipe: Connection, work: ShardLinker, parent: int) -> None:
    """Link what comes through the pipe, until it is closed or its other end is dead."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _die_with(parent)
    pa.set_cpu_count(1)
    orders = msgspec.json.Decoder(_Order)
    try:
        while True:
            order = orders.decode(pipe.recv_bytes())
            lines = pipe.recv_bytes() if order.with_lines else None
            pipe.send_bytes(msgspec.json.encode(_tried(work, order.shard, lines)))
    except (EOFError, OSError):
        return


def _tried(work: ShardLinker, shard: Shard, lines: bytes | None) -> Done | Failed:
    try:
        return work.link(shard, lines)
    except Exception as problem:
        cause = problem if isinstance(problem, OSError) else problem.__context__
        hopeless = isinstance(cause, OSError) and cause.errno in FULL
        what = str(problem) if isinstance(problem, NamesakeError) else f"{type(problem).__name__}: {problem}"
        return Failed(what.partition("\n")[0], hopeless)


def _die_with(parent: int) -> None:
    """Have the system end this process when its parent is dead, also where that was killed."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
