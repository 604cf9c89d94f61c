"""A slow and obvious twin of `kb.kinds`: one item after the other, dicts, sets and Python's regular expressions."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import oracle_build
from oracle_dump import population, valued

PACKAGE = Path(__file__).parents[1] / "src" / "namesake"
KINDS = tomllib.loads((PACKAGE / "kinds.toml").read_text())
ENGLISH = tomllib.loads((PACKAGE / "language" / "english.toml").read_text())
NOUNS = {noun + end: kind for end in ("s", "") for kind, said in ENGLISH["kind_nouns"].items() for noun in said.split()}
AFTER = "|".join(ENGLISH["words"]["after_nouns"].split())
TYPES = {"P569": "time", "P577": "time", "P625": "globecoordinate"}


def noun_kind(text: str) -> str | None:
    """The kind by the last word of what is before a preposition, a number or a sign, or by the word before it."""
    words = re.split(rf"\s(?:{AFTER})(?=\s|$)|\s(?=\d)|[,;:(/]", text.lower().strip(), maxsplit=1, flags=re.A)[
        0
    ].split()
    return next((NOUNS[word] for word in words[:-3:-1] if word in NOUNS), None)


def label_kind(label: str) -> str | None:
    kind = noun_kind(label) if len(label.split()) > 1 else None
    return None if kind == "other" else kind


def stated(entity: dict[str, Any], prop: str) -> list[str]:
    """The items that a property of an entity names, in their order."""
    found = []
    for claim in valued((entity.get("claims") or {}).get(prop, [])):
        value = claim["mainsnak"]["datavalue"]
        if value["type"] == "wikibase-entityid" and value["value"].get("entity-type", "item") == "item":
            found.append(f"Q{value['value']['numeric-id']}" if "numeric-id" in value["value"] else value["value"]["id"])
    return found


def has(entity: dict[str, Any], number: int) -> bool:
    """Whether a property has a value of its type."""
    prop = f"P{number}"
    claims = valued((dict(entity.get("claims") or {})).get(prop, []))
    kind = TYPES.get(prop)
    if number == 1082:
        return population(claims) > 0
    return any(one["mainsnak"]["datavalue"]["type"] == kind for one in claims) if kind else bool(stated(entity, prop))


def class_kinds(items: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The kinds of all classes at or below a listed one, level by level."""
    known = {qid: kind for kind, table in KINDS.items() for qid in table["classes"]}
    while True:
        new = {}
        for qid, entity in items.items():
            above = [known[one] for one in stated(entity, "P279") if one in known]
            if qid not in known and above:
                new[qid] = above[0]
        if not new:
            return known
        known |= new


def kinds(entities: list[dict[str, Any]], titles: bool = True) -> dict[str, str]:
    """The kind of every item, by its QID."""
    items = {one["id"]: one for one in entities if one["id"].startswith("Q")}
    of_class = class_kinds(items)
    uses: dict[str, Counter[str]] = {}
    for entity in items.values():
        for kind, table in KINDS.items():
            for prop in table.get("value_of", []):
                for value in stated(entity, f"P{prop}"):
                    uses.setdefault(value, Counter())[kind] += 1
    return {qid: _kind(one, items, of_class, uses.get(qid, Counter())) for qid, one in items.items()}


def _kind(entity: dict, items: dict[str, dict], of_class: dict[str, str], uses: Counter[str]) -> str:
    classes = stated(entity, "P31")
    if "Q5" in classes:
        return "person"
    votes = Counter(
        kind
        for one in classes
        if (kind := of_class.get(one) or (noun_kind(oracle_build.label(items[one])) if one in items else None))
    )
    for kind, _ in votes.most_common():
        if kind != "dropped" or len(votes) == 1:
            return kind
    title = dict(entity.get("sitelinks") or {}).get("enwiki", {}).get("title", "")
    brackets = re.search(r"\(([^()]*)\)$", title)
    strong, weak = (
        next((kind for kind, table in KINDS.items() for one in table.get(field, []) if has(entity, one)), None)
        for field in ("properties", "weak_properties")
    )
    return (
        noun_kind(described(entity))
        or strong
        or (noun_kind(brackets[1]) if brackets else None)
        or label_kind(oracle_build.label(entity))
        or weak
        or max(KINDS, key=lambda kind: uses[kind] if uses else kind == "other")
    )


def described(entity: dict) -> str:
    texts = dict(entity.get("descriptions") or {})
    return next((texts[code]["value"] for code in oracle_build.LANGUAGES if texts.get(code, {}).get("value")), "")
