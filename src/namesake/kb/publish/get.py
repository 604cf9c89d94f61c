"""A KB from a packed file or its address: members checked while they are unpacked, columns before it is published.

A pack is a stranger's. It may hold the manifest and after it the files of a KB, in the order of their names, and
nothing else: no folder, no link, no other name, no file larger than the manifest's counts allow or the disk has room
for, and at most 100 times the size of the pack (plus 512 MB). What passes is what `kb info --verify` passes.
"""

from __future__ import annotations

import shutil
import tarfile
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.download import download, file_checksum, file_name, is_address, parse_checksum
from namesake.files.meter import Meter
from namesake.kb.build_options import place
from namesake.kb.check import derived_problems, manifest_problem, problems
from namesake.kb.columns.column_files import Columns
from namesake.kb.columns.declaration import Array, Lists, Text
from namesake.kb.columns.layout import columns
from namesake.kb.columns.npy import BLOCK, HEADER, said
from namesake.kb.dump.rejected_lines import NAMED
from namesake.kb.manifest import LARGEST, MANIFEST, REJECTS, Manifest, parse_manifest
from namesake.kb.publish.clean_exit import HinderedError, orderly
from namesake.kb.publish.draft import Draft
from namesake.kb.publish.leftovers import settle
from namesake.kb.publish.pack import SUFFIX, TAR_BLOCK
from namesake.kb.publish.replace import check_free
from namesake.progress import Reporter

MOST_PACKED, MOST_SPARSE = 100, 512 << 20
"""A pack may hold so many times its own size, and so many bytes more: real ones hold four times their size, and a few
people with high QIDs need a bitmap of zeros."""
MOST_REJECT = 8 << 10  # bytes of a line in `rejects.jsonl`
ADDRESS = "address"  # the file that says where the pack beside it comes from


def get(
    source: str | Path,
    out: str | Path | None = None,
    *,
    checksum: str | None = None,
    force: bool = False,
    reporter: Reporter | None = None,
) -> tuple[Path, Manifest]:
    """Unpack a KB into a folder, which appears when all of it is there and checked; returns folder and manifest.

    Args:
        source: a file that `pack` wrote, or its https, http or file address; a download that was cut short goes on,
            and one that could not be unpacked for lack of room, or the like, is kept.
        out: the folder to make; default: the pack's name without `.tar.zst`, here.
        checksum: what the pack's checksum must be, such as `sha256:0123…`; its 64 digits alone will do.
        force: replace a KB that is there already.
        reporter: told how far the work is.
    """
    source, reporter = str(source), reporter or Reporter()
    checksum = None if checksum is None else parse_checksum(checksum)
    folder = place(_default_folder(source) if out is None else out)
    with orderly(folder):
        for done in settle(folder):
            reporter.say(done)
        check_free(folder, force)  # before a download of hours
        if is_address(source):
            return folder, _fetch(source, folder, checksum, force, reporter)
        if checksum is not None and (found := file_checksum(_present(Path(source)))) != checksum:
            raise NamesakeError(f"{source}: its checksum is {found}, not {checksum}")
        return folder, _unpack(Path(source), folder, force, reporter)


def _fetch(url: str, folder: Path, checksum: str | None, force: bool, reporter: Reporter) -> Manifest:
    """Download and unpack. What is damaged is to be fetched again; what this machine could not unpack is kept."""
    beside = folder.with_name(f"{folder.name}.download")
    pack, address = beside / file_name(url), beside / ADDRESS
    beside.mkdir(parents=True, exist_ok=True)
    try:
        if not address.is_file() or address.read_text() != url:
            pack.unlink(missing_ok=True)  # it came from elsewhere
            address.write_text(url)
        with reporter.stage(f"fetching {url}"):
            download(url, beside, checksum, reporter.advance)
        try:
            with orderly(folder):
                manifest = _unpack(pack, folder, force, reporter)
        except HinderedError as problem:
            raise NamesakeError(f"{problem}; {pack} is kept, and the same command goes on with it") from None
        except NamesakeError:
            pack.unlink(missing_ok=True)
            raise
        pack.unlink()
        return manifest
    finally:
        if [path.name for path in beside.iterdir()] == [ADDRESS]:
            address.unlink()
            beside.rmdir()


def _default_folder(source: str) -> Path:
    name = file_name(source) if is_address(source) else Path(source).name
    if not name.endswith(SUFFIX) or name == SUFFIX:
        raise NamesakeError(f"{source}: a packed KB is called NAME{SUFFIX}; name its folder with `out=`")
    return Path(name.removesuffix(SUFFIX))


def _present(path: Path) -> Path:
    if not path.is_file():
        raise NamesakeError(f"{path}: no such file")
    return path


def _unpack(pack: Path, folder: Path, force: bool, reporter: Reporter) -> Manifest:
    """Unpack, check, publish."""
    size = _present(pack).stat().st_size
    with Draft(folder, force) as draft:
        with reporter.stage(f"unpacking {pack}"), Meter([pack]) as meter, open_lines(pack) as stream:
            members = _Members(pack, stream)
            manifest = members.manifest()
            for name, digest in sorted(manifest.files.items()):
                draft.files[name] = members.file(name, digest, draft.folder, manifest)
                reporter.advance(meter.fraction(), members.read, "bytes")
            members.end()
        with reporter.stage(f"checking {size / 1e6:,.0f} MB"):
            _check_columns(pack, draft.folder, manifest)
        return draft.publish(manifest)


class _Members:
    """The members of a pack, one after the other, as the manifest has them."""

    def __init__(self, pack: Path, stream: BinaryIO) -> None:
        self.pack = pack
        self.stream = stream
        self.most = MOST_PACKED * pack.stat().st_size + MOST_SPARSE
        self.read = 0
        """Bytes unpacked so far."""

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

    def file(self, name: str, digest: str, folder: Path, manifest: Manifest) -> str:
        """The next member, which must be this file, into a folder; returns its digest."""
        size = self._begin(name)
        expected = expected_size(name, manifest)
        if expected is not None and size != expected:
            raise self._bad(f"{name} has {size:,} bytes, not {expected:,}")
        if name == REJECTS and size > (most := MOST_REJECT * min(manifest.rejected, NAMED)):
            raise self._bad(f"{name} has {size:,} bytes; {manifest.rejected:,} rejected lines take {most:,} at most")
        if self.read + size > self.most:
            raise self._bad(f"{name} has {size:,} bytes, far more than a pack of this size can hold")
        free = shutil.disk_usage(folder).free
        if size > free:
            raise HinderedError(f"{self.pack}: {name} has {size:,} bytes, and {folder.parent} has room for {free:,}")
        hashed, left = sha256(), size
        with (folder / name).open("xb") as file:
            while left:
                block = self._exactly(min(left, BLOCK))
                hashed.update(block)
                file.write(block)
                left -= len(block)
        self._exactly(-size % TAR_BLOCK)
        if said(hashed.hexdigest()) != digest:
            raise self._bad(f"the digest of {name} differs")
        return digest

    def end(self) -> None:
        """Nothing may follow the last file but zeros."""
        if any(self._exactly(2 * TAR_BLOCK)) or self.stream.read(1):
            raise self._bad("it holds more than its manifest lists")

    def _begin(self, name: str) -> int:
        """The size of the next member, which must be a plain file of this name."""
        try:
            about = tarfile.TarInfo.frombuf(self._exactly(TAR_BLOCK), "utf-8", "replace")
        except tarfile.HeaderError as problem:
            raise self._bad(f"{name} should come next ({problem})") from None
        if about.type != tarfile.REGTYPE or about.name != name or about.size < 0:
            what = "" if about.type == tarfile.REGTYPE else ", which is no plain file"
            raise self._bad(f"{about.name!r:.80}{what}, where {name} should be")
        return about.size

    def _exactly(self, size: int) -> bytes:
        block = self.stream.read(size)
        self.read += len(block)
        if len(block) != size:
            raise self._bad("it is cut short")
        return block

    def _bad(self, what: str) -> NamesakeError:
        return NamesakeError(f"{self.pack} is no packed KB, or a damaged one ({what}): get it again")


def expected_size(name: str, manifest: Manifest) -> int | None:
    """How many bytes a file of a KB has by what its manifest counts; None where the manifest does not tell."""
    for column in columns().values():
        if not column.rows.counted or name.removesuffix(".npy") != next(iter(column.files)):
            continue
        rows = int(getattr(manifest, column.rows.counted))
        if isinstance(column, Array):
            return HEADER + rows * column.dtype.itemsize
        if isinstance(column, Text | Lists):
            return HEADER + (rows + 1) * np.dtype(np.int64).itemsize
    return None


def _check_columns(pack: Path, folder: Path, manifest: Manifest) -> None:
    """Refuse columns that `KB.verify` would refuse: kernels index with what they hold."""
    held = Columns(folder)
    for column, wrong in chain(problems(held, manifest), derived_problems(held)):
        raise NamesakeError(f"{pack}: its column {column.file} is damaged ({wrong}): get the KB elsewhere")
