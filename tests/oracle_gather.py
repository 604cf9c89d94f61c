"""Mentions and candidates in plain Python: the slow twin of `kernels/names/gather.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from namesake.kernels.names.constants import FIRST_NAME, FORM_QUALITY, FORM_WEIGHT, SHORT, SIMILAR, SURNAME

MOST, MOST_OF_WORD, LENT, LEAST_SHARE = 8, 4, 4, 0.01
PART_QUALITY, FAVOURED, ALONE = 0.7, 400.0, 6.0


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


def candidates(
    mentions: Sequence[Mention], fame: Sequence[float], own: int, needed: float = 0.0
) -> list[list[Candidate]]:
    """The best candidates of each mention of a text; entities from row `own` on are own ones.

    A mention whose largest weight is below `needed`, or ALONE times as much for one word, has none.
    """

    def weight(row: int, form: int) -> float:
        return (1 + fame[row]) * float(FORM_WEIGHT[form]) * (FAVOURED if row >= own else 1.0)

    longer = [one for one in mentions if len(one.tokens) > 1 and one.named is not None]
    found = []
    for mention in mentions:
        listed: list[tuple[float, Candidate]] = []
        short = [(row, SHORT + form) for row, form in mention.short]
        for row, form in [*(mention.named or []), *short]:
            listed.append((weight(row, form), (row, form, float(FORM_QUALITY[form]), False)))
        for row, quality in mention.variants:
            listed.append((weight(row, SIMILAR) * quality, (row, SIMILAR, quality, False)))
        if len(mention.tokens) == 1:
            [word] = mention.tokens
            sides = [(one, side) for one in longer for side in (0, -1) if one.tokens[side] == word]
            for one, side in sides[::-1][:MOST]:
                form = SHORT + (SURNAME if side else FIRST_NAME)
                named = sorted(one.named or [], key=lambda entry: -weight(*entry))[:LENT]
                listed += [(weight(*entry) * FAVOURED, (entry[0], form, PART_QUALITY, True)) for entry in named]
        best: dict[int, tuple[float, Candidate]] = {}
        for one_weight, candidate in listed:
            if candidate[0] not in best or one_weight > best[candidate[0]][0]:
                best.pop(candidate[0], None)  # the order of equals is that of their best entries
                best[candidate[0]] = (one_weight, candidate)
        ranked = sorted(best.values(), key=lambda entry: -entry[0])
        favoured = bool(ranked) and (ranked[0][1][3] or ranked[0][1][0] >= own)
        least = LEAST_SHARE * ranked[0][0] / (FAVOURED if favoured else 1.0) if ranked else 0.0
        if ranked and ranked[0][0] < needed * (ALONE if len(mention.tokens) == 1 else 1.0):
            ranked = []
        most = MOST_OF_WORD if len(mention.tokens) == 1 else MOST
        found.append([one for share, one in ranked[:most] if share >= least])
    return found
