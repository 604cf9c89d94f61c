"""Files that Namesake wrote, recognised by their content: a folder of articles may hold them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import msgspec

from namesake.errors import NamesakeError
from namesake.files import kind, open_lines
from namesake.formats.jsonl import BOM
from namesake.formats.links import metadata_path
from namesake.formats.parquet import open_parquet

MOST = 1 << 20
"""How many bytes of a file are looked at."""
LINKS = {"article_id", "name", "qid", "score", "margin", "tie_break", "best", "confidence", "known", "reason"}
"""Fields that links have in every format, with spans or flat."""
RECONCILED = ("qid", "label", "description", "confidence", "reason", "runner_up", "runner_up_confidence")
"""Columns that `reconcile` adds to a table; a column that the table already has gets a prefix."""
MADE_BY = {"kb", "recipe"}
"""Fields of the metadata beside links."""
SIGNATURES = (
    MADE_BY | {"versions", "counts", "problems"},  # run.json
    {"type", "plan", "time"},  # journal.jsonl of a run
    {"type", "key", "host", "boot"},  # journal.jsonl of a draft
    {"format_version", "entities", "digest", "files"},  # manifest.json of a KB
    {"reason", "file", "line"},  # rejects
)
ROW = "row-"
"""What the ids of a table's rows begin with, where a review gives them as articles."""


def is_ours(path: Path) -> bool:
    """Whether Namesake wrote a file: links and what lies beside them, tables of `reconcile`, a KB's manifest.

    A file that cannot be read is not recognised: its reader says what is wrong with it.
    """
    suffix = kind(path)
    try:
        if suffix == ".parquet":
            with open_parquet(path) as file:
                schema = file.schema_arrow
            made = any(key.startswith(b"namesake.") for key in schema.metadata or {})
            return made or _has_our_columns(set(schema.names))
        if suffix in (".csv", ".tsv"):
            return _is_our_header(_start(path).partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r"))
        if suffix in (".json", ".jsonl", ".ndjson"):
            return _is_our_record(_first_object(_start(path)))
        beside = metadata_path(path)
        return beside.is_file() and is_ours(beside)
    except (NamesakeError, OSError):
        return False


def _start(path: Path) -> bytes:
    with open_lines(path) as stream:
        return stream.read(MOST)


def _is_our_header(line: str) -> bool:
    return any(_has_our_columns(set(next(csv.reader([line], delimiter=between), []))) for between in ",\t;|")


def _has_our_columns(names: set[str]) -> bool:
    added = all(any(name.removeprefix("namesake_") == ours for name in names) for ours in RECONCILED)
    return names >= LINKS or added


def _first_object(start: bytes) -> dict[str, Any]:
    """The JSON object that a file begins with: all of a small file, or its first line; empty where there is none."""
    start = start.removeprefix(BOM).strip()
    for text in (start.partition(b"\n")[0], start):
        try:
            return msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return {}


def _is_our_record(record: dict[str, Any]) -> bool:
    names = set(record)
    if names & {"text", "content"}:
        return str(record.get("id")).startswith(ROW)
    if _has_our_columns(names) or any(names >= signature for signature in SIGNATURES):
        return True
    return MADE_BY <= names <= MADE_BY | {"mentions"} or names >= {"articleID", "name", "gold"}
