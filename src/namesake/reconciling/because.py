"""The reason for an answer in a few words, made of the parts of its score."""

from __future__ import annotations

from collections.abc import Mapping

from namesake.reconciling.context import APART

WORDS = ("ArticleWords", "SentenceWords")
SAID = 0.5
"""What adds or takes less is not worth a word."""
AGAINST = {APART: "shares few words of the row", "YearsFromLifetime": "lived at another time", "NotYetBorn": "born later"}
"""What to say where one of these parts takes more."""
PARTS = (*WORDS, *AGAINST)
"""The parts of a score that reasons are made of, beside those of the table's columns."""


def because(parts: Mapping[str, float], told: Mapping[str, float], rivals: int) -> str:
    """Why somebody is, or is not quite, the one.

    Args:
        parts: what the candidate's score is the sum of.
        told: those of them that stand for columns of the table.
        rivals: how many others bear the name.
    """
    said = [f"{name} agrees" if added > 0 else f"{name} differs" for name, added in told.items() if added]
    if parts.get(WORDS[0], 0.0) + parts.get(WORDS[1], 0.0) > SAID:
        said.append("shares words of the row")
    said += [why for part, why in AGAINST.items() if parts.get(part, 0.0) < -SAID]
    others = "one other bears" if rivals == 1 else f"{rivals:,} others bear"
    said.append(f"{others} the name" if rivals else "nobody else bears the name")
    return "; ".join(said)
