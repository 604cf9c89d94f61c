"""Pack a KB into one file, a tar of its manifest and its files, compressed with zstandard; and unpack it.

The same KB gives the same bytes: files in the order of their names, no owner, no time.

A pack may come from anyone. It must hold the manifest and then the files of a KB, in the order of their names, and
nothing else: no folder, no link, no other name. Files may not be far larger than the pack, or larger than the free disk
space. Columns are checked, as by `kb info --verify`, before the KB is published.
"""

import os
import shutil
import tarfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec
import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files import keep_apart, open_lines, published
from namesake.files.digests import BLOCK, as_digest, file_digest, hasher, open_file, parse_checksum
from namesake.files.download import download, file_name, is_address
from namesake.files.draft import HinderedError, clean_exit
from namesake.files.lines import Meter
from namesake.files.outputs import sync
from namesake.kb.build_options import place
from namesake.kb.check import derived_problems, manifest_problem, problems
from namesake.kb.columns import Columns
from namesake.kb.manifest import LARGEST, MANIFEST, SOURCES, Manifest, parse_manifest
from namesake.kb.publish.draft import Draft
from namesake.kb.store import KB
from namesake.progress import Reporter

SUFFIX = ".tar.zst"
TAR_BLOCK = 512
END = bytes(2 * TAR_BLOCK)


def pack(kb: str | Path, out: str | Path, reporter: Reporter | None = None) -> str:
    """Write the KB in folder `kb` to the file `out`, which appears when it is complete; returns the file's checksum.

    Every file is compared with its digest in the manifest. Files that only an update needs are left out: a KB from a
    pack cannot be updated. Progress goes to `reporter`.
    """
    out, reporter = Path(out), reporter or Reporter()
    if not out.name.endswith(SUFFIX):
        raise NamesakeError(f"{out}: the name of a packed KB ends in {SUFFIX}")
    opened = KB.open(kb)
    keep_apart([out], [opened.path])
    listed = {name: digest for name, digest in opened.manifest.files.items() if not name.startswith(SOURCES)}
    size = sum((opened.path / name).stat().st_size for name in listed)
    with published(out) as partial, reporter.stage(f"packing {opened.path}"):
        with pa.OSFile(str(partial), "wb") as file, pa.CompressedOutputStream(file, "zstd") as stream:
            manifest = msgspec.structs.replace(opened.manifest, files=listed, sources=None).sealed()
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
    hashed, size = hasher(digest), 0
    with os.fdopen(open_file(path), "rb", 0) as file:
        expected = os.fstat(file.fileno()).st_size
        yield _header(path.name, expected)
        while block := file.read(BLOCK):
            hashed.update(block)
            size += len(block)
            yield block
    if size != expected or as_digest(hashed) != digest:
        raise NamesakeError(f"{path} is damaged (its digest differs): build the KB again")
    yield bytes(-size % TAR_BLOCK)


def _header(name: str, size: int) -> bytes:
    """The block before a file in a tar: a regular file without owner and time, readable for all."""
    about = tarfile.TarInfo(name)
    about.size, about.mode = size, 0o444
    return about.tobuf(tarfile.GNU_FORMAT)


MOST_PACKED, MOST_SPARSE = 100, 512 << 20
"""A pack may hold this many times its own size, plus this many bytes. Typical packs hold four times their size; a KB of
a few people with high QIDs needs a bitmap of zeros."""
ADDRESS = "address"  # the file that names the origin of the pack beside it


def get(
    source: str | Path,
    out: str | Path | None = None,
    *,
    checksum: str | None = None,
    force: bool = False,
    reporter: Reporter | None = None,
) -> tuple[Path, Manifest]:
    """Unpack a KB into a folder, which appears when it is complete and checked; returns folder and manifest.

    Args:
        source: a file that `pack` wrote, or its https, http or file address. An interrupted download is resumed, and a
            pack that could not be unpacked, for example because the disk is full, is kept.
        out: the folder to make; default: the pack's name without `.tar.zst`, in the current folder.
        checksum: the expected checksum of the pack, such as `sha256:0123…` or the 64 digits alone.
        force: replace an existing KB.
        reporter: receives progress.
    """
    source, reporter = str(source), reporter or Reporter()
    checksum = None if checksum is None else parse_checksum(checksum)
    name = file_name(source) if is_address(source) else Path(source).name
    if out is None and (not name.endswith(SUFFIX) or name == SUFFIX):
        raise NamesakeError(f"{source}: the name of a packed KB ends in {SUFFIX}; name its folder with `out=`")
    draft = Draft(place(name.removesuffix(SUFFIX) if out is None else out), force, say=reporter.say)
    with clean_exit(draft):
        draft.settle()
        draft.check_free(force)  # before a download of hours
        if is_address(source):
            return draft.out, _fetch(source, draft, checksum, reporter)
        if not Path(source).is_file():
            raise NamesakeError(f"{source}: no such file")
        if checksum is not None and (found := file_digest(Path(source))) != checksum:
            raise NamesakeError(f"{source}: its checksum is {found}, not {checksum}")
        return draft.out, _unpack(Path(source), draft, reporter)


def _fetch(url: str, draft: Draft, checksum: str | None, reporter: Reporter) -> Manifest:
    """Download and unpack. A damaged pack is removed; a pack that this machine could not unpack is kept."""
    beside = draft.out.with_name(f"{draft.out.name}.download")
    pack, address = beside / file_name(url), beside / ADDRESS
    beside.mkdir(parents=True, exist_ok=True)
    try:
        if not address.is_file() or address.read_text() != url:
            pack.unlink(missing_ok=True)  # it has another origin
            address.write_text(url)
        with reporter.stage(f"downloading {url}"):
            download(url, beside, checksum, reporter.advance)
        try:
            with clean_exit(draft):
                manifest = _unpack(pack, draft, reporter)
        except HinderedError as problem:
            raise NamesakeError(f"{problem}; {pack} is kept, and the same command uses it") from None
        except NamesakeError:
            pack.unlink(missing_ok=True)
            raise
        pack.unlink()
        return manifest
    finally:
        if [path.name for path in beside.iterdir()] == [ADDRESS]:
            address.unlink()
            beside.rmdir()


def _unpack(pack: Path, draft: Draft, reporter: Reporter) -> Manifest:
    """Unpack, check, publish."""
    size = pack.stat().st_size
    with draft:
        with reporter.stage(f"unpacking {pack}"), Meter([pack]) as meter, open_lines(pack) as stream:
            members = _Members(pack, stream)
            manifest = members.manifest()
            for name, digest in sorted(manifest.files.items()):
                members.file(name, digest, draft)
                reporter.advance(meter.fraction(), members.read, "bytes")
            members.end()
        with reporter.stage(f"checking {size / 1e6:,.0f} MB"):
            held = Columns(draft.folder)  # kernels index with what it holds
            for column, wrong in chain(problems(held, manifest), derived_problems(held)):
                raise NamesakeError(f"{pack}: its column {column.file} is damaged ({wrong}): get the KB elsewhere")
        return draft.publish(manifest)


class _Members:
    """The members of a pack, one after the other, in the order of the manifest."""

    def __init__(self, pack: Path, stream: BinaryIO) -> None:
        self.pack = pack
        self.stream = stream
        self.most = MOST_PACKED * pack.stat().st_size + MOST_SPARSE
        self.read = 0  # bytes unpacked so far

    def manifest(self) -> Manifest:
        """The first member."""
        size = self._begin(MANIFEST)
        if size > LARGEST:
            raise self._bad(f"{MANIFEST} has {size:,} bytes")
        raw = self._exactly(size)
        self._exactly(-size % TAR_BLOCK)
        manifest = parse_manifest(raw, self.pack)
        if manifest.sealed() != raw:
            raise self._bad(f"the digest of {MANIFEST} differs")
        if wrong := manifest_problem(manifest):
            raise NamesakeError(f"{self.pack}: {wrong}: get the KB elsewhere")
        return manifest

    def file(self, name: str, digest: str, draft: Draft) -> None:
        """The next member, which must be this file, into the draft."""
        size = self._begin(name)
        if self.read + size > self.most:
            raise self._bad(f"{name} has {size:,} bytes, far more than a pack of this size can hold")
        free = shutil.disk_usage(draft.folder).free
        if size > free:
            raise HinderedError(f"{self.pack}: {name} has {size:,} bytes, and {draft.out.parent} has {free:,} free")
        blocks = (self._exactly(min(BLOCK, size - start)) for start in range(0, size, BLOCK))
        if draft.write_blocks(name, blocks) != digest:
            raise self._bad(f"the digest of {name} differs")
        self._exactly(-size % TAR_BLOCK)

    def end(self) -> None:
        """Only zeros may follow the last file."""
        if any(self._exactly(len(END))) or self.stream.read(1):
            raise self._bad("it holds more than its manifest lists")

    def _begin(self, name: str) -> int:
        """The size of the next member, which must be a regular file of this name."""
        try:
            about = tarfile.TarInfo.frombuf(self._exactly(TAR_BLOCK), "utf-8", "replace")
        except tarfile.HeaderError as problem:
            raise self._bad(f"{name} should come next ({problem})") from None
        if about.type != tarfile.REGTYPE or about.name != name or about.size < 0:
            what = "" if about.type == tarfile.REGTYPE else ", which is not a regular file"
            raise self._bad(f"{about.name!r:.80}{what}, where {name} should be")
        return about.size

    def _exactly(self, size: int) -> bytes:
        block = self.stream.read(size)
        self.read += len(block)
        if len(block) != size:
            raise self._bad("it is truncated")
        return block

    def _bad(self, what: str) -> NamesakeError:
        return NamesakeError(f"{self.pack} is not a packed KB, or is damaged ({what}): get it again")
