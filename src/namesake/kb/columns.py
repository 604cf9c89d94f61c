"""Columns on disk: plain `.npy` files, mapped; strings and ragged lists are two files each."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from isal import isal_zlib

from namesake.errors import NamesakeError

Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]

BLOCK = 1 << 22  # bytes at a time where a file is read through


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

    def take(self, rows: npt.NDArray[np.int32] | npt.NDArray[np.int64]) -> Strings:
        """The strings of these rows, in their order; empty where the row is negative."""
        return Strings.from_arrow(self.arrow().take(pa.array(rows, mask=rows < 0)))

    @staticmethod
    def from_arrow(column: pa.LargeStringArray) -> Strings:
        """An Arrow column from its first row's byte on; nulls become empty strings."""
        if not len(column):
            return Strings.of(())
        offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]
        whole = column.buffers()[2]
        data = np.frombuffer(whole, np.uint8) if whole is not None else np.empty(0, np.uint8)
        return Strings(offsets - offsets[0], data[offsets[0] : offsets[-1]])

    @staticmethod
    def empty(rows: int) -> Strings:
        """A column of empty strings."""
        return Strings(np.zeros(rows + 1, np.int64), np.empty(0, np.uint8))

    @staticmethod
    def of(texts: Iterable[str]) -> Strings:
        """A column from Python strings."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return Strings(offsets, np.frombuffer(bytearray().join(encoded), np.uint8))


def concatenate(columns: list[Strings]) -> Strings:
    """One column after the other."""
    ends = np.cumsum([0, *(len(column.data) for column in columns)])
    offsets = [column.offsets[1:] + end for column, end in zip(columns, ends[:-1], strict=True)]
    return Strings(np.concatenate([np.zeros(1, np.int64), *offsets]), np.concatenate([c.data for c in columns]))


@dataclass(frozen=True)
class Ragged:
    """Lists of numbers of any length, one after the other: row i is `values[indptr[i]:indptr[i + 1]]`."""

    indptr: Int64
    values: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> npt.NDArray[Any]:
        return self.values[self.indptr[row] : self.indptr[row + 1]]


class Columns:
    """The files of one KB folder, mapped when asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def array(self, name: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """The file `name`.npy, mapped; NamesakeError where it does not hold numbers of type `dtype`."""
        path = self.folder / f"{name}.npy"
        try:
            mapped = _map(path)
        except (OSError, EOFError, ValueError) as problem:
            raise NamesakeError(f"{path} cannot be read ({problem}): build the KB again") from None
        if mapped.dtype != dtype:
            raise NamesakeError(f"{path} holds {mapped.dtype}, not {dtype}: build the KB again")
        return mapped


def _map(path: Path) -> npt.NDArray[Any]:
    """A plain array over the file's pages (np.memmap's Python-level hooks would slow every slice).

    The map is copy-on-write: kernels with eager signatures refuse read-only arrays, and what a program
    writes by mistake stays its own and never reaches the file.
    """
    with path.open("rb") as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("not in .npy format 1.0")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.hasobject or len(shape) != 1:
            raise ValueError("not a column of numbers")
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        if not shape[0]:
            return np.empty(0, dtype)
        return np.frombuffer(pages, dtype, shape[0], offset=file.tell())


def checksum(path: Path) -> str:
    """CRC-32 of a file: guards against torn and rotten copies, at the speed of the disk."""
    crc = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            crc = isal_zlib.crc32(block, crc)
    return f"crc32:{crc:08x}"
