"""A slow and obvious twin of `kb build`: one dict per entity, Python's json, sets and networkx."""

from __future__ import annotations

import bz2
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx

import oracle_text

LANGUAGES = ("en", "mul", "en-gb", "en-ca")


def read(path: Path) -> list[dict[str, Any]]:
    """Every entity of a dump or of a file of JSON lines."""
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8") as file:
        lines = [line.strip().rstrip(",") for line in file]
    return [json.loads(line) for line in lines if line not in ("", "[", "]")]


def label(entity: dict[str, Any]) -> str:
    texts = [entity["labels"][code]["value"] for code in LANGUAGES if code in (entity.get("labels") or {})]
    return next((found for found in texts if found), "")


def statements(entity: dict[str, Any]) -> set[tuple[str, str]]:
    """(property, value) with the value as a QID or as the text; not deprecated: items, strings, demonyms."""
    found = set()
    for prop, claims in (entity.get("claims") or {}).items():
        for claim in claims:
            snak = claim["mainsnak"]
            if claim.get("rank") == "deprecated" or snak["snaktype"] != "value":
                continue
            value = snak["datavalue"]["value"]
            kind = snak["datavalue"]["type"]
            if kind == "wikibase-entityid" and value.get("entity-type", "item") == "item":
                found.add((prop, f"Q{value['numeric-id']}" if "numeric-id" in value else value["id"]))
            elif kind == "string" and snak.get("datatype", "string") == "string":  # no identifiers, no file names
                found.add((prop, value))
            elif kind == "monolingualtext" and prop == "P1549" and value["language"] in LANGUAGES:  # demonyms
                found.add((prop, value["text"]))
    return found


def is_item(value: str) -> bool:
    return value[:1] == "Q" and value[1:].isdigit()


def is_person(entity: dict[str, Any]) -> bool:
    return ("P31", "Q5") in statements(entity)


def build(path: Path, keep: str) -> dict[str, dict[str, Any]]:
    """What a KB should say of each kept entity, by QID."""
    items: dict[str, dict[str, Any]] = {}
    for entity in read(path):
        if entity["id"].startswith("Q"):
            items.setdefault(entity["id"], entity)
    stated = {qid: statements(entity) for qid, entity in items.items()}
    kept = {qid for qid, entity in items.items() if keep == "all" or is_person(entity)}
    labels = {qid: label(entity) for qid, entity in items.items()}
    counts = Counter(pair for qid in kept for pair in stated[qid])
    ranks = pageranks(stated)
    made = {}
    for qid in sorted(kept, key=lambda name: int(name[1:])):
        values = [labels.get(value, "") if is_item(value) else value for _, value in stated[qid]]
        description = next(
            (items[qid]["descriptions"][c]["value"] for c in LANGUAGES if c in (items[qid].get("descriptions") or {})),
            "",
        )
        made[qid] = {
            "label": labels[qid],
            "description": description,
            "statements": stated[qid],
            "counts": {pair: counts[pair] for pair in stated[qid]},
            "words": {word for written in [description, *values] for word in oracle_text.words(written)},
            "sitelinks": len(items[qid].get("sitelinks") or {}),
            "pagerank": ranks[qid],
        }
    return made


def pageranks(stated: dict[str, set[tuple[str, str]]]) -> dict[str, float]:
    graph = nx.DiGraph()
    graph.add_nodes_from(stated)
    for qid, pairs in stated.items():
        targets = {value for _, value in pairs if is_item(value)}
        graph.add_nodes_from(targets)
        graph.add_edges_from((qid, target) for target in targets if target != qid)
    ranks = nx.pagerank(graph, tol=1e-12, max_iter=500)
    return {qid: rank * len(graph) for qid, rank in ranks.items()}
