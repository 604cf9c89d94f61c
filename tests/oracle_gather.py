"""Mentions and candidates in plain Python: the slow twin of `kernels/names/gather.py`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from namesake.kernels.names.constants import FIRST_NAME, FORM_PRIOR, FORM_QUALITY, SHORT, SIMILAR, SURNAME

MOST, LENT = 20, 4
PART_QUALITY, IN_TEXT = 0.7, 6.0


@dataclass
class Mention:
    """A name in a text: its tokens, the entities with the name and with the short form, each with its form."""

    tokens: tuple[int, ...]
    named: list[tuple[int, int]] | None = None
    short: list[tuple[int, int]] = field(default_factory=list)
    variants: list[tuple[int, float]] = field(default_factory=list)


Candidate = tuple[int, int, float, bool]
"""Row, form, quality, and whether the text has a longer name of the entity."""


def number(texts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The mention of each hypothesis by text and key, and how many mentions the texts have up to each."""
    numbers: dict[tuple[int, int], int] = {}
    of: list[int] = []
    offsets = [0]
    for text, keys in enumerate(texts):
        of += [numbers.setdefault((text, key), len(numbers)) for key in keys]
        offsets.append(len(numbers))
    return of, offsets


def candidates(mentions: Sequence[Mention], fame: Sequence[float]) -> list[list[Candidate]]:
    """The best candidates of each mention of a text."""

    def prior(row: int, form: int) -> float:
        return math.log1p(fame[row]) + float(FORM_PRIOR[form])

    longer = [one for one in mentions if len(one.tokens) > 1 and one.named is not None]
    found = []
    for mention in mentions:
        listed: list[tuple[float, Candidate]] = []
        short = [(row, SHORT + form) for row, form in mention.short]
        for row, form in [*(mention.named or []), *short]:
            listed.append((prior(row, form), (row, form, float(FORM_QUALITY[form]), False)))
        for row, quality in mention.variants:
            listed.append((math.log1p(fame[row]) + math.log(quality), (row, SIMILAR, quality, False)))
        if len(mention.tokens) == 1:
            [word] = mention.tokens
            sides = [(one, side) for one in longer for side in (0, -1) if one.tokens[side] == word]
            for one, side in sides[::-1][:MOST]:
                form = SHORT + (SURNAME if side else FIRST_NAME)
                named = sorted(one.named or [], key=lambda entry: -prior(*entry))[:LENT]
                listed += [(prior(*entry) + IN_TEXT, (entry[0], form, PART_QUALITY, True)) for entry in named]
        best: dict[int, tuple[float, Candidate]] = {}
        for one_prior, candidate in listed:
            if candidate[0] not in best or one_prior > best[candidate[0]][0]:
                best.pop(candidate[0], None)  # the order of equals is that of their best entries
                best[candidate[0]] = (one_prior, candidate)
        ranked = sorted(best.values(), key=lambda entry: -entry[0])
        found.append([candidate for _, candidate in ranked[:MOST]])
    return found
