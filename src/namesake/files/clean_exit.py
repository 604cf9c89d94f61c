"""Long work that ends with one line, whatever stops it."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from namesake.errors import NamesakeError
from namesake.stops import stoppable

if TYPE_CHECKING:
    from namesake.files.draft import FolderDraft

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk that accepts no more data."""


class HinderedError(NamesakeError):
    """The machine is the cause, not the input: the same command may succeed later."""


def lacks_room(problem: BaseException | None) -> bool:
    """Whether the cause is a full disk or a lack of memory."""
    return isinstance(problem, MemoryError) or (isinstance(problem, OSError) and problem.errno in FULL)


@contextmanager
def clean_exit(draft: FolderDraft) -> Iterator[None]:
    """Handle SIGTERM as Ctrl-C, and turn errors of the disk and the memory into one line that says what is kept."""
    try:
        with stoppable():
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; {_left(draft)}") from None
    except OSError as problem:
        where = problem.filename or draft.out
        if lacks_room(problem):
            raise HinderedError(f"{where}: the disk is full: make room and try again; {_left(draft)}") from None
        raise HinderedError(f"{where}: {problem.strerror or problem}; {draft.out} was not built") from None
    except MemoryError:
        raise HinderedError(f"out of memory, and more of it is needed; {_left(draft)}") from None


def _left(draft: FolderDraft) -> str:
    if not draft.folder.exists():
        return f"{draft.out} was not built and nothing is left of it"
    return f"finished stages are kept in {draft.folder}: the same command resumes there, or delete it"
