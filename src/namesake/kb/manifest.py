"""The manifest of a KB: how it was made, its counts, and a digest of every file."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from namesake.errors import NamesakeError
from namesake.files.digests import as_digest, open_file
from namesake.files.draft import MANIFEST as MANIFEST
from namesake.files.lines import json_lines

FORMAT = "namesake KB"
FORMAT_VERSION = 8
REJECTS = "rejects.jsonl"
SOURCES = "sources."  # the names of the files that an update needs begin with it
OWN_FILE = "own.jsonl"  # the own entities of a KB: see `kb.own`
BASE = "base."  # begins the names of files that a KB without its own entities has instead
LARGEST = 1 << 24  # bytes of a manifest


class Sealed(msgspec.Struct, frozen=True):
    """A manifest that contains its own digest in a field `digest`."""

    def sealed(self) -> bytes:
        """The bytes of the file, with the digest filled in."""
        fields = msgspec.structs.asdict(self) | {"digest": ""}
        digest = as_digest(sha256(msgspec.json.format(msgspec.json.encode(fields), indent=1)))
        return msgspec.json.format(msgspec.json.encode(fields | {"digest": digest}), indent=1)


class Gathered(msgspec.Struct):
    """The content of dumps, of which the columns are files `sources.NAME`."""

    types: dict[str, str]  # the type of the numbers in each column
    ends: dict[str, int]  # the last number of each column of offsets
    items: int = 0
    strings: int = 0
    gone: int = 0  # number of deletions and redirects
    dates_dropped: int = 0
    outdated: int = 0  # records that are older than one before them


class Sources(msgspec.Struct, frozen=True):
    """What an update needs: the content of the dumps, and the other files from which the KB was built."""

    gathered: Gathered
    wikipedia: str | None = None
    ranks: dict[str, str] = {}
    version: str = ""  # the version of Namesake that computed the columns: another one may have other rules


class Update(msgspec.Struct, frozen=True):
    """An update of a KB: its date, the files with the changes, and how many items it changed."""

    date: str
    files: list[str]
    added: int
    changed: int
    deleted: int
    redirected: int
    outdated: int  # records that were ignored because the KB had a later revision


class Manifest(Sealed, frozen=True, kw_only=True):
    """How a KB was made, its counts, and the digest of every file."""

    format: str = FORMAT  # distinguishes this file from other programs' manifests
    format_version: int
    created: str
    dumps: list[str]
    dump_date: str | None = None  # day of the youngest dump file; unknown if all were read from standard input
    keep: str = "people"
    language: str = "en"  # the language of labels, words and names, see `namesake.language`
    words_how: str = "stem"
    ranks: list[str] = []  # the sources of PR_WD and PR_WP, such as `wikidata: computed`, `wikipedia: FILE`
    entities: int
    people: int
    kinds: dict[str, int] = {}  # the number of entities of each kind, by its name
    items: int
    statements: int
    names: int
    words: int
    rejected: int
    rejected_reasons: dict[str, int] = {}
    superseded: int = 0  # items that do not count: there is a later revision, or they are deleted or redirected
    dates_dropped: int = 0  # dates that name no possible day; the rest of such entities is kept
    generation: int = 1  # 1 for a KB that was built, one more after each update
    updates: list[Update] = []
    sources: Sources | None = None  # what an update needs; None if the KB cannot be updated
    files: dict[str, str] = {}  # SHA-256 by file name; `KB.verify` compares them
    digest: str = ""  # SHA-256 of the manifest itself, with this field empty


class Reject(msgspec.Struct, frozen=True):
    """A rejected line of a dump, as in `rejects.jsonl`."""

    file: str
    line: int
    reason: str


def read_manifest(path: Path) -> Manifest:
    """The manifest of a KB folder; NamesakeError if the folder is not a KB."""
    try:
        with os.scandir(path):
            pass
    except FileNotFoundError:
        draft = path.with_name(f"{path.name}.building")
        hint = f" (unfinished: {draft}; the next build resumes or removes it)" if draft.is_dir() else ""
        raise NamesakeError(f"{path}: no such KB{hint}; make one with `namesake kb build DUMP --out {path}`") from None
    except (OSError, ValueError) as problem:
        raise NamesakeError(f"{path} is not a KB ({getattr(problem, 'strerror', problem)})") from None
    try:
        content = _content(path)
    except FileNotFoundError:
        raise NamesakeError(
            f"{path} is not a KB (it has no {MANIFEST}); make one with `namesake kb build DUMP --out KB`"
        ) from None
    except (OSError, ValueError) as problem:
        raise NamesakeError(f"{path / MANIFEST} is damaged ({problem}): build the KB again") from None
    return parse_manifest(content, path)


def parse_manifest(content: bytes, path: Path) -> Manifest:
    """The manifest in these bytes, which come from the KB, or the pack of a KB, at `path`."""
    file = path / MANIFEST
    try:
        raw = msgspec.json.decode(content, type=dict[str, Any])
        version = raw.get("format_version")
        if version != FORMAT_VERSION:
            raise NamesakeError(
                f"{path} has KB format {version}, this version of namesake reads {FORMAT_VERSION}: build the KB again"
            )
        manifest = msgspec.convert(raw, Manifest)
    except (ValueError, RecursionError) as problem:  # errors of msgspec are ValueErrors
        raise NamesakeError(f"{file} is damaged ({problem}): build the KB again") from None
    if manifest.format != FORMAT or not all(map(_plain, manifest.files)):
        raise NamesakeError(f"{file} is damaged (it names files that no KB has): build the KB again")
    return manifest


def _content(folder: Path) -> bytes:
    """The bytes of the manifest in a folder."""
    file = open_file(folder / MANIFEST)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise ValueError("it is not a file, or too large")
        return os.pread(file, LARGEST, 0)
    finally:
        os.close(file)


def _plain(name: str) -> bool:
    """Whether this is the name of a file in the folder itself, without a path."""
    return name not in ("", ".", "..") and not {"/", "\0"} & set(name)


def listed_files(path: Path) -> dict[str, str] | None:
    """The digest of every file that the manifest of a KB of any version lists; None if the folder is not a KB."""
    try:
        raw = msgspec.json.decode(_content(path), type=dict[str, Any])
        version, files = raw.get("format_version"), msgspec.convert(raw.get("files"), dict[str, str])
    except (OSError, ValueError, RecursionError):
        return None
    ours = raw.get("format") == FORMAT or version in (1, 2)  # these versions had no such field
    digests = all(value.startswith(("sha256:", "crc32:")) for value in files.values())
    return files if ours and "entities" in raw and digests and all(map(_plain, files)) else None


NAMED = 10_000  # rejects that are listed; all are counted
REASONS = 50  # reasons that are counted separately
QUOTED = re.compile(r"'[^']*'")


class Rejects:
    """All rejected lines of a build."""

    def __init__(self) -> None:
        self.named: list[Reject] = []
        self.reasons: Counter[str] = Counter()

    def add(self, rejects: Iterable[Reject]) -> None:
        """Count these, and list them up to the limit."""
        for reject in rejects:
            kind = QUOTED.sub("…", reject.reason.partition(":")[0])
            self.reasons[kind if kind in self.reasons or len(self.reasons) < REASONS else "other"] += 1
            if len(self.named) < NAMED:
                self.named.append(reject)

    def restore(self, kb: Path, manifest: Manifest) -> None:
        """Begin with the rejected lines of the KB in this folder."""
        self.named = [reject for _, reject in json_lines(kb / REJECTS, Reject, "a rejected line")]
        self.reasons = Counter(manifest.rejected_reasons)

    def __len__(self) -> int:
        return self.reasons.total()

    def lines(self) -> bytes:
        """The content of `rejects.jsonl`."""
        return b"".join(msgspec.json.encode(reject) + b"\n" for reject in self.named)
