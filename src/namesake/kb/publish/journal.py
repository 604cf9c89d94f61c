"""What a build has finished, written down in its folder: once stopped, the same build goes on from there.

The same build is one of the same inputs, by path, size and time of change, with the same options but for memory and
workers. What is read from dumps waits in the spill, and is on the disk when it is noted here; columns are noted with
their digests, and compared with them before anybody relies on them.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from namesake import __version__
from namesake.kb.columns.npy import damaged_file
from namesake.kb.manifest import FORMAT_VERSION, Reject

JOURNAL = "journal.json"
ASIDE = ".new"  # behind its name while it is written


class SpilledColumn(msgspec.Struct, frozen=True):
    """A column of the spill: the type of its numbers, and its bytes."""

    dtype: str
    size: int


class Stage(msgspec.Struct, frozen=True):
    """Inputs that were read: what they left in the spill, what else is known of them, and what was set aside."""

    columns: dict[str, SpilledColumn]
    said: dict[str, Any]
    rejects: list[Reject]
    reasons: dict[str, int]


class Part(msgspec.Struct, frozen=True):
    """Columns that were written: the digest of each file, and how many of what they hold there are."""

    files: dict[str, str]
    count: int | None


class Finished(msgspec.Struct):
    """The journal's content."""

    key: str
    stages: dict[str, Stage] = {}
    parts: dict[str, Part] = {}


class Journal:
    """The journal in the folder of a build."""

    def __init__(self, folder: Path, key: str) -> None:
        """Begin one for the build with this key, or go on with what is there; without a key nothing is written."""
        self.folder = folder
        found = _read(folder) if key else None
        self.finished = found if found and found.key == key else Finished(key)
        self._lock = threading.Lock()

    def note_stage(self, name: str, stage: Stage) -> None:
        """Write down that inputs were read; the spill is on the disk."""
        self.finished.stages[name] = stage
        self._write()

    def note_part(self, name: str, part: Part) -> None:
        """Write down that columns were written."""
        self.finished.parts[name] = part
        self._write()

    def sound_parts(self) -> dict[str, Part]:
        """The parts whose files are as they were written; the others are forgotten."""
        parts = self.finished.parts
        self.finished.parts = {name: p for name, p in parts.items() if damaged_file(self.folder, p.files) is None}
        return self.finished.parts

    def _write(self) -> None:
        if not self.finished.key:
            return
        with self._lock:
            aside = self.folder / f"{JOURNAL}{ASIDE}"
            with aside.open("wb") as file:
                file.write(msgspec.json.encode(self.finished))
                file.flush()
                os.fsync(file.fileno())
            aside.replace(self.folder / JOURNAL)


def _read(folder: Path) -> Finished | None:
    """The journal in a folder; None where there is none, or a damaged one."""
    try:
        return msgspec.json.decode((folder / JOURNAL).read_bytes(), type=Finished)
    except (OSError, ValueError, RecursionError):
        return None


def goes_on(folder: Path, spill: Path, key: str) -> bool:
    """Whether the build with this key can go on in a folder: a stage of it is finished, and what it left is there."""
    finished = _read(folder) if key else None
    if finished is None or finished.key != key or not finished.stages:
        return False
    columns = [column for stage in finished.stages.values() for column in stage.columns.items()]
    try:
        return all((spill / name).stat().st_size == column.size for name, column in columns)
    except OSError:
        return False


def key_of(inputs: Iterable[Path], *options: object) -> str:
    """What tells a build from others: its inputs in their state, and its options; empty where an input is no file."""
    states = []
    for path in inputs:
        try:
            status = path.stat()
        except (OSError, ValueError):  # standard input, or what its reader will complain of
            return ""
        if not stat.S_ISREG(status.st_mode):
            return ""
        states.append((str(path.resolve()), status.st_size, status.st_mtime_ns, status.st_ino))
    said = msgspec.json.encode((__version__, FORMAT_VERSION, states, [str(option) for option in options]))
    return sha256(said).hexdigest()
