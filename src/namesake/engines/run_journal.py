"""The journal of a run into a folder.

The first line describes the run. Every other line records that the part of a shard is in its place, that a file has no
more shards, or that a file has changed and its shards have to be made again.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from namesake.engines.inputs import Input
from namesake.engines.run_plan import Plan, difference
from namesake.errors import NamesakeError
from namesake.files.journal import Journal
from namesake.files.outputs import sync

JOURNAL = "journal.jsonl"


class Begun(msgspec.Struct, frozen=True, tag="run"):
    """The first line."""

    plan: Plan
    time: str


class Done(msgspec.Struct, frozen=True, tag="shard"):
    """The part of a shard is in its place."""

    file: int
    number: int
    digest: str
    """Of its links and its rejected records (`parts.digest`)."""
    articles: int
    mentions: int
    linked: int
    rejects: int
    undated: int
    """Articles with a date that could not be read."""
    unread_date: str | None = None
    """The first of these dates."""


class Ended(msgspec.Struct, frozen=True, tag="file"):
    """A file has no more than these shards."""

    file: int
    shards: int


class Changed(msgspec.Struct, frozen=True, tag="input"):
    """A file has changed: its finished shards no longer count."""

    file: int
    input: Input


Entry = Done | Ended | Changed


class RunJournal:
    """The journal of the run in `folder`, for one process at a time. A new journal begins with `plan`."""

    def __init__(self, folder: Path, plan: Plan, now: str) -> None:
        self.folder, self.plan, self.begun = folder, plan, now
        self.done: dict[tuple[int, int], Done] = {}
        self.ended: dict[int, int] = {}
        self.changed: list[str] = []
        """Inputs that have changed since an earlier run, which could not link all of them."""

    def __enter__(self) -> RunJournal:
        path = self.folder / JOURNAL
        new = not path.exists()
        if new and any(self.folder.iterdir()):
            raise NamesakeError(f"{self.folder} is not empty and has no {JOURNAL} of a run: name another folder")
        busy = f"{self.folder}: another run is at work there; wait until it ends"
        self._journal: Journal[Begun | Entry] = Journal(path, Begun | Entry, busy)
        try:
            self._resume(path)
            if new:
                sync(self.folder)
        except BaseException:
            self._journal.close()
            raise
        return self

    def __exit__(self, *problem: object) -> None:
        self._journal.close()

    def add(self, entry: Entry) -> None:
        """Record an entry. It is on the disk within about a second: a power cut costs the work of that second."""
        self._apply(entry)
        self._journal.add(entry, wait=False)

    def is_complete(self, file: int) -> bool:
        """Whether all shards of this file are done."""
        return file in self.ended and all((file, number) in self.done for number in range(self.ended[file]))

    def has_place(self, file: int, number: int) -> bool:
        """Whether this shard can exist, by what is known of the files."""
        return file < len(self.plan.inputs) and number < self.ended.get(file, number + 1)

    def _resume(self, path: Path) -> None:
        """Apply the entries of earlier runs; refuse another plan."""
        entries = self._journal.entries
        begun = entries[0] if entries else None
        if not isinstance(begun, Begun):
            if any(other != path for other in self.folder.iterdir()):
                raise NamesakeError(
                    f"{path} is damaged, or from another version: its first line does not describe a run; "
                    "name another folder"
                )
            self._journal.clear()
            self._journal.add(Begun(self.plan, self.begun))
            return
        if words := difference(begun.plan, self.plan):
            raise NamesakeError(f"{self.folder} holds a run {words}: name another folder, or delete this one")
        self.begun = begun.time
        inputs = list(begun.plan.inputs)
        for entry in entries[1:]:
            if not isinstance(entry, Begun):
                self._apply(entry)
            if isinstance(entry, Changed):
                inputs[entry.file] = entry.input
        self._take_changes(inputs)

    def _take_changes(self, inputs: list[Input]) -> None:
        """Have changed files linked again; refuse a change of a file that was linked completely."""
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

    def _apply(self, entry: Entry) -> None:
        if isinstance(entry, Done):
            self.done[entry.file, entry.number] = entry
        elif isinstance(entry, Ended):
            self.ended[entry.file] = entry.shards
        else:
            self.ended.pop(entry.file, None)
            self.done = {key: done for key, done in self.done.items() if key[0] != entry.file}
