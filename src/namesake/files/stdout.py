"""Standard output as a file of bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from namesake.errors import NamesakeError


@contextmanager
def to_stdout() -> Iterator[IO[bytes]]:
    """Standard output for bytes; it stays open."""
    if sys.stdout is None:
        raise NamesakeError("standard output is closed: name a file with -o")
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()
