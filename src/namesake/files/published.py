"""Output that appears whole or not at all."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import realpath
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
from isal import igzip

from namesake.errors import NamesakeError
from namesake.files.partial import Partial, remove_stale


def check_place(path: Path) -> None:
    """Refuse a place where no file can be written, or none should: a device would be gone, and a file in its place.

    For those to call who work for long before they write.
    """
    place = _behind_links(path)
    if not place.parent.is_dir():
        raise NamesakeError(f"{place.parent}: no such folder; create it to write {path}")
    if place.is_dir():
        raise NamesakeError(f"{path} is a folder, not a file to write")
    if path.exists() and not path.is_file():
        raise NamesakeError(f"{path} is a device or a pipe, not a file to write; - is standard output")


@contextmanager
def published(path: Path, tidy: bool = True) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well and vanishes when it does not.

    Where `path` is a link, the file that it leads to is written, and the link stays. What runs that were killed have
    left in the folder is removed, unless whoever writes many files there, and does that once for all of them, says not
    to `tidy`.
    """
    check_place(path)
    place = _behind_links(path)
    partial = Partial(place.parent)
    try:
        if tidy:
            remove_stale(place.parent)
        partial.claim()
        yield partial.path
        partial.path.replace(place)
    except OSError as problem:
        raise NamesakeError(f"{path} cannot be written ({problem.strerror or problem})") from None
    finally:
        partial.release()


def _behind_links(path: Path) -> Path:
    """The place that is meant; no link, or one in a circle, is meant itself."""
    return Path(realpath(path)) if path.is_symlink() else path


def create(path: Path, suffix: str) -> IO[bytes]:
    """A file opened for writing, compressed by `suffix` (`path` may be a temporary name without it).

    The same content gives the same bytes: gzip's header holds neither a time nor a name.
    """
    if suffix == ".gz":
        return _gzip(path)
    if suffix == ".bz2":
        return bz2.open(path, "wb")
    if suffix == ".zst":
        return cast(IO[bytes], pa.output_stream(path, compression="zstd"))
    return path.open("wb")


def _gzip(path: Path) -> IO[bytes]:
    file = path.open("wb")
    packed: Any = igzip.IGzipFile("", "wb", compresslevel=1, fileobj=file, mtime=0)  # type: ignore[no-untyped-call]
    packed.myfileobj = file  # to be closed with it, as a file that it opened itself is
    return cast(IO[bytes], packed)
