"""Large arrays of a build: in memory where all of it fits, else in mapped files, whose pages can leave memory.

What is made of them is the same in either case. A build says once where they go (`Room.used`), and everything that it
calls asks here: `empty`, `zeros` and `full` as of NumPy, `Growing` for what has no size yet, and `blocks` and `spans`
for how much to do at a time. Without a build around it, an array is an ordinary one.

Pages of a mapped file belong to the page cache. They count as this process's memory while it looks at them, so a thread
lets go of them whenever the process holds more than its room; whoever needs one again finds it in the cache or on disk.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from namesake.arrays import Int64

AnyArray = npt.NDArray[Any]

SMALL = 1 << 20  # bytes of an array that stays in memory anyway
BLOCK = 64 << 20
INTERVAL = 0.02  # seconds between two looks at how much memory is held
LET_GO = 0.7  # of the bound: from here on pages of files leave
LEAST_MAPPED = 0.125  # of the bound: so many mapped pages may always stay, or each would be read again and again
PAGE = mmap.PAGESIZE
STATM = Path("/proc/self/statm")
CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL)  # what some file systems say


@dataclass(frozen=True)
class Room:
    """How much memory a build may take, and where large arrays go."""

    bound: int | None = None
    """Bytes that the process may hold; None where nobody looks."""
    block: int = BLOCK
    """Bytes of temporary arrays that a step may make at a time."""
    folder: Path | None = None
    """Where large arrays go; None for memory."""
    small: int = SMALL
    _maps: weakref.WeakSet[mmap.mmap] = field(default_factory=weakref.WeakSet, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False)
    """Of the maps: arrays are made while others leave."""

    @contextmanager
    def used(self) -> Iterator[Room]:
        """Large arrays that are made in the block are made here, and no more memory is held than the bound."""
        token = _room.set(self)
        ended = threading.Event()
        watch = threading.Thread(target=self._watch, args=(ended,), name="memory", daemon=True)
        if self.folder and self.bound:
            watch.start()
        try:
            yield self
        finally:
            ended.set()
            if watch.is_alive():
                watch.join()
            _room.reset(token)

    def _watch(self, ended: threading.Event) -> None:
        bound, libraries = self.bound or 0, held()[1]
        while not ended.wait(INTERVAL):
            resident, mapped = held()
            if resident > LET_GO * bound and mapped > libraries + LEAST_MAPPED * bound:
                self.let_go()

    def let_go(self) -> None:
        """Let the pages of all mapped files leave; what was written to them stays in the files."""
        with self._lock:
            maps = list(self._maps)
        for pages in maps:
            pages.madvise(mmap.MADV_DONTNEED)

    def add(self, pages: mmap.mmap) -> None:
        """Let these pages leave as well when there is need: nothing may have been written to a private map."""
        with self._lock:
            self._maps.add(pages)

    def empty(self, size: int, dtype: npt.DTypeLike) -> AnyArray:
        """An array of any content; in a file, if it is large and there is a folder."""
        kind = np.dtype(dtype)
        if self.folder is None or size * kind.itemsize <= self.small:
            return np.empty(size, kind)
        with self.file() as file:
            _reserve(file, size * kind.itemsize)
            return self.map(file, kind)

    def file(self) -> FileIO:
        """A new file without a name, gone when nobody has it open or mapped."""
        assert self.folder is not None, "arrays in memory have no files"
        path = self.folder / f"large-{next(_numbers)}"
        file = FileIO(path, "w+")
        path.unlink()
        return file

    def map(self, file: FileIO, dtype: np.dtype[Any]) -> AnyArray:
        """An array over the pages of a file, which is not empty."""
        pages = mmap.mmap(file.fileno(), 0)
        self.add(pages)
        return np.frombuffer(pages, dtype)


MEMORY = Room()
_room: ContextVar[Room] = ContextVar("room", default=MEMORY)
_numbers = count()


def room() -> Room:
    """The room of the build that is at work, or memory without a bound."""
    return _room.get()


def empty(size: int, dtype: npt.DTypeLike) -> AnyArray:
    """A large array of any content."""
    return room().empty(size, dtype)


def zeros(size: int, dtype: npt.DTypeLike) -> AnyArray:
    """A large array of zeros."""
    made = room().empty(size, dtype)
    if made.base is None:
        return np.zeros(size, dtype)
    return made  # a new file holds zeros


def full(size: int, value: float, dtype: npt.DTypeLike) -> AnyArray:
    """A large array of one value."""
    made = room().empty(size, dtype)
    made[:] = value
    return made


def kept(array: AnyArray) -> AnyArray:
    """The same array where large ones go."""
    if room().folder is None or array.nbytes <= room().small:
        return array
    made = room().empty(len(array), array.dtype)
    for low, high in blocks(len(array), array.itemsize):
        made[low:high] = array[low:high]
    return made


def joined(parts: list[AnyArray]) -> AnyArray:
    """One array after the other."""
    made = room().empty(sum(map(len, parts)), parts[0].dtype)
    return np.concatenate(parts, out=made)


def blocks(rows: int, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows for which temporary arrays of `width` bytes per row take no more than a block."""
    step = max(1, room().block // width)
    for low in range(0, rows, step):
        yield low, min(rows, low + step)


def spans(ends: AnyArray, width: int) -> Iterator[tuple[int, int]]:
    """The same for rows of several values each, of `width` bytes: those of row i end at `ends[i + 1]`.

    A range has at least one row.
    """
    low, rows, step = 0, len(ends) - 1, max(1, room().block // width)
    while low < rows:
        high = int(np.searchsorted(ends, ends[low] + step, "right")) - 1
        high = min(rows, max(high, low + 1), low + step)
        yield low, high
        low = high


def running(sizes: AnyArray) -> Int64:
    """Offsets of rows with these sizes."""
    offsets = zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def _reserve(file: FileIO, size: int) -> None:
    """Make a new file so large, of zeros for which the disk has room: a page that finds none would end the process."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except (AttributeError, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno not in CANNOT_RESERVE:
            raise
        file.truncate(size)


class Growing:
    """A large array that is written from its beginning to its end."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._parts: list[AnyArray] = []
        self._room = room()
        self._file = self._room.file() if self._room.folder else None

    def append(self, part: AnyArray) -> None:
        """Add these to the end."""
        assert part.dtype == self.dtype, f"{part.dtype} among {self.dtype}"
        self.size += len(part)
        if self._file is None:
            self._parts.append(part)
            return
        body = np.ascontiguousarray(part).data.cast("B") if part.size else memoryview(b"")
        while len(body):
            body = body[self._file.write(body) or 0 :]

    def done(self) -> AnyArray:
        """The whole array; nothing can be added any more."""
        if self._file is None:
            parts, self._parts = self._parts, []
            return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, self.dtype), *parts])
        with self._file as file:
            return self._room.map(file, self.dtype) if self.size else np.empty(0, self.dtype)


def held() -> tuple[int, int]:
    """Bytes of memory that this process holds, and how many of them are pages of files; 0 where nobody tells."""
    try:
        _, resident, mapped, *_ = STATM.read_bytes().split()
    except OSError:
        return 0, 0
    return int(resident) * PAGE, int(mapped) * PAGE


def give_back() -> None:
    """Give memory that was freed back to the system: allocators keep it for the next array."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    if room().folder:
        room().let_go()


def of_machine() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
