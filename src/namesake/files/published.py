"""Output that appears whole or not at all."""

from __future__ import annotations

import bz2
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
from isal import igzip

from namesake.errors import NamesakeError


@contextmanager
def published(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well and vanishes when it does not."""
    if not path.parent.is_dir():
        raise NamesakeError(f"{path.parent}: no such folder; make it first")
    if path.is_dir():
        raise NamesakeError(f"{path} is a folder, not a file to write")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    except OSError as problem:
        raise NamesakeError(f"{path} cannot be written ({problem.strerror or problem})") from None
    finally:
        partial.unlink(missing_ok=True)


def create(path: Path, suffix: str) -> IO[bytes]:
    """A file opened for writing, compressed by `suffix` (`path` may be a temporary name without it)."""
    if suffix == ".gz":
        return cast(IO[bytes], igzip.open(path, "wb", compresslevel=1))  # type: ignore[no-untyped-call]
    if suffix == ".bz2":
        return bz2.open(path, "wb")
    if suffix == ".zst":
        return cast(IO[bytes], pa.output_stream(path, compression="zstd"))
    return path.open("wb")
