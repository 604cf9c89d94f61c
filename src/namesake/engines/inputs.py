"""The files that are meant: named one by one, by patterns, or by the folders they lie in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from os.path import commonpath
from pathlib import Path

import msgspec

from namesake.errors import NamesakeError
from namesake.files import STDIN, kind
from namesake.formats import READERS, SUFFIXES


class Input(msgspec.Struct, frozen=True):
    """A file of articles, in the state in which a run found it."""

    path: str
    size: int
    modified: int
    """In nanoseconds; 0 where the file cannot be looked at."""


def find_inputs(named: Sequence[str | Path]) -> list[Input]:
    """Every file that is meant, each once: files as they are named, those of patterns and folders in their order.

    Of a folder, files with a suffix of articles count, also in folders within it; hidden ones do not.
    """
    paths = dict.fromkeys(path for one in named for path in _files(str(one)))
    if not paths:
        raise NamesakeError(f"{', '.join(map(str, named))}: no file of articles is there; they are called {SUFFIXES}")
    return [_input(path) for path in paths]


def input_paths(named: Sequence[str | Path]) -> list[Path]:
    """The files that are meant, each once; `-`, and a file of a suffix that no reader has, stay as they are."""
    paths: dict[Path, None] = {}
    for one in named:
        path = Path(one)
        meant = path.is_dir() or (has_magic(str(one)) and not path.exists())
        found = list(_files(str(one))) if meant else [path]
        if not found:
            raise NamesakeError(f"{one}: no file of articles is there; they are called {SUFFIXES}")
        paths |= dict.fromkeys(found)
    return list(paths)


def common_folder(paths: Sequence[Path]) -> Path | None:
    """The folder that all files lie in, where two of them have one name: ids made of files then begin there."""
    files = [path for path in paths if str(path) != STDIN]
    if len({path.name for path in files}) == len(files):
        return None
    return Path(commonpath([path.absolute().parent for path in files]))


def _files(named: str) -> Iterator[Path]:
    path = Path(named)
    if named == STDIN:
        raise NamesakeError(
            "standard input cannot be gone on with after a stop: write its links to a file, not a folder"
        )
    if path.is_dir():
        yield from sorted(one for one in path.rglob("*") if _is_articles(one, path))
    elif has_magic(named) and not path.exists():
        found = sorted(glob(named, recursive=True))  # noqa: PTH207 - a pattern may begin at the root
        if not found:
            raise NamesakeError(f"{named}: no file is called so")
        for one in found:
            yield from _files(one)
    elif kind(path) not in READERS:
        raise NamesakeError(f"{path}: articles come as {SUFFIXES}")
    else:
        yield path


def _is_articles(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return kind(path) in READERS and not hidden and not path.is_dir()


def _input(path: Path) -> Input:
    try:
        found = path.stat()
    except OSError:
        return Input(str(path), 0, 0)
    return Input(str(path), found.st_size, found.st_mtime_ns)
