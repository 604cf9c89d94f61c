"""The name index as a dictionary, and its tables as Python sets: slow and obvious."""

import re
from collections import Counter
from collections.abc import Iterator

from namesake.kb.names import index as variants_of_kb
from namesake.kb.names.normalise import normalise
from namesake.kernels.names.constants import ALIAS, BARE_ALIAS, BARE_LABEL, LABEL
from namesake.language import English, Language
from oracle_shorts import token_counts

QUALITY = {LABEL: 1.0, ALIAS: 0.95, BARE_LABEL: 0.9, BARE_ALIAS: 0.85}


BRACKETS = re.compile(r"[\"“”„«(][^\"“”„«»()]+[\"”“»)]")
QUOTED = re.compile(r"[\"“„]([^\"“”„]+)[\"”“](.*\w.*)")


def other_forms(name: str, language: Language) -> Iterator[str]:
    """Forms of a name without its brackets, quotation marks or peerage."""
    plain = BRACKETS.sub(" ", name)
    if plain != name:
        yield plain
    for nickname, rest in QUOTED.findall(name):
        yield f"{nickname} {BRACKETS.sub(' ', rest)}"
    person, comma, rest = name.partition(",")
    begins = "|".join([r"\d", *map(re.escape, language.peerages)])
    if comma and re.match(rf"\s*({language.article} )?({begins})", rest, re.I):
        yield person


def bare(name: str, least: int) -> str:
    """A normalised name without the titles before it and the suffixes behind it, `least` tokens long or more."""
    tokens = name.split()
    stripped = True
    while stripped:
        stripped = False
        for size in (1, 2):
            if len(tokens) - size >= least and " ".join(tokens[-size:]) in English.suffixes:
                tokens, stripped = tokens[:-size], True
                break
    stripped = True
    while stripped:
        stripped = False
        for size in (1, 2):
            if len(tokens) - size >= least and " ".join(tokens[:size]) in English.honorifics:
                if tokens[size] not in English.connectors:
                    tokens, stripped = tokens[size:], True
                break
    return " ".join(tokens)


def index(labels: list[str], aliases: list[list[str]]) -> dict[str, dict[int, int]]:
    """Normalised name -> entity row -> best kind."""
    names: dict[str, dict[int, int]] = {}

    def bears(row: int, name: str, kind: int) -> None:
        if name:
            known = names.setdefault(name, {})
            known[row] = min(kind, known.get(row, kind))

    for row, (label, others) in enumerate(zip(labels, aliases, strict=True)):
        for text, kind, bare_kind in [(label, LABEL, BARE_LABEL)] + [(text, ALIAS, BARE_ALIAS) for text in others]:
            for form in [text, *other_forms(text, English)]:
                name = normalise(form)
                bears(row, name, kind if form is text else bare_kind)
                bears(row, bare(name, 2), kind if bare(name, 2) == name and form is text else bare_kind)
    return names


def lookup(names: dict[str, dict[int, int]], name: str) -> list[tuple[int, int]]:
    """Rows and kinds of the bearers of a name, ascending."""
    folded = normalise(name)
    found = sorted((names.get(folded) or names.get(bare(folded, 1)) or {}).items())
    return [(row, kind) for row, kind in found if kind <= ALIAS] or found


def prefixes(name: str) -> list[str]:
    """The beginnings of two tokens or more of a normalised name."""
    tokens = name.split()
    return [" ".join(tokens[:size]) for size in range(2, len(tokens) + 1)]


ROMAN = dict(zip(variants_of_kb.CYRILLIC, English.cyrillic.split(), strict=True))


def sound(token: str) -> bytes:
    """A token as it sounds, roughly."""
    out = ""
    for place, letter in enumerate(token):
        if letter == "e" and place and token[place - 1] in "aou":
            continue
        latin = "ks" if letter == "x" else ROMAN.get(letter, letter).strip("-")
        for sounded in latin.translate(variants_of_kb.SOUNDS):
            if not (out and sounded.isascii() and sounded in ("h", out[-1])):
                out += sounded
    return out.encode()


def umlauts_off(token: str) -> set[str]:
    """The token with each ae, oe, ue inside it left as it is, or written a, o, u."""
    found = {""}
    for place, letter in enumerate(token):
        drop = letter == "e" and 0 < place < len(token) - 1 and token[place - 1] in "aou"
        found = {one + letter for one in found} | (found if drop else set())
    return found


def distance(one: str, two: str) -> int:
    """How many letters must be dropped, added, replaced or exchanged with their neighbour, by a table of all parts."""
    table = [[max(i, j) if 0 in (i, j) else 0 for j in range(len(two) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(two) + 1):
            replaced = table[i - 1][j - 1] + (one[i - 1] != two[j - 1])
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, replaced)
            if i > 1 and j > 1 and one[i - 2 : i] == two[j - 2 : j][::-1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def misspelling(query: list[str], name: list[str], begins: Counter[str], ends: Counter[str]) -> float:
    """The quality of a query as a misspelling of a name; 0 if it is none."""

    def wrong(one: str, two: str) -> bool:
        return len(two) > 4 and one[0] == two[0] and distance(one, two) == 1

    if not {len(query), len(name)} <= {2, 3} or len(name[-1]) < 5:
        return 0.0
    for one, two in zip(query[1:-1], name[1:-1], strict=False):
        if one != two and not (one[0] == two[0] and 1 in (len(one.encode()), len(two.encode()))):
            return 0.0
    in_last = query[0] == name[0] and ends[query[-1]] <= 3 and wrong(query[-1], name[-1])
    in_first = query[-1] == name[-1] and begins[query[0]] <= 3 and wrong(query[0], name[0])
    return (in_last or in_first) * (0.6 if len(query) == len(name) else 0.54)


def reordered(query: list[str], name: list[str], begins: Counter[str], ends: Counter[str]) -> float:
    """The quality of a query as a reversed name, or as a name behind another first name; 0 if it is neither."""
    if len(query) == 2 and query[::-1] == name:
        usual = begins[name[0]] >= 4 * ends[name[0]] and ends[name[1]] >= 4 * begins[name[1]]
        return 0.9 * usual
    if len(query) > 2 and query[-2:] == name and len(name[0].encode()) > 2:
        return 0.6 * (begins[name[0]] <= 10 or ends[name[1]] <= 3)
    return 0.0


def likeness(query: list[str], name: list[str]) -> float:
    """How well the tokens of a query fit those of a name; 0 if they contradict each other."""

    def alike(one: str, two: str) -> bool:
        return min(len(one.encode()), len(two.encode())) > 2 and sound(one) == sound(two)

    def initial(one: str, two: str) -> bool:
        return one[0] == two[0] and 1 in (len(one.encode()), len(two.encode()))

    def umlauts(one: str, two: str) -> bool:
        return umlauts_off(one) & umlauts_off(two) != set()

    quality = 1.0
    if query[-1] != name[-1]:
        quality *= (0.95 if umlauts(query[-1], name[-1]) else 0.7) * alike(query[-1], name[-1])
    if query[0] != name[0]:
        if any(query[0] in group and name[0] in group for group in English.nicknames):
            quality *= 0.85
        elif initial(query[0], name[0]):
            quality *= 0.7
        else:
            quality *= 0.8 * alike(query[0], name[0])
    middles = zip(query[1:-1], name[1:-1], strict=False)
    if not all(one == two or initial(one, two) for one, two in middles):
        return 0.0
    return quality * (1.0 if len(query) == len(name) else 0.9)


def variants(labels: list[str], query: str, famous: bool = False) -> dict[int, float]:
    """Best quality by row of all entities with the name or a variant of it; misspellings are those of famous ones."""
    known = index(labels, [[] for _ in labels])
    best = {row: QUALITY[kind] for row, kind in lookup(known, query)}
    asked = bare(normalise(query), 2).split()
    begins, ends, _ = token_counts(labels, English)
    for name, bearers in known.items():
        tokens = name.split()
        if len(asked) < 2 or len(tokens) < 2:
            continue
        like = max(likeness(asked, tokens), reordered(asked, tokens, begins, ends))
        like = max(like, misspelling(asked, tokens, begins, ends) * famous)
        for row, kind in bearers.items():
            if like:
                best[row] = max(best.get(row, 0.0), like * QUALITY[kind])
    return best
