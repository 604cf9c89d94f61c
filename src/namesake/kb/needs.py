"""What a build will need, from the beginning and the size of its dumps: disk, memory, time."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.files import STDIN
from namesake.files.compressed import MAGIC
from namesake.kb.columns import Strings
from namesake.kb.dump import read_chunks
from namesake.kb.options import Options
from namesake.kb.parse import parse_chunk
from namesake.kb.scanned import Scanned
from namesake.progress import duration

SAMPLE = 2 << 20  # bytes of a dump, unpacked, that are looked at together
ENOUGH, SECONDS = 0.1, 0.15  # of a dump, or of time, after which no more of it is looked at
DISK_TIMES = 4
"""How much larger than what the dumps say all files of a build are together: that, what is made of it, and the KB."""
UNPACKED = {"gzip": 400e6, "bzip2": 14e6, "zstandard": 600e6}
"""Bytes a second that come out of a packed file; of bzip2 on each core."""
SCANNED, ASSEMBLED, WIKIPEDIA = 600e6, 30e6, 30e6
"""Bytes a second that a core scans, of what dumps say that it assembles, and of a packed Wikipedia that it reads."""


@dataclass(frozen=True)
class Needs:
    """What a build will need, roughly: bytes of disk beside the KB's place, of memory, and seconds."""

    disk: int
    memory: int
    in_memory: int
    """Bytes of memory with which it would need no files."""
    seconds: float

    def lines(self, options: Options) -> list[str]:
        """The same for people."""
        how = f", as {written(self.in_memory)} would not fit" if self.in_memory > options.memory.bound else ""
        takes = f"takes about {written(self.disk)} of disk, {written(self.memory)} of memory{how}, and"
        cores = f"{options.workers} free cores" if options.workers > 1 else "one free core"
        found = [f"{takes} {duration(self.seconds)} hours on {cores}, judging by the beginning of the dump"]
        free = shutil.disk_usage(_existing(options.out)).free
        if free < self.disk:
            found.append(f"only {written(free)} are free where {options.out} goes: it may not be enough")
        return found


def needs(options: Options) -> Needs | None:
    """What the build will need; None where a dump is no file, or none that can be read."""
    with ThreadPoolExecutor(1, "needs") as pool:  # whose scratch memory goes with it
        try:
            parts = [pool.submit(_of_dump, path, options).result() for path in options.dumps]
        except (NamesakeError, OSError):  # which will be told when it is read
            return None
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    said = sum(part[0] for part in known) + options.wikipedia_bytes
    seconds = sum(part[1] for part in known) + said / ASSEMBLED + options.wikipedia_bytes / WIKIPEDIA
    in_memory = options.memory.needed(said)
    return Needs(DISK_TIMES * said, min(in_memory, options.memory.bound), in_memory, seconds)


def _of_dump(path: str, options: Options) -> tuple[int, float] | None:
    """Bytes that a dump says, and seconds to read it; None for what streams by."""
    if path == STDIN or not Path(path).is_file():
        return None
    began, read, said, done = time.monotonic(), 0, 0, 0.0
    for chunk in read_chunks([path], 1, SAMPLE):
        parsed = parse_chunk(chunk, options.keep, options.language)
        columns = [getattr(parsed, field.name) for field in fields(Scanned)]
        said += sum(c.offsets.nbytes + c.data.nbytes if isinstance(c, Strings) else c.nbytes for c in columns)
        read, done = read + chunk.size, chunk.done or 0.0
        if done >= ENOUGH or time.monotonic() - began > SECONDS:
            break
    if not done:
        return None
    with Path(path).open("rb") as file:
        start = file.read(max(map(len, MAGIC)))
    packed = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "")
    unpacked = UNPACKED.get(packed, SCANNED * options.workers) * (options.workers if packed == "bzip2" else 1)
    return int(said / done), read / done / min(unpacked, SCANNED * options.workers)


def _existing(path: Path) -> Path:
    """The folder that holds, or will hold, a path."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


def written(size: float) -> str:
    """Bytes for people, such as 340 MB or 1.2 GB."""
    return f"{size / (1 << 30):,.1f} GB" if size >= 1 << 30 else f"{max(1, round(size / (1 << 20))):,} MB"
