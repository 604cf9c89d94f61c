"""Short forms of entities that are not people, as plain lists and dictionaries: a slow and obvious twin."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from namesake.kb.names.normalise import APOSTROPHES, normalise
from namesake.language import Language

WEIGHTS = {
    "head": 0.7,
    "acronym": 0.5,
    "no suffix": 1.0,
    "tail": 0.3,
    "opening": 0.3,
    "team place": 2.0,
    "team nickname": 0.7,
    "demonym": 1.0,
    "no possessive": 1.0,
    "no year": 0.5,
    "national team": 10.0,
    "team demonym": 3.0,
    "last word": 0.1,
}
Form = tuple[str, str]


class Entity(NamedTuple):
    """An entity that is not a person."""

    label: str
    aliases: list[str]
    fame: float
    is_team: bool = False
    demonyms: list[str] = []  # noqa: RUF012


def is_number(token: str) -> bool:
    return all(letter in "0123456789" for letter in token)


def core_forms(tokens: list[str], is_team: bool, language: Language) -> Iterator[Form]:
    """A name without its article, legal form or year; the forms of a team."""
    legal, team, sports = language.legal_forms, language.team_words, language.sports
    core = list(tokens)
    if tokens[0] == language.article:
        core = core[1:]
        yield "no suffix", " ".join(core)
    is_team = is_team or any(token in team or (len(tokens) > 2 and token in sports) for token in tokens[1:])
    is_team = is_team or tokens[0] in team & legal
    while len(core) > 1 and core[-1] in legal:
        core.pop()
    if len(core) > 1 and core[0] in legal:
        core.pop(0)
    if len(core) < len(tokens):
        yield "no suffix", " ".join(core)
    dateless = list(core)
    while dateless and is_number(dateless[0]):
        dateless.pop(0)
    while dateless and is_number(dateless[-1]):
        dateless.pop()
    if dateless and len(dateless) < len(core):
        yield "no year", " ".join(dateless)
    if is_team:
        yield from team_forms(core, language)


def team_forms(core: list[str], language: Language) -> Iterator[Form]:
    """The beginnings and the ends of a team's name; the country of a national team."""
    national = [i for i in range(1, len(core)) if core[i] in language.national]
    if national:
        country = core[: national[0]]
        while len(country) > 1 and country[-1] in language.sports:
            country.pop()
        yield "national team", " ".join(country)
        return
    plain = list(core)
    while len(plain) > 2 and plain[-1] in language.sports:
        plain.pop()
    if len(plain) < len(core):
        yield "team nickname", " ".join(plain)
    for i in range(1, min(len(plain), 3)):
        yield "team place", " ".join(plain[:i])
        yield "team nickname", " ".join(plain[i:])


def other_forms(tokens: list[str], is_famous: bool, language: Language) -> Iterator[Form]:
    """What only a label is cut to: beginnings, ends and acronyms."""
    low = 1 if tokens[0] == language.article or is_number(tokens[0]) else 0
    for end in (low + 1, low + 2):
        if end < len(tokens) and (end == len(tokens) - 1 or end == low + 2 or is_famous):
            yield "opening", " ".join(tokens[low:end])
    small = language.function_words | language.of_words
    for words in ([token for token in tokens if token not in small], tokens):
        if len(words) > 1:
            yield "acronym", "".join(word.encode()[:1].decode("latin-1") for word in words)
    for i in range(1, len(tokens) - 1):
        if tokens[i] in language.of_words:
            if tokens[low:i]:
                yield "head", " ".join(tokens[low:i])
            after = i + 2 if i + 2 < len(tokens) and tokens[i + 1] in language.function_words else i + 1
            yield "tail", " ".join(tokens[after:])
            return
    for i in range(max(1, len(tokens) - 4), len(tokens) - 1):
        if tokens[i] not in language.function_words:
            yield "no year" if is_number(tokens[0]) else "tail", " ".join(tokens[i:])
    if is_famous and tokens[-1] not in language.legal_forms:
        yield "last word", tokens[-1]


def rewritten(name: str, language: Language) -> Iterator[Form]:
    """A name without possessives, and its parts at a comma or colon."""
    if not re.search("[,:'’]", name):
        return
    plain = re.sub(rf"[{APOSTROPHES}]{language.possessive}\b", "", name)
    if plain != name:
        yield "no possessive", plain
    for mark in (",", ": "):
        before, found, after = plain.partition(mark)
        if found:
            yield "head", before
        if found and mark == ": ":
            yield "tail", after


def entries(entities: list[Entity], language: Language) -> Iterator[tuple[str, int, str, float]]:
    """All entries: form, row, text, weight."""
    names = [(one.label, row, True) for row, one in enumerate(entities)]
    names += [(alias, row, False) for row, one in enumerate(entities) for alias in one.aliases]
    national = []
    for name, row, is_label in names:
        tokens, one = normalise(name).split(), entities[row]
        if not 2 <= len(tokens) <= 10:
            continue
        forms = list(core_forms(tokens, one.is_team, language))
        if is_label and not (forms and forms[-1][0] == "national team"):
            forms += other_forms(tokens, one.fame >= 20, language)
        for form, text in forms:
            if form == "team place" and not is_label:
                continue
            national += [(row, text)] * (form == "national team")
            yield form, row, text, one.fame * WEIGHTS[form] * (1 if is_label else 0.5)
    for name, row, _ in names:
        for form, text in rewritten(name, language):
            if len(normalise(text)) > 1 and len(normalise(text).split()) <= 10:
                yield form, row, normalise(text), entities[row].fame * WEIGHTS[form]
    for row, one in enumerate(entities):
        for word in map(normalise, one.demonyms):
            if len(word) > 1 and len(word.split()) <= 10:
                yield "demonym", row, word, one.fame * WEIGHTS["demonym"]
    for place, words in sorted(language.demonyms.items()):
        for label in sorted({place, *(f"{word} {people}" for word in words for people in language.peoples)}):
            called = [row for row, one in enumerate(entities) if normalise(one.label) == label]
            row = max(called, key=lambda row: (entities[row].fame, -row), default=-1)
            for word in words if called else ():
                yield "demonym", row, word, entities[row].fame * WEIGHTS["demonym"]
    for row, country in national:
        for place, words in language.demonyms.items():
            for word in {place, *words} - {country} if country in {place, *words} else ():
                yield "team demonym", row, word, entities[row].fame * WEIGHTS["team demonym"]


def shorts(entities: list[Entity], language: Language) -> dict[str, dict[int, tuple[float, str]]]:
    """The entities with each short form: weight and form by row."""
    found: dict[str, dict[int, tuple[float, str]]] = defaultdict(dict)
    for form, row, text, weight in entries(entities, language):
        label = normalise(entities[row].label)
        if text == label and len(label) > 1:
            continue
        if row not in found[text] or weight > found[text][row][0]:
            found[text][row] = (weight, form)
    return {text: rows for text, rows in found.items() if rows}
