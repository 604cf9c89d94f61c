"""ELEVANT's JSON lines: benchmarks, `{"id", "title", "text", "labels": [...], "evaluation_span"?}`, and links.

A label is `{"span": [start, end] in characters, "entity_id": QID or "Unknown…", "parent"?, "optional"?, "type"?}`.
Scored are the labels that ELEVANT itself asks for: not the optional ones, quantities and dates, not those nested in
another label (they are its alternatives), none outside the evaluation span. The others are set aside and counted.

Linked articles have, instead of labels, what a linker found: `"entity_mentions": [{"span", "id", "candidates"?}]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from namesake.articles.article import Article, Span
from namesake.articles.rejects import Reject, Rejects
from namesake.datasets.labelled import Labelled, Occurrence, label, read_records


class Label(msgspec.Struct):
    """A ground truth label."""

    span: Span
    entity_id: str | None
    parent: int | None = None
    optional: bool = False
    type: str | None = None


class Record(msgspec.Struct):
    """An article."""

    id: str | int
    text: str
    title: str | None = None
    labels: list[Label] | None = None
    evaluation_span: Span | None = None


def read_elevant(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """Articles with the labels that count."""
    for number, record in read_records(path, Record, "an ELEVANT article"):
        occurrences = []
        for one in record.labels or ():
            reason = _uncounted(one, record)
            if reason is None:
                occurrences.append(_occurrence(one))
            else:
                rejects.add(Reject(reason, str(path), number, str(record.id)))
        article = Article(str(record.id), record.text, record.title or None)
        yield label(article, occurrences, f"{path} line {number}")


def _uncounted(one: Label, record: Record) -> str | None:
    """Why a label is not scored, if it is not."""
    if one.optional or one.type in {"QUANTITY", "DATETIME"}:
        return "an optional label"
    if one.parent is not None:
        return "a label nested in another"
    if record.evaluation_span is not None:
        start, end = record.evaluation_span
        if not start <= one.span[0] < one.span[1] <= end:
            return "a label outside the evaluation span"
    return None


def _occurrence(one: Label) -> Occurrence:
    """An unknown entity is nobody."""
    return Occurrence([one.span], None if _is_nobody(one.entity_id) else one.entity_id, columns={"type": one.type})


class EntityMention(msgspec.Struct):
    """What a linker made of a mention."""

    span: Span
    id: str | None = None
    candidates: list[str] | None = None


class LinkedRecord(msgspec.Struct):
    """An article that was linked."""

    id: str | int
    text: str
    entity_mentions: list[EntityMention]
    title: str | None = None


def read_elevant_links(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """Articles with what a linker found in them as their truth."""
    for number, record in read_records(path, LinkedRecord, "a linked article of ELEVANT"):
        occurrences = [
            Occurrence([one.span], None if _is_nobody(one.id) else one.id, None, one.candidates)
            for one in record.entity_mentions
        ]
        article = Article(str(record.id), record.text, record.title or None)
        yield label(article, occurrences, f"{path} line {number}")


def _is_nobody(entity: str | None) -> bool:
    return entity is None or entity.startswith("Unknown")
