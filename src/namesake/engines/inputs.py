"""The files that are meant: named one by one, by patterns, or by the folders they lie in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from glob import glob, has_magic
from os.path import commonpath, realpath
from pathlib import Path

import msgspec

from namesake.errors import NamesakeError
from namesake.files import STDIN, kind
from namesake.formats import READERS, SUFFIXES
from namesake.formats.fields import silent


class Input(msgspec.Struct, frozen=True):
    """A file of articles, in the state in which a run found it."""

    path: str
    size: int
    modified: int
    """In nanoseconds; 0 where the file cannot be looked at."""


def find_inputs(named: Sequence[str | Path], out: Path, say: Callable[[str], None] = silent) -> list[Input]:
    """Every file that is meant, each once: files as they are named, those of patterns and folders in their order.

    Of a folder, files with a suffix of articles count, also in folders within it; hidden ones do not, nor does what
    lies in `out`, which is to be written. `say` is told of files that are named twice.
    """
    paths = [path for one in named for path in _outside(str(one), out)]
    if not paths:
        raise NamesakeError(f"{', '.join(map(str, named))}: no file of articles is there; they are called {SUFFIXES}")
    return [look_at(path) for path in _once(paths, say)]


def input_paths(named: Sequence[str | Path], say: Callable[[str], None] = silent) -> list[Path]:
    """The files that are meant, each once; `-`, and a file of a suffix that no reader has, stay as they are."""
    paths: list[Path] = []
    for one in named:
        path = Path(one)
        meant = path.is_dir() or (has_magic(str(one)) and not path.exists())
        found = list(_files(str(one))) if meant else [path]
        if not found:
            raise NamesakeError(f"{one}: no file of articles is there; they are called {SUFFIXES}")
        paths += found
    return _once(paths, say)


def _once(paths: Sequence[Path], say: Callable[[str], None]) -> list[Path]:
    """Each file once, by the first of its names: device and inode tell which are one, whatever they are called."""
    kept: dict[object, Path] = {}
    others: list[tuple[Path, Path]] = []
    for path in dict.fromkeys(paths):
        first = kept.setdefault(_identity(path), path)
        if first is not path:
            others.append((path, first))
    if others:
        more = f", and {len(others) - 1:,} more such files" if len(others) > 1 else ""
        say(f"{others[0][0]} is the file {others[0][1]}{more}: linked once")
    return list(kept.values())


def _identity(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return path
    return found.st_dev, found.st_ino


def common_folder(paths: Sequence[Path]) -> Path | None:
    """The folder that all files lie in, where two of them have one name: ids made of files then begin there."""
    files = [path for path in paths if str(path) != STDIN]
    if len({path.name for path in files}) == len(files):
        return None
    return Path(commonpath([path.absolute().parent for path in files]))


def _outside(named: str, out: Path) -> list[Path]:
    """The files that `named` means, less those in the folder `out`; refused where all of them lie there."""
    found = list(_files(named))
    for path in found:
        if path.exists() and not path.is_file():
            raise NamesakeError(f"{path} is no regular file, and cannot be gone on with: write its links to a file")
    whole = Path(realpath(out))
    kept = [path for path in found if not Path(realpath(path)).is_relative_to(whole)]
    if found and not kept:
        raise NamesakeError(f"{found[0]} lies in {out}, which is to be written: name another folder")
    return kept


def _files(named: str) -> Iterator[Path]:
    """Files by their name, pattern or folder; of patterns and folders only regular ones, and links that lead nowhere.

    What a pipe or a device holds would be waited for.
    """
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
            if _is_file(Path(one)) or Path(one).is_dir():
                yield from _files(one)
    elif kind(path) not in READERS:
        raise NamesakeError(f"{path}: articles come as {SUFFIXES}")
    else:
        yield path


def _is_articles(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return kind(path) in READERS and not hidden and _is_file(path)


def _is_file(path: Path) -> bool:
    return path.is_file() or not path.exists()


def look_at(path: Path) -> Input:
    """A file as it is now."""
    try:
        found = path.stat()
    except OSError:
        return Input(str(path), 0, 0)
    return Input(str(path), found.st_size, found.st_mtime_ns)
