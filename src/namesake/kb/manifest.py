"""The manifest of a KB: how it was made, what it holds, and a checksum of every file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from namesake.errors import NamesakeError

FORMAT_VERSION = 3
MANIFEST = "manifest.json"
REJECTS = "rejects.jsonl"


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a KB is: how it was made, what it holds, and the checksum of every file."""

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
    dates_dropped: int = 0
    """Dates that name no possible day, left out of entities that are otherwise kept."""
    files: dict[str, str] = {}
    """Checksum by file name; `KB.verify` compares them."""


class Reject(msgspec.Struct, frozen=True):
    """A line of a dump that was set aside, as `rejects.jsonl` names it."""

    file: str
    line: int
    reason: str


def read_manifest(path: Path) -> Manifest:
    """The manifest of a KB folder, or an error that says what the folder is instead."""
    file = path / MANIFEST
    if not path.exists():
        remains = next(path.parent.glob(f"{path.name}.building-*"), None) if path.name else None
        hint = f" (unfinished: {remains}; if no build is at work there, delete it or build again)" if remains else ""
        raise NamesakeError(f"{path}: no such KB{hint}; make one with `namesake kb build DUMP --out {path}`")
    if not file.is_file():
        raise NamesakeError(f"{path} is no KB (it has no {MANIFEST}); make one with `namesake kb build DUMP --out KB`")
    try:
        raw = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        version = raw.get("format_version")
        if version != FORMAT_VERSION:
            raise NamesakeError(
                f"{path} has KB format {version}, this version of namesake reads {FORMAT_VERSION}: build the KB again"
            )
        return msgspec.convert(raw, Manifest)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise NamesakeError(f"{file} is damaged ({problem}): build the KB again") from None
