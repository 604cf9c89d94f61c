"""An entity in a line: what a reader needs to tell namesakes apart."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from namesake.kb.records import about, lifetime
from namesake.kb.store import KB


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """Who somebody is: label, what to say of them, the years of birth and death."""

    qid: str
    label: str
    about: str
    """The description, else occupations and countries, else other values."""
    years: str
    """Such as 1961–, 1900–1980, or nothing."""


def briefs(kb: KB, qids: Iterable[str]) -> dict[str, Brief]:
    """The entities with these QIDs that a KB has, by QID."""
    wanted = list(dict.fromkeys(qids))
    rows = kb.rows(np.array([int(qid[1:]) for qid in wanted], np.int64))
    return {qid: brief(kb, int(row)) for qid, row in zip(wanted, rows, strict=True) if row >= 0}


def brief(kb: KB, row: int) -> Brief:
    """The entity of one row."""
    return Brief(
        qid=f"Q{kb.qids[row]}",
        label=kb.label(row),
        about=about(kb, row),
        years=years(*lifetime(kb, row)),
    )


def years(birth: str | None, death: str | None) -> str:
    """The years of two dates of a life: 1961–, 1900–1980, or nothing."""
    born, died = _year(birth), _year(death)
    return f"{born or '?'}–{died}" if born or died else ""


def _year(date: str | None) -> str:
    return (date or "")[: 5 if (date or "").startswith("-") else 4]
