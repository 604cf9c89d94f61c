"""Hypotheses in plain Python: the slow twin of `kernels/names/lattice.py`, from raw text."""

from __future__ import annotations

from dataclasses import dataclass

from namesake.language import English
from oracle_tokens import CASED, LOWER, SOFT, Token, marked, style_of

MOST_TOKENS = 8
UNKNOWN_SIZES = range(2, 6)
NO_NAME = (
    English.never_names
    | English.dates
    | English.name_titles
    | English.numerals
    | English.function_words
    | English.suffixes
    | English.not_a_person
)

Name = tuple[str, ...]
"""The normalised tokens of a name."""


@dataclass(frozen=True)
class Known:
    """The names of a KB's entities, their short forms, the names of other items, and words used in lower case."""

    names: frozenset[Name]
    shorts: frozenset[Name] = frozenset()
    others: frozenset[Name] = frozenset()
    common: frozenset[str] = frozenset()


class Page:
    """A text with its tokens."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens = text, marked(text)
        self.style = style_of(self.tokens)

    def name(self, first: int, end: int) -> Name:
        return tuple(token.text for token in self.tokens[first:end])

    def is_joined(self, place: int) -> bool:
        """Whether a name may reach from the token before to this one."""
        before, token = self.tokens[place - 1 : place + 1]
        between = self.text[before.end : token.start]
        return token.gap == SOFT or between in ("&", " & ", "'s ", "’s ", "'S ", "’S ")

    def can_begin(self, place: int) -> bool:
        """Whether a name may begin here: with a capital, or with numbers or small words of surnames before one."""
        token = self.tokens[place]
        if token.has_capital or token.upper:
            return True
        if self.style == LOWER:
            return token.text not in English.function_words
        while token.number or token.text in English.particles:
            place += 1
            if place == len(self.tokens) or self.tokens[place].gap != SOFT:
                return False
            token = self.tokens[place]
            if token.has_capital:
                return True
        return False

    def hypotheses(self, known: Known) -> list[tuple[int, int]]:
        """First token and end of every known name that is not part of a longer one written with capitals."""
        found = []
        longer = []  # names of several tokens that cover their parts
        for first in range(len(self.tokens)):
            if self.can_begin(first):
                for end in range(first + 1, min(first + MOST_TOKENS, len(self.tokens)) + 1):
                    if end - first > 1 and not self.is_joined(end - 1):
                        break
                    name = self.name(first, end)
                    if end - first == 1 and is_word(self.tokens[first]):
                        continue
                    if end - first == 1 and self.style == LOWER and name[0] in known.common:
                        continue
                    is_small = end - first > 1 and is_small_function_word(self.tokens[end - 1])
                    if (name in known.names or name in known.shorts) and not is_small:
                        found.append((first, end))
                    if (name in known.names or name in known.others) and self.is_written_as_name(first, end):
                        longer.append((first, end))
        return [span for span in found if not any(self.covers(one, span) for one in longer)]

    def is_written_as_name(self, first: int, end: int) -> bool:
        """Whether its last token has a capital, and the others are capitals, numbers or small words, but not "and"."""
        small = English.function_words | English.particles
        some = self.tokens[first:end]
        if not some[-1].has_capital or any(one.text in English.and_words for one in some):
            return False
        return all(one.has_capital or one.number or one.text in small for one in some)

    def covers(self, longer: tuple[int, int], span: tuple[int, int]) -> bool:
        """Whether a span is part of a longer name. "The Hague" at the start of a sentence covers no "Hague"."""
        if longer[0] == span[0]:
            return span[1] < longer[1]
        token = self.tokens[longer[0]]
        opens_sentence = token.at_start and token.text in English.function_words
        return longer[0] < span[0] and span[1] <= longer[1] and not opens_sentence

    def in_person(self, place: int) -> bool:
        """Whether a token is written like a word of a person's name."""
        token = self.tokens[place]
        words = NO_NAME | English.title_words | English.firm_words
        return token.has_capital and token.text not in words

    def unknown(self, known: Known) -> list[tuple[int, int]]:
        """Runs of two to five capitalised words that are no short form and share no token with a longer known name."""
        if self.style != CASED:
            return []
        hypotheses = self.hypotheses(known)
        covered = {
            place
            for first, end in hypotheses
            if end - first > 1 and self.name(first, end) in known.names
            for place in range(first, end)
        }
        found, first = [], 0
        while first < len(self.tokens):
            end = first
            while end < len(self.tokens) and (end == first or self.tokens[end].gap == SOFT):
                is_particle = self.tokens[end].text in English.particles and first < end < len(self.tokens) - 1
                if not self.in_person(end) and not (is_particle and self.in_person(end + 1)):
                    break
                end += 1
            is_known = (first, end) in hypotheses or not covered.isdisjoint(range(first, end))
            if end - first in UNKNOWN_SIZES and not is_known:
                found.append((first, end))
            first = max(end, first + 1)
        return found


def is_small_function_word(token: Token) -> bool:
    """Whether a token is a function word without a capital, with which no name of several words ends."""
    return token.text in English.function_words and not token.has_capital


def is_word(token: Token) -> bool:
    """Whether a token by itself is no name: a function word, unless it is written like US or U.S., or a number."""
    if token.text in English.function_words:
        return not (token.upper or token.initials)
    return token.number and not token.upper
