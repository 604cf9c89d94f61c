"""Lines of changes that are not one entity: answers of Wikidata's API with several entities, deletions and redirects.

Special:EntityData and `wbgetentities` answer `{"entities": {"Q1": …}}`. A deleted item is
`{"id": "Q1", "missing": ""}`. A redirected one has the content and the `id` of its target under its own key, or
`"redirects": {"from": …, "to": …}`; in page dumps it is `{"entity": "Q1", "redirect": "Q2"}`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from namesake.arrays import Int64
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of
from namesake.kb.dump.repair import BadLineError, id_letter

MARKS = (b'"entities"', b'"missing"', b'"redirect')


class Gone(NamedTuple):
    """An item that is deleted, or redirected to another one."""

    qid: int
    target: int
    """The QID of the item that replaces it; 0 if it is deleted."""


class _Answer(msgspec.Struct):
    entities: dict[str, msgspec.Raw]


class _Redirects(msgspec.Struct, rename={"source": "from", "target": "to"}):
    source: str
    target: str


class _Head(msgspec.Struct):
    id: str = ""
    entity: str = ""
    redirect: str = ""
    redirects: _Redirects | None = None
    missing: Any = msgspec.UNSET
    labels: Any = msgspec.UNSET
    claims: Any = msgspec.UNSET


def entities_on(line: bytes) -> list[tuple[str, bytes]]:
    """The entities on a line, each with its key in an answer of the API; in any other line there is one without key."""
    try:
        answer = msgspec.json.decode(line, type=_Answer) if MARKS[0] in line else None
    except (msgspec.DecodeError, RecursionError):
        answer = None  # the line is reported when it is repaired
    return [("", line)] if answer is None else [(key, bytes(raw)) for key, raw in answer.entities.items()]


def removed_by(key: str, entity: bytes) -> tuple[list[Gone], bool]:
    """The item that a record deletes or redirects, and whether the record also has the content of an entity."""
    if not key and not any(mark in entity for mark in MARKS):
        return [], True
    try:
        head = msgspec.json.decode(entity, type=_Head)
    except (msgspec.DecodeError, RecursionError):
        return [], True  # the same
    moved = head.redirects or _Redirects(head.entity or key, head.redirect or head.id)
    if head.missing is not msgspec.UNSET:
        moved = _Redirects(head.id or key, "")
    elif moved.target in ("", moved.source) or not moved.source:
        return [], True
    letter = id_letter(moved.source)
    if not letter or (moved.target and id_letter(moved.target) != letter):
        raise BadLineError(f"the id {moved.source[:40]!r} cannot be deleted or redirected to {moved.target[:40]!r}")
    has_content = head.labels is not msgspec.UNSET or head.claims is not msgspec.UNSET
    return [Gone(number(moved.source), number(moved.target))] if letter == "Q" else [], has_content


def number(qid: str) -> int:
    """The number of a QID; 0 for an empty text."""
    return int(qid[1:] or 0)


def read_ids(path: Path) -> Int64:
    """The QIDs of a text file with one on each line. Raises NamesakeError for another line."""
    found = []
    if not path.is_file():
        raise NamesakeError(f"{path}: no such file; give a file with one QID on each line")
    with open_lines(path) as stream:
        for place, line in lines_of(stream, path):
            text = line.decode(errors="replace").strip()
            if text and id_letter(text) != "Q":
                raise NamesakeError(f"{path}:{place}: {text[:40]!r} is not a QID such as Q42; nothing was changed")
            found += [number(text)] if text else []
    return np.array(found, np.int64)
