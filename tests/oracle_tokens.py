"""Raw text cut into the tokens of names by loops over characters: slow and obvious."""

import re
from dataclasses import dataclass

from namesake.kb.names.normalise import APOSTROPHES, FOLD, fold_table
from namesake.language import English

LOWER, CASED, UPPER = range(3)
SOFT, COMMA, HARD = range(3)
LONGEST_TAG = 1000
LONGEST_RUN = 64


@dataclass
class Token:
    """A normalised word of a text with where it stands and what parts it from the one before."""

    text: str
    start: int
    end: int
    capital: bool
    gap: int
    initials: bool
    upper: bool
    dotted: bool = False
    at_start: bool = False
    after_hyphen: bool = False
    small_before_capital: bool = False

    @property
    def number(self) -> bool:
        return self.text[0].isdigit()

    @property
    def has_capital(self) -> bool:
        """Whether it is written like a name: a capital, also behind a small letter and an apostrophe."""
        return (self.capital and not self.number) or self.small_before_capital


def fold(character: str) -> str:
    """What a character is in a name: letters, nothing, or a space; "|" for one that names do not hold."""
    point = ord(character)
    if 0x0300 <= point < 0x0370:
        return ""
    widths, _ = fold_table()
    return FOLD[point] if point < len(widths) and widths[point] != -2 else "|"


def in_word(character: str) -> bool:
    return fold(character) not in ("", " ", "|")


def is_capital(character: str) -> bool:
    return character.isupper() or character.istitle() or character.isdigit()


class Tokeniser:
    """Cuts a text into normalised tokens. A gap is HARD where the text parts two words: punctuation, a tag …"""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.word, self.start, self.stop, self.letters = "", 0, 0, 0
        self.capital = self.upper = False
        self.gap, self.newlines = HARD, 0

    def at(self, place: int) -> str:
        return self.text[place] if place < len(self.text) else " "

    def finish(self) -> bool:
        """End the current word, if there is one; initials that follow each other are one token."""
        if not self.word:
            return False
        initial = len(self.word) == 1 and self.word.isalpha() and ord(self.word) < 0x0590
        before = self.tokens[-1] if self.tokens else None
        goes_on = before and initial and self.gap == SOFT and before.initials and before.capital == self.capital
        goes_on = goes_on and len(self.text[before.start : self.stop].encode()) <= LONGEST_RUN
        if goes_on and (before.dotted or self.capital):
            before.text, before.end, before.dotted = before.text + self.word, self.stop, False
        else:
            self.tokens.append(Token(self.word, self.start, self.stop, self.capital, self.gap, initial, self.upper))
        self.word, self.gap, self.newlines = "", SOFT, 0
        return True

    def separate(self, place: int) -> int:
        """Take a character that parts words; the place to go on from."""
        character, following = self.text[place], self.at(place + 1)
        ended = self.finish()
        if character == "<" and following.isascii() and (following.isalpha() or following in "/!"):
            close = self.text.find(">", place)
            if close >= 0 and len(self.text[place:close].encode()) <= LONGEST_TAG:
                self.gap = HARD
                return close + 1
        if fold(character) == "|":
            self.gap = HARD
        elif character.isspace():
            self.newlines += character == "\n"
            self.gap = HARD if self.newlines > 1 else self.gap
        elif character == "." and ended and abbreviates(self.tokens[-1]):
            self.tokens[-1].dotted = True
        elif character == "," and ended:
            self.gap = COMMA
        elif not (character in "-‐‑" and ended and in_word(following)):
            self.gap = HARD
        return place + 1

    def run(self) -> list[Token]:
        place = 0
        while place < len(self.text):
            character = self.text[place]
            folded = fold(character)
            if character in APOSTROPHES:
                if self.at(place + 1) in "sS" and not in_word(self.at(place + 2)):
                    self.finish()
                    self.gap = HARD
                    place += 1
                place += 1
            elif folded in (" ", "|"):
                place = self.separate(place)
            else:
                if folded and not self.word:
                    self.start, self.capital, self.upper, self.letters = place, is_capital(character), False, 0
                self.upper = character.isupper() if self.letters == 1 else self.upper
                self.letters += bool(folded)
                self.word += folded
                place += 1
                self.stop = place if folded else self.stop
        self.finish()
        return self.tokens


def abbreviates(token: Token) -> bool:
    return token.initials or token.text in English.honorifics or token.text in English.suffixes


def marked(text: str) -> list[Token]:
    """The tokens of a text, with what stands before each."""
    tokens = Tokeniser(text).run()
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else None
        gap = text[before.end if before else 0 : token.start]
        token.after_hyphen = place > 0 and gap in ("-", "‐", "‑")
        token.at_start = before is None or starts_sentence(gap, before.dotted)
        token.gap = SOFT if place and gap == "." else token.gap
        written = text[token.start : token.end]
        token.small_before_capital = re.match("[a-z]['’][A-Z]", written) is not None
    return tokens


def starts_sentence(gap: str, dotted: bool) -> bool:
    """Whether a sentence or a quotation begins behind what stands between two tokens."""
    if gap in ("-", "‐", "‑", ".", " ") or re.fullmatch(',["”] ', gap):
        return False
    abbreviation = dotted and re.fullmatch(r" *\.? *", gap)
    return bool(re.search('[.!?:;\n"*|“”‘•]', gap)) and not abbreviation


def style_of(tokens: list[Token]) -> int:
    """Whether capitals tell names: not in a text (almost) without them nor in one with little else."""
    words = [token for token in tokens if not token.text[0].isdigit()]
    if 33 * sum(token.capital for token in words) < len(words):
        return LOWER
    return UPPER if 2 * sum(token.capital and token.upper for token in words) > len(words) else CASED
