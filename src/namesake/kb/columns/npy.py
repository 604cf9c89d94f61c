"""The files of columns: `.npy`, format 1.0, one dimension, byte for byte as NumPy writes them.

The expected header follows from the declared type and the size of the file. It is compared, never parsed.
"""

from __future__ import annotations

import ctypes
import io
import mmap
import os
import stat
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

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
    mistake never reaches the file. It outlives the file's handle and its name.
    """
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("no file")
    rows, rest = divmod(status.st_size - HEADER, dtype.itemsize)
    if rows < 0 or rest or os.pread(file, HEADER, 0) != header(dtype, rows):
        raise ValueError(f"no column of {dtype}, or not all of one")
    if not rows:
        return np.empty(0, dtype)
    return np.frombuffer(memoryview(_pages(file, status.st_size)), dtype, rows, offset=HEADER)


def _pages(file: int, size: int) -> ctypes.Array[ctypes.c_uint8]:
    """A private map of a file. Unlike Python's own it keeps no handle open: a KB has a hundred files."""
    address = _libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE, file, 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    pages = (ctypes.c_uint8 * size).from_address(address)
    weakref.finalize(pages, _libc.munmap, address, size).atexit = False
    return pages
