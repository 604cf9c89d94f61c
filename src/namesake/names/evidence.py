"""What a text says for and against the mentions found in it, as one array a number: the confidence weighs them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Bool, Int32, Int64
from namesake.kernels.names import page
from namesake.kernels.names.constants import RULES

Int8 = npt.NDArray[np.int8]
Float32 = npt.NDArray[np.float32]

GIVEN = -1
"""The rule of a name that an article came with."""
MOST_TOKENS = 127


@dataclass(frozen=True)
class Evidence:
    """One number of each kind for each mention; 0 where a rule does not ask."""

    rule: Int8
    """Place in RULES, or GIVEN."""
    goes_on: Float32
    """Share of the full spans that a free capital follows which ends people's names: Paul Simon | Smith."""
    comes: Float32
    """Share of the full spans behind a free capital that begins people's names: Mary | Ann Smith."""
    suffix: Float32
    """Share of the full spans that Jr., II … follow which the name has not."""
    thing: Float32
    """Fame (as `entity.fame`) of the most famous thing of that very name; 0 without one."""
    best: Float32
    """Names of one word, with a title or without: the weight of the best bearer (`short.entity.weight`)."""
    form: Int8
    """Names of one word: how that one bears it (`kb.forms`)."""
    bearers: Int32
    """Names of one word, with a title or without: how many entities bear it."""
    lower: Int32
    """Names of one word: how often it stands in lower case where people and things are described."""
    place: Float32
    """Names of one word: 1 behind "in" or "near", before "-based" and in datelines; 0.5 behind "to" and "from"."""
    role: Bool
    """Names of one word: whether a role stands before one (striker Messi)."""
    title: Bool
    """Whether a title stands before a name of one word."""
    byline: Bool
    """Whether the first span says who made the text: By …, Reporting by …, Photo by …"""
    other: Bool
    """Whether the text says that it is another person of a name it has had: the other Chris Evans."""
    first: Int32
    """How many people's labels begin with the first token of the name, without titles."""
    last: Int32
    """How many people's labels end with its last token, without suffixes."""
    tokens: Int8
    """Tokens of the first span, without titles and suffixes."""

    def __len__(self) -> int:
        return len(self.rule)

    def found_by(self, rule: str) -> Bool:
        """Whether each mention was found by a rule, one of RULES."""
        found: Bool = self.rule == RULES.index(rule)
        return found

    def take(self, order: Int64) -> Evidence:
        """The evidence of some mentions."""
        return Evidence(*(getattr(self, field.name)[order] for field in fields(self)))

    def then(self, other: Evidence) -> Evidence:
        """The evidence of these mentions and of others behind them."""
        return Evidence(
            *(np.concatenate([getattr(self, field.name), getattr(other, field.name)]) for field in fields(self))
        )


def no_evidence(count: int) -> Evidence:
    """The evidence of so many names that articles came with."""
    given, number, whole = np.full(count, GIVEN, np.int8), np.zeros(count, np.float32), np.zeros(count, np.int32)
    small, no = np.zeros(count, np.int8), np.zeros(count, np.bool_)
    return Evidence(
        *(given, number, number, number, number, number, small, whole, whole, number),
        *(no, no, no, no, whole, whole, small),
    )


def evidence_of(facts: Int64, numbers: npt.NDArray[np.float64]) -> Evidence:
    """The evidence in what kernels write for each mention; shares are of the full spans."""
    full = np.maximum(facts[:, page.FULL], 1)

    def share(place: int) -> Float32:
        return (facts[:, place] / full).astype(np.float32)

    def number(place: int, kind: type[np.generic]) -> Any:
        return numbers[:, place].astype(kind)

    return Evidence(
        rule=facts[:, page.RULE].astype(np.int8),
        goes_on=share(page.GOES_ON),
        comes=share(page.COMES),
        suffix=share(page.SUFFIXES),
        thing=number(page.THING, np.float32),
        best=number(page.BEST, np.float32),
        form=number(page.FORM, np.int8),
        bearers=number(page.BEARERS, np.int32),
        lower=number(page.IN_LOWER, np.int32),
        place=number(page.LOCATIVE, np.float32),
        role=numbers[:, page.HAS_ROLE] > 0,
        title=numbers[:, page.HAS_TITLE] > 0,
        byline=numbers[:, page.BYLINE] > 0,
        other=numbers[:, page.IS_OTHER] > 0,
        first=number(page.FIRST_COUNT, np.int32),
        last=number(page.LAST_COUNT, np.int32),
        tokens=np.minimum(facts[:, page.HIGH] - facts[:, page.LOW], MOST_TOKENS).astype(np.int8),
    )
