"""A batch scored with a recipe, and its links as the columns of a table and as rows for display."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pyarrow as pa

from namesake import rank
from namesake.arrays import (
    Bool,
    Float64,
    Int8,
    Int64,
    arrow_numbers,
    arrow_texts,
    bitmap,
    indptr,
    numpy_numbers,
    positions,
    text_buffers,
)
from namesake.articles.schema import LINKS, candidates_field, doubts_field
from namesake.batch import Batch
from namesake.decide import ANOTHER_KIND, ANSWERED, DECIDED, REASONS, Decision, decide, probabilities
from namesake.decisions.lookup import NIL, WEIGHT
from namesake.errors import NamesakeError
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise_many
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.kernels.kinds import KINDS, UNKNOWN
from namesake.kernels.link.candidate_tables import at_least, top_two
from namesake.kinds import ALL, kinds, parse_kinds
from namesake.parts import Combined, column, sum_of
from namesake.recipe import Recipe
from namesake.scorers import Need, named

LEAST_KNOWN = 0.02
"""A name found in the text remains if it means an entity of the KB with this probability."""
LEAST_EARLY, LEAST_EARLY_SHARE = 0.015, 0.1
LEAST_LATE, LEAST_LATE_SHARE = 0.015, 0.1
"""A candidate remains if early scores give it this probability and this share of that of the best one; then all."""
ALREADY_LINKED = "AlreadyLinked"
DECISION = "Decision"
"""The part of a score that a decision of a person adds."""
UNSCALED = 1e7
"""The factor of that part in recipes whose scores are not log-odds."""


class Kept(Mapping[str, Float64]):
    """Some rows of several columns. A column is copied when it is first read."""

    def __init__(self, columns: Mapping[str, Float64], rows: Int64) -> None:
        self.columns, self.rows = columns, rows
        self.read: dict[str, Float64] = {}

    def __getitem__(self, name: str) -> Float64:
        if name not in self.read:
            self.read[name] = self.columns[name][self.rows]
        return self.read[name]

    def __contains__(self, name: object) -> bool:  # that of `Mapping` would read the column
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class Scored:
    """A batch with the scores of its candidates and its evidence for NIL, one by one and combined by the recipe."""

    batch: Batch
    recipe: Recipe
    scores: Mapping[str, Float64]
    doubts: Mapping[str, Float64]
    combined: Combined
    kinds: tuple[int, ...] | None = None
    """The kinds of entities that are answers; None for all."""

    @classmethod
    def of(cls, batch: Batch, recipe: Recipe, scores: Mapping[str, Float64], doubts: Mapping[str, Float64]) -> Scored:
        """Combine the scores of a batch."""
        combined = recipe.combine(scores, batch.offsets, doubts, batch.kinds if recipe.uses_kinds else None)
        scored = cls(batch, recipe, scores, doubts, combined)
        if batch.decided is None:
            return scored
        nil = None if combined.nil is None else combined.nil + batch.decided.of_nil
        total = combined.total + scored.of_decisions[DECISION]
        return replace(scored, combined=replace(combined, total=total, nil=nil))

    @property
    def kinds_of_weights(self) -> Int8 | None:
        """The kind of each candidate, if weights depend on it."""
        return self.batch.kinds if self.recipe.uses_kinds else None

    @property
    def of_decisions(self) -> dict[str, Float64]:
        """What decisions of people add to the score of each candidate; empty without decisions."""
        factor = 1.0 if self.recipe.decide is not None else UNSCALED
        return {} if self.batch.decided is None else {DECISION: self.batch.decided.of_candidate * factor}

    @cached_property
    def contributions(self) -> dict[str, Float64]:
        """What each part and the decisions of people add to the score of each candidate."""
        scored = self.recipe.contributions(self.scores, self.batch.offsets, self.doubts, self.kinds_of_weights)
        return scored | self.of_decisions

    @cached_property
    def nil_parts(self) -> dict[str, Float64]:
        """What each part and the decisions of people add to the score of NIL of each mention."""
        decided, rule = self.batch.decided, self.recipe.decide
        parts = {} if rule is None else dict(rule.nil_parts(self.doubts, self.batch.offsets))
        return parts if decided is None or not parts else parts | {DECISION: decided.of_nil}

    @cached_property
    def top(self) -> tuple[Int64, Int64, Int64]:
        """For each mention its best and its second candidate, -1 for none, and the key that set them apart."""
        best: tuple[Int64, Int64, Int64] = top_two(self.batch.offsets, np.stack(self.combined.keys))
        return best

    @cached_property
    def decision(self) -> Decision:
        """Whether to answer each mention, and how confidently."""
        total, nil, rule = self.combined.total, self.combined.nil, self.recipe.decide
        decided, no_person = self.batch.decided, None if rule is None else self.batch.no_person
        if decided is not None and no_person is not None:
            no_person = no_person & ~decided.settled
        found = decide(total, nil, self.batch.offsets, self.top[0], rule, no_person, self.probabilities)
        if decided is not None:
            found.reason[decided.entity == NIL] = DECIDED
        if self.kinds is not None:
            found.reason[(found.reason == ANSWERED) & ~np.isin(self.best_kind, self.kinds)] = ANOTHER_KIND
        return found

    @cached_property
    def best_kind(self) -> Int8:
        """The kind of each mention's best candidate, `UNKNOWN` if it has none or the KB lacks it."""
        row = np.append(self.batch.rows, -1)[self.top[0]]
        found = np.full(len(row), UNKNOWN, np.int8)
        found[row >= 0] = self.batch.kb.kind[row[row >= 0]]
        return found

    @cached_property
    def probabilities(self) -> tuple[Float64, Float64] | None:
        """P(e | m) of each candidate and P(NIL | m) of each mention; None if the recipe always answers."""
        nil = self.combined.nil
        return None if nil is None else probabilities(self.combined.total, self.batch.offsets, nil)


def lacking(recipe: Recipe, kb: KB) -> dict[str, Need]:
    """The scorers and doubts of a recipe that need data which a KB lacks, with that data."""
    needs = {name: named(name).needs for name in recipe.scorers}
    needs |= {name: named(name, "doubt").needs for name in recipe.doubts}
    return {name: need for name, need in needs.items() if need is not None and not need.met(kb)}


def refuse_lacking(recipe: Recipe, kb: KB) -> None:
    """Raise an error if a KB lacks data without which the recipe would be another system."""
    for name, need in lacking(recipe, kb).items():
        if need.refused:
            raise NamesakeError(f"recipe {recipe.name} on {kb.path}: {name} needs {need.what}")


def refuse_unkept(asked: tuple[int, ...] | None, kb: KB) -> None:
    """Raise an error if a KB keeps none of the kinds that are asked for."""
    kept = range(len(kinds())) if kb.manifest.keep == ALL else parse_kinds(kb.manifest.keep)
    if asked is not None and not set(asked) & set(kept):
        names = ",".join(kinds()[number].plural for number in asked)
        raise NamesakeError(
            f"{kb.path} has no {names}, as it was built with `keep=` {kb.manifest.keep}: build it again"
        )


def runs_on(recipe: Recipe, kb: KB) -> bool:
    """Whether a KB has the data that a recipe requires, and that at least one of its parts needs."""
    without = lacking(recipe, kb)
    return not any(need.refused for need in without.values()) and any(
        part.source not in without for part in recipe.parts
    )


def score(batch: Batch, recipe: Recipe) -> Scored:
    """Compute the recipe's scores.

    Names that were found in the text lose improbable candidates first, and scores that are not `early` are computed for
    the others. Of such names, only those of the best set of spans without overlaps remain. The best candidate of a
    name's first mention is excluded for "the other" entity with this name. If the recipe makes a second round,
    confident links of the first become anchors, and the candidates of all mentions support each other.
    """
    without = lacking(recipe, batch.kb)
    present = {name for name in recipe.scorers if name not in without}
    idle = {part.source for part in recipe.parts if present & set(part.stands_in_for)} - set(recipe.tie_break)
    asked = [name for name in recipe.scorers if name in present - idle]
    doubts = {name: named(name, "doubt")(batch) for name in recipe.doubts if name not in without}
    confirm, found = 1.0 if recipe.decide is None else recipe.decide.confirm, batch.mentions.context is not None
    relations = [name for name in asked if named(name).anchors and confirm < 1]
    early = [name for name in asked if not found or recipe.decide is None or named(name).early]
    scored = Scored.of(batch, recipe, {name: named(name)(batch) for name in early}, doubts)
    if late := [name for name in asked if found and name not in {*early, *relations, ALREADY_LINKED}]:
        scored = _again(_possible(scored), late)
    if found:
        scored = _best_spans(scored)
    if found and ALREADY_LINKED in asked:
        scored = _again(scored, [ALREADY_LINKED], scored.batch.revised(taken=_linked_before(scored)))
    if relations:
        batch, sure = scored.batch, scored.decision.confidence >= confirm
        confirmed = np.where(sure, np.append(batch.rows, -1)[scored.top[0]], -1)
        assert scored.probabilities is not None
        scored = _again(scored, relations, batch.revised(confirmed=confirmed, support=scored.probabilities[0]))
    return scored


def _probable(scored: Scored, least: float, share: float) -> Bool:
    """Whether each candidate has this probability, and this share of that of the best one of its mention."""
    assert scored.probabilities is not None
    batch, probability = scored.batch, scored.probabilities[0]
    probable: Bool = at_least(batch.offsets, probability, np.full(len(batch.mentions), least), share)
    return probable if batch.decided is None else probable | np.repeat(batch.decided.settled, np.diff(batch.offsets))


def _possible(scored: Scored) -> Scored:
    """Without the candidates that early scores make improbable, and without the mentions that have no others."""
    candidates, found = _probable(scored, LEAST_EARLY, LEAST_EARLY_SHARE), scored.batch.mentions.context
    assert found is not None
    has_some = np.diff(indptr(candidates)[found.offsets]) > 0
    return _part(scored, np.repeat(has_some, np.diff(found.span_indptr)), candidates)


def _best_spans(scored: Scored) -> Scored:
    """The mentions of the best set of spans without overlaps, by the log-odds that a mention is an entity of the KB.

    The score of a span is log(1 + odds), the logarithm of the likelihood of its alternatives relative to NIL. Without
    NIL, longer names are better. Names that hardly mean an entity of the KB do not remain, nor do such candidates.
    """
    batch, found = scored.batch, scored.batch.mentions.context
    assert found is not None
    if scored.probabilities is None:
        score = found.mean(found.sizes)
    else:
        nil = scored.probabilities[1]
        score = np.where(nil > 1 - LEAST_KNOWN, 0.0, -np.log(np.maximum(nil, np.finfo(np.float64).tiny)))
    if batch.decided is not None:  # also NIL, so that no part of the name is linked instead
        score = np.where(batch.decided.settled, score + WEIGHT, score)
    probable = None if scored.probabilities is None else _probable(scored, LEAST_LATE, LEAST_LATE_SHARE)
    return _part(scored, found.best_spans(score, np.append(batch.rows, -1)[scored.top[0]]), probable)


def _part(scored: Scored, spans: Bool, candidates: Bool | None = None) -> Scored:
    """The same with some spans of the mentions and some of their candidates."""
    batch, kept, candidate = scored.batch.some(spans, candidates)
    combined = replace(
        scored.combined,
        total=scored.combined.total.take(candidate),
        ties={name: key.take(candidate) for name, key in scored.combined.ties.items()},
        nil=None if scored.combined.nil is None else scored.combined.nil.take(kept),
    )
    scores, doubts = Kept(scored.scores, candidate), Kept(scored.doubts, kept)
    return replace(scored, batch=batch, scores=scores, doubts=doubts, combined=combined)


def _again(scored: Scored, names: list[str], batch: Batch | None = None) -> Scored:
    """The same with more scores, or some computed again for a `revised` batch. Their parts are added anew."""
    batch, recipe = batch or scored.batch, scored.recipe
    new = {name: named(name)(batch) for name in names}
    scores: Mapping[str, Float64] = ChainMap(new, cast(dict[str, Float64], scored.scores))
    old = [name for name in names if name in scored.scores]
    others = batch.offsets, scored.doubts, scored.kinds_of_weights
    total = scored.combined.total + sum_of(recipe.parts, names, scores, *others)
    if old:
        total -= sum_of(recipe.parts, old, scored.scores, *others)
    ties = {name: key for name in recipe.tie_break if (key := column(scores, name)) is not None}
    return replace(scored, batch=batch, scores=scores, combined=replace(scored.combined, total=total, ties=ties))


def _linked_before(scored: Scored) -> Int64:
    """For mentions of "the other" entity with a name, the best candidate of the name's first mention; else -1."""
    batch, found, rows = scored.batch, scored.batch.mentions.context, np.full(len(scored.batch.mentions), -1, np.int64)
    assert found is not None
    in_article = np.bincount(batch.article[found.is_other], minlength=len(batch.ids))
    asked = np.flatnonzero(in_article[batch.article])
    if not len(asked):
        return rows
    data, offsets = text_buffers(batch.names.take(arrow_numbers(asked)))
    spelled = numpy_numbers(normalise_many(Strings(offsets, data)).arrow().dictionary_encode().indices)
    keys, other = batch.article[asked] << 32 | spelled, found.is_other[asked]
    named, place = np.unique(keys[~other], return_index=True)
    first = np.append(asked[~other][place], -1)[positions(named, keys[other])]
    best = np.append(batch.rows, -1)[scored.top[0]]
    rows[asked[other]] = np.where(first >= 0, best[first], -1)
    if (near := scored.scores.get("SentenceWords")) is not None:
        excluded = batch.rows == np.repeat(rows, np.diff(batch.offsets))
        taken, rest = (
            rank.reduce_mentions(np.maximum, np.where(some, near, -np.inf), batch.offsets, -np.inf)
            for some in (excluded, ~excluded)
        )  # a noun alone excludes an entity if the sentence fits another better
        rows[~found.is_said & (rest <= taken)] = -1
    return rows


def link_columns(scored: Scored, extra: pa.Array) -> pa.Table:
    """The columns of `schema.LINKS` for a scored batch; `extra` has the other columns of its articles."""
    batch, combined, decision = scored.batch, scored.combined, scored.decision
    first, second, decided = scored.top
    answered, unsure = decision.reason == ANSWERED, np.isnan(decision.confidence)
    best = np.append(batch.qids, -1)[first]
    best_texts = batch.kb.ids.texts(best)
    total = np.append(combined.total, 0.0)
    tied = arrow_numbers(np.maximum(decided, 0), decided <= 0)
    return pa.table(
        [
            batch.ids.take(arrow_numbers(batch.article)),
            batch.names,
            batch.placed.span_lists,
            batch.placed.title_lists,
            only(best_texts, answered & (best >= 0)),
            kind_names(np.where(answered, scored.best_kind, np.int8(UNKNOWN))),
            arrow_numbers(total[first], first < 0),
            arrow_numbers(total[first] - total[second], second < 0),
            arrow_texts([*combined.names, "position"]).take(tied),
            best_texts,
            batch.kb.ids.texts(np.append(batch.qids, -1)[second]),
            arrow_numbers(decision.confidence, unsure),
            arrow_numbers(decision.probability_known, unsure),
            arrow_texts(REASONS).take(arrow_numbers(np.maximum(decision.reason, 0), answered)),
            carried(extra, batch),
        ],
        schema=LINKS,
    )


def link_rows(scored: Scored) -> list[dict[str, Any]]:
    """The links of a scored batch for display: with labels, description, runner-up and number of candidates."""
    batch, (first, second, _) = scored.batch, scored.top
    rows: list[dict[str, Any]] = link_columns(scored, pa.nulls(len(batch.ids), pa.string())).to_pylist()
    best, after = (np.append(batch.rows, -1)[which].tolist() for which in (first, second))
    sizes = np.diff(batch.offsets).tolist()
    for row, best_row, next_row, size in zip(rows, best, after, sizes, strict=True):
        label = batch.kb.label(best_row) if best_row >= 0 else None
        answered = row["qid"] is not None
        row["best_label"], row["label"] = label, label if answered else None
        row["description"] = about(batch.kb, best_row) if answered and best_row >= 0 else None
        row["candidates"] = size
        row["runner_up_label"] = batch.kb.label(next_row) if next_row >= 0 else None
        unsure = row["confidence"] is None or row["margin"] is None
        row["runner_up_confidence"] = None if unsure else row["confidence"] * math.exp(-row["margin"])
    return rows


def carried(extra: pa.Array, batch: Batch) -> pa.DictionaryArray:
    """The articles' other columns for each mention, stored once per article."""
    if extra.null_count == len(extra):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(batch.mentions), pa.int32()), pa.nulls(0, extra.type))
    mentions = np.diff(batch.articles)
    held = extra.filter(arrow_numbers(mentions > 0)).dictionary_encode()
    places = held.indices.take(arrow_numbers(np.repeat(np.arange(len(held)), mentions[mentions > 0])))
    return pa.DictionaryArray.from_arrays(places, held.dictionary)


def score_columns(scored: Scored, most: int | None = None) -> list[tuple[pa.Field, pa.Array]]:
    """The column `candidates` with the parts of each candidate, and `doubts` with the evidence for NIL, if any.

    Candidates are in the order of the input; with `most`, only the best ones of each mention, best first.
    """
    offsets, batch = scored.batch.offsets, scored.batch
    chosen: Any = slice(None)
    if most is not None:
        ranked = rank.order(offsets, *scored.combined.keys)
        chosen = ranked[np.arange(len(ranked)) - np.repeat(offsets[:-1], np.diff(offsets)) < most]
        offsets = indptr(np.minimum(np.diff(offsets), most))
    names = [name for name in scored.recipe.scorers if name in scored.scores]
    field = candidates_field(names, scored.recipe.uses_kinds)
    element = field.type.value_type
    parts = _struct(element.field("parts").type, (scored.scores[name][chosen] for name in names))
    columns = [batch.kb.ids.texts(batch.qids[chosen]), arrow_numbers(scored.combined.total[chosen]), parts]
    if scored.recipe.uses_kinds:
        kinds = batch.kinds[chosen]
        columns.append(arrow_texts(KINDS).take(arrow_numbers(kinds, kinds < 0)))
    structs = pa.StructArray.from_arrays(columns, fields=list(element))
    lists = pa.ListArray.from_arrays(arrow_numbers(offsets.astype(np.int32)), structs, type=field.type)
    if not scored.doubts:
        return [(field, lists)]
    doubts = doubts_field(list(scored.doubts))
    return [(field, lists), (doubts, _struct(doubts.type, scored.doubts.values()))]


def _struct(type_: pa.StructType, columns: Iterable[np.ndarray]) -> pa.StructArray:
    return pa.StructArray.from_arrays([arrow_numbers(column) for column in columns], fields=list(type_))


def kind_names(numbers: Int8) -> pa.StringArray:
    """The names of kinds, null for `UNKNOWN`."""
    return arrow_texts([kind.name for kind in kinds()]).take(arrow_numbers(np.maximum(numbers, 0), numbers < 0))


def only(texts: pa.StringArray, kept: np.ndarray) -> pa.StringArray:
    """The same texts, null where they are not kept. No text is copied."""
    _, offsets, data = texts.buffers()
    return pa.StringArray.from_buffers(len(texts), offsets, data, bitmap(kept))
