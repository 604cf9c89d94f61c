"""Where the misses go: for every known label that no answer hits, why; and what wrong answers were given to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from namesake.articles.article import Span
from namesake.drawing.excerpt import Excerpt, excerpt
from namesake.evaluation.labelled.judged import Outcome
from namesake.evaluation.scores import BoolArray

NOT_FOUND = ("not found: one word", "not found: a name of the KB", "not found: a variant")
"""What was not found: one word, several that are a name of the KB as they stand, several that are not."""
REFUSED_RIGHT, REFUSED_OTHER, WRONG = "refused: best is right", "refused: best is another", "wrong"
KINDS = (*NOT_FOUND, REFUSED_RIGHT, REFUSED_OTHER, WRONG)

WRONG_LINKS = ("somebody else of the KB", "somebody the KB lacks", "no person", "not told")
"""Who or what was linked wrongly."""


class Miss(NamedTuple):
    """A known label that no answer hits."""

    corpus: str
    place: int
    """The number of its document in the corpus."""
    document: str
    kind: str
    name: str
    sentence: Excerpt
    """With the name between « and »."""
    qid: str
    best: str | None
    """The best candidate of the surest name that overlaps it, if any."""
    confidence: float | None


def misses(
    outcome: Outcome, threshold: float, named: BoolArray, sentences: Callable[[str], Sequence[Span]]
) -> list[Miss]:
    """The misses at a threshold; `named` tells of each label whether it is a name of the KB as it stands."""
    judged = outcome.judged
    texts = judged.corpus.documents
    by_label: dict[int, list[int]] = {}
    for span, label in zip(judged.pair_span.tolist(), judged.pair_label.tolist(), strict=True):
        by_label.setdefault(label, []).append(span)
    found = []
    for label in np.flatnonzero(judged.known & (outcome.found_at < threshold)).tolist():
        place = int(judged.label_document[label])
        document = texts[place]
        qid, span = judged.labels[label].qid or "", judged.labels[label].name_span
        name = document.text[span[0] : span[1]]
        near = sorted(by_label.get(label, ()), key=lambda each: -outcome.sure[each])
        if not near:
            kind = NOT_FOUND[0] if len(name.split()) < 2 else NOT_FOUND[1] if named[label] else NOT_FOUND[2]
        elif outcome.sure[near[0]] >= threshold:
            kind = WRONG
        else:
            kind = REFUSED_RIGHT if any(outcome.best[each] == qid for each in near) else REFUSED_OTHER
        best = outcome.best[near[0]] if near else None
        claim = float(outcome.confidence[near[0]]) if best is not None else np.nan
        sentence = excerpt(document.text, span, sentences(document.text))
        claimed = None if np.isnan(claim) else claim
        found.append(Miss(judged.name, place, document.id, kind, name, sentence, qid, best, claimed))
    return found


def wrong_links(outcome: Outcome, threshold: float) -> dict[str, int]:
    """How many wrong answers were given to names of people of the KB, of others, to what is none, and to who knows."""
    judged = outcome.judged
    wrong = (outcome.sure >= threshold) & ~outcome.right
    another, stranger = judged.any_label(judged.known), judged.any_label(judged.nobody)
    person, told = another | stranger, judged.told
    flags = (another, ~another & stranger, ~person & told, ~person & ~told)
    return {what: int((wrong & flag).sum()) for what, flag in zip(WRONG_LINKS, flags, strict=True)}


def examples(found: Sequence[Miss], most: int) -> list[Miss]:
    """Up to `most` misses of each kind, from as many corpora as possible."""
    chosen = []
    for kind in KINDS:
        by_corpus: dict[str, list[Miss]] = {}
        for miss in found:
            if miss.kind == kind:
                by_corpus.setdefault(miss.corpus, []).append(miss)
        turns = sorted((turn, number) for number, some in enumerate(by_corpus.values()) for turn in range(len(some)))
        corpora = list(by_corpus.values())
        chosen += [corpora[number][turn] for turn, number in turns[:most]]
    return chosen
