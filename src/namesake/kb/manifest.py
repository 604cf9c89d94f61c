"""The manifest of a KB: how it was made, what it holds, and a digest of every file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from namesake.errors import NamesakeError
from namesake.files.digests import as_digest, open_file
from namesake.files.draft import MANIFEST as MANIFEST

FORMAT = "namesake KB"
FORMAT_VERSION = 6
REJECTS = "rejects.jsonl"
LARGEST = 1 << 24  # bytes of a manifest


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a KB is: how it was made, what it holds, and the digest of every file."""

    format: str = FORMAT
    """What tells this file from other people's manifests."""
    format_version: int
    created: str
    dumps: list[str]
    dump_date: str | None = None
    """Day of the youngest dump file; unknown where all came from stdin."""
    keep: str = "people"
    language: str = "en"
    """Of labels, words and names, see `namesake.language`."""
    words_how: str = "stem"
    ranks: list[str] = []
    """Where PR_WD and PR_WP come from, such as `wikidata: computed`, `wikipedia: FILE`."""
    entities: int
    people: int
    items: int
    statements: int
    names: int
    words: int
    rejected: int
    rejected_reasons: dict[str, int] = {}
    superseded: int = 0
    """Items whose QID a later dump has: that one counts."""
    dates_dropped: int = 0
    """Dates that name no possible day, left out of entities that are otherwise kept."""
    files: dict[str, str] = {}
    """SHA-256 by file name; `KB.verify` compares them."""
    digest: str = ""
    """SHA-256 of the manifest itself, with this field empty."""

    def sealed(self) -> bytes:
        """The file's bytes, with the digest filled in."""
        bare = msgspec.structs.replace(self, digest="")
        return _text(msgspec.structs.replace(bare, digest=as_digest(sha256(_text(bare)))))


def _text(manifest: Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1)


class Reject(msgspec.Struct, frozen=True):
    """A line of a dump that was set aside, as `rejects.jsonl` names it."""

    file: str
    line: int
    reason: str


@contextmanager
def open_folder(path: Path) -> Iterator[int]:
    """A handle of the folder of a KB, by which its files can be opened whatever becomes of its name."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NamesakeError(
            f"{path}: no such KB{_remains(path)}; make one with `namesake kb build DUMP --out {path}`"
        ) from None
    except (OSError, ValueError) as problem:
        raise NamesakeError(f"{path} is no KB ({getattr(problem, 'strerror', problem)})") from None
    try:
        yield handle
    finally:
        os.close(handle)


def _remains(path: Path) -> str:
    """What to say about a stopped build."""
    draft = path.with_name(f"{path.name}.building")
    return f" (unfinished: {draft}; the next build resumes or removes it)" if draft.is_dir() else ""


def read_manifest(path: Path) -> Manifest:
    """The manifest of a KB folder, or an error that says what the folder is instead."""
    with open_folder(path) as folder:
        return manifest_within(folder, path)


def manifest_within(folder: int, path: Path) -> Manifest:
    """The manifest in an open folder, which is or was at `path`."""
    try:
        content = _content(folder)
    except FileNotFoundError:
        raise NamesakeError(
            f"{path} is no KB (it has no {MANIFEST}); make one with `namesake kb build DUMP --out KB`"
        ) from None
    except (OSError, ValueError) as problem:
        raise NamesakeError(f"{path / MANIFEST} is damaged ({problem}): build the KB again") from None
    return parse_manifest(content, path)


def parse_manifest(content: bytes, path: Path) -> Manifest:
    """The manifest that these bytes are; `path` is the KB, or the pack of one, that they come from."""
    file = path / MANIFEST
    try:
        raw = msgspec.json.decode(content, type=dict[str, Any])
        version = raw.get("format_version")
        if version != FORMAT_VERSION:
            raise NamesakeError(
                f"{path} has KB format {version}, this version of namesake reads {FORMAT_VERSION}: build the KB again"
            )
        manifest = msgspec.convert(raw, Manifest)
    except (ValueError, RecursionError) as problem:  # those of msgspec are ValueErrors
        raise NamesakeError(f"{file} is damaged ({problem}): build the KB again") from None
    if manifest.format != FORMAT or not all(map(_plain, manifest.files)):
        raise NamesakeError(f"{file} is damaged (it names what no KB has): build the KB again")
    return manifest


def _content(folder: int) -> bytes:
    """The bytes of the manifest in an open folder, whatever they are."""
    file = open_file(MANIFEST, folder)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ValueError("it is no file, or too large")
        return os.pread(file, LARGEST, 0)
    finally:
        os.close(file)


def _plain(name: str) -> bool:
    """Whether this is the name of a file in the folder itself."""
    return name not in ("", ".", "..") and not {"/", "\0"} & set(name)


def listed_files(path: Path) -> dict[str, str] | None:
    """The digest of every file that the manifest in a folder lists; None where the folder is no KB of ours.

    Of whatever format version: this is how a build knows what it may replace.
    """
    try:
        with open_folder(path) as folder:
            raw = msgspec.json.decode(_content(folder), type=dict[str, Any])
        version, files = raw.get("format_version"), msgspec.convert(raw.get("files"), dict[str, str])
    except (NamesakeError, OSError, ValueError, RecursionError):
        return None
    ours = raw.get("format") == FORMAT or version in (1, 2)  # which had no such field
    digests = all(value.startswith(("sha256:", "crc32:")) for value in files.values())
    return files if ours and "entities" in raw and digests and all(map(_plain, files)) else None
