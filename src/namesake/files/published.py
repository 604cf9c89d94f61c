"""Output that appears whole or not at all."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
from isal import igzip

from namesake.errors import NamesakeError
from namesake.files.partial import Partial, remove_stale


@contextmanager
def published(path: Path, tidy: bool = True) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well and vanishes when it does not.

    What runs that were killed have left in the folder is removed, unless whoever writes many files there, and does
    that once for all of them, says not to `tidy`.
    """
    if not path.parent.is_dir():
        raise NamesakeError(f"{path.parent}: no such folder; make it first")
    if path.is_dir():
        raise NamesakeError(f"{path} is a folder, not a file to write")
    partial = Partial(path.parent)
    try:
        if tidy:
            remove_stale(path.parent)
        partial.claim()
        yield partial.path
        partial.path.replace(path)
    except OSError as problem:
        raise NamesakeError(f"{path} cannot be written ({problem.strerror or problem})") from None
    finally:
        partial.release()


def create(path: Path, suffix: str) -> IO[bytes]:
    """A file opened for writing, compressed by `suffix` (`path` may be a temporary name without it)."""
    if suffix == ".gz":
        return cast(IO[bytes], igzip.open(path, "wb", compresslevel=1))  # type: ignore[no-untyped-call]
    if suffix == ".bz2":
        return bz2.open(path, "wb")
    if suffix == ".zst":
        return cast(IO[bytes], pa.output_stream(path, compression="zstd"))
    return path.open("wb")
