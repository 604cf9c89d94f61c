"""Digests of files: SHA-256, or CRC-32, which is several times as fast and detects damage, but no deliberate change."""

import hashlib
import os
import re
import stat
import zlib
from pathlib import Path
from typing import Any

from namesake.errors import NamesakeError

BLOCK = 1 << 22  # bytes that are read or written at a time


class Crc32:
    """CRC-32 with the methods of a hashlib object."""

    name = "crc32"

    def __init__(self) -> None:
        self.value = 0

    def update(self, block: Any) -> None:
        """Continue with more bytes."""
        self.value = zlib.crc32(block, self.value)

    def hexdigest(self) -> str:
        """Eight hexadecimal digits."""
        return f"{self.value:08x}"


def hasher(digest: str) -> Any:
    """What computes a digest like this one, with the methods of a hashlib object."""
    return Crc32() if digest.startswith("crc32:") else hashlib.sha256()


def as_digest(hashed: Any) -> str:
    """The digest of such an object, as manifests have it."""
    return f"{hashed.name}:{hashed.hexdigest()}"


def open_file(path: Path) -> int:
    """A handle for reading a file. It never waits, as pipes would."""
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def file_digest(path: Path, like: str = "sha256:") -> str:
    """The digest of a file, of the same type as another one; OSError if it is not a regular file."""
    with os.fdopen(open_file(path), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is not a regular file")
        return as_digest(hashlib.file_digest(file, lambda: hasher(like)))


def damaged_file(folder: Path, digests: dict[str, str]) -> str | None:
    """The first file of a folder that is missing or differs from its digest, with the reason; None if all are sound."""
    for name, expected in digests.items():
        try:
            if file_digest(folder / name, expected) != expected:
                return f"{name} is damaged (its digest differs)"
        except OSError:
            return f"{name} is missing"
    return None


def parse_checksum(given: str) -> str:
    """A checksum as people copy it, `SHA256:0A…` or the digits alone, in our notation."""
    digits = given.strip().lower().removeprefix("sha256:")
    if not re.fullmatch("[0-9a-f]{64}", digits):
        raise NamesakeError(f"{given!r:.100} is not a checksum: write sha256: and 64 hexadecimal digits")
    return f"sha256:{digits}"
