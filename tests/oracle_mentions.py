"""Names in raw text, found with dictionaries and strings: the detector's rules, slow and obvious."""

from collections import defaultdict
from dataclasses import dataclass, field

from namesake.kernels.kinds import PLACE
from namesake.kernels.names.constants import (
    ALIAS_SURNAME,
    BEGIN,
    CALLED,
    FIRST_NAME,
    HEAD,
    LAST_TWO,
    MONONYM,
    NICK,
    PAIR,
    RULES,
    SURNAME,
)
from namesake.language import English
from oracle_known import Known, key_of, slip
from oracle_tokens import CASED, COMMA, HARD, SOFT, UPPER, Tokeniser, style_of

EXACT, TITLED, WIDE, DROPPED, SPELLED, REVERSED, COMPANY, ONE, NICKNAMED, SHARED = range(len(RULES))
KIND_QUALITY = (1.0, 0.95, 0.9, 0.85)  # label, alias, bare label, bare alias
FORM_QUALITY = {MONONYM: 1.0, CALLED: 1.0, SURNAME: 0.8, HEAD: 0.8, PAIR: 0.8, LAST_TWO: 0.8, BEGIN: 0.6}
FORM_QUALITY |= {FIRST_NAME: 0.5, NICK: 0.5, ALIAS_SURNAME: 0.5}
MOST_PARTICLES = 4
MARKS = '.!?:;\n"“”‘•*|'
HEAD_ENDS = English.of_words | {English.article}
NO_NAMES = English.never_names | English.dates | English.name_titles | English.numerals
NO_NAMES |= English.function_words | English.suffixes | English.not_a_person
TELLING = English.honorifics | English.name_titles | English.suffixes | English.numerals | English.particles
TELLING |= English.not_a_person | English.firm_words | English.before_not_a_person | English.based | English.families


@dataclass
class Mention:
    """A name of a text: how it was found, who may be meant (row: quality), where, and what speaks for and against."""

    name: str
    rule: int
    words: tuple[int, int]
    full_name: str | None = None
    """The name of the KB whose bearers are candidates, with their quality times `factor`."""
    factor: float = 1.0
    extras: dict[int, float] = field(default_factory=dict)
    place: int | None = None
    at: dict[int, int] = field(default_factory=dict)
    """Spans: first token and end."""
    core: tuple[int, int] = (0, 0)
    key: int | None = None
    """The token that stands for a full name."""
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    evidence: dict[str, float] = field(default_factory=lambda: defaultdict(float))


class Finder:
    """Finds the names of a text in five passes; each takes what the ones before have left."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def find(self, text: str, head: int = 0) -> list[Mention]:
        """The mentions with candidates, in the order of their first spans; the first characters may be a title."""
        self.read(text, head)
        self.mentions: dict[str, Mention] = {}
        self.strangers: set[str] = set()
        matches = self.full()
        self.gather(self.nicknamed(matches) if self.style == CASED else matches)
        self.written = list(self.cap)
        if self.style == CASED:
            titled = sum(token.start < head for token in self.tokens)
            self.lower_title(titled or self.first_line(), 6 if titled else 1000)
        self.open_before = [self.open(at) for at in range(self.n)]
        self.shorts()
        if self.style == CASED:
            self.runs()
            self.titled()
            self.strangers |= {self.w(at) for at in range(self.n) if self.alone(at) and self.is_owned(at + 1)}
            for at in range(self.n):
                if self.open(at):
                    self.single(at)
        found = [m for m in self.mentions.values() if m.at and self.candidates(m)]
        return sorted(found, key=lambda m: min(m.at))

    # tokens
    def read(self, text: str, head: int) -> None:
        """Cut the text; what each token is: `cap`italised, at a sentence's `start`, joined by a `hyphen` or a `dot`."""
        self.text, self.tokens = text, Tokeniser(text).run()
        below = [token for token in self.tokens if token.start >= head]
        self.style, self.n = style_of(below or self.tokens), len(self.tokens)
        self.least = 4 if self.style == UPPER else 8
        if self.style == UPPER and len(below) == self.n == self.first_line():
            self.style = CASED  # a headline alone
        n = self.n
        self.cap, self.start, self.hyphen, self.dot = ([False] * n for _ in range(4))
        self.used = [""] * n
        for i, token in enumerate(self.tokens):
            between = text[self.tokens[i - 1].end if i else 0 : token.start]
            written = text[token.start : token.end]
            self.dot[i] = i > 0 and between == "."
            self.hyphen[i] = i > 0 and between in ("-", "‐", "‑")
            abbreviated = i > 0 and self.tokens[i - 1].dotted and between.strip(" ") in (".", "")
            marked = any(c in between for c in MARKS) and between not in ('," ', ",” ")
            self.start[i] = i == 0 or (marked and not abbreviated and not self.dot[i])
            if self.dot[i]:
                token.gap = SOFT  # will.i.am
            inner = "a" <= written[0] <= "z" and written[1:2] in ("'", "’") and "A" <= written[2:3] <= "Z"  # d'Estaing
            self.cap[i] = (token.capital or inner) and not token.text[0].isdigit()

    def first_line(self) -> int:
        """How many tokens a first line has that may be a headline: four or more, or `least` without a text behind."""
        line, end, _ = self.text.partition("\n")
        size = sum(token.start < len(line) for token in self.tokens)
        return size if size >= (4 if end else self.least) and len(line.encode()) <= 200 else 0

    def lower_title(self, end: int, most: int) -> None:
        """Judge Blocks Trump Order: in a title of capitals, words that are rather words than names have none."""
        words = [t for t in self.tokens[:end] if not t.text[0].isdigit() and t.text not in English.function_words]
        if most * sum(not token.capital for token in words) > len(words):
            return
        for i in range(end):
            word = self.w(i)
            famous = any(weight >= 10 for _, _, weight in self.known.short(word)[:1])
            rare = self.known.first(word) + self.known.last(word) < 3 and not famous and not self.behind_first_name(i)
            name = not rare and self.known.lower(word) < 3
            if not self.used[i] and not name and word not in TELLING:
                self.cap[i] = self.tokens[i].capital = False

    def behind_first_name(self, i: int) -> bool:
        before = self.w(i - 1)
        usual = self.known.first(before) >= 20 and self.known.first(before) > 5 * self.known.last(before)
        return self.soft(i) and self.open(i - 1) and usual

    def w(self, i: int) -> str:
        return self.tokens[i].text if 0 <= i < self.n else ""

    def name(self, first: int, end: int) -> str:
        return " ".join(self.w(i) for i in range(first, end))

    def soft(self, i: int) -> bool:
        return 0 < i < self.n and self.tokens[i].gap == SOFT

    def comma(self, i: int) -> bool:
        return 0 < i < self.n and self.tokens[i].gap == COMMA

    def has_capital(self, i: int) -> bool:
        return 0 <= i < self.n and self.cap[i]

    def follows(self, i: int) -> bool:
        return self.soft(i) and self.cap[i]

    def open(self, i: int) -> bool:
        return self.has_capital(i) and not self.used[i]

    def may_end(self, i: int) -> bool:
        """A name may end with a capital, or with what a hyphen joins to one (Ban Ki-moon)."""
        return self.cap[i] or (self.hyphen[i] and (self.cap[i - 1] or self.hyphen[i - 1]))

    def particle_before(self, i: int) -> bool:
        return self.soft(i) and self.w(i - 1) in English.particles and not self.used[i - 1]

    def particle_follows(self, i: int) -> bool:
        """Virgil | van Dijk: particles, no function words, and a capital."""
        end = i
        while end - i < MOST_PARTICLES and self.soft(end) and self.w(end) in English.particles:
            end += 1
        ordinary = any(self.w(k) in English.function_words for k in range(i, end))
        return end > i and not ordinary and self.follows(end)

    def length(self, i: int) -> int:
        return len(self.text[self.tokens[i].start : self.tokens[i].end].encode())

    def take(self, first: int, end: int, by: str) -> None:
        self.used[first:end] = [by] * (end - first)

    # full names
    def full(self) -> list[tuple[str, int, int, int]]:
        """People's names of two words or more: (name, first, end, rule). Longer names of things take their tokens."""
        matches, at = [], 0
        while at < self.n - 1:
            dotted = self.dot[at + 1]
            able = self.cap[at] or dotted if self.style == CASED else self.w(at) not in English.function_words
            if not able:
                at += 1
                continue
            person = self.longest_person(at)
            if self.w(at) in English.title_words and self.soft(at + 1):
                later = self.walk(at + 1, 0)
                if later and (not person or later[1] > person[1]):
                    at, person = at + 1, (*later, EXACT)
            thing_end = self.longest_thing(at) if self.style == CASED else 0
            tied = bool(person) and thing_end == person[1] and self.w(at) not in English.honorifics
            tied = tied and self.far_more_famous(person[0])
            if tied or thing_end > (person[1] if person else 0):
                self.take(at, thing_end, "thing")
                at = thing_end
            elif person:
                matches.append(self.trimmed(at, *person))
                at = matches[-1][2]
            else:
                at += 1
        for _, first, end, _ in matches:
            self.take(first, end, "person")
        return matches

    def far_more_famous(self, name: str) -> bool:
        """Beverly Hills: a well-known thing, and people of that name who are not."""
        thing = self.known.thing(name)
        bearers = [self.known.fame[row] for row, _ in self.known.everybody(name)]
        return thing >= 20 and bool(bearers) and all(6 * fame < thing for fame in bearers)

    def longest_person(self, first: int) -> tuple[str, int, int] | None:
        best = self.walk(first, 0)
        if best:
            return (*best, EXACT)
        best = self.walk(first, 1) if first + 2 < self.n and self.tokens[first + 1].initials else None
        return (*best, DROPPED) if best else None

    def walk(self, first: int, skip: int) -> tuple[str, int] | None:
        """The longest name from token `first` on, leaving out `skip` tokens behind it."""
        words, best = [self.w(first)], None
        for at in range(first + 1, min(self.n, first + 40)):
            token = self.tokens[at]
            suffix = token.text in English.suffixes
            if token.gap == HARD or (token.gap == COMMA and not suffix and token.text not in English.honorifics):
                break
            if at <= first + skip:
                continue
            words.append(token.text)
            name = " ".join(words)
            ends = token.gap != COMMA or suffix
            known = name in self.known.names or self.headed(name)
            if ends and known and self.valid(name, first, at + 1, skip):
                best = (name, at + 1)
        return best

    def headed(self, name: str) -> bool:
        """What stands before "of", "the" or a comma in somebody's label, or a regnal name (Charles IV)."""
        heads = [(self.known.fame[row], weight) for row, form, weight in self.known.short(name) if form == HEAD]
        regnal = name.split()[-1] in English.numerals
        return any(fame >= 2 for fame, _ in heads) and (regnal or any(weight >= 5 for _, weight in heads))

    def valid(self, name: str, first: int, end: int, skip: int) -> bool:
        """Whether the text lets tokens first to end be a person's name."""
        words, head, n = name.split(), self.tokens[first], self.known.names.get(name)
        percent = 100 if n is None else int(self.known.percent[n])
        lone_letter = len(head.text) == 1 and head.initials and not head.dotted
        if all(word in English.title_words or word in English.function_words for word in words):
            return False
        if self.style != CASED:
            ordinary = words[0] in English.function_words or words[-1] in English.function_words
            return percent >= 60 and not ordinary and not lone_letter
        if not self.cap[first]:  # will.i.am
            return end - first >= 3 and n is not None and all(self.dot[k] for k in range(first + 1, end))
        if not self.may_end(end - 1):  # Justin bieber
            two = end - first - skip == 2 and self.length(end - 1) >= 4
            sure = n is not None and percent >= 80 and two and not self.known.lower(words[-1])
            return sure and any(kind == 0 and self.known.fame[row] >= 20 for row, kind in self.everybody(n))
        if words[0] in English.function_words:
            return head.gap != HARD and percent >= 80 and not lone_letter
        if len(head.text) == 1 and head.initials and self.soft(first):  # "E. Smith" in "Al E. Smith"
            before = self.tokens[first - 1]
            if before.capital and before.text not in English.function_words | English.honorifics:
                return False
        return percent >= 30

    def everybody(self, n: int) -> list[tuple[int, int]]:
        entities = self.known.kb.names.entities
        at = range(entities.indptr[n], entities.indptr[n + 1])
        return [(int(entities.values[k]), int(self.known.kb.names.kinds[k])) for k in at]

    def longest_thing(self, first: int) -> int:
        """Where the longest name of a thing, two words or more, from token `first` on ends; 0 without one."""
        if self.w(first) in English.function_words and self.start[first]:
            return 0
        words, end = [self.w(first)], 0
        for at in range(first + 1, min(self.n, first + 40)):
            if not self.soft(at):
                break
            words.append(self.w(at))
            name = " ".join(words)
            couple = any(word in English.and_words for word in words[1:])
            couple = couple and " ".join(words[-2:]) in self.known.names
            if self.known.thing(name) and self.may_end(at) and not couple and not self.rather_part(name):
                end = at + 1
        return end

    def rather_part(self, name: str) -> bool:
        """Santa Anna: rather the last words of a famous person's name than a little-known place."""
        parts = [weight for _, form, weight in self.known.short(name) if form == LAST_TWO]
        return bool(parts) and parts[0] >= 10 and parts[0] >= 2 * self.known.thing(name)

    def trimmed(self, first: int, name: str, end: int, rule: int) -> tuple[str, int, int, int]:
        """The match without titles in front; a longer run whose first and last words are a name wins."""
        words = name.split()
        while rule == EXACT and len(words) > 2 and words[0] in English.honorifics:
            if " ".join(words[1:]) not in self.known.names:
                break
            words, first = words[1:], first + 1
        two = rule == EXACT and len(words) == 2 and words[-1] not in English.numerals
        if self.style == CASED and two and not self.is_firm(end):
            stop, no_part = end, English.suffixes | English.numerals | English.function_words
            while stop - first < 5 and self.follows(stop) and self.w(stop) not in no_part:
                stop += 1
            longer = self.first_and_last(first, stop)
            if longer:
                return longer, first, stop, DROPPED
        return " ".join(words), first, end, rule

    def first_and_last(self, first: int, end: int) -> str | None:
        """Frank (Anthony) Wilczek: first and last word of a run of three to five capitals, where they are a name."""
        if not 3 <= end - first <= 5 or self.known.thing(self.w(end - 1)) > 100:
            return None
        name = f"{self.w(first)} {self.w(end - 1)}"
        n = self.known.names.get(name)
        usual = self.known.first(self.w(first)) >= 3 and self.known.last(self.w(end - 1)) >= 1
        return name if n is not None and int(self.known.percent[n]) >= 60 and usual else None

    def quoted(self, i: int) -> bool:
        """Token i stands alone in quotation marks or brackets: William "Bill" Gates."""
        if not 0 < i < self.n - 1:
            return False
        before, this, behind = self.tokens[i - 1 : i + 2]
        blanks = "".join(map(chr, range(33)))
        opening, closing = self.text[before.end : this.start], self.text[this.end : behind.start]
        pairs = {('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("(", ")")}
        return not opening.endswith(" ") and (opening.strip(blanks), closing.strip(blanks)) in pairs

    def nicknamed(self, matches: list[tuple[str, int, int, int]]) -> list[tuple[str, int, int, int]]:
        """James D. "Jim" Farley: first name and surname, or what else the KB has. Replaces what overlaps."""
        for i in range(1, self.n - 1):
            a, b = i - 1, i + 2
            if not (self.cap[i] and self.quoted(i) and self.cap[a] and self.cap[i + 1]):
                continue
            if self.w(i + 1) in English.function_words:
                continue
            while a > 0 and self.follows(a) and self.cap[a - 1] and i - a < 4:
                if self.w(a - 1) in English.title_words:
                    break
                a -= 1
            if any(name in self.known.names for name in self.nickname_forms(a, b)):
                for m in matches:
                    if m[2] > a and m[1] < b:
                        self.take(m[1], m[2], "")
                matches = [m for m in matches if m[2] <= a or m[1] >= b]
                matches.append((self.nickname_forms(a, b)[0], a, b, NICKNAMED))
                self.take(a, b, "person")
        return sorted(matches, key=lambda match: match[1])

    def nickname_forms(self, a: int, b: int) -> list[str]:
        last = self.w(b - 1)
        return [f"{self.w(a)} {last}", f"{self.name(a, b - 2)} {last}", f"{self.w(b - 2)} {last}"]

    # candidates
    def candidates(self, mention: Mention) -> dict[int, float]:
        """Everybody who may be meant, with the quality of the match: bearers of the name first."""
        rows = {}
        for row, kind in self.known.bearers(mention.full_name) if mention.full_name else ():
            words = {self.w(i) for i in range(*mention.words)}
            far = kind == 1 and not words & {token.text for token in self.known.label(row)}
            rows[row] = mention.factor * (0.75 if far else KIND_QUALITY[kind])
        rows = rows | {row: quality for row, quality in mention.extras.items() if row not in rows}
        if mention.place is None:
            return rows
        there = {row: quality for row, quality in rows.items() if self.w(mention.place) in self.known.words_of(row)}
        return there or {row: quality for row, quality in rows.items() if not self.names_its_place(row)}

    def names_its_place(self, row: int) -> bool:
        return any(token.gap == COMMA or token.text in HEAD_ENDS for token in self.known.label(row)[1:])

    def add_wider(self, mention: Mention, name: str, factor: float) -> None:
        """Bearers of the head form; the five most famous with a middle name more, the three who go on."""
        exact = {row for row, _ in self.known.bearers(name)}
        wider = longer = 0
        for row, form, _ in self.known.short(name):
            if row in exact or len(mention.extras) == 8:
                continue
            if form == HEAD:
                mention.extras[row] = factor * 0.9
            elif form in (PAIR, LAST_TWO) and self.known.fame[row] >= 2 and wider < 5:
                mention.extras[row], wider = factor * 0.8, wider + 1
            elif form == BEGIN and self.known.fame[row] >= 5 and longer < 3:
                mention.extras[row], longer = factor * 0.6, longer + 1

    def place_behind(self, end: int) -> int | None:
        """Louis VIII, Landgrave of Hesse: the token "Hesse"."""
        at = end
        if self.comma(at) and self.w(at) in English.name_titles | English.noble_titles:
            at += 1
            while at < min(self.n, end + 4) and self.w(at) not in English.of_words:
                at += 1
        elif not self.soft(at):
            return None
        if self.w(at) not in English.of_words or not self.soft(at + 1):
            return None
        place = at + 2 if self.w(at + 1) == English.article and at + 2 < self.n else at + 1
        return place if self.cap[place] else None

    # mentions
    def mention(self, name: str, rule: int, first: int, end: int) -> tuple[Mention, bool]:
        """The mention of a name, and whether it is new."""
        if name in self.mentions:
            return self.mentions[name], False
        made = self.mentions[name] = Mention(name, rule, (first, end), core=(first, end))
        made.evidence["byline"] = float(self.in_byline(first, end))
        return made, True

    def span(self, mention: Mention, first: int, end: int, **evidence: float) -> bool:
        """A span of a mention; evidence is the largest of its spans."""
        self.take(first, end, "person")
        mention.at[first] = end
        for key, value in evidence.items():
            mention.evidence[key] = max(mention.evidence[key], value)
        return True

    def gather(self, matches: list[tuple[str, int, int, int]]) -> None:
        """One mention for each full name; titles with one word go back to be looked at again."""
        titled = [m for m in matches if m[2] - m[1] == 2 and self.w(m[1]) in English.honorifics]
        for _, a, b, _ in titled:
            self.take(a, b, "")
        self.matches: list[tuple[int, Mention]] = []
        for name, a, b, rule in matches:
            if (name, a, b, rule) in titled:
                continue
            other = self.soft(a) and self.w(a - 1) in English.others and a > 1 and self.w(a - 2) == English.article
            mention, new = self.mention(f"other {name}" if other else name, rule, a, b)
            if new:
                mention.evidence["other"] = float(other)
                mention.full_name = name if name in self.known.names else None
                if rule == NICKNAMED:
                    mention.full_name = next(form for form in self.nickname_forms(a, b) if form in self.known.names)
                self.add_wider(mention, name, 1.0)
                if mention.full_name is None or self.w(b - 1) in English.numerals:
                    mention.place = self.place_behind(b)
                mention.evidence["thing"] = self.known.thing(name)
                mention.factor = {DROPPED: 0.9, NICKNAMED: 0.95}.get(rule, 1.0)
                if rule == NICKNAMED:
                    self.add_nicknamed(mention, a, b)
                elif rule == EXACT and b - a == 2 and self.lone_letter(a):
                    self.add_initialled(mention, a)
            elif rule < mention.rule:
                mention.rule, mention.factor = rule, 1.0
            self.matches.append((a, mention))
            firm, counts = self.is_firm(b), mention.counts
            counts["full"] += 1
            no_name = English.suffixes | English.function_words
            if self.follows(b) and not self.used[b] and self.w(b) not in no_name:
                counts["goes_on"] += self.known.last(self.w(b)) > 0
            counts["suffix"] += b < self.n and self.tokens[b].gap != HARD and self.w(b) in English.younger
            counts["comes"] += self.soft(a) and self.open(a - 1) and self.is_first_name_before(a - 1)
            if not firm:
                self.span(mention, a, b)

    def add_nicknamed(self, mention: Mention, a: int, b: int) -> None:
        exact = {row for row, _ in self.known.bearers(mention.full_name)}
        _, middle, nickname = self.nickname_forms(a, b)
        for form in (nickname, middle):
            for row, _ in self.known.bearers(form):
                if row not in exact and len(mention.extras) < 8:
                    mention.extras.setdefault(row, 0.95)

    def lone_letter(self, i: int) -> bool:
        return self.tokens[i].initials and len(self.w(i)) == 1

    def add_initialled(self, mention: Mention, initial: int) -> None:
        """K. Anderson: beside those with that very name, who bear the surname and begin with the letter."""
        exact = {row for row, _ in self.known.bearers(mention.full_name)}
        for row, form, weight in self.known.short(self.w(initial + 1)):
            fits = form in (SURNAME, CALLED) and weight >= 10 and self.label_letter(row) == self.letter(initial)
            if fits and row not in exact and len(mention.extras) < 8:
                mention.extras.setdefault(row, FORM_QUALITY[SURNAME])

    def is_first_name_before(self, i: int) -> bool:
        word = self.w(i)
        other = English.name_titles | English.function_words | English.never_names | English.roles
        return word not in other and self.known.thing(word) < 20 and self.known.first(word) > 0

    # short forms
    def shorts(self) -> None:
        surnames: dict[str, list[Mention]] = {}
        self.surnames = surnames
        firsts: dict[str, list[Mention]] = {}
        self.shared: set[str] = set()
        for mention in self.mentions.values():
            mention.key = self.short_token(mention)
            if mention.key is not None:
                surnames.setdefault(self.w(mention.key), []).append(mention)
                self.shared |= {self.w(mention.key)} if self.in_company(mention.words[0]) else set()
            firsts.setdefault(self.w(mention.core[0]), []).append(mention)
        self.said = list(self.matches)
        at = 0
        while at < self.n:
            word, end = self.w(at), at + 1
            alone = self.written[at] if self.style == CASED else word not in English.function_words
            lowered = self.written[at] and not self.cap[at]
            if not self.used[at] and alone:
                if word in surnames:
                    self.short_surname(at, surnames[word])
                elif len(firsts.get(word, ())) == 1 and not self.tokens[at].initials and not lowered:
                    end = self.short_first(at, firsts[word][0])
                elif self.style == CASED:
                    self.family(at, surnames)
            at = end

    def family(self, at: int, surnames: dict[str, list[Mention]]) -> None:
        """The Obamas: the only one of that surname whom the text names in full."""
        word, known = self.w(at), self.known
        if not self.soft(at) or self.w(at - 1) != English.article or not self.cap[at] or not self.plain(at):
            return
        if word[-1] != "s" or known.thing(word) > 5 or self.follows(at + 1) or self.is_firm(at + 1):
            return
        for surname in [word[:-1]] + ([word[:-2]] if word.endswith("es") else []):
            if surname in surnames:
                if len(surnames[surname]) == 1 and surname not in self.shared:
                    self.span(surnames[surname][0], at, at + 1)
                return

    def in_company(self, first: int) -> bool:
        """Mary-Kate and Ashley Olsen: the full name seems to share its surname."""
        joined = self.soft(first) and self.soft(first - 1) and self.w(first - 1) in English.and_words
        return joined and self.open(first - 2)

    def short_token(self, mention: Mention) -> int | None:
        """The token that stands for a full name: the surname; the given name of "Louis XV of France", "Kim Jong-un"."""
        low, high = mention.words
        while high - low > 2 and self.w(high - 1) in English.suffixes:
            high -= 1
        while high - low > 2 and self.w(low) in English.honorifics:
            low += 1
        cut = next((i for i in range(low + 1, high) if self.w(i) in HEAD_ENDS), None)
        high = cut if cut is not None else high
        mention.core = (low, high)
        regnal = high - low >= 2 and self.w(high - 1) in English.numerals
        token = low if high - low == 1 or regnal or self.hyphenated_given(low, high) else high - 1
        nobody = cut is not None and self.w(token) in English.name_titles | English.function_words
        return None if nobody else token

    def hyphenated_given(self, low: int, high: int) -> bool:
        """Kim Jong-un, Leung Che-cheung: three words, the last two a given name with a hyphen."""
        joined = high - low >= 3 and self.hyphen[high - 1] and not self.hyphen[low + 1]
        return joined and self.w(high - 2) not in English.particles

    def nearest(self, at: int, mentions: list[Mention]) -> Mention:
        """Of several people with a surname, the last named before; else the first behind, in full."""
        named = [(a, m) for a, m in self.said if any(m is one for one in mentions)]
        before = [m for a, m in named if a <= at]
        return before[-1] if before else named[0][1]

    def short_surname(self, at: int, mentions: list[Mention]) -> None:
        """The end of a full name, as much of it as stands here, unless something else seems to be meant."""
        mention, told = self.nearest(at, mentions), 0
        several = len(mentions) > 1 or self.w(at) in self.shared
        if several:
            told = self.gender_told(at)
            named = {id(m) for a, m in self.matches if a <= at}
            before = [m for m in mentions if told and id(m) in named]
            own = [m for m in before if self.gender(m) == told] or [m for m in before if self.gender(m) == 0]
            mention = self.nearest(at, own) if own else mention
        low, high = mention.core
        start, word = at, high - 1
        while self.w(at) == self.w(high - 1) and word - 1 > low and self.soft(start) and not self.used[start - 1]:
            if self.w(start - 1) != self.w(word - 1):
                break
            start, word = start - 1, word - 1
        if self.style == CASED:
            far = start
            while self.particle_before(far) and start - far < MOST_PARTICLES:
                far -= 1
            no_name = English.name_titles | English.function_words
            if far < start and self.soft(far) and self.open(far - 1) and self.w(far - 1) not in no_name:
                return  # Karl Wilhelm von Feuerbach is not Ludwig
            if self.soft(start) and not self.used[start - 1] and self.tokens[start - 1].capital:
                before = self.tokens[start - 1]
                dotted = before.initials and before.dotted
                if dotted or before.text not in English.honorifics | English.function_words:
                    initial = start == at and before.initials
                    own = [m for m in mentions if initial and self.letter(m.core[0]) == self.letter(at - 1)]
                    if own:
                        mention, start = self.nearest(at, own), start - 1  # A. Murray is Andy's
                    elif self.known.thing(before.text) < 20 or self.known.first(before.text) >= 20:
                        return
            if self.goes_on(at) or self.is_month(at) or self.is_place(at) or self.names_a_thing(at):
                return
            if self.titled_otherwise(at, mention):
                return
        if self.is_firm(at + 1) or (self.before_place(at + 1) and self.known.thing(self.w(at)) > 5):
            return
        shared = self.sharing(at, start, mention, mentions, told) if several else None
        self.span(shared or mention, start, at + 1)
        if shared is None:
            self.said = sorted([*self.said, (at, mention)], key=lambda named: named[0])

    def sharing(self, at: int, start: int, mention: Mention, mentions: list[Mention], told: int) -> Mention | None:
        """Curie, behind Marie and Pierre Curie: the last one named, and the best known bearers of the other names."""
        before: list[Mention] = []
        for a, m in self.said:
            if a <= at and any(m is one for one in mentions) and not any(m is one for one in before):
                before.append(m)
        seen = {id(m): max(a for a, other in self.said if other is m and a <= at) for m in before}
        others: dict[int, float] = {}
        own = {row for row, _ in self.known.bearers(mention.full_name or "")} | set(mention.extras)
        for other in reversed(before[-8:]):
            tail = other.core[1] - 1 - (at - start)
            ends_so = tail >= other.core[0] and self.name(tail, other.core[1] - 1) == self.name(start, at)
            if not (self.may_share(mention) and self.may_share(other) and (start == at or ends_so)):
                continue
            low, high = sorted([seen.get(id(mention), -1), seen[id(other)]])
            together = high - low <= 60 and not any(self.start[low + 1 : high + 1])
            names = []
            if other is not mention and not self.titled_otherwise(at, other):
                names.append(other.full_name)
            first = other.words[0]
            if start == at and self.in_company(first):
                names.append(f"{self.w(first - 2)} {self.w(at)}")
            for row, kind in filter(None, map(self.best_known, names)):
                gender = int(self.known.kb.gender[row])
                if row not in own and (not told or gender in (told, self.gender(mention))):
                    others.setdefault(row, (1.0 if together else 0.9) * KIND_QUALITY[kind])
        if not others:
            return None
        shared, new = self.mention(f"{mention.name}: {self.w(at)}", SHARED, start, at + 1)
        if new:
            shared.full_name, shared.core, shared.counts = mention.full_name, mention.core, mention.counts
            shared.evidence["thing"] = mention.evidence["thing"]
        for row, quality in [*others.items(), *mention.extras.items()]:
            if row not in shared.extras and len(shared.extras) < 8:
                shared.extras[row] = quality
        return shared

    def may_share(self, mention: Mention) -> bool:
        return mention.rule == EXACT and self.w(mention.core[1] - 1) not in English.numerals

    def best_known(self, name: str | None) -> tuple[int, int] | None:
        """The most famous bearer of a name, the first of equals, and how it is borne."""
        everybody = self.known.everybody(name) if name else []
        return max(everybody, key=lambda bearer: self.known.fame[bearer[0]], default=None)

    def is_month(self, at: int) -> bool:
        """In May, 3 May, May 3: not Theresa."""
        before = self.w(at - 1) if self.soft(at) else ""
        behind = self.w(at + 1) if self.soft(at + 1) else ""
        near = before in English.in_places | English.to_places or before[:1].isdigit() or behind[:1].isdigit()
        return self.w(at) in English.dates and near

    def titled_otherwise(self, at: int, mention: Mention) -> bool:
        """President Clinton is not Hillary Clinton: the title and the surname are an alias of others."""
        if not self.soft(at) or self.w(at - 1) not in English.name_titles or mention.full_name is None:
            return False
        others = {row for row, _ in self.known.bearers(self.name(at - 1, at + 1))}
        return bool(others) and not others & {row for row, _ in self.known.bearers(mention.full_name)}

    def names_a_thing(self, at: int) -> bool:
        """The Doppler effect."""
        small = self.soft(at + 1) and not self.cap[at + 1] and self.w(at + 1) not in English.firm_words
        return small and self.known.thing(self.name(at, at + 2)) > 0

    def is_place(self, at: int) -> bool:
        """In Houston: not Whitney."""
        fame, kind = self.known.kind(self.w(at))
        owns = at + 1 < self.n and self.text[self.tokens[at].end] in "'’"
        inside = self.soft(at) and self.w(at - 1) in English.in_places
        return inside and not owns and kind == PLACE and fame >= 80

    def gender_told(self, at: int) -> int:
        """By the title before a surname, or "she" in the rest of its sentence, before somebody else is named."""
        rest = []
        for i in range(at + 1, min(self.n, at + 21)):
            if self.start[i] or self.used[i] == "person":
                break
            rest.append(self.w(i))
        first = at
        while self.soft(first) and self.w(first - 1) in English.particles and at - first < MOST_PARTICLES:
            first -= 1  # Mr. Le Pen
        words = [self.w(first - 1)] * self.soft(first) + rest
        return next((1 if word in English.men else 2 for word in words if word in English.men | English.women), 0)

    def gender(self, mention: Mention) -> int:
        """That of the best known bearer of the name."""
        best = self.best_known(mention.full_name)
        return int(self.known.kb.gender[best[0]]) if best else 0

    def letter(self, i: int) -> int:
        return self.text[self.tokens[i].start].encode()[0] | 0x20

    def goes_on(self, at: int) -> bool:
        """Behind a surname: a hyphen and a capital, "family", or another name that begins with it."""
        behind = at + 1
        if self.soft(behind) and (self.w(behind) in English.families or (self.hyphen[behind] and self.cap[behind])):
            return True
        if self.particle_follows(behind):
            return True
        if not self.follows(behind) or self.used[behind] or self.w(behind) in English.suffixes:
            return False
        given = self.known.first(self.w(at)) > 20 * (1 + self.known.last(self.w(at)))
        return given or self.hyphenated_given(at, min(at + 3, self.n))

    def short_first(self, at: int, mention: Mention) -> int:
        """The beginning of a full name, unless another name seems to begin here; the token to go on from."""
        low, high = mention.core
        end, word = at + 1, low + 1
        while word < high - 1 and self.soft(end) and not self.used[end] and self.w(end) == self.w(word):
            end, word = end + 1, word + 1
        ordinary = English.ordinary_first_names | English.function_words | English.honorifics
        if self.style == CASED:
            another = (self.follows(end) and not self.used[end]) or self.particle_follows(end)
        else:
            another = end == at + 1 and self.w(at) in ordinary
        if another or self.is_firm(end):
            return at + 1
        self.span(mention, at, end)
        return end

    # what stands around a name
    def is_firm(self, at: int) -> bool:
        """Whether what stands behind a name makes it a firm's or a thing's: Inc., High School; owner PVH, shares."""
        if self.style == CASED and self.is_owned(at):
            return True
        behind = self.tokens[at : at + 3]
        for size, last in enumerate(behind, 1):
            if last.text in English.not_a_person | English.firm_words:
                between = all(token.text in English.before_not_a_person for token in behind[: size - 1])
                joined = behind[0].gap != HARD and all(token.gap == SOFT for token in behind[1:size])
                return between and joined and (self.style != CASED or all(token.capital for token in behind[:size]))
        return False

    def is_owned(self, at: int) -> bool:
        """What firms have stands behind a name: shares, sales; owner PVH."""
        owned = self.w(at) in English.shares or (self.w(at) in English.owned and self.follows(at + 1))
        return owned and self.soft(at) and not self.cap[at]

    def alone(self, at: int) -> bool:
        """A word that is the short form of somebody's name and part of no full name."""
        return self.open_before[at] and self.w(at) not in NO_NAMES and bool(self.known.short(self.transliterated(at)))

    def before_place(self, at: int) -> bool:
        """A comma and a famous place behind: Houston, Texas; Washington, D.C."""
        if not self.comma(at) or not self.cap[at]:
            return False
        names = [self.w(at)] + ([self.name(at, at + 2)] if self.follows(at + 1) else [])
        fame, kind = max(self.known.kind(name) for name in names)
        return self.w(at) in English.capital_districts or (kind == PLACE and fame >= 80)

    def locative(self, start: int, at: int) -> float:
        """How much the text makes a place of a word: in, near, northern; -based; a dateline; to and from by half."""
        before = self.w(start - 1) if self.soft(start) else ""
        based = self.soft(at + 1) and self.hyphen[at + 1] and self.w(at + 1) in English.based
        behind = self.text[self.tokens[at].end : self.tokens[at].end + 3]
        dateline = self.start[at] and self.tokens[at].upper and at + 1 < self.n and behind.startswith((" (", " -", ","))
        return 1.0 if before in English.in_places or based or dateline else 0.5 if before in English.to_places else 0.0

    def in_byline(self, first: int, end: int) -> bool:
        """By Ann Lee; Reporting by Ann Lee and Bob Wu; Photo: Ann Lee; Ann Lee/AP, REUTERS/Ann Lee."""
        if (self.between(end) == "/" and self.agency(end)) or (self.between(first) == "/" and self.agency(first - 1)):
            return True
        if self.w(first - 1) in English.credits and self.between(first).startswith(":"):
            return not self.soft(end)
        at = first
        if self.soft(at) and self.w(at - 1) in English.and_words:
            at -= 1
            while self.soft(at) and self.cap[at - 1] and self.w(at - 1) not in English.by_words and first - at < 5:
                at -= 1
        if not self.soft(at) or self.w(at - 1) not in English.by_words:
            return False
        by = at - 1
        if self.start[by] and self.cap[by]:
            return True
        credit = self.soft(by) and self.w(by - 1) in English.credits
        return credit and (self.cap[by - 1] or self.start[by - 1])

    def between(self, i: int) -> str:
        """What parts token i from the one before."""
        return self.text[self.tokens[i - 1].end : self.tokens[i].start] if 0 < i < self.n else ""

    def agency(self, i: int) -> bool:
        """AP, REUTERS, Getty."""
        token = self.tokens[i]
        return (token.capital and token.upper) or (self.cap[i] and token.text in English.credits)

    # runs of capitals
    def runs(self) -> None:
        at = 0
        before, self.run_surnames = set(self.mentions), {}
        while at < self.n:
            if not self.open(at):
                at += 1
                continue
            first, end = at, self.run_end(at)
            while first < end - 1 and self.stands_before(first):
                first += 1
            if end - at == 1:
                self.company(at) or self.turned(at)
            elif end - first > 1 and not self.is_firm(end) and self.w(first) != self.w(first + 1):
                if self.run(first, end):
                    self.file_run(first, end)
                else:
                    self.stranger(first, end)
            at = end
        for at in range(self.n):
            mention = self.run_surnames.get(self.w(at))
            if self.open(at) and mention and mention.name not in before:
                self.said = [(-1, mention)]
                self.short_surname(at, [mention])

    def file_run(self, first: int, end: int) -> None:
        """Somebody whom a run names has the surname, if nobody of a full name and no run before has it."""
        owners = [(a, m) for m in self.mentions.values() for a, b in m.at.items() if first <= a < end and b - a >= 2]
        if owners:
            mention = min(owners, key=lambda owner: owner[0])[1]
            mention.key = self.short_token(mention)
            if mention.key is not None and self.w(mention.key) not in self.surnames:
                self.run_surnames.setdefault(self.w(mention.key), mention)

    def stands_before(self, i: int) -> bool:
        """A title, or what stands before one: French President Macron."""
        titles = English.name_titles | English.title_words
        nation = self.w(i) in English.never_names and self.w(i + 1) in titles | English.never_names
        return nation or self.w(i) in titles or self.is_function_word(i)

    def is_function_word(self, i: int) -> bool:
        """A function word, but for an initial with a period: "A." is no article."""
        return self.w(i) in English.function_words and not (self.tokens[i].initials and self.tokens[i].dotted)

    def run_end(self, at: int) -> int:
        """Capitals, initials, and particles between them; a numeral ends the run, function words are no part of it."""
        end = at + 1
        while end - at < 7 and self.soft(end) and not self.used[end]:
            word, small = self.w(end), English.particles
            if self.w(end - 1) in English.numerals and end - at > 1:
                break
            if self.is_function_word(end) and word not in small:
                break
            particle = word in small and self.soft(end + 1) and (self.cap[end + 1] or self.w(end + 1) in small)
            if not (self.may_end(end) or particle):
                break
            end += 1
        while end > at + 1 and not self.may_end(end - 1):
            end -= 1
        return end

    def run(self, first: int, end: int) -> bool:
        """Who may be meant by a run of capitals that is no full name of the KB; whether anybody is."""
        known, name, head, last = self.known, self.name(first, end), self.w(first), self.w(end - 1)
        if end - first == 2 and self.surname_first(first) and not known.thing(name):
            return self.initial(first + 1, first)
        if known.first(head) == 0 and not self.tokens[first].initials and not known.short(name):
            whole = self.w(first + 1) in English.particles and self.another_before(first + 1)  # Plato von Ustinov
            return end - first > 2 and not whole and self.run(first + 1, end)  # a word before the name
        if known.lower(head) >= 20 and known.lower(last) >= 20:  # Police Chief
            return False
        if head in English.particles and last in self.strangers:
            return False
        thing = known.thing(name)
        if self.wide(name, first, end, 1, {PAIR: 0.8, LAST_TWO: 0.8, HEAD: 0.8, BEGIN: 0.6}, thing):
            return True
        if end - first >= 3:
            short = self.first_and_last(first, end)
            if short:
                return self.named(short, DROPPED, first, end, 0.8, thing)
            rest = self.name(first + 1, end)
            if self.tokens[first].initials and rest in known.names:  # M. Scott Carpenter
                return self.named(rest, DROPPED, first + 1, end, 0.8, thing)
            for low in range(first + 1, end - 1):
                part = self.name(low, end)
                usual = known.first(self.w(low)) > 5 and self.w(low) not in English.particles
                if usual and self.wide(part, low, end, 2, {PAIR: 0.7, LAST_TWO: 0.7}, thing):
                    return True
        if thing == 0 and end - first == 2 and not self.tokens[first].initials and self.spelled(name, first):
            return True
        if end - first == 2 and thing == 0 and self.tokens[first].initials and len(head) == 1:
            return self.initial(first, first + 1)
        if known.thing(self.name(first, end - 1)) >= 15 and known.first(self.w(end - 2)) < 20:  # Republican McCain
            return self.cap[end - 1] and self.single(end - 1, inside=True)
        return False

    def wide(self, name: str, first: int, end: int, fame: int, qualities: dict[int, float], thing: float) -> bool:
        """A run that is part of longer names: Siméon Poisson, Goeppert Mayer."""
        shorts = self.known.short(name)
        rows = {r: qualities[form] for r, form, _ in shorts if form in qualities and self.known.fame[r] >= fame}
        if not shorts or not (rows or name in self.mentions):
            return False
        mention, new = self.mention(name, WIDE, first, end)
        if new:
            mention.extras = dict(list(rows.items())[:8])
        return self.span(mention, first, end, thing=thing)

    def named(self, name: str, rule: int, first: int, end: int, factor: float, thing: float) -> bool:
        """A name of the KB that the text writes in another way."""
        mention, new = self.mention(name, rule, first, end)
        if new:
            mention.full_name, mention.factor = name, factor
            self.add_wider(mention, name, factor)
        return self.span(mention, first, end, thing=thing)

    def spelled(self, name: str, first: int) -> bool:
        """A nickname for the first name, else a slip of one letter in one of two words, of somebody well known."""
        if name in self.mentions:
            return self.span(self.mentions[name], first, first + 2)
        head, last = self.w(first), self.w(first + 1)
        rows: dict[int, float] = {}
        for other in self.known.nicknames.get(head, ()):
            few = self.known.last(last) <= 5 and not self.tokens[first + 1].initials
            self.add_known(rows, f"{other} {last}", 0.85, 0 if few else 2)
        for i in range(1, len(last) if not rows and self.plain(first + 1) else 0):
            if last[i - 1 : i + 1] in ("ae", "oe", "ue"):
                self.add_known(rows, f"{head} {last[:i]}{last[i + 1 :]}", 0.95)
        if not rows and self.plain(first + 1):
            common = self.known.last(last)
            if common <= 3 and self.known.first(head):
                for other in self.slips(head, last):
                    self.add_known(rows, other, slip(last, other.split()[-1]))
            if 0 < common <= 100 and self.plain(first):
                for other in self.slips(last, head):
                    self.add_known(rows, other, slip(head, other.split()[0]))
        if not rows:
            return False
        mention, _ = self.mention(name, SPELLED, first, first + 2)
        mention.extras = dict(list(rows.items())[:8])
        return self.span(mention, first, first + 2)

    def add_known(self, rows: dict[int, float], name: str, quality: float, least: float = 2) -> None:
        for row, _ in self.known.bearers(name):
            if quality and self.known.fame[row] >= least:
                rows.setdefault(row, quality)

    def plain(self, i: int) -> bool:
        written = self.text[self.tokens[i].start : self.tokens[i].end]
        return 5 <= len(written) <= 24 and written.isascii() and written.isalpha()

    def slips(self, right: str, wrong: str) -> list[str]:
        """Names that have one word and another less a letter, or as it is."""
        shorter = [wrong] + [wrong[:i] + wrong[i + 1 :] for i in range(1, len(wrong))]
        found = [name for word in shorter for name in self.known.slips.get(key_of(f"{right} {word}"), ())]
        return [self.known.kb.names.texts[name] for name in found]

    def stranger(self, first: int, end: int) -> None:
        """A first name and a surname that nobody of the KB bears together: alone, both are the stranger's."""
        head, last = self.w(first), self.w(end - 1)
        named = self.known.first(head)
        somebody = (named or self.tokens[first].initials) and not self.tokens[end - 1].initials
        if somebody and not self.known.thing(self.name(first, end)):
            self.strangers |= {last} | ({head} if named >= 3 else set())

    def company(self, at: int) -> bool:
        """Bill and Hillary Clinton: a first name, "and", a full name whose surname makes a name with it."""
        if self.w(at + 1) not in English.and_words or not self.soft(at + 1) or not self.soft(at + 2):
            return False
        ends = [m.at[at + 2] for m in self.mentions.values() if m.at.get(at + 2, 0) - (at + 2) >= 2]
        name = f"{self.w(at)} {self.w(ends[0] - 1)}" if ends else ""
        return name in self.known.names and self.named(name, COMPANY, at, at + 1, 1.0, 0.0)

    def turned(self, at: int) -> bool:
        """Murray, Andy: surname, comma, first name, perhaps a middle one."""
        known, given = self.known, self.w(at + 1)
        if not self.comma(at + 1) or not self.open(at + 1):
            return False
        if known.first(given) < max(5, 2 * known.last(given)) or known.last(self.w(at)) < 1 or known.thing(given) > 60:
            return False
        end = at + 3 if self.follows(at + 2) else at + 2
        if self.used[end - 1]:
            return False
        name = f"{self.name(at + 1, end)} {self.w(at)}"
        return name in known.names and self.named(name, REVERSED, at, end, 1.0, 0.0)

    # titles
    def titled(self) -> None:
        for at in range(self.n - 1):
            title = self.w(at) in English.name_titles and (self.cap[at] or self.w(at) in English.lower_titles)
            if title and self.soft(at + 1) and not self.used[at]:
                self.behind_title(at)

    def behind_title(self, at: int) -> None:
        """The words behind a title, as many as mean somebody: a given name behind a royal title, else a surname."""
        first = end = at + 1
        while end < self.n and end - first < 4 and self.soft(end) and not self.used[end]:
            if not self.may_end(end) and self.w(end) not in English.particles:
                break
            end += 1
        while end > first and not self.may_end(end - 1):
            end -= 1
        no_name = English.name_titles | English.dates | English.function_words
        if end == first or self.w(first) in no_name or self.is_firm(end):
            return
        if self.w(at) in English.saints and self.known.thing(self.name(at, at + 2)) > 10:
            return
        for stop in range(end, first, -1):
            if stop < end and stop - first == 1 and not self.hyphen[stop]:
                return  # Judge Learned Hand is no Learned
            if stop - first == 1 and self.w(first) in self.strangers:
                return
            if self.titled_name(at, first, stop):
                return

    def titled_name(self, title: int, first: int, stop: int) -> bool:
        royal = self.w(title) in English.royal_titles
        forms = {HEAD, MONONYM, CALLED, FIRST_NAME} if royal else set(FORM_QUALITY) - {FIRST_NAME, BEGIN}
        name = self.name(first, stop)
        if name not in self.mentions:
            able = stop - first == 1 and self.cap[first] and name not in NO_NAMES
            known_as = self.transliterated(first) if able else name
            shorts = self.known.short(known_as)
            few = bool(shorts) and self.known.count(known_as) <= 10
            rows = {row: 1.0 for row, _ in self.known.bearers(self.name(title, stop))}
            best = 0.0
            for row, form, weight in shorts:
                fits = form in forms or (form == FIRST_NAME and weight >= 10)
                if fits and (self.known.fame[row] >= 1 or form in (LAST_TWO, PAIR) or few):
                    rows.setdefault(row, FORM_QUALITY[form])
                    best = max(best, weight)
            if not rows:
                return False
            mention, _ = self.mention(name, TITLED, first, stop)
            mention.extras = dict(list(rows.items())[:8])
            mention.place = self.place_behind(stop)
            mention.evidence["best"] = best
            mention.evidence["bearers"] = float(self.known.count(known_as)) if shorts else 0.0
        return self.span(self.mentions[name], first, stop, title=1.0, thing=self.known.thing(name))

    # one word
    def single(self, at: int, inside: bool = False) -> bool:
        """A lone capital: part of somebody's name, an alias or a label; `inside`: behind the name of a thing."""
        known, word = self.known, self.w(at)
        if not self.may_be_single(at, inside):
            return False
        start, key, known_as = at, word, self.transliterated(at)
        while self.particle_before(start) and at - start < MOST_PARTICLES:  # al-Assad
            start -= 1
        if start < at and known.short(self.name(start, at + 1)):
            key = known_as = self.name(start, at + 1)
        elif start < at and not inside and self.another_before(start):
            return False  # Adele van Virgil
        elif not self.hyphen[at]:
            start = at
        if not inside and self.another_before(start):
            return False
        count = known.count(known_as)
        rows = [
            one for one in known.short(known_as) if known.fame[one[0]] >= 1 or (count <= 10 and one[1] != FIRST_NAME)
        ]
        if not rows or not self.passes(at, rows[0][1], rows[0][2], count, self.are_initials(at, rows[0][0])):
            return False
        mention, new = self.mention(key, ONE, start, at + 1)
        if new:
            qualities = {row: 0.95 if self.are_initials(at, row) else FORM_QUALITY[form] for row, form, _ in rows}
            mention.extras = dict(list(qualities.items())[:8])
        mention.evidence["form"] = rows[0][1]
        role = self.soft(start) and self.w(start - 1) in English.roles
        return self.span(
            mention, start, at + 1, best=rows[0][2], bearers=float(count), thing=known.thing(word),
            lower=float(known.lower(word)), place=self.locative(start, at), role=float(role),
        )  # fmt: skip

    def may_be_single(self, at: int, inside: bool) -> bool:
        """Whether the text lets a word that somebody bears be a name of its own."""
        word = self.w(at)
        if self.tokens[at].initials or word in NO_NAMES or word in self.strangers:
            return False
        if not self.known.short(self.transliterated(at)) or self.particle_follows(at + 1):
            return False
        if self.follows(at + 1) and self.w(at + 1) not in English.suffixes and not inside:
            return False
        family = self.soft(at + 1) and self.w(at + 1) in English.families
        elsewhere = self.is_firm(at + 1) or self.before_place(at + 1) or self.names_a_thing(at)
        return not (family or elsewhere or self.in_nickname(at))

    def transliterated(self, at: int) -> str:
        """Zelensky: the word as the KB spells it, if it knows nothing of the word itself."""
        word, known = self.w(at), self.known
        facts = (known.first(word), known.last(word), known.lower(word), known.thing(word))
        stem = word.rstrip("ijy") if len(word) - len(word.rstrip("ijy")) <= 2 else ""
        if any(facts) or known.short(word) or stem == word or not self.plain(at) or len(stem) + 2 > 24:
            return word
        if len(stem) < 5 or stem[-1] in "aeou":
            return word
        others = [stem + ending for ending in ("y", "i", "ii", "ij", "iy", "yi", "yj", "yy")]
        heaviest = max(others, key=lambda other: max((weight for _, _, weight in known.short(other)), default=0))
        return heaviest if known.short(heaviest) else word

    def are_initials(self, at: int, row: int) -> bool:
        """JFK, John F. Kennedy: a word in capitals, and the first letters of a label's words."""
        token, label = self.tokens[at], self.known.kb.item_labels[int(self.known.kb.entity_item[row])]
        written = self.text[token.start : token.end].lower().encode()
        first = [part.encode()[:1].lower() for part in label.replace("-", " ").split(" ")]
        capitals = token.capital and token.upper and len(written) >= 3 and written.isascii()
        return capitals and b"".join(first[: len(written)]) == written

    def surname_first(self, first: int) -> bool:
        """SMITH J: a surname in capitals, no ordinary word, and an initial."""
        head, initial = self.tokens[first : first + 2]
        capitals = head.capital and head.upper and not head.initials and self.length(first) >= 3
        return capitals and initial.initials and len(initial.text) == 1 and self.known.lower(head.text) < 3

    def initial(self, initial: int, at: int) -> bool:
        """R. Federer, FEDERER R: those with the surname whose label begins with the letter."""
        first, name, known = min(initial, at), f"{self.w(initial)} {self.w(at)}", self.known
        if self.another_before(first):
            return False
        if name not in self.mentions and self.may_be_single(at, inside=True):
            known_as = self.transliterated(at)
            count = known.count(known_as)
            rows = [one for one in known.short(known_as) if one[1] in (SURNAME, CALLED)]
            letter = self.letter(initial)
            rows = [one for one in rows if known.fame[one[0]] >= 1 and self.label_letter(one[0]) == letter]
            each = count / len(known.short(known_as))  # only the best bearers are listed
            behind = initial > at
            if rows and rows[0][2] >= 10 and (not behind or self.passes(at, SURNAME, rows[0][2], count)):
                mention, _ = self.mention(name, ONE, first, first + 2)
                mention.extras = {row: FORM_QUALITY[SURNAME] for row, _, _ in rows[:8]}
                mention.evidence |= {"form": SURNAME, "best": rows[0][2], "bearers": float(int(len(rows) * each))}
        role = self.soft(first) and self.w(first - 1) in English.roles
        return name in self.mentions and self.span(self.mentions[name], first, first + 2, role=float(role))

    def label_letter(self, row: int) -> int:
        return self.known.kb.item_labels[int(self.known.kb.entity_item[row])].encode()[0] | 0x20

    def in_nickname(self, i: int) -> bool:
        """A quoted nickname, or behind one: "Hank" Cosby."""
        if self.quoted(i) and self.cap[i - 1] and self.cap[i + 1]:
            return True
        return i > 1 and self.quoted(i - 1) and self.cap[i - 2]

    def another_before(self, start: int) -> bool:
        """A capital before a word makes it somebody else's surname, but for titles, roles and nations."""
        if not self.soft(start) or not self.cap[start - 1] or self.used[start - 1] == "person":
            return False
        before = self.w(start - 1)
        if self.known.thing(before) >= 15 and self.known.first(before) < 20:
            return False
        lists = English.never_names | English.roles | English.name_titles | English.function_words
        return before not in lists

    def passes(self, at: int, form: int, best: float, count: int, initials: bool = False) -> bool:
        """Whether a lone word is worth a look: famous enough, no far more famous thing, no ordinary word."""
        thing, lower = self.known.thing(self.w(at)), self.known.lower(self.w(at))
        if initials and not lower and best >= 10:
            return thing < best
        if (best < 10 and (count > 10 or thing > 3)) or thing > 6 * best:
            return False
        if form in (NICK, ALIAS_SURNAME) and (lower or thing >= 5):
            return False  # Daddy, Chaos, Magic
        if self.length(at) < 3 and form not in (SURNAME, CALLED, MONONYM):
            return False
        return lower < 100 and not (lower >= 3 and self.start[at])
