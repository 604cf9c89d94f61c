"""Short forms, tokens, things and slips as plain dictionaries: slow and obvious twins of the KB's columns."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from namesake.kb.names.normalise import TABLE_END, normalise
from namesake.language import Language

WEIGHTS = {
    "mononym": 1.0,
    "surname": 1.0,
    "head": 0.7,
    "first": 0.15,
    "pair": 1.0,
    "suffix": 1.0,
    "begin": 0.3,
    "called": 1.2,
    "nick": 0.5,
    "alias surname": 0.4,
}


def core(tokens: list[str], language: Language) -> list[str]:
    """A name's tokens without the titles in front and suffixes behind (numerals stay)."""
    tokens = list(tokens)
    while len(tokens) > 1 and tokens[-1] in language.suffixes - language.numerals:
        tokens.pop()
    while len(tokens) > 1 and tokens[0] in language.title_words:
        tokens.pop(0)
    return tokens


def forms(name: str, language: Language) -> Iterator[tuple[str, str]]:
    """The short forms of a label or alias: (form, tokens)."""
    before, comma, behind = name.partition(",")
    raw, rest = normalise(before).split(), normalise(behind).split()
    if len(raw) > 32 or not raw:
        return
    headed = bool(comma) and not (rest and set(rest) <= language.suffixes | language.numerals)
    cut = next((i for i, word in enumerate(raw) if i and word in language.head_ends), len(raw))
    tokens = core(raw[:cut], language)
    headed = headed or cut < len(raw)
    if len(tokens) in (2, 3, 4) and tokens[-1] in language.numerals:
        if len(tokens) != len(raw) or headed:
            yield "head", " ".join(tokens)
        yield "head", " ".join(tokens[:-1])
        if (len(tokens) == 4 and not headed) or (len(tokens) == 3 and tokens[-1] in language.generations):
            yield "surname", tokens[-2]
        return
    if headed or (len(tokens) == 1 and len(raw) > 1):
        yield "head", " ".join(tokens)
    if len(tokens) == 1 and len(raw) == 1 and not headed:
        yield "mononym", tokens[0]
    if 2 <= len(tokens) <= 6:
        yield from usual(tokens, language)


def usual(tokens: list[str], language: Language) -> Iterator[tuple[str, str]]:
    if len(tokens[-1]) > 1:
        yield "surname", tokens[-1]
    if len(tokens[0]) > 1:
        yield "first", tokens[0]
    if len(tokens) < 3:
        return
    yield "pair", f"{tokens[0]} {tokens[-1]}"
    low = len(tokens) - 2
    while low > 1 and {tokens[low], tokens[low - 1]} <= language.particles:
        low -= 1
    if len(tokens[-2]) > 1:
        yield "suffix", " ".join(tokens[low:])
    if len(tokens[1]) > 1 and tokens[1] not in language.particles:
        yield "begin", f"{tokens[0]} {tokens[1]}"


def alias_form(form: str, tokens: str, own: set[str], alias: set[str]) -> str | None:
    """What a form is if an alias has it; None where it counts for nothing."""
    if form == "first" or (form == "head" and " " not in tokens):
        return None
    if form == "mononym":
        return "called" if tokens in own else "nick"
    if form == "surname":
        return "alias surname" if own & alias and tokens not in own else None
    return form


def shorts(people: list[tuple[str, list[str], float]], language: Language) -> dict[str, dict[int, tuple[float, str]]]:
    """The bearers of each short form: weight and form by row. People are label, aliases and fame."""
    found: dict[str, dict[int, tuple[float, str]]] = defaultdict(dict)
    for row, (label, aliases, fame) in enumerate(people):
        own = set(normalise(label).split()[:32])
        entries = [(form, tokens, WEIGHTS[form]) for form, tokens in forms(label, language)]
        for alias in aliases:
            for form, tokens in forms(alias, language):
                other = alias_form(form, tokens, own, set(normalise(alias).split()[:32]))
                if other:
                    late = other in ("called", "nick", "alias surname")
                    entries.append((other, tokens, WEIGHTS[other] * (1 if late else 0.5)))
        for form, tokens, weight in entries:
            if row not in found[tokens] or fame * weight > found[tokens][row][0]:
                found[tokens][row] = (fame * weight, form)
    return found


def token_counts(labels: list[str], language: Language) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """How often each token begins labels, ends them, and stands between."""
    first: Counter[str] = Counter()
    last: Counter[str] = Counter()
    middle: Counter[str] = Counter()
    for label in labels:
        for form, tokens in forms(label, language):
            first[tokens] += form == "first"
            last[tokens] += form == "surname"
            if form == "pair":
                raw = normalise(label.partition(",")[0]).split()
                cut = next((i for i, word in enumerate(raw) if i and word in language.head_ends), len(raw))
                middle.update(core(raw[:cut], language)[1:-1])
    return first, last, middle


def lower_counts(descriptions: list[str], thing_names: list[str]) -> Counter[str]:
    """How often each word stands in lower case."""
    counts: Counter[str] = Counter()
    for text in [*descriptions, *(name for name in thing_names if name[:1].islower())]:
        for word in re.findall(r"[^\s\-–,.;:!?()\"/]+", text):
            if word[0].islower():
                counts[normalise(word)] += 1
    return counts


def thing_fame(sitelinks: int, population: int, stated: int) -> float:
    sizes = [sitelinks if sitelinks > 1 else 0, 1.0, 8 * math.log10(1 + stated) ** 1.7]
    return max(*sizes, 1.2 * (math.log10(population) ** 2.6 - 8) if population >= 500 else 0)


def things(known: list[dict[str, Any]]) -> dict[str, float]:
    """The fame of the most famous thing of each name."""
    entries = []
    for rank, factor in enumerate((1, 0.7, 0.8)):
        for thing in known:
            label = thing["label"]
            names = [[label], thing["aliases"], [label.partition(",")[0]] if "," in label else []][rank]
            fame = thing_fame(thing["sitelinks"], thing["population"], thing["stated"])
            entries += [(name, fame * factor) for name in names]
    found: dict[str, float] = {}
    for name, fame in entries:
        key = normalise(name)
        named = name[:1] and ord(name[0]) < TABLE_END and (name[0].isupper() or name[0].isdigit())
        if named and len(key) > 1 and key.count(" ") < 7:
            found[key] = max(fame, found.get(key, 0.0))
    return found


def deletions(word: str) -> set[str]:
    """The word, and all words with one letter less, but for the first."""
    return {word} | {word[:i] + word[i + 1 :] for i in range(1, len(word))}


def slips(names: dict[str, int]) -> dict[tuple[str, str], set[str]]:
    """Names, of which the sitelinks of the most famous bearer are given, by two tokens with one letter less."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, sitelinks in names.items():
        tokens = name.split()
        if sitelinks < 10 or len(tokens) not in (2, 3) or len(tokens[-1]) < 5:
            continue
        for slip in deletions(tokens[-1]):
            found[tokens[0], slip].add(name)
        for slip in deletions(tokens[0]) if len(tokens[0]) >= 5 else ():
            found[tokens[-1], slip].add(name)
    return found
