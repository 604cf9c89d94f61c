"""Rows of a table of names to Wikidata: scored like mentions of a text, with the row's values as further evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from namesake import rank
from namesake.arrays import Bool, Float64, Int64
from namesake.decide import ANSWERED, REASONS, decide, probabilities
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.reconciling.context import APART, apart
from namesake.reconciling.evidence import AskedTypes, Told
from namesake.reconciling.properties import find_property
from namesake.reconciling.query import Candidate, Query
from namesake.reconciling.rows import articles_of
from namesake.scoring import Scored

ERA = "YearsFromLifetime"
"""The part of recipes that compares lives with the time of a text."""
TOLD = "told "
"""What the parts of a row's values begin with: no scorer has a space in its name."""
TYPE = TOLD + "type"
"""The part of the types that a query asks for."""
AT_ONCE = 2048
"""Rows that are scored together."""


_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)", re.ASCII)


@dataclass(frozen=True)
class Reconciled:
    """Some queries with the candidates of each, as flat arrays; query q has the mention `mention[q]`, or -1."""

    scored: Scored
    mention: Int64
    evidence: dict[str, Float64]
    """What the row's words and the values of each property add to the score of every candidate."""

    @cached_property
    def total(self) -> Float64:
        """The score of each candidate."""
        total = self.scored.combined.total
        for added in self.evidence.values():
            total = total + added
        return total

    @cached_property
    def order(self) -> Int64:
        """The candidates of each mention, best first."""
        keys = (self.total, *self.scored.combined.ties.values())
        return rank.order(self.scored.batch.offsets, *keys)

    @cached_property
    def confidence(self) -> Float64:
        """P(this is the one) of each candidate; NaN where the recipe cannot tell."""
        none = self.scored.combined.none
        if none is None:
            return np.full(len(self.total), np.nan)
        return probabilities(self.total, self.scored.batch.offsets, none)[0]

    @cached_property
    def reasons(self) -> list[str | None]:
        """Why each mention has no answer; None where its first candidate is one."""
        batch, offsets = self.scored.batch, self.scored.batch.offsets
        first = np.where(np.diff(offsets) > 0, np.append(self.order, rank.NOBODY)[offsets[:-1]], rank.NOBODY)
        rule, none = self.scored.recipe.decide, self.scored.combined.none
        reason = decide(self.total, none, offsets, first, rule, batch.no_person if rule else None).reason
        return [None if one == ANSWERED else REASONS[one] for one in reason.tolist()]

    def best(self, query: int, limit: int) -> list[int]:
        """The best candidates of a query, by their place in the flat arrays."""
        mention = int(self.mention[query])
        if mention < 0:
            return []
        begin, end = self.scored.batch.offsets[mention : mention + 2].tolist()
        found: list[int] = self.order[begin : min(end, begin + limit)].tolist()
        return found

    def who(self, kb: KB, candidate: int, matched: bool = True) -> Candidate:
        """One candidate with all that is known."""
        row, sure = int(self.scored.batch.rows[candidate]), float(self.confidence[candidate])
        return Candidate(
            qid=f"Q{self.scored.batch.qids[candidate]}",
            label=kb.label(row),
            description=about(kb, row),
            score=float(self.total[candidate]),
            confidence=None if np.isnan(sure) else sure,
            matched=matched,
            parts=self.parts(candidate),
        )

    def reason(self, query: int) -> str | None:
        """Why a query has no answer; None where it has one."""
        mention = int(self.mention[query])
        return REASONS[0] if mention < 0 else self.reasons[mention]

    def parts(self, candidate: int) -> dict[str, float]:
        """What the score of a candidate is the sum of; what adds nothing is left out."""
        parts = self.scored.combined.contributions | self.evidence
        return {name: float(added[candidate]) for name, added in parts.items() if added[candidate]}


def reconcile_queries(linker: Linker, queries: Sequence[Query], limit: int = 5) -> list[list[Candidate]]:
    """Who may be meant by each query, best first, at most `limit` of them.

    Args:
        linker: its KB and recipe.
        queries: the rows. A property that the KB does not know is read as words about the person.
        limit: how many candidates to give for each.
    """
    found = []
    for begin in range(0, len(queries), AT_ONCE):
        part = queries[begin : begin + AT_ONCE]
        judged = judge(linker, part)
        found += [candidates_of(linker.kb, judged, query, limit) for query in range(len(part))]
    return found


def judge(linker: Linker, queries: Sequence[Query]) -> Reconciled:
    """Score the candidates of some queries: as many as fit in memory, such as AT_ONCE."""
    told, plain = _told(linker.kb, queries)
    scored = linker.scored(articles_of(plain))
    mention = np.full(len(queries), -1, np.int64)
    mention[scored.batch.article] = np.arange(len(scored.batch.article))
    timeless = np.array([query.date is None and not _YEAR.search(query.context) for query in plain], np.bool_)
    scored = _without_era(scored, timeless[scored.batch.article])
    evidence = {APART: apart(scored.batch)} if linker.recipe.decide else {}
    if typed := [(at, query.types) for at, query in enumerate(queries) if query.types]:
        evidence[TYPE] = AskedTypes(*zip(*typed, strict=True)).evidence(scored.batch, mention)
    evidence |= {TOLD + one.property.called: one.evidence(scored.batch, mention) for one in told}
    return Reconciled(scored, mention, evidence)


def _without_era(scored: Scored, timeless: Bool) -> Scored:
    """The scores without the era where a row tells no time: articles without a date are of today, tables are not."""
    combined = scored.combined
    if ERA not in combined.contributions or not timeless.any():
        return scored
    era = combined.contributions[ERA]
    kept = np.where(np.repeat(timeless, np.diff(scored.batch.offsets)), 0.0, era)
    contributions = combined.contributions | {ERA: kept}
    return replace(scored, combined=replace(combined, total=combined.total - era + kept, contributions=contributions))


def _told(kb: KB, queries: Sequence[Query]) -> tuple[list[Told], list[Query]]:
    """The values by property, and the queries with those of unknown properties among their words."""
    found: dict[str, tuple[list[int], list[str]]] = {}
    unknown: dict[int, list[str]] = {}
    for at, query in enumerate(queries):
        for called, value in query.values:
            if called not in found:
                found[called] = ([], [])
            where, texts = found[called]
            where.append(at)
            texts.append(value.strip())
    told = []
    for called, (where, texts) in found.items():
        property = find_property(kb, called)
        if property is not None:
            told.append(Told(property, where, texts))
            continue
        for at, text in zip(where, texts, strict=True):
            unknown.setdefault(at, []).append(text)
    plain = list(queries)
    for at, words in unknown.items():
        plain[at] = replace(queries[at], context=", ".join(filter(None, [queries[at].context, *words])))
    return told, plain


def candidates_of(kb: KB, judged: Reconciled, query: int, limit: int) -> list[Candidate]:
    """The best candidates of a query."""
    answered = judged.reason(query) is None
    places = judged.best(query, limit)
    return [judged.who(kb, at, matched=answered and place == 0) for place, at in enumerate(places)]
