"""The journal of a run into a folder.

The first line describes the run. Every other line records that the part of a shard is in its place, that a file has no
more shards, or that a file has changed and its shards have to be made again.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import get_args

import msgspec

from namesake import __version__
from namesake.engines.article_files import Input
from namesake.errors import NamesakeError
from namesake.files.journal import Journal
from namesake.files.outputs import sync
from namesake.formats.field_names import Reading
from namesake.kb.manifest import MANIFEST
from namesake.kb.vectors.stored import FOLDER, Kind, has_vectors
from namesake.linker import Linker
from namesake.machine import cores
from namesake.scorers.registry import named
from namesake.threads import in_order


class Plan(msgspec.Struct, frozen=True):
    """What a run is. A folder holds the parts of one plan."""

    facts: dict[str, str]
    """What its links depend on beside the inputs: the value of each option, the KB, the recipe."""
    inputs: list[Input]

    @staticmethod
    def of(linker: Linker, inputs: list[Input], reading: Reading, options: dict[str, str]) -> Plan:
        """The plan of a run with this linker; `options` are the others of `link_folder`."""
        recipe = tomllib.loads(linker.recipe.toml())
        threshold = recipe.get("decide", {}).pop("threshold", "")
        facts = {
            "version of namesake": __version__,
            "KB": linker.kb.manifest.digest,
            "recipe": linker.recipe.name,
            "version of the recipe": sha256(repr(recipe).encode()).hexdigest(),
            "set of vectors": _vectors(linker),
            "threshold": str(threshold),
            "`mentions=`": linker.detector,
            **{f"`{name}=`": value for name, value in options.items()},
            **{f"`{name}=`": value for name, value in reading.named.items()},
            "`encoding=`": reading.encoding or "",
        }
        return Plan(facts, inputs)


def _vectors(linker: Linker) -> str:
    """A digest of the KB's vectors, which can be replaced while the KB stays, if the recipe may read some."""
    kb, hashed = linker.kb, sha256()
    if all(named(scorer).needs is None for scorer in linker.recipe.scorers):
        return ""
    for kind in get_args(Kind):
        if has_vectors(kb, kind):
            hashed.update((kb.path / FOLDER / kind / MANIFEST).read_bytes())
    return hashed.hexdigest()


def difference(held: Plan, asked: Plan) -> str | None:
    """How the run in a folder differs from the requested one; None if it does not, or only the files have changed."""
    for name in held.facts | asked.facts:
        one, other = held.facts.get(name) or "none", asked.facts.get(name) or "none"
        if one != other:
            return f"with another {name} ({one:.40}, not {other:.40})"
    before, now = [one.path for one in held.inputs], [one.path for one in asked.inputs]
    gone, new = sorted(set(before) - set(now)), sorted(set(now) - set(before))
    if gone or new:
        return f"of other inputs ({(gone or new)[0]} was {'one' if gone else 'not one'} of them)"
    return None if before == now else "of these inputs in another order"


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


LINKS, REJECTS = "links", "rejects"
SUFFIXES = {LINKS: ".parquet", REJECTS: ".jsonl"}
_NAME = re.compile(r"part-(\d{5,})-(\d{5,})(\.\w+)", re.ASCII)


def part_name(file: int, number: int) -> str:
    """The name of the part of a shard, without the suffix; names are in the order of the articles."""
    return f"part-{file:05}-{number:05}"


def part_path(out: Path, part: str, folder: str = LINKS) -> Path:
    """The file with the links of a part, or in the folder REJECTS its rejected records, if there are any."""
    return out / folder / f"{part}{SUFFIXES[folder]}"


def digest(out: Path, part: str) -> str:
    """SHA-256 over the links and the rejected records of a part; missing files count as empty."""
    hashed = sha256()
    for path in (part_path(out, part, folder) for folder in SUFFIXES):
        if path.is_file():
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


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

    def forget_damaged(self) -> list[str]:
        """Compare every part with its digest; returns the missing and damaged ones, which count as not done."""
        done = list(self.done.items())
        found = in_order(lambda each: digest(self.folder, part_name(*each[0])), done, cores())
        damaged = [key for (key, each), now in zip(done, found, strict=True) if each.digest != now]
        for key in damaged:
            del self.done[key]
        return [part_name(*key) for key in damaged]

    def refuse_foreign(self) -> None:
        """Refuse files that are not part of the run: readers would take them for its links."""
        for path, shard in self._parts():
            file, number = shard or (len(self.plan.inputs), 0)
            if file >= len(self.plan.inputs) or number >= self.ended.get(file, number + 1):
                raise NamesakeError(f"{path}: not part of this run, but would be read with it; move it elsewhere")

    def remove_leftovers(self) -> None:
        """Remove the parts of shards that are not done: of a stopped run, damaged, or of a changed input."""
        for path, shard in self._parts():
            if shard is not None and shard not in self.done:
                path.unlink()

    def _parts(self) -> Iterator[tuple[Path, tuple[int, int] | None]]:
        """Every file in the folders of parts, with the shard that its name says; hidden files are ignored."""
        for folder, suffix in SUFFIXES.items():
            for path in sorted((self.folder / folder).iterdir()):
                name = _NAME.fullmatch(path.name)
                if not path.name.startswith((".", "_")):
                    yield path, (int(name[1]), int(name[2])) if name and name[3] == suffix else None
