"""Labels laid beside the names that were found: which spans overlap which labels, and what came of them.

An answer is right when a label with its QID overlaps it; names that overlap no label are not judged, since few corpora
label every name. Everything here is by span: a name that stands in a text five times is judged five times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from namesake.articles.article import Span
from namesake.evaluation.labelled.documents import Label, LabelledCorpus
from namesake.evaluation.scores import BoolArray
from namesake.rank import FloatArray, IntArray

NEVER = -1.0
"""Below every confidence: no answer is so unsure."""


@dataclass(frozen=True)
class Judged:
    """A corpus, and the spans found in it that overlap labels."""

    corpus: LabelledCorpus
    labels: Sequence[Label]
    label_document: IntArray
    known: BoolArray
    """Labels whose QID the KB has: what recall is over."""
    nobody: BoolArray
    """Labels of people whom the KB lacks, or who have no QID."""
    mentions: Sequence[int]
    """The rows of links that have such spans."""
    spans: IntArray
    """Start and end of each span, those of a mention together."""
    span_mention: IntArray
    span_document: IntArray
    pair_span: IntArray
    """With `pair_label`: each span and each label that overlaps it."""
    pair_label: IntArray

    @property
    def name(self) -> str:
        """The corpus's."""
        return self.corpus.name

    @property
    def told(self) -> BoolArray:
        """Which spans overlap a label that tells who or what it is, rather than just naming nobody."""
        return self.any_label(self.known | np.array([label.is_told for label in self.labels], np.bool_))

    def any_label(self, of: BoolArray) -> BoolArray:
        """Which spans overlap a label for which `of` holds."""
        return np.bincount(self.pair_span, of[self.pair_label], len(self.spans)) > 0

    def any_span(self, of: BoolArray) -> BoolArray:
        """Which labels overlap a span for which `of` holds."""
        return np.bincount(self.pair_label, of[self.pair_span], len(self.labels)) > 0


@dataclass(frozen=True)
class Answers:
    """What a recipe makes of the mentions of a `Judged`: a value for each."""

    best: Sequence[str | None]
    """The first candidate; None without candidates."""
    confidence: FloatArray
    """NaN where the recipe claims none."""
    person: BoolArray
    """False for what the text makes no person: never answered."""

    @classmethod
    def of(cls, links: pa.Table, mentions: Sequence[int]) -> Answers:
        """The answers that links made without a threshold tell of."""
        rows = links.select(["best", "confidence", "qid"]).take(pa.array(mentions, pa.int64()))
        confidence = rows["confidence"].to_numpy().astype(np.float64)
        return cls(rows["best"].to_pylist(), confidence, rows["qid"].is_valid().to_numpy())


def judge(corpus: LabelledCorpus, known: BoolArray, links: pa.Table) -> Judged:
    """Lay the labels of a corpus beside its links, whose articles are called by the number of their document.

    `known` tells of each label in turn whether the KB has its QID.
    """
    labels = [label for document in corpus.documents for label in document.labels]
    label_document = np.repeat(np.arange(len(corpus.documents)), [len(each.labels) for each in corpus.documents])
    bounds = np.array([label.span for label in labels], np.int64).reshape(-1, 2)
    first = np.searchsorted(label_document, np.arange(len(corpus.documents) + 1))
    mentions: list[int] = []
    kept: list[Span] = []
    of_mention, of_document, pair_span, pair_label = [], [], [], []
    rows = zip(links["article_id"].to_pylist(), links["spans"].to_pylist(), strict=True)
    for row, (article, spans) in enumerate(rows):
        document = int(article)
        here = bounds[first[document] : first[document + 1]]
        some = False
        for start, end in spans or ():
            near = np.flatnonzero((here[:, 0] < end) & (start < here[:, 1])) + first[document]
            if len(near):
                some = True
                pair_span += [len(kept)] * len(near)
                pair_label += near.tolist()
                kept.append((start, end))
                of_mention.append(len(mentions))
                of_document.append(document)
        if some:
            mentions.append(row)
    person = np.array([label.is_person for label in labels], np.bool_)
    return Judged(
        *(corpus, labels, label_document, known, person & ~known, mentions),
        np.array(kept, np.int64).reshape(-1, 2),
        *(np.array(numbers, np.int64) for numbers in (of_mention, of_document, pair_span, pair_label)),
    )


@dataclass(frozen=True)
class Outcome:
    """How a recipe's answers fare at every threshold: what is by span, then what is by label."""

    judged: Judged
    best: Sequence[str | None]
    """By span."""
    confidence: FloatArray
    """Of the best candidate; NaN where there is none, or the recipe claims none."""
    sure: FloatArray
    """The highest threshold at which the span is still answered; NEVER where it is not."""
    person: BoolArray
    """Whether the span was taken for a person's name."""
    right: BoolArray
    """Whether the best candidate is a known label's."""
    fits: BoolArray
    """Whether the best candidate is any label's, known or not."""
    found_at: FloatArray
    """By label: the highest threshold at which a right answer overlaps it; NEVER where none does."""
    answered_at: FloatArray
    """By label: the highest threshold at which any answer overlaps it; NEVER where none does."""

    @classmethod
    def of(cls, judged: Judged, answers: Answers) -> Outcome:
        """Judge answers."""
        at = judged.span_mention
        best = [answers.best[mention] for mention in at]
        confidence, person = answers.confidence[at], answers.person[at]
        has_best = np.array([qid is not None for qid in best], np.bool_)
        always = np.where(np.isnan(confidence), np.inf, confidence)
        sure = np.where(has_best & person, always, NEVER)
        pairs = zip(judged.pair_span.tolist(), judged.pair_label.tolist(), strict=True)
        same = np.array([best[span] == judged.labels[label].qid for span, label in pairs], np.bool_)
        same &= has_best[judged.pair_span]
        hit = same & judged.known[judged.pair_label]
        return cls(
            *(judged, best, np.where(has_best, confidence, np.nan), sure, person),
            right=np.bincount(judged.pair_span, hit, len(best)) > 0,
            fits=np.bincount(judged.pair_span, same, len(best)) > 0,
            found_at=_highest(judged, np.where(hit, sure[judged.pair_span], NEVER)),
            answered_at=_highest(judged, sure[judged.pair_span]),
        )


def _highest(judged: Judged, by_pair: FloatArray) -> FloatArray:
    highest = np.full(len(judged.labels), NEVER)
    np.maximum.at(highest, judged.pair_label, by_pair)
    return highest
