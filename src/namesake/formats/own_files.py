"""Files that Namesake wrote, recognised by their content: a folder of articles may contain them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from namesake.errors import NamesakeError
from namesake.files import kind, open_lines
from namesake.formats.json_layouts import object_of
from namesake.formats.link_writers import metadata_path
from namesake.formats.parquet_articles import open_parquet

MOST = 1 << 20
"""How many bytes of a file are read."""
LINKS = {"article_id", "name", "qid", "score", "margin", "tie_break", "best", "confidence", "known", "reason"}
"""Fields of links in every format, with spans or with one row per span."""
RECONCILED = ("qid", "label", "description", "confidence", "reason", "runner_up", "runner_up_confidence")
"""Columns that `reconcile` adds to a table, with a prefix if the table has a column of that name."""
MADE_BY = {"kb", "recipe"}
"""Fields of the metadata of links."""
SIGNATURES = (
    MADE_BY | {"versions", "counts", "problems"},  # run.json
    {"type", "plan", "time"},  # journal.jsonl of a run
    {"type", "key", "host", "boot"},  # journal.jsonl of a draft
    {"format_version", "entities", "digest", "files"},  # manifest.json of a KB
    {"reason", "file", "line"},  # rejects
    {"articleID", "name", "gold"},  # gold
)
ROW = "row-"
"""The prefix of the ids of a table's rows in the articles of a review page."""


def is_ours(path: Path) -> bool:
    """Whether Namesake wrote a file: links and the files beside them, tables of `reconcile`, a KB's manifest.

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
            line = _start(path).partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
            headers = (next(csv.reader([line], delimiter=between), []) for between in ",\t;|")
            return any(_has_our_columns(set(header)) for header in headers)
        if suffix in (".json", ".jsonl", ".ndjson"):
            start = _start(path).lstrip()  # one object per line, or a small file that is one object
            return _is_our_record(object_of(start.partition(b"\n")[0]) or object_of(start))
        beside = metadata_path(path)
        return beside.is_file() and is_ours(beside)
    except (NamesakeError, OSError):
        return False


def _start(path: Path) -> bytes:
    with open_lines(path) as stream:
        return stream.read(MOST)


def _has_our_columns(names: set[str]) -> bool:
    added = all(any(name.removeprefix("namesake_") == ours for name in names) for ours in RECONCILED)
    return names >= LINKS or added


def _is_our_record(record: dict[str, Any]) -> bool:
    names = set(record)
    if names & {"text", "content"}:
        return str(record.get("id")).startswith(ROW)
    if _has_our_columns(names) or any(names >= signature for signature in SIGNATURES):
        return True
    return MADE_BY <= names <= MADE_BY | {"mentions"}
