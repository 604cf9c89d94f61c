"""UIScore in plain Python on NLTK, as one would first write it: what the speed of linking is compared with.

Words, entities and scores are those of tests/oracle.py; here an article's words are made once, not once a candidate.
"""

from __future__ import annotations

import gzip
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from namesake.text import sentences
from oracle import Oracle, sentence_words, words

_ID = re.compile(r'"id":\s*"(Q\d+)"')


class PlainLinker:
    """Scores candidates with sets and dictionaries; knows the entities that some articles need, and their values."""

    def __init__(self, dump: Path, records: list[dict[str, Any]]) -> None:
        wanted = {qid for r in records for m in r["mentions"] for qid in m["candidates"]}
        people = _lines(dump, wanted)
        values = {qid for line in people for qid in _ID.findall(line)} - wanted
        self.oracle = Oracle(people + _lines(dump, values))
        self._kept: dict[str, set[str]] = {}

    def link(self, records: list[dict[str, Any]], keep: bool) -> list[float]:
        """The best score of every mention; with `keep`, the words of an entity are made once and for all."""
        return [best for record in records for best in self._article(record, keep)]

    def _article(self, record: dict[str, Any], keep: bool) -> list[float]:
        text = record["text"]
        bounds = sentences(text)
        by_sentence = [sentence_words(text[begin:end]) for begin, end in bounds]
        article = set().union(*by_sentence)
        given = [mention["candidates"] for mention in record["mentions"]]
        best = []
        for at, mention in enumerate(record["mentions"]):
            name = words(mention["name"])
            near = set().union(
                *(
                    found
                    for (begin, end), found in zip(bounds, by_sentence, strict=True)
                    if any(start < end and stop > begin for start, stop in mention["spans"])
                )
            )
            scores = [
                len((article & own) - name) + len((near & own) - name) + self.oracle.eeiscore(given, at, qid, True)
                for qid in mention["candidates"]
                for own in [self._entity(qid, keep)]
            ]
            best.append(float(max(scores)))
        return best

    def _entity(self, qid: str, keep: bool) -> set[str]:
        if not keep:
            return self.oracle.entity_words(qid)
        if qid not in self._kept:
            self._kept[qid] = self.oracle.entity_words(qid)
        return self._kept[qid]


def _lines(dump: Path, wanted: set[str]) -> list[str]:
    """The dump's lines of the items wanted."""
    with gzip.open(dump, "rt", encoding="utf-8") as lines:
        return [line for line in lines if (found := _ID.search(line)) and found[1] in wanted]
