"""Outputs and inputs are different files, whatever they are called."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.files.compressed import STDIN

Inode = tuple[int, int]
"""Device and number on it."""


def keep_apart(outputs: Iterable[str | Path], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse an output that is an input, lies in a folder that is one (a KB), or is another output.

    A file is known by its device and inode, so that links and other spellings of a path do not hide it, and one that
    does not exist yet by its path without links. To be called before the first byte is written.
    """
    taken: dict[Path | Inode, tuple[Path, bool]] = {}
    for path in map(Path, inputs):
        if str(path) != STDIN and path.exists():
            taken |= dict.fromkeys(_identities(path), (path, True))
    for out in map(Path, outputs):
        identities = _identities(out)
        for identity in identities:
            if identity in taken:
                other, is_read = taken[identity]
                if is_read:
                    raise NamesakeError(f"{out} would overwrite {other}, which is read: name another file")
                raise NamesakeError(f"{out} and {other} are one file: give them two names")
        for folder in _whole(out).parents:
            if folder in taken:
                raise NamesakeError(f"{out} lies in {taken[folder][0]}, which is read: name another folder")
        taken |= dict.fromkeys(identities, (out, False))


def _identities(path: Path) -> list[Path | Inode]:
    """The path without links, and device and inode where there is such a file."""
    whole = _whole(path)
    try:
        found = whole.stat()
    except OSError:
        return [whole]
    return [whole, (found.st_dev, found.st_ino)]


def _whole(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links in a circle, a name that is too long
        return path.absolute()
