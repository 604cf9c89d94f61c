"""What is asked of a table's row, and who may be meant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Query:
    """One row of a table of names: a name, and what else the row tells of the person."""

    name: str
    context: str = ""
    """Words about the person: a description, a team, notes."""
    date: str | None = None
    """When the row is true of the person, as 2016-12-26, 2016-12 or 2016."""
    values: tuple[tuple[str, str], ...] = ()
    """Property and value, such as ("occupation", "basketball player") or ("P569", "1963-02-17")."""
    types: tuple[str, ...] = ()
    """QIDs of types or occupations, such as Q82955 (politician): the entity should have one of them."""


@dataclass(frozen=True)
class Candidate:
    """Somebody who may be meant."""

    qid: str
    label: str
    description: str
    """That of the KB, else occupation and country."""
    score: float
    confidence: float | None
    """P(this is the one); None where the recipe cannot tell."""
    matched: bool
    """Whether this is the answer: the first of the candidates, and sure enough."""
    parts: dict[str, float]
    """What the score is the sum of: the recipe's parts, and one for each property of the query."""
