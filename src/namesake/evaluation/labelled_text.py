"""Labelled text, as JSON lines, and its labels aligned with the mentions that a linker found.

    {"id": "a1", "text": "Merkel spoke.", "date": "2015-09-01", "labels": [{"span": [0, 6], "qid": "Q567"}]}

Spans are in characters. A label without a QID, or with one that is not in the KB, is NIL. A name that occurs five times
in a text counts five times. docs/evaluation.md describes the optional fields, and which answers are right or scored.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from namesake.arrays import Bool, Float64, Int64
from namesake.articles.article import Span
from namesake.errors import NamesakeError, did_you_mean
from namesake.files import Paths, kind, several
from namesake.files.lines import json_lines

UNSCORED = frozenset({"unmapped", "unlinked", "unannotated"})
"""Values of `why` of labels that state neither an entity nor NIL."""
SUFFIXES = (".jsonl", ".ndjson", ".json")
NEVER = -1.0  # a threshold below every confidence


class Label(msgspec.Struct, frozen=True):
    """A label of a file."""

    span: Span
    qid: str | None = None
    type: str | None = None
    why: str | None = None
    coref: bool | None = None
    nil_clean: bool | None = None
    core: Span | None = None

    @property
    def name_span(self) -> Span:
        """The span of the bare name."""
        return self.span if self.core is None else self.core

    @property
    def is_person(self) -> bool:
        """Whether it is labelled as the name of a person."""
        return self.type == "PER" or (self.type is None and bool(self.nil_clean))

    @property
    def is_informative(self) -> bool:
        """Whether it states an entity or a type, rather than nothing."""
        return bool(self.qid or self.type or self.nil_clean)

    @property
    def is_instructive(self) -> bool:
        """Whether weights are fitted to it: NIL counts unless the label may be more than a plain name."""
        return self.is_informative and (self.qid is not None or self.nil_clean is not False)


class Document(msgspec.Struct, frozen=True):
    """A text with its labels; `read_corpus` keeps those that are scored."""

    id: str | int
    text: str
    labels: Sequence[Label]
    date: str | None = None
    evaluation_span: Span | None = None
    complete: bool | None = None  # whether every name in the text, or in `evaluation_span`, is labelled
    unscored: Sequence[Span] = msgspec.field(name="labels that are not scored", default=())
    """The spans of labels that are not scored, which files do not have."""


@dataclass(frozen=True)
class LabelledCorpus:
    """The documents of a file."""

    name: str
    documents: Sequence[Document]
    overlapping: int  # the number of scored labels that overlap an earlier one
    repeated: int  # the number of ids that several documents have


def read_corpora(paths: Paths, complete: Sequence[str] = ()) -> list[LabelledCorpus]:
    """Read labelled files, or those of folders, each as a corpus; in those named `complete`, all names have labels."""
    files: list[Path] = []
    for path in map(Path, several(paths)):
        found = sorted(each for each in path.iterdir() if kind(each) in SUFFIXES) if path.is_dir() else [path]
        if not found:
            raise NamesakeError(f"{path}: no JSON lines (.jsonl, also .gz .bz2 .zst) in this folder")
        files += found
    if not files:
        raise NamesakeError("no labelled files: name one or more with `labelled=`")
    names = [file.name.partition(".")[0] for file in files]
    unique = [name if names.count(name) == 1 else str(file) for file, name in zip(files, names, strict=True)]
    if wrong := [name for name in complete if name not in unique]:
        hint = did_you_mean(wrong[0], unique)
        raise NamesakeError(f"`complete=`: no corpus {wrong[0]!r}{hint}; the corpora are {', '.join(unique)}")
    return [read_corpus(file, name, name in complete) for file, name in zip(files, unique, strict=True)]


def read_corpus(path: Path, name: str | None = None, complete: bool = False) -> LabelledCorpus:
    """Read one file. A span outside its text or an invalid QID is an error that names the line."""
    documents, overlapping = [], 0
    for line, record in json_lines(path, Document, "a labelled document"):
        for label in record.labels:
            _check(label, len(record.text), f"{path} line {line}")
        low, high = record.evaluation_span or (0, len(record.text))
        inside = [label for label in record.labels if low <= label.span[0] and label.span[1] <= high]
        whole = complete or bool(record.complete)
        document = msgspec.structs.replace(record, id=str(record.id), labels=inside, complete=whole)
        documents.append(_scored(document, lambda label: not label.coref and label.why not in UNSCORED))
        overlapping += count_overlapping([label.span for label in documents[-1].labels])
    if not documents:
        raise NamesakeError(f"{path}: no labelled documents")
    repeated = sum(count > 1 for count in Counter(document.id for document in documents).values())
    return LabelledCorpus(name or path.name.partition(".")[0], documents, overlapping, repeated)


def _scored(document: Document, counts: Callable[[Label], bool]) -> Document:
    """The document with those of its labels that count."""
    rest = [label.span for label in document.labels if not counts(label)]
    labels = [label for label in document.labels if counts(label)]
    return msgspec.structs.replace(document, labels=labels, unscored=[*document.unscored, *rest])


def of_every_kind(corpus: LabelledCorpus) -> LabelledCorpus:
    """The corpus for a KB of several kinds, with labels that state an entity or a person, and have a capital letter."""

    def counts(one: Document, label: Label) -> bool:
        # without a capital letter, it is a concept; without QID and person, it may be of an entity in the KB
        return (label.qid is not None or label.is_person) and any(map(str.isupper, one.text[slice(*label.span)]))

    return replace(corpus, documents=[_scored(one, partial(counts, one)) for one in corpus.documents])


def count_overlapping(spans: Sequence[Span]) -> int:
    """Return how many spans overlap a span that begins before or with them."""
    count, furthest = 0, 0
    for start, end in sorted(spans):
        count += start < furthest
        furthest = max(furthest, end)
    return count


def _check(label: Label, size: int, where: str) -> None:
    for start, end in (label.span, label.name_span):
        if not 0 <= start < end <= size:
            raise NamesakeError(f"{where}: label [{start}, {end}] lies outside the text of {size:,} characters")
    if label.qid is not None and not re.fullmatch(r"Q\d{1,18}", label.qid, re.ASCII):
        raise NamesakeError(f"{where}: label {list(label.span)} has the QID {label.qid!r}, not one like Q76 or null")


@dataclass(frozen=True)
class Alignment:
    """A corpus, and the spans of a linker's mentions that overlap its labels."""

    corpus: LabelledCorpus
    labels: Sequence[Label]
    label_document: Int64
    known: Bool  # labels whose QID is in the KB: the denominator of recall
    mentions: Sequence[int]  # the rows of the links that have such spans
    best: Sequence[str | None]  # by mention: the first candidate; None without candidates
    confidence: Float64  # by mention: NaN if the recipe computes none
    person: Bool  # by mention: False if the text shows that the name is no person's; it is never answered
    span_mention: Int64  # the mention of each span; spans are grouped by mention
    span_document: Int64
    pair_span: Int64  # with `pair_label`: each pair of a span and a label that overlap
    pair_label: Int64
    kinds: Mapping[str, str]  # the kinds of entities in the KB, by QID: those of labels and of candidates

    @property
    def name(self) -> str:
        """The name of the corpus."""
        return self.corpus.name

    @cached_property
    def nil(self) -> Bool:
        """Labels of people who have no QID, or who are not in the KB."""
        return np.array([label.is_person for label in self.labels], np.bool_) & ~self.known

    @cached_property
    def informative(self) -> Bool:
        """Spans that overlap a label which states an entity or a type, and those of complete documents without one."""
        stated = self.known | np.array([label.is_informative for label in self.labels], np.bool_)
        return self.any_label(stated) | ~self.labelled

    @cached_property
    def labelled(self) -> Bool:
        """Spans that overlap a label. Other spans are aligned in complete documents only."""
        return self.any_label(np.ones(len(self.labels), np.bool_))

    def any_label(self, of: Bool) -> Bool:
        """Return which spans overlap a label with the flag `of`."""
        return np.bincount(self.pair_span, of[self.pair_label], len(self.span_mention)) > 0


def align_labels(corpus: LabelledCorpus, known: Bool, links: pa.Table, kinds: Mapping[str, str]) -> Alignment:
    """Align labels, which are `known` in the KB or not, with links, whose article ids are numbers of documents."""
    labels = [label for document in corpus.documents for label in document.labels]
    label_document = np.repeat(np.arange(len(corpus.documents)), [len(each.labels) for each in corpus.documents])
    bounds = np.array([label.span for label in labels], np.int64).reshape(-1, 2)
    first = np.searchsorted(label_document, np.arange(len(corpus.documents) + 1))
    mentions, of_mention, of_document, pair_span, pair_label = (list[int]() for _ in range(5))
    rows = enumerate(zip(links["article_id"].to_pylist(), links["spans"].to_pylist(), strict=True))
    for row, document, span in ((row, int(article), span) for row, (article, spans) in rows for span in spans or ()):
        here = bounds[first[document] : first[document + 1]]
        near = np.flatnonzero((here[:, 0] < span[1]) & (span[0] < here[:, 1])) + first[document]
        if len(near) or _is_wrong(corpus.documents[document], span):
            if not mentions or mentions[-1] != row:
                mentions.append(row)
            pair_span += [len(of_mention)] * len(near)
            pair_label += near.tolist()
            of_mention.append(len(mentions) - 1)
            of_document.append(document)
    at, where, left, right = (np.array(each, np.int64) for each in (of_mention, of_document, pair_span, pair_label))
    made = links.select(["best", "confidence", "qid"]).take(pa.array(mentions, pa.int64()))
    confidence = made["confidence"].to_numpy().astype(np.float64)
    answers = made["best"].to_pylist(), confidence, made["qid"].is_valid().to_numpy()
    return Alignment(corpus, labels, label_document, known, mentions, *answers, at, where, left, right, kinds)


def _is_wrong(document: Document, span: Span) -> bool:
    """Whether a link that overlaps no scored label is wrong: if all names are labelled, and it is not one of those."""
    low, high = document.evaluation_span or (0, len(document.text))
    inside = low <= span[0] and span[1] <= high
    return bool(document.complete) and inside and not any(a < span[1] and span[0] < b for a, b in document.unscored)


@dataclass(frozen=True)
class Outcome:
    """The results of a recipe's answers at every threshold: by span, then by label."""

    labels: Alignment
    best: Sequence[str | None]
    confidence: Float64  # that of the best candidate; NaN without one, and for a span without a label
    sure: Float64  # the highest threshold at which the span is answered, or NEVER
    person: Bool
    right: Bool  # whether the best candidate is that of a label in the KB
    fits: Bool  # whether the best candidate is that of any label
    found_at: Float64  # by label: the highest threshold at which a right answer overlaps it, or NEVER
    answered_at: Float64  # by label: the highest threshold at which any answer overlaps it, or NEVER

    @classmethod
    def of(cls, labels: Alignment) -> "Outcome":
        """Compare the answers, which were made without a threshold, with the labels."""
        at, span, label = labels.span_mention, labels.pair_span, labels.pair_label
        best = [labels.best[mention] for mention in at]
        confidence, person = labels.confidence[at], labels.person[at]
        has_best = np.array([qid is not None for qid in best], np.bool_)
        sure = np.where(has_best & person, np.where(np.isnan(confidence), np.inf, confidence), NEVER)
        pairs = zip(span.tolist(), label.tolist(), strict=True)
        same = np.array([best[i] == labels.labels[k].qid for i, k in pairs], np.bool_) & has_best[span]
        hit = same & labels.known[label]
        found_at, answered_at = np.full((2, len(labels.labels)), NEVER)
        np.maximum.at(found_at, label, np.where(hit, sure[span], NEVER))
        np.maximum.at(answered_at, label, sure[span])
        right, fits = (np.bincount(span, flags, len(best)) > 0 for flags in (hit, same))
        confidence = np.where(has_best & labels.labelled, confidence, np.nan)
        return cls(labels, best, confidence, sure, person, right, fits, found_at, answered_at)
