"""The value of `span._.namesake`: the link of a name, with its candidates and explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.linker import Linker

Row = dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    """A candidate of a name; `qid` is None for NIL."""

    qid: str | None
    label: str | None
    description: str | None
    score: float
    confidence: float | None


class SpanLink:
    """The link of the name at a span. Candidates and explanation are computed on each access."""

    def __init__(self, row: Row, article: pa.Table, linker: Linker | None) -> None:
        self.name: str = row["name"]
        self.qid: str | None = row["qid"]
        self.best: str | None = row["best"]
        self.score: float | None = row["score"]
        self.confidence: float | None = row["confidence"]
        self.known: float | None = row["known"]
        self.reason: str | None = row["reason"]
        self.spans: list[tuple[int, int]] = [(start, end) for start, end in row["spans"]]
        """Every occurrence of the name in the document, in characters."""
        self._article, self._linker = article, linker

    def __repr__(self) -> str:
        who = self.qid or f"NIL: {self.reason}"
        sure = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        return f"<{self.name} → {who}{sure}>"

    @property
    def explanation(self) -> pa.Table:
        """One row per candidate and part, as in `Linker.explain`."""
        if self._linker is None:
            raise NamesakeError(
                "the pipe that linked this document no longer exists: run the document through a pipe again"
            )
        rows = self._linker.explain(self._article, self.name)
        same = [spans == [list(span) for span in self.spans] for spans in rows.column("spans").to_pylist()]
        return rows.filter(pa.array(same, pa.bool_()))

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates, including NIL, the best first."""
        fields = ["rank", "qid", "label", "description", "score", "confidence"]
        rows = self.explanation.select(fields).to_pylist()
        return [Candidate(*list(row.values())[1:]) for row in {row["rank"]: row for row in rows}.values()]


def row_of(rows: Sequence[Row], start: int, end: int) -> Row | None:
    """The link whose name is at [start, end) of the text: the one that shares most characters with it."""
    shared = [max((min(e, end) - max(s, start) for s, e in row["spans"]), default=0) for row in rows]
    at = max(range(len(rows)), key=shared.__getitem__, default=None)
    return rows[at] if at is not None and shared[at] > 0 else None
