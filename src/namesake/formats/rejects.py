"""What could not be used, set aside one line each, so that nothing is lost in silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec


@dataclass(frozen=True)
class Reject:
    """One record set aside: where it stands and what is wrong with it."""

    reason: str
    file: str | None = None
    line: int | None = None
    article_id: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        article = f"article {self.article_id}" if self.article_id is not None else ""
        return ": ".join(part for part in (place, article, self.reason) if part)


class Rejects:
    """Counts rejects, keeps the first few to show, and writes all of them to a JSONL file made on first need."""

    SHOWN = 5

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.count = 0
        self.first: list[Reject] = []
        self.reasons: Counter[str] = Counter()
        self._file: IO[bytes] | None = None

    def add(self, reject: Reject) -> None:
        """Set one record aside."""
        self.count += 1
        self.reasons[reject.reason] += 1
        if len(self.first) < self.SHOWN:
            self.first.append(reject)
        if self.path is not None:
            if self._file is None:
                self._file = self.path.open("wb")
            self._file.write(msgspec.json.encode(asdict(reject)) + b"\n")

    def __enter__(self) -> Rejects:
        if self.path is not None:
            self.path.unlink(missing_ok=True)  # what an earlier run set aside is not ours
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
