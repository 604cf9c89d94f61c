"""What scorers say in their defence: the things of a candidate that matched, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from namesake.kb.records import no_label
from namesake.scorers.reading import Reading

if TYPE_CHECKING:
    from namesake.kb.store import KB

MOST_LISTED = 8
"""How many places, and how many sources, a match lists; it counts the others. So an explanation grows with its text."""


@dataclass(frozen=True)
class Source:
    """What the KB has that matched."""

    source: str
    """`description`, `paragraph`, `statement`, `alias` (of a statement's value), `anchor`, or a word of your own."""
    property: str | None = None
    property_label: str | None = None
    value: str | None = None
    anchor: str | None = None
    """The QID of the anchor that shares the statement."""
    anchor_label: str | None = None


@dataclass(frozen=True)
class Match:
    """One thing that matched: a word of the text with its sources in the KB, or a statement shared with anchors."""

    word: str | None = None
    spans: Sequence[tuple[int, int]] = ()
    """Where it stands in the article, in characters."""
    sources: Sequence[Source] = ()
    more_spans: int = 0
    """How many places are not listed."""
    more_sources: int = 0
    """How many sources are not listed."""


@dataclass(frozen=True)
class Candidate:
    """One candidate of one mention, as an explanation sees it."""

    reading: Reading
    """The mention in its article: text, words, anchors."""
    number: int
    """Its place in the arrays of the batch."""

    @property
    def kb(self) -> KB:
        """The KB."""
        return self.reading.batch.kb

    @cached_property
    def row(self) -> int:
        """Its row in the KB, -1 where the KB does not have it."""
        return int(self.reading.batch.rows[self.number])


def statement_source(kb: KB, pair: int) -> Source:
    """A statement as the source of a match: property and value by their labels."""
    number, value = int(kb.pair_property[pair]), int(kb.pair_value[pair])
    label = (kb.item_labels[value] or no_label(f"Q{kb.item_qids[value]}")) if value >= 0 else kb.strings[~value]
    return Source("statement", f"P{number}", property_label(kb, number), label)


def property_label(kb: KB, number: int) -> str | None:
    """The label of the property with this number, None where the dump did not have it."""
    at = int(np.searchsorted(kb.property_ids, number))
    found = at < len(kb.property_ids) and kb.property_ids[at] == number
    return kb.property_labels[at] if found else None
