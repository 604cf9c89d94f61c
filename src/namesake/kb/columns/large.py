"""Large arrays of a build: in memory if all of it fits, else in mapped files, whose pages can leave memory.

Results are the same in both cases. A build sets once where they go (`Room.used`), and all its functions ask here:
`empty`, `zeros` and `full` work as in NumPy, `Growing` is for arrays of unknown size, `blocks` and `spans` return how
much to do at a time. Outside a build, an array is an ordinary one.

Pages of a mapped file belong to the page cache, but count as memory of this process while it uses them. A thread
therefore releases them whenever the process holds more than its bound. They are read again from the cache or the disk.
"""

import ctypes
import errno
import mmap
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from namesake.arrays import Int64
from namesake.files.draft import write_all

AnyArray = npt.NDArray[Any]

SMALL = 1 << 20  # bytes of an array that stays in memory anyway
BLOCK = 64 << 20
INTERVAL = 0.02  # seconds between two measurements of memory
RELEASE_AT = 0.7  # part of the bound from which on pages of files are released
LEAST_MAPPED = 0.125  # part of the bound that mapped pages may always take, or each would be read again and again
SORT_BYTES = 40  # temporary memory per key that is sorted
MOST_BITS = 7  # of a key, that choose its part; each part is an open file
PAGE = mmap.PAGESIZE
STATM = Path("/proc/self/statm")
CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL)  # errors of file systems without fallocate


@dataclass(frozen=True)
class Room:
    """How much memory a build may take, and where large arrays go."""

    bound: int = 0  # bytes that the process may hold; 0 for no bound
    block: int = BLOCK  # bytes of temporary arrays that a step may make at a time
    folder: Path | None = None  # where large arrays go; None for memory
    small: int = SMALL
    _maps: weakref.WeakSet[mmap.mmap] = field(default_factory=weakref.WeakSet, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Put large arrays that the block makes here, and keep the process within the bound."""
        token = _room.set(self)
        ended = threading.Event()
        watch = threading.Thread(target=self._watch, args=(ended,), name="memory", daemon=True)
        if self.folder and self.bound:
            watch.start()
        try:
            yield
        finally:
            ended.set()
            if watch.is_alive():
                watch.join()
            _room.reset(token)

    def _watch(self, ended: threading.Event) -> None:
        libraries = held()[1]
        while not ended.wait(INTERVAL):
            resident, mapped = held()
            if resident > RELEASE_AT * self.bound and mapped > libraries + LEAST_MAPPED * self.bound:
                self.release()

    def release(self) -> None:
        """Release the pages of all mapped files; the files keep their content."""
        with self._lock:
            maps = list(self._maps)
        for pages in maps:
            pages.madvise(mmap.MADV_DONTNEED)

    def file(self) -> FileIO:
        """A new file without a name, deleted when it is neither open nor mapped."""
        return TemporaryFile("w+b", buffering=0, dir=self.folder)

    def map(self, file: int, dtype: npt.DTypeLike, offset: int = 0, access: int = mmap.ACCESS_WRITE) -> AnyArray:
        """An array over an open file, whose pages can leave memory; what is written to a private map would be lost."""
        pages = mmap.mmap(file, 0, access=access)
        with self._lock:
            self._maps.add(pages)
        return np.frombuffer(pages, dtype, offset=offset)


MEMORY = Room()
_room: ContextVar[Room] = ContextVar("room", default=MEMORY)


def room() -> Room:
    """The room of the current build, or memory without a bound."""
    return _room.get()


def empty(size: int, dtype: npt.DTypeLike) -> AnyArray:
    """A large uninitialised array; in a file, if it is not small and there is a folder."""
    kind, place = np.dtype(dtype), room()
    if place.folder is None or size * kind.itemsize <= place.small:
        return np.empty(size, kind)
    with place.file() as file:
        try:  # a page without disk space would kill the process
            os.posix_fallocate(file.fileno(), 0, size * kind.itemsize)
        except (AttributeError, OSError) as problem:
            if isinstance(problem, OSError) and problem.errno not in CANNOT_RESERVE:
                raise
            file.truncate(size * kind.itemsize)
        return place.map(file.fileno(), kind)


def zeros(size: int, dtype: npt.DTypeLike) -> AnyArray:
    """A large array of zeros."""
    made = empty(size, dtype)
    return np.zeros(size, dtype) if made.base is None else made  # a new file holds zeros


def full(size: int, value: float, dtype: npt.DTypeLike) -> AnyArray:
    """A large array of one value."""
    made = empty(size, dtype)
    made[:] = value
    return made


def computed(dtype: npt.DTypeLike, width: int, function: Callable[..., AnyArray], *columns: AnyArray) -> AnyArray:
    """A large array: what `function` computes from blocks of columns, in `width` bytes of memory per row."""
    made = empty(len(columns[0]), dtype)
    for low, high in blocks(len(made), width):
        made[low:high] = function(*(column[low:high] for column in columns))
    return made


def kept(array: AnyArray) -> AnyArray:
    """The same array, moved to a file if it is large and there is a folder."""
    if room().folder is None or array.nbytes <= room().small:
        return array
    return computed(array.dtype, array.itemsize, lambda part: part, array)


def taken(array: AnyArray, rows: AnyArray) -> AnyArray:
    """The values of an array in these rows."""
    return computed(array.dtype, 2 * array.itemsize + 8, array.__getitem__, rows)


def order(keys: AnyArray) -> AnyArray:
    """The rows of an array in ascending, stable order of their keys; sorted in parts, between quantiles of the keys."""
    parts = 1 + len(keys) * SORT_BYTES // (4 * room().block)
    sample = np.sort(keys[:: 1 + len(keys) // (256 * parts)])
    bounds = sample[:: 1 + len(sample) // parts][1:]
    made = Growing(np.int32)
    for part in range(len(bounds) + 1):
        is_part = (
            low + np.flatnonzero(np.searchsorted(bounds, keys[low:high], "right") == part)
            for low, high in blocks(len(keys), SORT_BYTES)
        )
        rows = np.concatenate([np.empty(0, np.int64), *is_part])
        rows = rows[np.argsort(keys[rows])]  # twice as fast as a stable sort, even with the sort of equal keys
        is_new = np.append(False, keys[rows[1:]] != keys[rows[:-1]])[: len(rows)]
        made.append((np.sort(np.cumsum(is_new) << 32 | rows) & 0xFFFFFFFF).astype(np.int32))
    return made.done()


def blocks(rows: int, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows for which temporary arrays of `width` bytes per row take no more than a block."""
    step = max(1, room().block // width)
    for low in range(0, rows, step):
        yield low, min(rows, low + step)


def spans(ends: AnyArray, width: int, block: int = 0) -> Iterator[tuple[int, int]]:
    """The same for rows of several values each, of `width` bytes: those of row i end at `ends[i + 1]`."""
    low, rows, step = 0, len(ends) - 1, max(1, (block or room().block) // width)
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


class Growing:
    """A large array that is written from beginning to end."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._parts: list[AnyArray] = []
        self._room = room()
        self._file = self._room.file() if self._room.folder else None

    def append(self, part: AnyArray) -> None:
        """Add an array to the end."""
        assert part.dtype == self.dtype, f"{part.dtype} among {self.dtype}"
        self.size += len(part)
        if self._file is None:
            self._parts.append(part)
        elif part.size:
            write_all(self._file, np.ascontiguousarray(part).view(np.uint8).data)

    def done(self) -> AnyArray:
        """The whole array; nothing can be added afterwards."""
        if self._file is None:
            parts, self._parts = self._parts, []
            return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, self.dtype), *parts])
        with self._file as file:
            return self._room.map(file.fileno(), self.dtype) if self.size else np.empty(0, self.dtype)


def gathered(parts: Iterable[Sequence[AnyArray]], *types: npt.DTypeLike) -> list[AnyArray]:
    """Large columns of these types, from parts that have a piece of each."""
    columns = [Growing(kind) for kind in types]
    for part in parts:
        for column, piece in zip(columns, part, strict=True):
            column.append(piece)
    return [column.done() for column in columns]


def part_bits(records: int, width: int) -> int:
    """How many bits of a key choose a part, if `records` take `width` bytes of temporary memory each."""
    bits = 0
    while room().folder and bits < MOST_BITS and width * records >> bits > 4 * room().block:
        bits += 1
    return bits


class Parts:
    """Records in parts that fit in memory, by the highest bits of their keys; in the order of these bits."""

    def __init__(self, dtype: npt.DTypeLike, records: int, width: int) -> None:
        """`records` is about the number of records, and `width` the temporary memory that each takes later."""
        self._bits = part_bits(records, width)
        self._parts = [Growing(dtype) for _ in range(1 << self._bits)]

    def add(self, keys: AnyArray, records: AnyArray) -> None:
        """Add records, with a key of 64 bits for each."""
        if not self._bits:
            self._parts[0].append(records)
            return
        part = (keys >> np.uint64(64 - self._bits)).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        ends = np.cumsum(np.bincount(part, minlength=len(self._parts)))
        for growing, some in zip(self._parts, np.split(order, ends[:-1]), strict=True):
            growing.append(records[some])

    def each(self) -> Iterator[AnyArray]:
        """One part after the other, each in the order in which its records were added, and then forgotten."""
        while self._parts:
            yield self._parts.pop(0).done()


def held() -> tuple[int, int]:
    """Bytes of memory that this process holds, and those that are pages of files; 0 if the system does not tell."""
    try:
        _, resident, mapped, *_ = STATM.read_bytes().split()
    except OSError:
        return 0, 0
    return int(resident) * PAGE, int(mapped) * PAGE


def give_back() -> None:
    """Return freed memory to the system; allocators would keep it for the next array."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    if room().folder:
        room().release()
