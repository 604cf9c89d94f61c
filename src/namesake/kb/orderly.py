"""A build that ends in order: whatever stops it becomes one line for people, after it has cleaned up."""

from __future__ import annotations

import errno
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from namesake.errors import NamesakeError

STOPS = (signal.SIGINT, signal.SIGTERM)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def orderly(out: Path) -> Iterator[None]:
    """SIGTERM stops the block as Ctrl-C does; a disk that is full or cannot be written to is an error for people."""
    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _interrupt) if here else None
    try:
        yield
    except OSError as problem:
        where = problem.filename or out
        if problem.errno in FULL:
            raise NamesakeError(
                f"{where}: the disk is full; {out} was not built and nothing is left of it: make room and try again"
            ) from None
        raise NamesakeError(f"{where}: {problem.strerror or problem}; {out} was not built") from None
    except MemoryError:
        raise NamesakeError(f"out of memory; {out} was not built: a machine with more of it is needed") from None
    finally:
        if here:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


@contextmanager
def unstoppable() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM for the moment in which a finished KB is put in its place: the work is done."""
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, _let_be) for number in STOPS} if here else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _let_be(number: int, frame: FrameType | None) -> None:
    """Do nothing about a signal."""


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
