"""How the words of a name are used, with dictionaries: the slow twin of `kernels/names/expected.count_words`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oracle_tokens import Token


class Uses(NamedTuple):
    """Labels of people that begin with a word; how often descriptions have it in lower case."""

    begins: int = 0
    lower: int = 0


def word_counts(tokens: Sequence[Token], first: int, end: int, uses: Mapping[str, Uses]) -> tuple[float, ...]:
    """The fields of `WordCounts` for the name that consists of the tokens first to end."""
    name = [uses.get(token.text, Uses()) for token in tokens[first:end]]
    return name[0].begins, min(one.lower for one in name)
