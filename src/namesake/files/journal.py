"""A journal: a file of JSON lines that records finished work. One process at a time holds it, and only appends to it.

A line that was being written when the process was killed is cut off before the next line is added. The work that it
would have recorded is done again.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import msgspec

from namesake.errors import NamesakeError
from namesake.files.locks import try_lock

E = TypeVar("E")

SYNC_EVERY = 1.0
"""Seconds between two waits for the disk, for entries that may be lost in a power cut."""


class Journal(Generic[E]):
    """The journal in the file `path`, locked until it is closed."""

    def __init__(self, path: Path, kind: Any, busy: str) -> None:
        """Open and lock the journal, which is created if it does not exist.

        Args:
            path: the file.
            kind: the type of its entries.
            busy: the error message if another process holds it.
        """
        self.path = path
        self._file: IO[bytes] = os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666), "r+b")
        try:
            if not self._is_ours():
                raise NamesakeError(busy)
            self.entries = self._read(msgspec.json.Decoder(kind))
        except BaseException:
            self._file.close()
            raise
        self._synced = 0.0

    def _is_ours(self) -> bool:
        """Lock the file; False if another process holds it, or has removed it in the meantime."""
        with suppress(OSError):  # a file system without locks
            if not try_lock(self._file.fileno()):
                return False
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False

    def _read(self, decoder: msgspec.json.Decoder[E]) -> list[E]:
        """The entries of earlier runs, up to the first line that is not one."""
        entries: list[E] = []
        self._end = 0
        for line in self._file:
            try:
                entry = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                break
            if not line.endswith(b"\n"):
                break
            entries.append(entry)
            self._end += len(line)
        return entries

    def add(self, entry: E, wait: bool = True) -> None:
        """Append an entry. It is on the disk when this returns or, without `wait`, about a second later."""
        self._file.seek(self._end)
        self._file.truncate()
        self._file.write(msgspec.json.encode(entry) + b"\n")
        self._file.flush()
        self._end = self._file.tell()
        now = time.monotonic()
        if wait or now - self._synced >= SYNC_EVERY:
            os.fsync(self._file.fileno())
            self._synced = now

    def clear(self) -> None:
        """Forget all entries."""
        self.entries, self._end = [], 0
        self._file.truncate(0)

    def remove(self) -> None:
        """Delete the file. The lock is held until the journal is closed."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock."""
        self._file.close()

    def __enter__(self) -> Journal[E]:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
