"""Tables of links as what clients get: names and addresses of entities are added, articles are kept apart."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa
from msgspec import UNSET

from namesake.apps.server.schema import CandidateAnswer, LinkAnswer
from namesake.kb import WIKIDATA
from namesake.kb.records import about
from namesake.kb.store import KB

REMEMBERED = 1 << 16


class Answers:
    """Turns links into answers; remembers the labels of the entities that come up most."""

    def __init__(self, kb: KB) -> None:
        self.kb = kb
        self.about = lru_cache(maxsize=REMEMBERED)(self._about)

    def _about(self, qid: str) -> tuple[str | None, str | None, str]:
        """The label, the description and the address of an entity."""
        row = self.kb.row(qid)
        if row < 0:
            return None, None, WIKIDATA + qid
        return self.kb.label(row) or None, about(self.kb, row) or None, WIKIDATA + qid

    def by_article(self, links: pa.Table, articles: int, parts: bool) -> list[list[LinkAnswer]]:
        """The links of each of so many articles, which are called by their numbers."""
        answers: list[list[LinkAnswer]] = [[] for _ in range(articles)]
        plain = {name: links.column(name).to_pylist() for name in links.column_names if name != "extra"}
        candidates = plain.get("candidates")
        doubts = plain.get("doubts") if parts else None
        for row, number in enumerate(plain["article_id"]):
            qid = plain["qid"][row]
            label, description, url = (None, None, None) if qid is None else self.about(qid)
            answers[int(number)].append(
                LinkAnswer(
                    plain["name"][row],
                    plain["spans"][row] or [],
                    plain["title_spans"][row] or [],
                    qid,
                    label,
                    description,
                    url,
                    plain["confidence"][row],
                    plain["known"][row],
                    plain["reason"][row],
                    plain["best"][row],
                    plain["score"][row],
                    plain["margin"][row],
                    plain["tie_break"][row],
                    UNSET if candidates is None else [self._candidate(one, parts) for one in candidates[row]],
                    UNSET if doubts is None else doubts[row],
                )
            )
        return answers

    def _candidate(self, given: dict[str, Any], parts: bool) -> CandidateAnswer:
        label, description, url = self.about(given["qid"])
        shown = given["parts"] if parts else UNSET
        return CandidateAnswer(given["qid"], label, description, url, given["score"], shown)
