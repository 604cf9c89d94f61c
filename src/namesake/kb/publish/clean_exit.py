"""A build that ends in order: whatever stops it becomes one line for people, after it has cleaned up."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.kb.publish.leftovers import kept
from namesake.stops import stoppable

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class HinderedError(NamesakeError):
    """The machine stood in the way, not what was read: another time the same may end well."""


def lacks_room(problem: BaseException | None) -> bool:
    """Whether something ended because the disk or the memory is full."""
    return isinstance(problem, MemoryError) or (isinstance(problem, OSError) and problem.errno in FULL)


@contextmanager
def orderly(out: Path, key: str = "") -> Iterator[None]:
    """SIGTERM stops the block as Ctrl-C does; a disk that is full or cannot be written to is an error for people.

    It says what is kept of the build with this key.
    """
    try:
        with stoppable():
            yield
    except OSError as problem:
        where = problem.filename or out
        if lacks_room(problem):
            raise HinderedError(f"{where}: the disk is full: make room and try again; {_left(out, key)}") from None
        raise HinderedError(f"{where}: {problem.strerror or problem}; {out} was not built") from None
    except MemoryError:
        raise HinderedError(f"out of memory, and more of it is needed; {_left(out, key)}") from None


@contextmanager
def told(out: Path, key: str) -> Iterator[None]:
    """Whoever stops the block reads in the text of KeyboardInterrupt what is kept of the build with this key."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; {_left(out, key)}") from None


def _left(out: Path, key: str) -> str:
    """What is left of a build that ended before its time."""
    draft = kept(out, key)
    if draft is None:
        return f"{out} was not built and nothing is left of it"
    return f"what is done is kept in {draft}: the same command goes on there, or delete it"
