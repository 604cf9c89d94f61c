"""The whole method in plain Python, slow and obvious, from the dump's JSON and the article's text to scores.

It shares with the product only the sentence bounds and the stop word list: tokens are NLTK's, stems are
NLTK's Porter, entities come straight from the dump, sets are Python's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from nltk.stem import PorterStemmer
from nltk.tokenize import TreebankWordTokenizer

from namesake.language import English
from namesake.text import sentences

LANGUAGES = ("en", "mul", "en-gb", "en-ca")
TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": " ", "—": " ", "…": "...", "\xa0": " "})

_stemmer = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)
_tokenizer = TreebankWordTokenizer()


@cache
def stem(word: str) -> str:
    return _stemmer.stem(word, to_lowercase=False)


def sentence_words(sentence: str) -> set[str]:
    tokens = (token.lower() for token in _tokenizer.tokenize(sentence.translate(TYPOGRAPHIC)))
    return {stem(token) for token in tokens if token[0].isalpha() and token not in English.stop_words}


def words(text: str) -> set[str]:
    return set().union(*(sentence_words(text[a:b]) for a, b in sentences(text)))


@dataclass
class Entity:
    qid: str
    label: str = ""
    description: str = ""
    paragraph: str = ""
    statements: set[tuple[str, str]] = field(default_factory=set)
    properties: int = 0
    sitelinks: int = 0
    person: bool = False
    aliases: list[str] = field(default_factory=list)


class Oracle:
    """A knowledge base as dictionaries, and the paper's scores over it."""

    def __init__(self, lines: list[str]) -> None:
        self.entities: dict[str, Entity] = {}
        for line in lines:
            line = line.strip().rstrip(",")
            if line not in ("[", "]", ""):
                record = json.loads(line)
                if record["type"] == "item":
                    self.entities.setdefault(record["id"], read_entity(record))

    @classmethod
    def load(cls, dump: Path, wikipedia: Path | None = None) -> Oracle:
        """Read a dump and, if given, first paragraphs from alternating index and page lines."""
        oracle = cls(dump.read_text(encoding="utf-8").splitlines())
        for line in wikipedia.read_text(encoding="utf-8").splitlines()[1::2] if wikipedia else ():
            page = json.loads(line)
            oracle.entities[page["wikibase_item"]].paragraph = page["opening_text"]
        return oracle

    def value_texts(self, qid: str, aliases: bool) -> list[str]:
        texts = []
        for _, value in self.entities[qid].statements:
            if value.startswith("Q:"):
                item = self.entities.get(value[2:])
                texts += [item.label, *(item.aliases if aliases else [])] if item else []
            else:
                texts.append(value[2:])
        return texts

    def entity_words(self, qid: str, features: str = "D+S") -> set[str]:
        chosen = set(features.split("+"))
        found: set[str] = set()
        if qid in self.entities:
            if "D" in chosen:
                found |= words(self.entities[qid].description)
            if "P" in chosen:
                found |= words(self.entities[qid].paragraph)
            if chosen & {"S", "S_A"}:
                found |= set().union(*(words(text) for text in self.value_texts(qid, "S_A" in chosen)))
        return found

    def iscore(self, text: str, name: str, qid: str, features: str = "D+S") -> int:
        return len((words(text) & self.entity_words(qid, features)) - words(name))

    def niscore(self, text: str, spans: list[tuple[int, int]], name: str, qid: str, features: str = "D+S") -> int:
        context: set[str] = set()
        for begin, end in sentences(text):
            if any(start < end and stop > begin for start, stop in spans):
                context |= sentence_words(text[begin:end])
        return len((context & self.entity_words(qid, features)) - words(name))

    def eeiscore(self, mentions: list[list[str]], at: int, qid: str, first_only: bool) -> int:
        """`mentions` are the candidate lists of the article, `at` is the mention being scored."""
        anchors = [(m, ids[0]) for m, ids in enumerate(mentions) if len(ids) == 1]
        if first_only:
            anchors = anchors[:1]
        own = [anchor for m, anchor in anchors if m == at]
        union: set[tuple[str, str]] = set()
        for m, anchor in anchors:
            if m != at and anchor not in (*own, qid) and anchor in self.entities:
                union |= self.entities[anchor].statements
        return len(self.entities[qid].statements & union) if qid in self.entities else 0


def read_entity(record: dict) -> Entity:
    entity = Entity(record["id"])
    labels = [record["labels"][lang]["value"] for lang in LANGUAGES if lang in record["labels"]]
    entity.label = labels[0] if labels else ""
    descriptions = [record["descriptions"][lang]["value"] for lang in LANGUAGES if lang in record["descriptions"]]
    entity.description = descriptions[0] if descriptions else ""
    entity.aliases = labels[1:] + [a["value"] for lang in LANGUAGES for a in (record["aliases"] or {}).get(lang, [])]
    entity.sitelinks = len(record.get("sitelinks") or {})
    for name, claims in (record["claims"] or {}).items():
        kept = [c["mainsnak"] for c in claims if c["rank"] != "deprecated" and c["mainsnak"]["snaktype"] == "value"]
        entity.properties += bool(kept)
        for snak in kept:
            value = snak["datavalue"]["value"]
            if snak["datavalue"]["type"] == "wikibase-entityid":
                entity.statements.add((name, f"Q:{value['id']}"))
            elif snak.get("datatype", "string") == "string" and isinstance(value, str):
                entity.statements.add((name, f"S:{value}"))
    entity.person = ("P31", "Q:Q5") in entity.statements
    return entity
