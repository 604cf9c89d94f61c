"""The options of a build, and an estimate of the memory, disk space and time that it needs.

The estimate reads pieces from all over a plain dump, or the beginning of a compressed one. docs/benchmarks.md has the
measurements behind the factors.
"""

import os
import re
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from namesake import __version__
from namesake.errors import NamesakeError
from namesake.files import STDIN
from namesake.files.draft import state_key
from namesake.files.lines import MAGIC, Meter
from namesake.kb.columns import large
from namesake.kb.dump.chunks import Chunk, read_chunks
from namesake.kb.dump.parse import parse_chunk
from namesake.kb.dump.ranks import check_ranks
from namesake.kb.manifest import FORMAT_VERSION, MANIFEST, Manifest
from namesake.kernels.simd import LANES
from namesake.language import Language
from namesake.machine import from_home
from namesake.text import Normaliser

LEAST = 512 << 20
"""The smallest bound: Python, compiled code and one worker with its chunks take most of it."""
UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", re.I)
ITSELF = 256 << 20  # memory of the process before it has read anything
WORKER = 96 << 20  # memory of a worker for its chunks
MEMORY_TIMES, DISK_TIMES = 5, 3.5
"""Size of all arrays of a build, and of all its files, relative to the parsed content of the dumps."""
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 20, 512 << 20

PIECE = 2 << 20  # bytes of a dump, uncompressed, that are read together
ENOUGH, MOST = 0.35, 64 << 20  # part of a dump, or bytes of it, uncompressed, after which reading stops
SMALL = 4 << 20  # bytes of a compressed dump below which all of it is read
REST_TIMES = 1.8
"""Content of the rest of a compressed dump per byte, relative to its beginning: the best-known items come first, and
most of their bytes are names in languages that are not kept."""
UNPACKED = {"gzip": 400e6, "bzip2": 14e6, "zstandard": 600e6}
"""Bytes per second that are decompressed; for bzip2 on each core."""
SCANNED, ASSEMBLED, WIKIPEDIA = 600e6, 34e6, 30e6
"""Bytes per second and core: scanned, assembled (parsed content), and read (compressed Wikipedia)."""


@dataclass(frozen=True)
class Options:
    """The options of a build; see `build.build`."""

    dumps: tuple[str, ...]
    out: Path
    keep: str  # `kinds.parse_keep`: all, or the plurals of kinds with commas between
    wikipedia: Path | None
    ranks: Mapping[str, Path]
    language: Language
    words: str
    workers: int
    room: large.Room  # the bound of memory, and the size of temporary arrays
    force: bool
    updatable: bool = False  # whether to keep what an update needs
    deleted: Path | None = None  # a file with the QIDs of deleted items
    base: tuple[Path, Manifest] | None = None  # the KB that `dumps` update

    def memory_needed(self, spilled: int) -> int:
        """Memory for assembling this many bytes of parsed content."""
        return ITSELF + MEMORY_TIMES * spilled

    @property
    def key(self) -> str:
        """Identifies the build; memory and workers are left out because they do not change a KB."""
        base = self.base and self.base[0] / MANIFEST
        others = [path for path in (self.wikipedia, self.deleted, base) if path]
        inputs = [*map(Path, self.dumps), *others, *self.ranks.values()]
        chosen = self.dumps, others, self.keep, dict(self.ranks), self.language.name, self.words, self.updatable
        return state_key(inputs, __version__, FORMAT_VERSION, *chosen)

    @property
    def wikipedia_bytes(self) -> int:
        """The compressed size of the Wikipedia dump, about the memory that its kept part takes."""
        return self.wikipedia.stat().st_size if self.wikipedia else 0

    def check(self) -> None:
        """Raise NamesakeError for options that would fail later."""
        if self.wikipedia is not None and not self.wikipedia.is_file():
            raise NamesakeError(f"{self.wikipedia}: no such file; give a CirrusSearch content dump")
        for file in self.ranks.values():
            check_ranks(file)
        if not self.out.name:
            raise NamesakeError(f"{self.out} cannot be a KB: give a folder in it as `out=`")
        if not self.dumps and not (self.base and self.deleted):
            raise NamesakeError("no dump given: give a Wikidata dump, or - for standard input")
        Normaliser(self.language, self.words)  # raises NamesakeError if a package is missing


def memory_bound(given: int | str | large.Room | None) -> large.Room:
    """The bound of a number of bytes or a text such as 8G, and its blocks; default: half of the machine's memory."""
    if isinstance(given, large.Room):
        return given
    of_machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    bound = max(of_machine // 2, LEAST) if given is None else parse_size(str(given))
    if bound < LEAST:
        raise NamesakeError(f"memory of {given} is too little: a build takes at least {LEAST >> 20}M")
    return large.Room(bound, min(max(bound // 32, SMALLEST_BLOCK), LARGEST_BLOCK))


def parse_size(text: str) -> int:
    """Bytes from a number followed by K, M, G or T, such as 512M or 1.5G."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise NamesakeError(f"{text!r} is not a size of memory; write it as 512M or 8G")
    return int(float(match[1]) * (1 << UNITS.get(match[2].upper(), 0)))


@dataclass(frozen=True)
class Needs:
    """Estimated bytes of disk, seconds, and bytes of memory with which the build needs no temporary files."""

    disk: int
    seconds: float
    memory: int

    def lines(self, options: Options) -> list[str]:
        """Messages for the user."""
        bound = options.room.bound
        memory = f"{size_text(self.memory)} of memory"
        if self.memory > bound:
            memory = f"at most {size_text(bound)} of memory, as {size_text(self.memory)} would not fit"
        cores = f"{options.workers} free cores" if options.workers > 1 else "one free core"
        takes = f"takes about {size_text(self.disk)} of disk, {memory}, and {duration_text(self.seconds)} on {cores}"
        found = [f"{takes}, estimated from a part of the dump"]
        folders = options.out, *options.out.absolute().parents
        free = shutil.disk_usage(next(folder for folder in folders if folder.is_dir())).free
        if free < self.disk:
            found.append(f"only {size_text(free)} are free on the disk of {options.out}, which may not be enough")
        return found


def needs(options: Options) -> Needs | None:
    """The needs of a build; None if a dump is not a readable file."""
    said, seconds = options.wikipedia_bytes, options.wikipedia_bytes / WIKIPEDIA
    try:
        with ThreadPoolExecutor(1, "needs") as pool:  # its scratch memory is freed with the thread
            for content, time in pool.map(partial(_of_dump, options=options), options.dumps):
                said, seconds = said + int(content), seconds + time
    except (NamesakeError, OSError):  # reported when the dump is read
        return None
    return Needs(int(DISK_TIMES * said), seconds + said / ASSEMBLED, options.memory_needed(said))


def _of_dump(path: str, options: Options) -> tuple[float, float]:
    """Bytes of parsed content of a dump, and seconds to read it; OSError for a stream or an empty file."""
    if path == STDIN or not Path(path).is_file():
        raise OSError(path)
    with Path(path).open("rb") as file:
        start = file.read(max(map(len, MAGIC)))
    packed = next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), "")
    said, read = (_from_beginning if packed else _from_pieces)(Path(path), options)
    if not read:
        raise OSError(path)
    scanned = SCANNED * options.workers
    unpacked = UNPACKED.get(packed, scanned) * (options.workers if packed == "bzip2" else 1)
    return said, read / min(unpacked, scanned)


def _from_beginning(path: Path, options: Options) -> tuple[float, float]:
    """Bytes of content and of uncompressed text of a compressed dump, extrapolated from its beginning."""
    enough = ENOUGH if path.stat().st_size > SMALL else 2
    marks = [(0.0, 0.0, 0.0)]  # part that was read, bytes of text, bytes of content
    with Meter([path]) as meter:
        for chunk in read_chunks([path], 1, PIECE):
            _, read, said = marks[-1]
            marks.append((meter.fraction() or 0.0, read + chunk.size, said + _content(chunk, options)))
            if marks[-1][0] >= enough or marks[-1][1] >= MOST:
                break
    done, read, said = marks[-1]
    if not done:
        return 0, 0
    middle = next((mark for mark in reversed(marks) if mark[0] <= done / 2), marks[0])
    rest = (1 - done) * (said - middle[2]) / (done - middle[0])
    return said + REST_TIMES * rest, read / done


def _from_pieces(path: Path, options: Options) -> tuple[float, float]:
    """Bytes of content and of text of a plain dump, from whole lines at positions all over it."""
    size, read, said = path.stat().st_size, 0, 0
    places = max(1, int(min(ENOUGH * size, MOST)) // PIECE)
    with path.open("rb") as file:
        for place in range(places):
            file.seek(size * place // places)
            if place:
                file.readline()  # the rest of a line
            lines = file.read(PIECE) + file.readline()
            chunk = Chunk(str(path), 1, lines.count(b"\n"), lines + bytes(LANES), len(lines))
            read, said = read + chunk.size, said + _content(chunk, options)
    return (said * size / read, size) if read else (0, 0)


def _content(chunk: Chunk, options: Options) -> int:
    """Bytes of parsed content of some lines."""
    return sum(array.nbytes for array in parse_chunk(chunk, options.keep, options.language).arrays().values())


def duration_text(seconds: float) -> str:
    """A duration as text: 40 seconds, 5 minutes, 3.5 hours."""
    if seconds < 120:
        return f"{max(2, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def size_text(size: float) -> str:
    """A size as text: 340 MB, 1.2 GB."""
    return f"{size / (1 << 30):,.1f} GB" if size >= 1 << 30 else f"{max(1, round(size / (1 << 20))):,} MB"


def place(out: str | Path) -> Path:
    """The folder `out` with `~` as the user's home folder, and the target of a link, so that the link is kept."""
    path = from_home(out)
    with suppress(OSError, ValueError):  # the build reports these later
        if path.is_symlink() and path.exists():
            return path.resolve()
    return path if path.name not in ("", "..") else path.resolve()
