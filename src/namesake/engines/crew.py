"""Worker processes. Each links one shard at a time, which it receives and answers through a pipe.

Processes, not threads: reading JSON makes Python objects, and the GIL lets one thread do that at a time. Processes are
forked if possible, so that all share the loaded code and the map of the KB. A worker that dies is replaced.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from mmap import mmap
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import msgspec
import pyarrow as pa

from namesake.engines.run_journal import Done
from namesake.engines.shards import SHARD_BYTES, Piece, Shard, ShardLinker
from namesake.errors import NamesakeError
from namesake.files.journal import FULL
from namesake.files.lines import PADDING, Block

TRIES = 2
SHARED_BYTES = SHARD_BYTES + (4 << 20)
"""Memory that a worker shares with its parent: a block may be longer than others by a line."""
PATIENCE = 5.0  # seconds for a dying worker to end


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """A shard could not be linked."""

    reason: str
    hopeless: bool = False
    """Whether all other shards would fail as well."""


_answers: msgspec.json.Decoder[Done | Failed] = msgspec.json.Decoder(Done | Failed)
_orders = msgspec.json.Decoder(tuple[Shard, int | None])
"""Requests to a worker: a shard, and the size of its lines, if it consists of lines.

The lines are in shared memory or, if they do not fit, follow through the pipe.
"""


class Crew:
    """A number of workers, inside a `with` block."""

    def __init__(self, size: int, work: ShardLinker, shared: int = SHARED_BYTES) -> None:
        self.size, self.work, self.shared = size, work, shared
        self.context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")

    def __enter__(self) -> Crew:
        self.workers: list[_Worker] = []
        try:
            for _ in range(self.size):
                self.workers.append(_Worker(self.context, self.work, self.shared))
        except BaseException:  # too many processes, or too little memory
            self.__exit__()
            raise
        return self

    def __exit__(self, *problem: object) -> None:
        for worker in self.workers:
            worker.end()

    def outcomes(self, pieces: Iterator[Piece]) -> Iterator[tuple[Piece, Done | Failed]]:
        """Link the pieces, in any order; a piece that fails is tried again."""
        idle = list(self.workers)
        busy: dict[Connection, _Worker] = {}
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

    def __init__(self, context: Any, work: ShardLinker, shared: int) -> None:
        self.context, self.work = context, work
        self.memory = mmap(-1, shared) if context.get_start_method() == "fork" else None
        self.long: bytes | None = None
        self.tries = 0
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
        """Request a piece. Its lines are copied, because they are valid for a short time only."""
        self.piece, self.tries, self.long = piece, 0, None
        if piece.lines is not None:
            end = piece.lines.size
            with memoryview(piece.lines.data) as data:
                if self.memory is not None and end + PADDING <= len(self.memory):
                    self.memory[:end] = data[:end]
                    self.memory[end : end + PADDING] = bytes(PADDING)
                else:
                    self.long = bytes(data[:end])
        self.ask()

    def ask(self) -> None:
        """Send the request. A dead worker does not answer it."""
        self.tries += 1
        order = self.piece.shard, None if self.piece.lines is None else self.piece.lines.size
        with suppress(OSError):
            self.pipe.send_bytes(msgspec.json.encode(order))
            if self.long is not None:
                self.pipe.send_bytes(self.long)

    def answer(self) -> Done | Failed:
        """The worker's answer; a dead worker is replaced."""
        try:
            return _answers.decode(self.pipe.recv_bytes())
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
    _die_with(parent)
    pa.set_cpu_count(1)
    with suppress(EOFError, OSError):
        while True:
            shard, size = _orders.decode(pipe.recv_bytes())
            lines = None
            if size is not None:
                is_shared = memory is not None and size + PADDING <= len(memory)
                lines = Block(shard.before, memory, size) if is_shared else Block.of(pipe.recv_bytes(), shard.before)
            pipe.send_bytes(msgspec.json.encode(_tried(work, shard, lines)))


def _tried(work: ShardLinker, shard: Shard, lines: Block | None) -> Done | Failed:
    try:
        return work.link(shard, lines)
    except Exception as problem:
        cause = problem if isinstance(problem, OSError) else problem.__context__
        hopeless = isinstance(cause, OSError) and cause.errno in (*FULL, errno.EROFS)
        what = str(problem) if isinstance(problem, NamesakeError) else f"{type(problem).__name__}: {problem}"
        return Failed(what.partition("\n")[0], hopeless)


def _die_with(parent: int) -> None:
    """Have the system kill this process when its parent ends, however that ends."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
