"""The reason for an answer in a few words, made of the parts of its score."""

from __future__ import annotations

from collections.abc import Mapping

from namesake.reconciling.context import APART

WORDS = ("Words", "Sentence")
SAID = 0.5
"""What adds or takes less is not worth a word."""


def because(parts: Mapping[str, float], told: Mapping[str, float], rivals: int) -> str:
    """Why somebody is, or is not quite, the one.

    Args:
        parts: what the candidate's score is the sum of.
        told: those of them that stand for columns of the table.
        rivals: how many others bear the name.
    """
    said = [f"{name} {'agrees' if added > 0 else 'differs'}" for name, added in told.items() if added]
    words = sum(parts.get(name, 0.0) for name in WORDS)
    if words > SAID:
        said.append("shares words of the row")
    if parts.get(APART, 0.0) < -SAID:
        said.append("shares few words of the row")
    if parts.get("Era", 0.0) < -SAID:
        said.append("lived at another time")
    if parts.get("Born", 0.0) < -SAID:
        said.append("born later")
    others = "one other bears" if rivals == 1 else f"{rivals:,} others bear"
    said.append(f"{others} the name" if rivals else "nobody else bears the name")
    return "; ".join(said)
