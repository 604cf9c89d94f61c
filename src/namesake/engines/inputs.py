"""The files that are meant: named one by one, by patterns, or by the folders they lie in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from os.path import commonpath, realpath
from pathlib import Path

import msgspec

from namesake.errors import NamesakeError
from namesake.files import STDIN, kind
from namesake.formats import READERS, SUFFIXES
from namesake.formats.fields import silent
from namesake.formats.office import save_as
from namesake.formats.ours import is_ours
from namesake.kb.manifest import MANIFEST
from namesake.printable import counted

NAMED = 5
"""Files, or parts, that a message names."""


class Input(msgspec.Struct, frozen=True):
    """A file of articles, in the state in which a run found it."""

    path: str
    size: int
    modified: int
    """In nanoseconds; 0 where the file cannot be looked at."""


@dataclass
class Listing:
    """The files that are meant, each once, and files of the same folders that are passed over."""

    paths: list[Path] = field(default_factory=list)
    found: set[Path] = field(default_factory=set)
    """Those of `paths` that a folder or a pattern led to: one that cannot be read is left out, not an error."""
    ours: list[Path] = field(default_factory=list)
    """Files that Namesake wrote."""
    others: list[Path] = field(default_factory=list)
    """Files in formats that no article has."""

    @property
    def notes(self) -> list[str]:
        """What was passed over, a line for each kind."""
        lines = []
        if self.ours:
            lines.append(f"{counted(len(self.ours), 'file')} skipped, written by Namesake: {listed(self.ours)}")
        if self.others:
            first = next((hint for hint in map(save_as, self.others) if hint), "")
            lines.append(f"{counted(len(self.others), 'file')} skipped, not articles: {listed(self.others)}{first}")
        return lines


def find_files(named: Sequence[str | Path], out: Path | None = None, say: Callable[[str], None] = silent) -> Listing:
    """Every file that is meant, each once: files as they are named, those of patterns and folders in their order.

    Of a folder, files with a suffix of articles count, also in folders within it; hidden ones do not, nor does what
    Namesake wrote. A file that the user names is never passed over. Where `out` is the folder to be written, what lies
    in it does not count, and standard input is refused. `say` is called for files that are named twice.
    """
    listing, chosen = Listing(), []
    for one in map(str, named):
        before, path = len(listing.paths), Path(one)
        if path.is_dir() or (has_magic(one) and not path.exists()):
            _classify(_outside(_searched(one), out), listing)
        else:
            chosen.append(_named(one, out))
            listing.paths += _outside(chosen[-1:], out)
        if len(listing.paths) == before:
            skipped = "".join(f"; {note}" for note in listing.notes)
            raise NamesakeError(f"{one}: no file of articles is there; they are called {SUFFIXES}{skipped}")
    listing.paths = _once(listing.paths, say)
    identities = {_identity(path) for path in chosen}
    listing.found = {path for path in listing.paths if _identity(path) not in identities}
    listing.ours = [path for path in listing.ours if _identity(path) not in identities]
    return listing


def listed(names: Sequence[object]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(map(str, names[:NAMED])) + more


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


def _outside(found: list[Path], out: Path | None) -> list[Path]:
    """The files less those in the folder `out`; refused where all of them lie there."""
    if out is None:
        return found
    for path in found:
        if path.exists() and not path.is_file():
            raise NamesakeError(
                f"{path} is not a regular file, so a run that reads it cannot be resumed: write its links to a file"
            )
    whole = Path(realpath(out))
    kept = [path for path in found if not Path(realpath(path)).is_relative_to(whole)]
    if found and not kept:
        raise NamesakeError(f"{found[0]} lies in {out}, which is to be written: name another folder")
    return kept


def _named(name: str, out: Path | None) -> Path:
    """A file that the user names."""
    path = Path(name)
    if name == STDIN:
        if out is not None:
            raise NamesakeError(
                "a run that reads standard input cannot be resumed: write its links to a file, not a folder"
            )
    elif kind(path) not in READERS:
        missing = "" if path.exists() else "no such file or folder; "
        raise NamesakeError(f"{name}: {missing}articles come as {SUFFIXES}{save_as(path)}")
    return path


def _searched(name: str) -> list[Path]:
    """The files of a folder or pattern; only regular ones, and links that lead nowhere.

    What a pipe or a device holds would be waited for.
    """
    path = Path(name)
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if _is_file(one) and not _is_hidden(one, path))
    found = [Path(one) for one in sorted(glob(name, recursive=True))]  # noqa: PTH207 - a pattern may begin at the root
    if not found:
        raise NamesakeError(f"{name}: no file is called so")
    each = (_searched(str(one)) if one.is_dir() else [one] for one in found if one.is_dir() or _is_file(one))
    return [file for files in each for file in files]


def _classify(paths: Sequence[Path], listing: Listing) -> None:
    """Add files to what is read, or to what is passed over."""
    kbs = {path.parent for path in paths if path.name == MANIFEST and is_ours(path)}
    for path in paths:
        if path.name != MANIFEST and not kbs.isdisjoint(path.parents):
            continue
        if kind(path) not in READERS:
            listing.others.append(path)
        elif is_ours(path):
            listing.ours.append(path)
        else:
            listing.paths.append(path)


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def _is_file(path: Path) -> bool:
    return path.is_file() or not path.exists()


def look_at(path: Path) -> Input:
    """A file as it is now."""
    try:
        found = path.stat()
    except OSError:
        return Input(str(path), 0, 0)
    return Input(str(path), found.st_size, found.st_mtime_ns)
