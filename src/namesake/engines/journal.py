"""What a run into a folder has done: a file of JSON lines, each on the disk before the next piece of work is begun.

The first line says what the run is. Every other one says that a shard's part is in its place, or that a file has no
more shards. A line that was being written when the power went is cut off; what it would have said is done again.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from namesake.engines.inputs import Input
from namesake.errors import NamesakeError

JOURNAL = "journal.jsonl"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is: a folder holds the parts of one plan."""

    version: str
    """Of namesake."""
    kb: str
    """The digest of the KB's manifest."""
    recipe: str
    """As TOML."""
    scores: bool
    date: str | None
    most_line: int
    shard_bytes: int
    inputs: list[Input]
    fields: dict[str, str] = {}
    """What the user has said of the files: what fields are called, and their encoding."""


class Begun(msgspec.Struct, frozen=True, tag="run"):
    """The first line."""

    plan: Plan
    time: str


class Done(msgspec.Struct, frozen=True, tag="shard"):
    """A shard's part is in its place."""

    file: int
    number: int
    size: int
    """Bytes of the part."""
    articles: int
    mentions: int
    linked: int
    rejects: int
    undated: int
    """Articles whose date could not be read."""


class Ended(msgspec.Struct, frozen=True, tag="file"):
    """A file has no more than these shards."""

    file: int
    shards: int


DIFFERENCES = {
    "version": "another version of namesake",
    "kb": "another KB",
    "recipe": "another recipe",
    "scores": "or without --scores",
    "date": "another --date",
    "most_line": "another --max-line",
    "shard_bytes": "shards of another size",
    "fields": "other --text, --id, --title, --date or --encoding",
    "inputs": "other inputs, or inputs that have changed since",
}
"""What to say of plans that differ in a field."""


class Journal:
    """The journal of the run in `folder`, for one process at a time; a new one begins with `plan`."""

    def __init__(self, folder: Path, plan: Plan, now: str) -> None:
        self.folder = folder
        self.path = folder / JOURNAL
        self.plan = plan
        self.begun = now
        self.done: dict[tuple[int, int], Done] = {}
        self.ended: dict[int, int] = {}

    def __enter__(self) -> Journal:
        new = not self.path.exists()
        if new and any(self.folder.iterdir()):
            raise NamesakeError(f"{self.folder} is not empty and no run of ours (no {JOURNAL}): name another folder")
        self._file: IO[bytes] = os.fdopen(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666), "r+b")
        try:
            self._lock()
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

    def add(self, entry: Done | Ended) -> None:
        """Write an entry down, and wait until it is on the disk."""
        self._note(entry)
        self._write(entry)

    def is_done(self, file: int, number: int) -> bool:
        """Whether this shard's part is made, and still there."""
        return (file, number) in self.done

    def forget(self, file: int, number: int) -> None:
        """Take a shard for not done: its part is gone."""
        del self.done[file, number]

    def is_complete(self, file: int) -> bool:
        """Whether nothing of this file is left to do."""
        return file in self.ended and all((file, number) in self.done for number in range(self.ended[file]))

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NamesakeError(f"{self.folder}: another run is at work there; wait for it") from None
        except OSError:  # a file system without locks
            return

    def _read(self) -> None:
        """Take up what an earlier run wrote, up to the first line that is none; refuse another plan."""
        decoder = msgspec.json.Decoder(Begun | Done | Ended)
        end = 0
        for line in self._file:
            try:
                entry = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                break
            if not line.endswith(b"\n") or isinstance(entry, Begun) != (end == 0):
                break
            end += len(line)
            if isinstance(entry, Begun):
                self._compare(entry.plan)
                self.begun = entry.time
            else:
                self._note(entry)
        self._file.seek(end)
        self._file.truncate(end)
        if end == 0:
            self._write(Begun(self.plan, self.begun))

    def _compare(self, plan: Plan) -> None:
        for field, words in DIFFERENCES.items():
            if getattr(plan, field) != getattr(self.plan, field):
                raise NamesakeError(f"{self.folder} holds a run with {words}: name another folder, or delete this one")

    def _note(self, entry: Done | Ended) -> None:
        if isinstance(entry, Done):
            self.done[entry.file, entry.number] = entry
        else:
            self.ended[entry.file] = entry.shards

    def _write(self, entry: Begun | Done | Ended) -> None:
        self._file.write(msgspec.json.encode(entry) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
