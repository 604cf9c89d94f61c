"""Columns that grow on disk: what the parsers found waits here, so that memory does not grow with the dump."""

from __future__ import annotations

import io
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.files.draft import write_all
from namesake.kb.columns import large


class Spill:
    """A folder of raw columns: append to them while parsing, map them when all is parsed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, io.FileIO] = {}
        self._types: dict[str, np.dtype[Any]] = {}

    def adopt(self, types: dict[str, str]) -> None:
        """Take columns of these types, which a stopped build wrote."""
        self._types |= {name: np.dtype(kind) for name, kind in types.items()}

    def keep(self) -> dict[str, int]:
        """Wait until all columns are on the disk; returns the size of each. They are complete."""
        for file in self._files.values():
            os.fsync(file.fileno())
            file.close()
        self._files.clear()
        return {name: (self.folder / name).stat().st_size for name in self._types}

    @property
    def types(self) -> dict[str, str]:
        """The type of the numbers in each column."""
        return {name: kind.str for name, kind in self._types.items()}

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *problem: object) -> None:
        for file in self._files.values():
            file.close()

    def append(self, name: str, array: npt.NDArray[Any]) -> None:
        """Add an array to the end of a column."""
        if name not in self._files:
            self._files[name] = io.FileIO(self.folder / name, "wb")
            self._types[name] = array.dtype
        assert array.dtype == self._types[name], f"{name} changes its type"
        if array.size:
            write_all(self._files[name], np.ascontiguousarray(array).data.cast("B"))

    @property
    def size(self) -> int:
        """Bytes of all columns."""
        return sum((self.folder / name).stat().st_size for name in self._types)

    def column(self, name: str) -> npt.NDArray[Any]:
        """A whole column, mapped; kernels may take it, what they write to it is lost."""
        if name in self._files:
            self._files[name].close()
        with (self.folder / name).open("rb") as file:
            if not file.seek(0, io.SEEK_END):
                return np.empty(0, self._types[name])
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        large.room().add(pages)
        return np.frombuffer(pages, self._types[name])
