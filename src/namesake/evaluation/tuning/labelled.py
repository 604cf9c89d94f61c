"""Weights learnt from labelled text: what was found in it, as mentions with candidates and their right one.

A mention counts as the root of its spans, and a corpus as the root of its mentions' sum: large ones count more, but not
in proportion. Other data sets, such as score files with gold, count as much as an average corpus each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from namesake import decide, rank
from namesake.arrays import one_chunk
from namesake.errors import NamesakeError
from namesake.evaluation.gold import NIL, Dataset
from namesake.evaluation.labelled.judged import Answers, Judged, Outcome
from namesake.evaluation.scores import BoolArray, ScoreTable
from namesake.evaluation.tuning import logit
from namesake.rank import FloatArray, IntArray
from namesake.recipe import Recipe

PENALTY = 3.0
"""Of the fit; between 1 and 10 nothing changes."""
FOLDS = 10
"""By document, where there is one corpus only."""


@dataclass(frozen=True)
class Sample:
    """A corpus as the fit sees it: a row of `data` for each mention of `judged`."""

    judged: Judged
    data: Dataset
    person: BoolArray
    """Mentions that the text does not make no person."""
    told: BoolArray
    """Mentions whose labels say who is meant, or that it is nobody."""
    spans: FloatArray
    """Judged spans of each mention."""

    @classmethod
    def of(cls, judged: Judged, links: pa.Table) -> Sample:
        """From links made with scores and without a threshold."""
        data = dataset(judged, links)
        flags = np.array([label.is_told for label in judged.labels], np.bool_)
        size = len(judged.mentions)
        told = np.bincount(judged.span_mention, judged.any_label(flags), size) > 0
        spans = np.bincount(judged.span_mention, minlength=size).astype(np.float64)
        return cls(judged, data, Answers.of(links, judged.mentions).person, told, spans)

    @property
    def documents(self) -> IntArray:
        """The document of each mention."""
        of_mention = np.zeros(len(self.judged.mentions), np.int64)
        of_mention[self.judged.span_mention] = self.judged.span_document
        return of_mention

    def answers(self, recipe: Recipe) -> Answers:
        """What a recipe with other weights makes of the mentions."""
        table, offsets = self.data.table, self.data.offsets
        combined = recipe.combine(table.scores, offsets, table.doubts)
        first = rank.winner(offsets, *combined.keys)
        decision = decide.decide(combined.total, combined.nil, offsets, first, recipe.decide, ~self.person)
        best = [None if at == rank.NOBODY else table.qids[at] for at in first]
        return Answers(best, decision.confidence, self.person)

    def outcome(self, recipe: Recipe) -> Outcome:
        """How a recipe with other weights fares."""
        return Outcome.of(self.judged, self.answers(recipe))

    def learnable(self, recipe: Recipe) -> IntArray:
        """The mentions to learn from: told, not taken for something else, with candidates, if need be the right one."""
        size = np.diff(self.data.offsets)
        right = self.data.answerable if recipe.decide is None else size > 0
        return np.flatnonzero(self.told & self.person & right)

    def telling(self, recipe: Recipe) -> IntArray:
        """Those of the mentions to learn from whose right candidate is there: without any there is nothing to fit."""
        kept = self.learnable(recipe)
        return kept[self.data.gold[kept] >= 0]


def dataset(judged: Judged, links: pa.Table) -> Dataset:
    """Mentions with candidates and doubts; the right candidate is the one that most spans' known labels name."""
    rows = links.take(pa.array(judged.mentions, pa.int64()))
    lists = one_chunk(rows["candidates"])
    flat = lists.flatten()
    offsets = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())]).astype(np.int64)
    qids = flat.field("qid").to_pylist()
    doubts = _columns(one_chunk(rows["doubts"])) if "doubts" in rows.column_names else {}
    named: list[dict[str, set[int]]] = [{} for _ in judged.mentions]
    for span, label in zip(judged.pair_span.tolist(), judged.pair_label.tolist(), strict=True):
        qid = judged.labels[label].qid
        if judged.known[label] and qid is not None:
            named[judged.span_mention[span]].setdefault(qid, set()).add(span)
    gold = np.full(len(named), NIL, np.int64)
    for m, by_qid in enumerate(named):
        often = [len(by_qid.get(qid, ())) for qid in qids[offsets[m] : offsets[m + 1]]]
        if any(often):
            gold[m] = offsets[m] + int(np.argmax(often))
    articles, names = rows["article_id"].to_pylist(), rows["name"].to_pylist()
    mentions = [
        (f"{judged.name} {article}", f"{name} {m}")  # one name may stand for several people
        for m, (article, name) in enumerate(zip(articles, names, strict=True))
    ]
    table = ScoreTable(mentions, offsets, qids, _columns(flat.field("parts")), doubts=doubts)
    return Dataset(table, gold, [qids[at] if at >= 0 else None for at in gold], {})


def fitted(recipe: Recipe, samples: Sequence[Sample], more: Sequence[Dataset] = ()) -> Recipe:
    """The recipe with weights fitted on corpora and on more data sets."""
    data, weights = [], []
    for sample in samples:
        kept = sample.learnable(recipe)
        if len(sample.telling(recipe)):
            roots = np.sqrt(sample.spans[kept])
            data.append(sample.data.take(kept.tolist()))
            weights.append(roots / np.sqrt(roots.sum()))
    others = [logit.learnable(recipe, each) for each in more]
    if not data and not others:
        raise NamesakeError("no name that was found has its label's entity among its candidates: nothing to learn from")
    average = float(np.mean([each.sum() for each in weights])) if weights else 1.0
    weights += [np.full(len(each.gold), average / len(each.gold)) for each in others]
    problem = logit.Problem.of(recipe, [*data, *others])
    weight = np.concatenate(weights)
    problem = replace(problem, weight=weight * len(weight) / weight.sum())
    return logit.fitted(recipe, problem, problem.fit(PENALTY))


def held_out(recipe: Recipe, samples: Sequence[Sample], more: Sequence[Dataset] = ()) -> list[Outcome]:
    """How a recipe fares on each corpus with weights fitted on the others; on a lone corpus, on its other documents."""
    if len(samples) > 1:
        useful = [sample.judged.name for sample in samples if len(sample.telling(recipe))]
        if len(useful) == 1 and not more:
            raise NamesakeError(f"all names to learn from stand in {useful[0]}: weights are tried on the other files")
        return [
            sample.outcome(fitted(recipe, [each for each in samples if each is not sample], more)) for sample in samples
        ]
    [sample] = samples
    fold = logit.fold_of(sample.documents, FOLDS, 0)
    telling = sample.telling(recipe)
    if not more and len(np.unique(fold[telling])) == 1:
        count = len(np.unique(sample.documents[telling]))
        documents = "1 document" if count == 1 else f"{count} documents"
        raise NamesakeError(
            f"all names to learn from stand in {documents}, too few for folds by document, which tell what weights "
            "are worth: label more documents"
        )
    best: list[str | None] = [None] * len(fold)
    confidence = np.full(len(fold), np.nan)
    for number in np.unique(fold):
        rest = replace(sample, told=sample.told & (fold != number))
        answers = sample.answers(fitted(recipe, [rest], more))
        for m in np.flatnonzero(fold == number).tolist():
            best[m], confidence[m] = answers.best[m], answers.confidence[m]
    return [Outcome.of(sample.judged, Answers(best, confidence, sample.person))]


def _columns(structs: pa.StructArray) -> dict[str, FloatArray]:
    names = [field.name for field in structs.type]
    return {name: structs.field(name).to_numpy(zero_copy_only=False).astype(np.float64) for name in names}
