"""What a build will need, from a part of its dumps and their size: disk, memory, time.

Of a plain dump, pieces from all over it are looked at; of a packed one, its beginning. The same dump is always told the
same. What the factors below were set by stands in docs/benchmarks.md.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from namesake.errors import NamesakeError
from namesake.files import STDIN
from namesake.files.compressed import MAGIC
from namesake.kb.build_options import Options
from namesake.kb.columns.column_files import Strings
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.parse import parse_chunk
from namesake.kb.dump.scanner_tables import Scanned
from namesake.kernels.simd import LANES

PIECE = 2 << 20  # bytes of a dump, unpacked, that are looked at together
ENOUGH, MOST = 0.35, 64 << 20  # of a dump, or bytes of it, unpacked, after which no more of it is looked at
SMALL = 4 << 20  # bytes of a packed dump: smaller ones are looked at to their end, as they are unpacked at once
REST_TIMES = 1.8
"""How much more the rest of a packed dump says than its beginning, byte for byte: the best-known items come first, and
most of their bytes are names in languages that are not kept."""
DISK_TIMES = 3.5
"""How much larger than what the dumps say all files of a build are together: that, what is made of it, and the KB."""
UNPACKED = {"gzip": 400e6, "bzip2": 14e6, "zstandard": 600e6}
"""Bytes a second that come out of a packed file; of bzip2 on each core."""
SCANNED, ASSEMBLED, WIKIPEDIA = 600e6, 34e6, 30e6
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
        fits = self.in_memory <= options.memory.bound
        memory = written(self.memory) if fits else f"at most {written(self.memory)}"
        how = "" if fits else f", as {written(self.in_memory)} would not fit"
        takes = f"takes about {written(self.disk)} of disk, {memory} of memory{how}, and"
        cores = f"{options.workers} free cores" if options.workers > 1 else "one free core"
        found = [f"{takes} {spoken(self.seconds)} on {cores}, judging by a part of the dump"]
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
    return Needs(int(DISK_TIMES * said), min(in_memory, options.memory.bound), in_memory, seconds)


def _of_dump(path: str, options: Options) -> tuple[int, float] | None:
    """Bytes that a dump says, and seconds to read it; None for what streams by."""
    if path == STDIN or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        start = file.read(max(map(len, MAGIC)))
    packed = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "")
    found = _from_beginning(path, options) if packed else _from_pieces(Path(path), options)
    if found is None:
        return None
    said, read = found
    unpacked = UNPACKED.get(packed, SCANNED * options.workers) * (options.workers if packed == "bzip2" else 1)
    return int(said), read / min(unpacked, SCANNED * options.workers)


def _from_beginning(path: str, options: Options) -> tuple[float, float] | None:
    """Bytes that a packed dump says and has, unpacked; the rest is taken to be like the last of what is read."""
    enough = ENOUGH if Path(path).stat().st_size > SMALL else 2
    marks = [(0.0, 0.0, 0.0)]  # which part of it was read, the bytes of that, and what they say
    for chunk in read_chunks([path], 1, PIECE):
        _, read, said = marks[-1]
        marks.append((chunk.done or 0.0, read + chunk.size, said + _said(chunk, options)))
        if marks[-1][0] >= enough or marks[-1][1] >= MOST:
            break
    done, read, said = marks[-1]
    if not done:
        return None
    middle = next((mark for mark in reversed(marks) if mark[0] <= done / 2), marks[0])
    rest = (1 - done) * (said - middle[2]) / (done - middle[0])
    return said + REST_TIMES * rest, read / done


def _from_pieces(path: Path, options: Options) -> tuple[float, float] | None:
    """Bytes that a plain dump says and has."""
    size, read, said = path.stat().st_size, 0, 0
    for chunk in _pieces(path, size):
        read, said = read + chunk.size, said + _said(chunk, options)
    return (said * size / read, size) if read else None


def _pieces(path: Path, size: int) -> Iterator[Chunk]:
    """Whole lines from places all over a plain file."""
    places = max(1, int(min(ENOUGH * size, MOST)) // PIECE)
    with path.open("rb") as file:
        for place in range(places):
            file.seek(size * place // places)
            if place:
                file.readline()  # the rest of one
            lines = file.read(PIECE) + file.readline()
            buffer = np.zeros(len(lines) + LANES, np.uint8)
            buffer[: len(lines)] = np.frombuffer(lines, np.uint8)
            yield Chunk(str(path), 1, lines.count(b"\n"), buffer, len(lines))


def _said(chunk: Chunk, options: Options) -> int:
    """Bytes of what some lines say."""
    parsed = parse_chunk(chunk, options.keep, options.language)
    columns = [getattr(parsed, field.name) for field in fields(Scanned)]
    return sum(c.offsets.nbytes + c.data.nbytes if isinstance(c, Strings) else c.nbytes for c in columns)


def _existing(path: Path) -> Path:
    """The folder that holds, or will hold, a path."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


def spoken(seconds: float) -> str:
    """A length of time for people, roughly: 40 seconds, 5 minutes, 3.5 hours."""
    if seconds < 120:
        return f"{max(2, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def written(size: float) -> str:
    """Bytes for people, such as 340 MB or 1.2 GB."""
    return f"{size / (1 << 30):,.1f} GB" if size >= 1 << 30 else f"{max(1, round(size / (1 << 20))):,} MB"
