"""Pack a KB into one file: a tar of its manifest and its files, compressed with zstandard.

The same KB gives the same bytes: files in the order of their names, no owner, no time. `get.py` unpacks it.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files import keep_apart, published
from namesake.files.digests import BLOCK, as_digest, file_digest, open_file
from namesake.files.outputs import sync
from namesake.kb.manifest import MANIFEST
from namesake.kb.store import KB
from namesake.progress import Reporter

SUFFIX = ".tar.zst"
TAR_BLOCK = 512
END = bytes(2 * TAR_BLOCK)


def pack(kb: str | Path, out: str | Path, reporter: Reporter | None = None) -> str:
    """Write the KB in folder `kb` to the file `out`, which appears when it is complete; returns the file's checksum.

    Every file is compared with its digest in the manifest. Progress goes to `reporter`.
    """
    out, reporter = Path(out), reporter or Reporter()
    if not out.name.endswith(SUFFIX):
        raise NamesakeError(f"{out}: the name of a packed KB ends in {SUFFIX}")
    opened = KB.open(kb)
    keep_apart([out], [opened.path])
    listed = opened.manifest.files
    size = sum((opened.path / name).stat().st_size for name in listed)
    with published(out) as partial, reporter.stage(f"packing {opened.path}"):
        with pa.OSFile(str(partial), "wb") as file, pa.CompressedOutputStream(file, "zstd") as stream:
            manifest = opened.manifest.sealed()
            stream.write(_header(MANIFEST, len(manifest)) + manifest + bytes(-len(manifest) % TAR_BLOCK))
            done = 0
            for name, digest in sorted(listed.items()):
                for block in _member(opened.path / name, digest):
                    stream.write(block)
                    done += len(block)
                    reporter.advance(min(done / max(size, 1), 1.0), done, "bytes")
            stream.write(END)
        sync(partial)
    return file_digest(out)


def _member(path: Path, digest: str) -> Iterator[bytes]:
    """One file of the tar: its header, its content, and zeros up to a whole block."""
    file, hashed, size = open_file(path), sha256(), 0
    try:
        expected = os.fstat(file).st_size
        yield _header(path.name, expected)
        while block := os.read(file, BLOCK):
            hashed.update(block)
            size += len(block)
            yield block
    finally:
        os.close(file)
    if size != expected or as_digest(hashed) != digest:
        raise NamesakeError(f"{path} is damaged (its digest differs): build the KB again")
    yield bytes(-size % TAR_BLOCK)


def _header(name: str, size: int) -> bytes:
    """The block before a file in a tar: a regular file without owner and time, readable for all."""
    about = tarfile.TarInfo(name)
    about.size, about.mode = size, 0o444
    return about.tobuf(tarfile.GNU_FORMAT)
