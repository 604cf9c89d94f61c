"""The kind of entities that a column of names contains: as the user says, or guessed from the names and the heading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from namesake.arrays import Float64
from namesake.kb.columns import Strings
from namesake.kb.kinds import HeadNouns
from namesake.kb.store import KB
from namesake.kernels.kinds import OTHER
from namesake.kinds import kinds, parse_kinds
from namesake.linker import Linker

SAMPLE = 200
"""Distinct names that a guess reads."""
MOST = 0.6
"""The share of the names, weighted by fame, from which a kind is that of the column."""
WITH_HEADING = 0.2
"""The same for the kind that the heading names, such as Company."""


def kinds_of_column(
    linker: Linker, kind: str | Iterable[str] | None, names: Sequence[str], heading: str, say: Callable[[str], None]
) -> tuple[int, ...] | None:
    """The kinds to match: `kind`, else those of the linker, else a guess, which `say` reports; None: all kinds."""
    if kind is not None:
        return parse_kinds(kind)
    if linker.kinds is not None or len(linker.kb.kinds) == 1:
        return linker.kinds
    shares = shares_of_kinds(linker.kb, names)
    [named] = HeadNouns(linker.kb.language)(Strings.of([heading.replace("_", " ")])).tolist()
    best = int(np.argmax(shares))
    if OTHER < named < len(shares) and shares[named] >= WITH_HEADING:  # "surname" and "gene" are no kinds
        best = named
    elif best == OTHER or shares[best] < MOST:
        say("matching entities of every kind (no kind has most of the names; `kind=` chooses one)")
        return None
    say(f"matching {kinds()[best].plural} (guessed from the column; `kind=` changes it)")
    return (best,)


def shares_of_kinds(kb: KB, names: Sequence[str]) -> Float64:
    """How much of some names belongs to entities of each kind, from 0 to 1. Each name that the KB has counts the same.

    A name belongs to kinds in the proportion of the fame of their most famous entities with this name.
    """
    distinct = list(dict.fromkeys(filter(None, names)))
    asked = Strings.of(distinct[:: -(-len(distinct) // SAMPLE) or 1])
    ends, rows, _ = kb.names.lookup_many(asked.data, asked.offsets)
    fame = np.zeros((len(asked), len(kinds())))
    name = np.repeat(np.arange(len(asked)), np.diff(ends))
    np.maximum.at(fame, (name, kb.kind[rows]), 1.0 + kb.sitelinks[rows])
    fame = fame[fame.any(axis=1)]
    shares: Float64 = (fame / fame.sum(axis=1, keepdims=True)).sum(axis=0) / max(len(fame), 1)
    return shares
