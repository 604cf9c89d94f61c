"""What a run into a folder has done: a file of JSON lines.

The first line says what the run is. Every other one says that a shard's part is in its place, that a file has no more
shards, or that it has changed, so that its shards are to be made anew. A line that was being written when the power
went is cut off; what it would have said is done again.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from namesake.engines.inputs import Input
from namesake.engines.plan import Plan, difference, other_files
from namesake.errors import NamesakeError
from namesake.files.durable import sync

JOURNAL = "journal.jsonl"
SYNC_EVERY = 1.0
"""Seconds: what a power cut takes off the end of the journal is done again, and thousands of small parts wait less."""


class Begun(msgspec.Struct, frozen=True, tag="run"):
    """The first line."""

    plan: Plan
    time: str


class Done(msgspec.Struct, frozen=True, tag="shard"):
    """A shard's part is in its place."""

    file: int
    number: int
    digest: str
    """Of the part, and of what was set aside (`parts.digest`)."""
    articles: int
    mentions: int
    linked: int
    rejects: int
    undated: int
    """Articles whose date could not be read."""
    unread_date: str | None = None
    """The first of these dates."""


class Ended(msgspec.Struct, frozen=True, tag="file"):
    """A file has no more than these shards."""

    file: int
    shards: int


class Changed(msgspec.Struct, frozen=True, tag="input"):
    """A file is another one since: what was done of it counts no more."""

    file: int
    input: Input


Entry = Done | Ended | Changed


class Journal:
    """The journal of the run in `folder`, for one process at a time; a new one begins with `plan`."""

    def __init__(self, folder: Path, plan: Plan, now: str) -> None:
        self.folder = folder
        self.path = folder / JOURNAL
        self.plan = plan
        self.begun = now
        self.done: dict[tuple[int, int], Done] = {}
        self.ended: dict[int, int] = {}
        self._synced = 0.0
        self.changed: list[str] = []
        """Inputs that are others than they were when an earlier run could not link all of them."""

    def __enter__(self) -> Journal:
        new = not self.path.exists()
        if new and any(self.folder.iterdir()):
            raise NamesakeError(f"{self.folder} is not empty and no run of ours (no {JOURNAL}): name another folder")
        self._file: IO[bytes] = os.fdopen(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666), "r+b")
        try:
            self._lock()
            self._read()
            if new:
                sync(self.folder)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

    def add(self, entry: Entry) -> None:
        """Write an entry down. It is on the disk within a second or so, or with the next."""
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

    def has_place(self, file: int, number: int) -> bool:
        """Whether there is such a shard, as far as is known."""
        return file < len(self.plan.inputs) and number < self.ended.get(file, number + 1)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NamesakeError(f"{self.folder}: another run is at work there; wait for it") from None
        except OSError:  # a file system without locks
            return

    def _read(self) -> None:
        """Take up what an earlier run wrote, up to the first line that is none; refuse another plan."""
        decoder = msgspec.json.Decoder(Begun | Entry)
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
                inputs = list(entry.plan.inputs)
                self.begun = entry.time
            else:
                self._note(entry)
                if isinstance(entry, Changed):
                    inputs[entry.file] = entry.input
        if end == 0 and any(path != self.path for path in self.folder.iterdir()):
            raise NamesakeError(
                f"{self.path} is damaged, or another version's: its first line does not say what the run was; "
                "name another folder"
            )
        self._file.seek(end)
        self._file.truncate(end)
        if end == 0:
            self._write(Begun(self.plan, self.begun))
        else:
            self._take_changes(inputs)

    def _compare(self, held: Plan) -> None:
        words = difference(held, self.plan) or other_files(held.inputs, self.plan.inputs)
        if words:
            raise NamesakeError(f"{self.folder} holds a run {words}: name another folder, or delete this one")

    def _take_changes(self, inputs: list[Input]) -> None:
        """Have the files linked anew that have changed since; refuse it of one that was linked to its end."""
        pairs = zip(inputs, self.plan.inputs, strict=True)
        changed = [Changed(file, new) for file, (old, new) in enumerate(pairs) if old != new]
        for entry in changed:
            if self.ended.get(entry.file) and self.is_complete(entry.file):
                raise NamesakeError(
                    f"{self.folder} holds a run with inputs that have changed since, such as {entry.input.path}: "
                    "name another folder, or delete this one"
                )
        for entry in changed:
            self.add(entry)
            self.changed.append(entry.input.path)

    def _note(self, entry: Entry) -> None:
        if isinstance(entry, Done):
            self.done[entry.file, entry.number] = entry
        elif isinstance(entry, Ended):
            self.ended[entry.file] = entry.shards
        else:
            self.ended.pop(entry.file, None)
            for key in [key for key in self.done if key[0] == entry.file]:
                del self.done[key]

    def _write(self, entry: Begun | Entry) -> None:
        self._file.write(msgspec.json.encode(entry) + b"\n")
        self._file.flush()
        now = time.monotonic()
        if now - self._synced >= SYNC_EVERY or isinstance(entry, Begun):
            os.fsync(self._file.fileno())
            self._synced = now
