"""A KB as one file that travels: a tar of its manifest and its files, packed with zstandard.

The same KB gives the same bytes: names in order, no owner, no time. `get.py` unpacks it.
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
from namesake.files.download import file_checksum
from namesake.files.durable import sync
from namesake.kb.columns.npy import BLOCK, open_file, said
from namesake.kb.manifest import MANIFEST
from namesake.kb.store import KB
from namesake.progress import Reporter

SUFFIX = ".tar.zst"
TAR_BLOCK = 512
END = bytes(2 * TAR_BLOCK)


def pack(kb: str | Path, out: str | Path, reporter: Reporter | None = None) -> str:
    """Write the KB in folder `kb` to the file `out`, which appears when it is whole; returns the file's checksum.

    Every file is compared with its digest in the manifest on the way. `reporter` is told how far the work is.
    """
    out, reporter = Path(out), reporter or Reporter()
    if not out.name.endswith(SUFFIX):
        raise NamesakeError(f"{out}: a packed KB is called NAME{SUFFIX}")
    opened = KB.open(kb)
    keep_apart([out], [opened.path])
    listed = opened.manifest.files
    size = sum((opened.path / name).stat().st_size for name in listed)
    with published(out) as partial, reporter.stage(f"packing {opened.path}"):
        with pa.OSFile(str(partial), "wb") as file, pa.CompressedOutputStream(file, "zstd") as stream:
            manifest = opened.manifest.sealed()
            stream.write(member_header(MANIFEST, len(manifest)) + manifest + padding(len(manifest)))
            done = 0
            for name, digest in sorted(listed.items()):
                for block in _member(opened.path / name, digest):
                    stream.write(block)
                    done += len(block)
                    reporter.advance(min(done / max(size, 1), 1.0), done, "bytes")
            stream.write(END)
        sync(partial)
    return file_checksum(out)


def _member(path: Path, digest: str) -> Iterator[bytes]:
    """One file of the tar: its header, what it holds, and zeros up to a whole block."""
    file, hashed, size = open_file(path), sha256(), 0
    try:
        expected = os.fstat(file).st_size
        yield member_header(path.name, expected)
        while block := os.read(file, BLOCK):
            hashed.update(block)
            size += len(block)
            yield block
    finally:
        os.close(file)
    if size != expected or said(hashed.hexdigest()) != digest:
        raise NamesakeError(f"{path} is damaged (its digest differs): build the KB again")
    yield padding(size)


def member_header(name: str, size: int) -> bytes:
    """The block before a file in a tar: a plain file of nobody's, of no time, that all may read."""
    about = tarfile.TarInfo(name)
    about.size, about.mode = size, 0o444
    return about.tobuf(tarfile.GNU_FORMAT)


def padding(size: int) -> bytes:
    """What follows a file of this size up to a whole block."""
    return bytes(-size % TAR_BLOCK)
