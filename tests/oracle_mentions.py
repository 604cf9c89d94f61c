"""Names in raw text, found with dictionaries and loops over characters: slow and obvious."""

from dataclasses import dataclass, field

from namesake.kb.spelling import APOSTROPHES, FOLD, fold_table
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


def style_of(tokens: list[Token]) -> int:
    """Whether capitals tell names: not in a text (almost) without them nor in one with little else."""
    words = [token for token in tokens if not token.text[0].isdigit()]
    if 33 * sum(token.capital for token in words) < len(words):
        return LOWER
    return UPPER if 2 * sum(token.capital and token.upper for token in words) > len(words) else CASED


@dataclass(frozen=True)
class Match:
    """Tokens first to end are a name of the KB, its titles left out; `skipped` where an initial is as well."""

    name: str
    first: int
    end: int
    skipped: bool
    begin: int
    """Where its titles begin."""


@dataclass
class Mention:
    """A name of a document: its form in the KB, where its first full span is, and all its spans in characters."""

    name: str
    found: tuple[int, int]
    words: tuple[int, int]
    """The tokens of the first full span without titles and suffixes."""
    skipped: bool
    full: int = 0
    firms: int = 0
    """How many of its full spans name a firm or a place instead."""
    spans: list[tuple[int, int]] = field(default_factory=list)


class Finder:
    """Finds the names of a dictionary: normalised name -> (how much of a person's it is in percent, its bearers)."""

    def __init__(self, names: dict[str, tuple[int, frozenset[int]]]) -> None:
        self.names = names
        self.prefixes = {" ".join(name.split()[:size]) for name in names for size in range(2, len(name.split()) + 1)}

    def find(self, text: str) -> list[Mention]:
        """The mentions of a text, in the order of their first full span."""
        self.tokens = Tokeniser(text).run()
        self.style = style_of(self.tokens)
        matches: list[Match] = []
        at = 0
        while at < len(self.tokens):
            match = self.match(at)
            if match:
                matches.append(match)
            at = match.end if match else at + 1
        return self.gather(matches)

    # full names
    def match(self, first: int) -> Match | None:
        tokens = self.tokens
        if self.style == CASED and not tokens[first].capital:
            return None
        skipped = False
        best = self.longest(first, 0)
        if best is None and first + 2 < len(tokens) and tokens[first + 1].initials:
            best, skipped = self.longest(first, 1), True
        if best is None:
            return None
        name, end = best
        begin = first
        words = name.split()
        while not skipped and len(words) > 2 and words[0] in English.honorifics and " ".join(words[1:]) in self.names:
            words, first = words[1:], first + 1
        return Match(" ".join(words), first, end, skipped, begin)

    def longest(self, first: int, skip: int) -> tuple[str, int] | None:
        """The longest name from token `first` on, leaving out `skip` tokens behind it."""
        best = None
        words = [self.tokens[first].text]
        for at in range(first + 1, len(self.tokens)):
            token = self.tokens[at]
            affix = token.text in English.suffixes or token.text in English.honorifics
            if token.gap == HARD or (token.gap == COMMA and not affix):
                break
            if at <= first + skip:
                continue
            words.append(token.text)
            name = " ".join(words)
            if name not in self.prefixes:
                break
            if name in self.names and self.valid(name, first, at + 1):
                best = (name, at + 1)
        return best

    def valid(self, name: str, first: int, end: int) -> bool:
        """Whether the text lets tokens first to end be a person's name."""
        words, head = name.split(), self.tokens[first]
        percent, _ = self.names[name]
        lone_letter = len(head.text) == 1 and head.initials and not head.dotted
        if all(word in English.title_words for word in words):
            return False
        if self.style != CASED:
            ordinary = words[0] in English.function_words or words[-1] in English.function_words
            return percent >= 60 and not ordinary and not lone_letter
        if not self.tokens[end - 1].capital:
            return False
        if words[0] in English.function_words:
            return head.gap != HARD and percent >= 80 and not lone_letter
        if len(head.text) == 1 and head.initials and head.gap == SOFT and first > 0:  # "E. Smith" in "Al E. Smith"
            before = self.tokens[first - 1]
            if before.capital and before.text not in English.function_words | English.honorifics:
                return False
        return percent >= 30

    # mentions
    def gather(self, matches: list[Match]) -> list[Mention]:
        mentions: dict[str, Mention] = {}
        of_match = [self.enter(mentions, match) for match in matches if not self.titled(match)]
        titled = [match for match in matches if self.titled(match)]
        for match in titled:
            _, bearers = self.names[match.name]
            surname = match.name.split()[-1]
            full = [m for m in mentions.values() if self.surname(m) == surname and not self.is_titled_name(m.name)]
            shared = [m for m in full if self.names[m.name][1] & bearers]
            of_match.append((match, shared[0]) if shared else self.enter(mentions, match))
        of_match.sort(key=lambda pair: pair[0].first)
        self.assign(of_match)
        return sorted((m for m in mentions.values()), key=lambda m: m.found)

    def is_titled_name(self, name: str) -> bool:
        words = name.split()
        return len(words) == 2 and words[0] in English.honorifics

    def titled(self, match: Match) -> bool:
        """A title and one word: "President Obama"."""
        return self.is_titled_name(match.name)

    def enter(self, mentions: dict[str, Mention], match: Match) -> tuple[Match, Mention]:
        if match.name not in mentions:
            low, high = match.first, match.end
            while high - low > 2 and self.tokens[high - 1].text in English.suffixes:
                high -= 1
            while high - low > 2 and self.tokens[low].text in English.honorifics:
                low += 1
            found = (self.tokens[match.first].start, self.tokens[match.end - 1].end)
            mentions[match.name] = Mention(match.name, found, (low, high), match.skipped)
        mentions[match.name].skipped &= match.skipped
        return match, mentions[match.name]

    def surname(self, mention: Mention) -> str:
        return self.tokens[mention.words[1] - 1].text

    def assign(self, of_match: list[tuple[Match, Mention]]) -> None:
        """Give every mention its full spans and its short ones."""
        covered = [False] * len(self.tokens)
        titles = {place for match, _ in of_match for place in range(match.begin, match.first)}
        surnames: dict[str, list[tuple[int, Mention]]] = {}
        firsts: dict[str, list[Mention]] = {}
        for match, mention in of_match:
            covered[match.first : match.end] = [True] * (match.end - match.first)
            mention.full += 1
            firm = self.is_firm(match.end)
            mention.firms += firm
            if not firm:
                mention.spans.append((self.tokens[match.first].start, self.tokens[match.end - 1].end))
            surnames.setdefault(self.surname(mention), []).append((match.first, mention))
            known = firsts.setdefault(self.tokens[mention.words[0]].text, [])
            if mention not in known and not self.is_titled_name(mention.name):
                known.append(mention)
        at = 0
        while at < len(self.tokens):
            token = self.tokens[at]
            end = at + 1
            alone = token.capital if self.style == CASED else token.text not in English.function_words
            if not covered[at] and at not in titles and alone:
                if token.text in surnames:
                    earlier = [mention for place, mention in surnames[token.text] if place < at]
                    self.short_surname(at, earlier[-1] if earlier else surnames[token.text][0][1], covered)
                elif len(firsts.get(token.text, ())) == 1 and not token.initials:
                    end = self.short_first_name(at, firsts[token.text][0], covered)
            at = end
        for _, mention in of_match:
            mention.spans.sort()

    def short_surname(self, at: int, mention: Mention, covered: list[bool]) -> None:
        """The end of a full name, as much of it as stands here, unless another name seems to end here."""
        tokens, (low, high) = self.tokens, mention.words
        start, word = at, high - 1
        while word - 1 > low and start > 0 and tokens[start].gap == SOFT and not covered[start - 1]:
            if tokens[start - 1].text != tokens[word - 1].text:
                break
            start, word = start - 1, word - 1
        if self.style == CASED and start > 0 and tokens[start].gap == SOFT and not covered[start - 1]:
            before = tokens[start - 1]
            known = before.text in English.honorifics or before.text in English.function_words
            if before.capital and not known:
                return
        if not self.is_firm(at + 1):
            mention.spans.append((tokens[start].start, tokens[at].end))

    def short_first_name(self, at: int, mention: Mention, covered: list[bool]) -> int:
        """The beginning of a full name, unless another name seems to begin here; the token to go on from."""
        tokens, (low, high) = self.tokens, mention.words
        end, word = at + 1, low + 1
        while word < high - 1 and end < len(tokens) and tokens[end].gap == SOFT and not covered[end]:
            if tokens[end].text != tokens[word].text:
                break
            end, word = end + 1, word + 1
        if self.style == CASED:
            goes_on = end < len(tokens) and tokens[end].gap == SOFT and not covered[end] and tokens[end].capital
            if goes_on:
                return at + 1
        else:
            text = tokens[at].text
            lists = (English.ordinary_first_names, English.function_words, English.honorifics)
            if end == at + 1 and any(text in words for words in lists):
                return at + 1
        if self.is_firm(end):
            return at + 1
        mention.spans.append((tokens[at].start, tokens[end - 1].end))
        return end

    def is_firm(self, at: int) -> bool:
        """Whether a word behind a name makes it a firm's or a place's, with up to two before it such as "High"."""
        behind = self.tokens[at : at + 3]
        for size, last in enumerate(behind, 1):
            if last.text in English.not_a_person:
                between = behind[: size - 1]
                return (
                    all(token.text in English.before_not_a_person for token in between)
                    and behind[0].gap != HARD
                    and all(token.gap == SOFT for token in behind[1:size])
                    and (self.style != CASED or all(token.capital for token in behind[:size]))
                )
        return False
