"""Rows of a table as articles, scored like mentions of a text.

The parts of the recipe `reconcile` score the row's cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from namesake import rank
from namesake.arrays import Float64, Int64
from namesake.articles.schema import ARTICLES
from namesake.batch import Query
from namesake.decide import REASONS
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.recipe import Part, Recipe
from namesake.scorers.table_rows import ENTITY_TYPE, PROPERTY_VALUES, WORDS_NOT_SHARED, values_by_property
from namesake.scorers.value_lookup import find_property
from namesake.scoring import Scored

TABLE_SCORERS = (WORDS_NOT_SHARED, ENTITY_TYPE, PROPERTY_VALUES)
VALUES = f"{PROPERTY_VALUES}: "
"""The prefix of the parts of PropertyValues, one for each property."""
AT_ONCE = 2048
"""Rows that are scored together."""


@dataclass(frozen=True)
class Candidate:
    """An entity that a row may mean."""

    qid: str
    label: str
    description: str
    """The KB's description, or else occupation and country."""
    score: float
    confidence: float | None
    """P(this candidate is right); None if the recipe has no `[decide]` table."""
    matched: bool
    """Whether this is the answer: the first of the candidates, with enough confidence."""
    parts: dict[str, float]
    """The summands of the score: the recipe's parts, with one for each property of the query."""


@dataclass(frozen=True)
class Reconciled:
    """Some queries with the candidates of each, as flat arrays; query q has the mention `mention[q]`, or -1."""

    scored: Scored
    mention: Int64

    @cached_property
    def order(self) -> Int64:
        """The candidates of each mention, best first."""
        return rank.order(self.scored.batch.offsets, *self.scored.combined.keys)

    @cached_property
    def confidence(self) -> Float64:
        """P(this candidate is right) of each candidate; NaN if the recipe has no `[decide]` table."""
        found = self.scored.probabilities
        return np.full(len(self.scored.combined.total), np.nan) if found is None else found[0]

    @cached_property
    def parts(self) -> dict[str, Float64]:
        """The summands of the candidates' scores: the recipe's parts, with one for each property of the queries."""
        parts = dict(self.scored.combined.contributions)
        if parts.pop(PROPERTY_VALUES, None) is not None:
            [part] = [part for part in self.scored.recipe.parts if part.scorer == PROPERTY_VALUES]
            weight, values = part.weight_of(self.scored.batch.kinds), values_by_property(self.scored.batch)
            parts |= {f"{VALUES}{name}": weight * odds for name, odds in values.items()}
        return parts

    def best(self, query: int, limit: int) -> list[int]:
        """The best candidates of a query, by their place in the flat arrays."""
        mention = int(self.mention[query])
        if mention < 0:
            return []
        begin, end = self.scored.batch.offsets[mention : mention + 2].tolist()
        found: list[int] = self.order[begin : min(end, begin + limit)].tolist()
        return found

    def who(self, kb: KB, candidate: int, matched: bool = True) -> Candidate:
        """One candidate, by its place in the flat arrays."""
        row, sure = int(self.scored.batch.rows[candidate]), float(self.confidence[candidate])
        return Candidate(
            qid=f"Q{self.scored.batch.qids[candidate]}",
            label=kb.label(row),
            description=about(kb, row),
            score=float(self.scored.combined.total[candidate]),
            confidence=None if np.isnan(sure) else sure,
            matched=matched,
            parts={name: float(added[candidate]) for name, added in self.parts.items() if added[candidate]},
        )

    def candidates(self, kb: KB, query: int, limit: int) -> list[Candidate]:
        """The best candidates of a query."""
        answered = self.reason(query) is None
        best = enumerate(self.best(query, limit))
        return [self.who(kb, at, matched=answered and place == 0) for place, at in best]

    def reason(self, query: int) -> str | None:
        """Why a query has no answer; None if it has one."""
        mention = int(self.mention[query])
        return REASONS[0] if mention < 0 else self.scored.decision.reason_of(mention)


def reconcile_queries(linker: Linker, queries: Sequence[Query], limit: int = 5) -> list[list[Candidate]]:
    """The candidates of each query, best first.

    Args:
        linker: its KB and recipe. The parts of the recipe `reconcile` for a row's cells are added (`table_recipe`).
        queries: the rows. Values of a property that the KB does not have are read as words about the person.
        limit: the number of candidates per query.
    """
    found = []
    for begin in range(0, len(queries), AT_ONCE):
        judged = judge(linker, queries[begin : begin + AT_ONCE])
        found += [judged.candidates(linker.kb, query, limit) for query in range(len(judged.mention))]
    return found


def judge(linker: Linker, queries: Sequence[Query]) -> Reconciled:
    """Score the candidates of some queries in one batch, such as AT_ONCE."""
    rows = [_with_unknown_values(linker.kb, query) for query in queries]
    scored = linker.scored(articles_of(rows), table_recipe(linker.recipe), rows)
    return Reconciled(scored, scored.batch.mention_of_row)


def table_recipe(recipe: Recipe) -> Recipe:
    """The recipe with the table scorers of the recipe `reconcile`, unless it already has one of them.

    WordsNotShared is a log-odds, so it is added only to recipes with a `[decide]` table.
    """
    if set(recipe.scorers) & set(TABLE_SCORERS):
        return recipe
    more = (part for part in _table_parts() if recipe.decide is not None or part.scorer != WORDS_NOT_SHARED)
    return recipe.replace(parts=(*recipe.parts, *more))


@lru_cache(maxsize=1)
def _table_parts() -> list[Part]:
    return [part for part in Recipe.load("reconcile").parts if part.scorer in TABLE_SCORERS]


def _with_unknown_values(kb: KB, query: Query) -> Query:
    """The query with the values of unknown properties among its words."""
    unknown = [value.strip() for called, value in query.values if find_property(kb, called) is None]
    return replace(query, context=", ".join(filter(None, [query.context, *unknown]))) if unknown else query


_SURROGATES = re.compile("[\ud800-\udfff]")
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|v|esq|m\.?d|ph\.?\s?d|mba|cpa|obe|cbe|mbe|kbe|mp|qc|kc)\.?", re.I)
_FULL_STOP = re.compile(r"([a-z0-9)])[.!?]*[\t\n\f\r ]*[.!?\n\r][\t\n\f\r ]*")
"""The end of a sentence within a cell, but not the end of an abbreviation such as U.S."""


def plain_name(name: str) -> str:
    """The name as in a text: "Jordan, Michael" becomes Michael Jordan; "Michael Jordan, Jr." is unchanged."""
    name = " ".join(_SURROGATES.sub("\ufffd", name).split())
    last, comma, first = name.partition(",")
    first = first.strip()
    if not comma or not last.strip() or not first or "," in first or _SUFFIX.fullmatch(first):
        return name
    return f"{first} {last.strip()}"


def articles_of(queries: Sequence[Query]) -> pa.Table:
    """A table of `ARTICLES` with one article per query, whose only mention is the name at the beginning of the text.

    All cells of a row are about one person, so they become one sentence.
    """
    rows = []
    for at, query in enumerate(queries):
        name, context = plain_name(query.name), _SURROGATES.sub("\ufffd", query.context)
        mentions = [{"name": name, "spans": [[0, len(name)]]}] if name else []
        text = _FULL_STOP.sub(r"\1; ", context)
        rows.append({"id": str(at), "text": f"{name}: {text}", "date": query.date, "mentions": mentions})
    return pa.Table.from_pylist(rows, ARTICLES)
