"""Files as streams: compression by suffix, output that appears whole or not at all."""

from __future__ import annotations

import bz2
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

import pyarrow as pa
from isal import igzip

from namesake.errors import NamesakeError

COMPRESSED = (".gz", ".bz2", ".zst")


def kind(path: Path) -> str:
    """The suffix that names the format, compression apart: `.jsonl` for `news.jsonl.gz`."""
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix


@contextmanager
def open_lines(path: Path) -> Iterator[BinaryIO]:
    """A file opened for reading lines, decompressed by its suffix; `-` is standard input."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    if path.is_dir():
        raise NamesakeError(f"{path} is a folder; name the files in it")
    try:
        with _decompressed(path) as stream:
            yield stream
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise NamesakeError(f"{path} cannot be read to its end ({problem}): is it whole?") from None


def _decompressed(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, igzip.open(path, "rb"))  # type: ignore[no-untyped-call]
    if path.suffix == ".bz2":
        return cast(BinaryIO, bz2.open(path, "rb"))
    if path.suffix == ".zst":
        return cast(BinaryIO, io.BufferedReader(pa.input_stream(path, compression="zstd"), 1 << 20))
    return path.open("rb", buffering=1 << 20)


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
