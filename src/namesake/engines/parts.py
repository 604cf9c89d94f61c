"""The files in the folder of a run: one part of links per shard, and the rejected records of each shard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from namesake.engines.inputs import listed
from namesake.engines.run_journal import Done, RunJournal
from namesake.engines.shards import Shard, part_name
from namesake.errors import NamesakeError
from namesake.machine import cores
from namesake.threads import in_order

LINKS, REJECTS = "links", "rejects"
SUFFIXES = {LINKS: ".parquet", REJECTS: ".jsonl"}
_NAME = re.compile(r"part-(\d{5,})-(\d{5,})(\.\w+)", re.ASCII)


def part_path(out: Path, shard: Shard | Done, folder: str = LINKS) -> Path:
    """The file with the links of a shard, or in the folder REJECTS its rejected records, if there are any."""
    return out / folder / f"{part_name(shard.file, shard.number)}{SUFFIXES[folder]}"


def digest(out: Path, shard: Shard | Done) -> str:
    """SHA-256 over the links and the rejected records of a shard; missing files count as empty."""
    hashed = sha256()
    for path in (part_path(out, shard, folder) for folder in SUFFIXES):
        if path.is_file():
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


def forget_damaged(out: Path, journal: RunJournal) -> list[str]:
    """Compare every part with its digest; returns the missing and damaged ones, which count as not done."""
    done = list(journal.done.values())
    found = in_order(lambda each: digest(out, each), done, cores())
    damaged = [each for each, now in zip(done, found, strict=True) if each.digest != now]
    for each in damaged:
        del journal.done[each.file, each.number]
    return [part_name(each.file, each.number) for each in damaged]


def refuse_foreign(out: Path, journal: RunJournal) -> None:
    """Refuse files that are not part of the run: readers would take them for its links."""
    foreign = [str(path) for path, shard in _found(out) if shard is None or not journal.has_place(*shard)]
    if foreign:
        raise NamesakeError(f"{listed(foreign)}: not part of this run, but would be read with it; move it elsewhere")


def remove_leftovers(out: Path, journal: RunJournal) -> None:
    """Remove the parts of shards that are not done: of a stopped run, damaged, or of a changed input."""
    for path, shard in _found(out):
        if shard is not None and shard not in journal.done:
            path.unlink()


def _found(out: Path) -> Iterator[tuple[Path, tuple[int, int] | None]]:
    """Every file in the folders of parts, with the shard that its name says; hidden files are ignored."""
    for folder, suffix in SUFFIXES.items():
        for path in sorted((out / folder).iterdir()):
            name = _NAME.fullmatch(path.name)
            if not path.name.startswith((".", "_")):
                yield path, (int(name[1]), int(name[2])) if name and name[3] == suffix else None
