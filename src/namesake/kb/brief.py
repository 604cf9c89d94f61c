"""An entity in a line: what a reader needs to tell namesakes apart."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from namesake.kb.dates import iso
from namesake.kb.show import describe
from namesake.kb.store import KB

OCCUPATION, COUNTRY, INSTANCE = "P106", "P27", "P31"
MOST_FACTS = 4


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """Who somebody is: label, description, the years of birth and death, and facts where there is no description."""

    qid: str
    label: str
    description: str
    years: str
    """Such as 1961–, 1900–1980, or nothing."""
    facts: str
    """Occupations and countries, else the first statements; nothing where there is a description."""

    @property
    def about(self) -> str:
        """The description, or the facts in its place."""
        return self.description or self.facts


def briefs(kb: KB, qids: Iterable[str]) -> dict[str, Brief]:
    """The entities with these QIDs that a KB has, by QID."""
    wanted = list(dict.fromkeys(qids))
    rows = kb.rows(np.array([int(qid[1:]) for qid in wanted], np.int64))
    return {qid: brief(kb, int(row)) for qid, row in zip(wanted, rows, strict=True) if row >= 0}


def brief(kb: KB, row: int) -> Brief:
    """The entity of one row."""
    born = _year(iso(int(kb.birth[row]), int(kb.birth_precision[row])))
    died = _year(iso(int(kb.death[row]), int(kb.death_precision[row])))
    description = kb.descriptions[row]
    return Brief(
        qid=f"Q{kb.qids[row]}",
        label=kb.label(row),
        description=description,
        years=f"{born or '?'}–{died}" if born or died else "",
        facts="" if description else _facts(kb, row),
    )


def _year(date: str | None) -> str:
    return (date or "")[: 5 if (date or "").startswith("-") else 4]


def _facts(kb: KB, row: int) -> str:
    statements = describe(kb, row).statements
    telling = [s.label for s in statements if s.property in (OCCUPATION, COUNTRY) and s.label]
    rest = [s.label for s in statements if s.label and s.property != INSTANCE]
    return ", ".join((telling or rest)[:MOST_FACTS])
