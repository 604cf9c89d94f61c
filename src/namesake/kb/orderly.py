"""A build that ends in order: whatever stops it becomes one line for people, after it has cleaned up."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.kb.remains import kept
from namesake.stops import stoppable

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class NoRoomError(NamesakeError):
    """The disk is too small for what was to be written."""


@contextmanager
def orderly(out: Path) -> Iterator[None]:
    """SIGTERM stops the block as Ctrl-C does; a disk that is full or cannot be written to is an error for people."""
    try:
        with stoppable():
            yield
    except OSError as problem:
        where = problem.filename or out
        if problem.errno in FULL:
            raise NoRoomError(
                f"{where}: the disk is full; {out} was not built and nothing is left of it: make room and try again"
            ) from None
        raise NamesakeError(f"{where}: {problem.strerror or problem}; {out} was not built") from None
    except MemoryError:
        raise NamesakeError(f"out of memory; {out} was not built: a machine with more of it is needed") from None


@contextmanager
def told(out: Path, key: str) -> Iterator[None]:
    """Whoever stops the block reads in the text of KeyboardInterrupt what is kept of the build with this key."""
    try:
        yield
    except KeyboardInterrupt:
        draft = kept(out, key)
        raise KeyboardInterrupt(
            f"stopped; what is done is kept in {draft}: the same command goes on there, or delete it"
            if draft
            else f"stopped; {out} was not built and nothing is left of it"
        ) from None
