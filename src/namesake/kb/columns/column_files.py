"""Columns on disk: plain `.npy` files, mapped; strings and ragged lists are two files each."""

import ctypes
import io
import mmap
import os
import stat
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from namesake.arrays import Int64, UInt8, arrow_numbers, indptr, text_buffers
from namesake.errors import NamesakeError
from namesake.files.digests import damaged_file, open_file
from namesake.kb.columns import large

HEADER = 128  # bytes

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FAILED = ctypes.c_void_p(-1).value


def header(dtype: np.dtype[Any], rows: int) -> bytes:
    """The first bytes of a column with `rows` rows."""
    stream = io.BytesIO()
    kind = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": (rows,)})
    return stream.getvalue()


def map_column(file: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The column in an open file, mapped; ValueError if the file contains anything else.

    The map is copy-on-write: kernels with eager signatures refuse read-only arrays, and what a program writes by
    mistake never reaches the file. It outlives the file's handle and its name. Unlike Python's own maps, which a build
    with little memory uses to release their pages, it keeps no handle open: a KB has a hundred files.
    """
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("no file")
    rows, rest = divmod(status.st_size - HEADER, dtype.itemsize)
    if rows < 0 or rest or os.pread(file, HEADER, 0) != header(dtype, rows):
        raise ValueError(f"no column of {dtype}, or not all of one")
    if not rows:
        return np.empty(0, dtype)
    if large.room().folder is not None:
        return large.room().map(file, dtype, HEADER, mmap.ACCESS_COPY)
    size, access = status.st_size, mmap.PROT_READ | mmap.PROT_WRITE
    address = _libc.mmap(None, size, access, mmap.MAP_PRIVATE, file, 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    pages = (ctypes.c_uint8 * size).from_address(address)
    weakref.finalize(pages, _libc.munmap, address, size).atexit = False
    return np.frombuffer(memoryview(pages), dtype, rows, offset=HEADER)


@dataclass(frozen=True)
class Strings:
    """A column of strings in Arrow's layout: UTF-8 bytes and the offsets between them."""

    offsets: Int64
    data: UInt8

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes().decode("utf-8", "replace")

    def arrow(self) -> pa.LargeStringArray:
        """The same column as an Arrow array, without a copy."""
        return pa.LargeStringArray.from_buffers(len(self), pa.py_buffer(self.offsets), pa.py_buffer(self.data))

    def is_valid(self) -> bool:
        """Whether the offsets ascend within the bytes, which are UTF-8."""
        try:
            self.arrow().validate(full=True)
        except (pa.ArrowInvalid, ValueError):
            return False
        return True

    def take(self, rows: npt.NDArray[np.int32] | npt.NDArray[np.int64]) -> "Strings":
        """The strings of these rows, in their order; empty where the row is negative."""

        def sizes(rows: npt.NDArray[Any]) -> Int64:
            return np.where(rows < 0, 0, self.offsets[rows + 1] - self.offsets[rows])

        offsets = large.running(large.computed(np.int64, 32, sizes, rows))
        data, whole = large.empty(int(offsets[-1]), np.uint8), self.arrow()
        for low, high in large.spans(offsets, 2):
            some = rows[low:high]
            taken = whole.take(arrow_numbers(some, some < 0)).buffers()[2]
            data[offsets[low] : offsets[high]] = np.frombuffer(taken or b"", np.uint8, offsets[high] - offsets[low])
        return Strings(offsets, data)

    @staticmethod
    def of_arrow(texts: pa.Array) -> "Strings":
        """An Arrow array of texts as a column, without a copy where possible; a null is an empty text."""
        data, offsets = text_buffers(texts)
        return Strings(offsets, data[: offsets[-1]])

    @staticmethod
    def empty(rows: int) -> "Strings":
        """A column of empty strings."""
        return Strings(np.zeros(rows + 1, np.int64), np.empty(0, np.uint8))

    @staticmethod
    def of(texts: Iterable[str]) -> "Strings":
        """A column from Python strings."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        return Strings(indptr([len(text) for text in encoded]), np.frombuffer(bytearray().join(encoded), np.uint8))


def concatenate(columns: list[Strings]) -> Strings:
    """One column after the other."""
    offsets = large.zeros(sum(map(len, columns)) + 1, np.int64)
    data = large.empty(sum(len(column.data) for column in columns), np.uint8)
    row = end = 0
    for column in columns:
        np.add(column.offsets[1:], end, out=offsets[row + 1 : row + 1 + len(column)])
        data[end : end + len(column.data)] = column.data
        row, end = row + len(column), end + len(column.data)
    return Strings(offsets, data)


@dataclass(frozen=True)
class Ragged:
    """Lists of numbers of any length, one after the other: row i is `values[indptr[i]:indptr[i + 1]]`."""

    indptr: Int64
    values: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> npt.NDArray[Any]:
        return self.values[self.indptr[row] : self.indptr[row + 1]]


def folder_identity(folder: Path) -> tuple[int, int] | None:
    """Distinguishes a folder from another one in its place; None if there is none."""
    try:
        status = os.stat(folder)  # noqa: PTH116 - a Path would cost more than the call
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


class Columns:
    """The files of one KB folder, each mapped when it is first used."""

    def __init__(self, folder: Path, prefix: str = "") -> None:
        """`prefix` begins the names of files that are read instead of those without it, where there are such."""
        self.folder, self.prefix = folder, prefix
        self.opened: dict[str, os.stat_result] = {}  # the status of each file when it was mapped, by its name
        self.digests: Mapping[str, str] = {}  # the digest of each file, as far as it is known
        self._place = folder.absolute()
        self._identity = folder_identity(self._place)
        self._mapped: dict[str, npt.NDArray[Any]] = {}

    def written(self) -> str | None:
        """The first mapped file that was written to since it was mapped.

        A file or folder that was replaced or removed does not count: the maps do not change. Neither do changes of
        permissions, owner or links.
        """
        if folder_identity(self._place) != self._identity:
            return None
        for name, before in self.opened.items():
            try:
                now = os.stat(f"{self._place}/{name}")  # noqa: PTH116 - a Path would cost more than the call
            except OSError:
                continue
            if now.st_ctime_ns == before.st_ctime_ns or not os.path.samestat(before, now):
                continue
            same = before.st_size == now.st_size and before.st_mtime_ns == now.st_mtime_ns
            rights = "st_mode", "st_uid", "st_gid", "st_nlink"
            alike = all(getattr(before, field) == getattr(now, field) for field in rights)
            if not same or (alike and damaged_file(self._place, {name: self.digests.get(name, "")})):
                return name  # a link that was made and removed changes only the time of the last change
            self.opened[name] = now
        return None

    def array(self, name: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The file `name`.npy, mapped; NamesakeError if it does not contain numbers of type `dtype`."""
        if name in self._mapped:
            return self._mapped[name]
        where = self.folder / f"{self.prefix}{name}.npy"
        if self.prefix and not where.exists():
            where = self.folder / f"{name}.npy"
        try:
            file = open_file(where)
            try:
                self._mapped[name] = map_column(file, dtype)
                self.opened[where.name] = os.fstat(file)
            finally:
                os.close(file)
        except (OSError, ValueError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem
            raise NamesakeError(f"{where} cannot be read ({reason}): build the KB again") from None
        return self._mapped[name]
