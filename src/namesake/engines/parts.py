"""The parts of a run in its folder: where they are, whether they are as they were written, what is none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from namesake.engines.journal import Done, Journal
from namesake.engines.shards import Shard, part_name
from namesake.errors import NamesakeError
from namesake.machine import cores
from namesake.printable import listed

LINKS, REJECTS = "links", "rejects"
"""The folders of a run for its parts, and for what was set aside."""
SUFFIXES = {LINKS: ".parquet", REJECTS: ".jsonl"}
_NAME = re.compile(r"part-(\d{5,})-(\d{5,})(\.\w+)", re.ASCII)


def part_path(out: Path, shard: Shard | Done) -> Path:
    """Where the links of a shard are."""
    return _path(out, LINKS, shard)


def rejects_path(out: Path, shard: Shard | Done) -> Path:
    """Where the records of a shard are that were set aside, if there are any."""
    return _path(out, REJECTS, shard)


def _path(out: Path, folder: str, shard: Shard | Done) -> Path:
    return out / folder / f"{part_name(shard.file, shard.number)}{SUFFIXES[folder]}"


def digest(out: Path, shard: Shard | Done) -> str:
    """SHA-256 of a shard's part, and of what was set aside; of nothing where the part is gone."""
    hashed = sha256()
    for path in (part_path(out, shard), rejects_path(out, shard)):
        if path.is_file():
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


def forget_damaged(out: Path, journal: Journal) -> list[str]:
    """Compare every part with its digest; returns those that are gone or damaged and so count as not done."""
    done = list(journal.done.values())
    with ThreadPoolExecutor(cores()) as pool:
        found = pool.map(lambda each: digest(out, each), done)
        damaged = [each for each, now in zip(done, found, strict=True) if each.digest != now]
    for each in damaged:
        journal.forget(each.file, each.number)
    return [part_name(each.file, each.number) for each in damaged]


def refuse_foreign(out: Path, journal: Journal) -> None:
    """Refuse to go on beside files that are none of ours: they would be read as links of this run."""
    foreign = [str(path) for path, place in _found(out) if place is None or not journal.has_place(*place)]
    if foreign:
        raise NamesakeError(f"{listed(foreign)}: not of this run, but would be read with it; take it elsewhere")


def remove_leftovers(out: Path, journal: Journal) -> None:
    """Remove the parts of shards that are still to be made: of a run that was stopped, damaged, of another input."""
    for path, place in _found(out):
        if place is not None and not journal.is_done(*place):
            path.unlink()


def _found(out: Path) -> Iterator[tuple[Path, tuple[int, int] | None]]:
    """Every file in the folders of parts, and which shard it is of by its name; those that no reader heeds apart."""
    for folder, suffix in SUFFIXES.items():
        for path in sorted((out / folder).iterdir()):
            name = _NAME.fullmatch(path.name)
            if not path.name.startswith((".", "_")):
                yield path, (int(name[1]), int(name[2])) if name and name[3] == suffix else None
