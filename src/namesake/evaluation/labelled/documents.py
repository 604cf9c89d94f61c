"""Labelled documents: raw text and who is named where in it, as JSON lines.

    {"id": "a1", "text": "Merkel spoke.", "date": "2015-09-01", "labels": [{"span": [0, 6], "qid": "Q567"}]}

Spans are in characters. A label without a QID, or with one that the KB lacks, is a name of nobody whom the KB knows.
Optional in a label: `type` (`PER` for a person, anything else is none), `why` (`unmapped`, `unlinked`, `unannotated`:
it does not say who is meant, and is not judged), `coref` (a pronoun or a description: not judged), `nil_clean` (a name
of one person, whom no data base knows), `core` (the bare name inside a longer span). With `evaluation_span`, only that
part of the text is labelled. Other fields are passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from namesake.articles.article import Span
from namesake.errors import NamesakeError
from namesake.files import kind
from namesake.files.lines import json_lines
from namesake.files.several import Paths, several

UNJUDGED = frozenset({"unmapped", "unlinked", "unannotated"})
"""Reasons of a label that say neither who is meant nor that it is nobody."""
PERSON = "PER"
SUFFIXES = (".jsonl", ".ndjson", ".json")


class Label(msgspec.Struct, frozen=True):
    """A name in a text and who bears it, as the file has it."""

    span: Span
    qid: str | None = None
    type: str | None = None
    why: str | None = None
    coref: bool | None = None
    nil_clean: bool | None = None
    core: Span | None = None

    @property
    def name_span(self) -> Span:
        """Where the bare name stands."""
        return self.span if self.core is None else self.core

    @property
    def is_person(self) -> bool:
        """Whether it says that it is a person's name."""
        return self.type == PERSON or (self.type is None and bool(self.nil_clean))

    @property
    def is_told(self) -> bool:
        """Whether it says who is meant, or that it is nobody's name, rather than just not saying."""
        return bool(self.qid or self.type or self.nil_clean)


class _Record(msgspec.Struct, frozen=True):
    id: str | int
    text: str
    labels: list[Label]
    date: str | None = None
    evaluation_span: Span | None = None


@dataclass(frozen=True)
class Document:
    """A text with the labels that are judged: names, inside the part that was labelled, of whom it is known who."""

    id: str
    text: str
    date: str | None
    labels: Sequence[Label]


@dataclass(frozen=True)
class LabelledCorpus:
    """The documents of a file, and what is odd about them."""

    name: str
    documents: Sequence[Document]
    overlapping: int
    """Judged labels that overlap one before them."""
    repeated: int
    """Ids that stand for several documents."""


def read_corpora(paths: Paths) -> list[LabelledCorpus]:
    """Labelled files, each a corpus; a folder stands for the JSON lines in it."""
    files = [file for path in several(paths) for file in _files(Path(path))]
    if not files:
        raise NamesakeError("no labelled files: name one or more with `labelled=`")
    names = [file.name.partition(".")[0] for file in files]
    often = Counter(names)
    return [read_corpus(file, name if often[name] == 1 else str(file)) for file, name in zip(files, names, strict=True)]


def read_corpus(path: Path, name: str | None = None) -> LabelledCorpus:
    """Read one file; a span outside its text or a QID that is none is refused, with its line."""
    documents, overlapping = [], 0
    for line, record in json_lines(path, _Record, "a labelled document"):
        where = f"{path} line {line}"
        for label in record.labels:
            _check(label, record.text, where)
        low, high = record.evaluation_span or (0, len(record.text))
        labels = [
            label
            for label in record.labels
            if not label.coref and label.why not in UNJUDGED and low <= label.span[0] and label.span[1] <= high
        ]
        documents.append(Document(str(record.id), record.text, record.date, labels))
        overlapping += count_overlapping([label.span for label in labels])
    if not documents:
        raise NamesakeError(f"{path}: no labelled documents")
    repeated = sum(count > 1 for count in Counter(document.id for document in documents).values())
    return LabelledCorpus(name or path.name.partition(".")[0], documents, overlapping, repeated)


def count_overlapping(spans: Sequence[Span]) -> int:
    """How many spans share a character with one that begins before them, or with them."""
    count, furthest = 0, 0
    for start, end in sorted(spans):
        count += start < furthest
        furthest = max(furthest, end)
    return count


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(each for each in path.iterdir() if kind(each) in SUFFIXES)
    if not found:
        raise NamesakeError(f"{path}: no JSON lines (.jsonl, also .gz .bz2 .zst) in this folder")
    yield from found


def _check(label: Label, text: str, where: str) -> None:
    for start, end in (label.span, label.name_span):
        if not 0 <= start < end <= len(text):
            raise NamesakeError(f"{where}: label [{start}, {end}] lies outside the text of {len(text):,} characters")
    if label.qid is not None and not re.fullmatch(r"Q\d{1,18}", label.qid, re.ASCII):
        raise NamesakeError(
            f"{where}: label {list(label.span)} has the QID {label.qid!r}; one looks like Q76, or is null"
        )
