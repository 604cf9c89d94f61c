"""Rejected records: counted, reported, and written to a file on request."""

from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from namesake.errors import NamesakeError
from namesake.files import published


@dataclass(frozen=True)
class Reject:
    """One rejected record: its place and the reason."""

    reason: str
    file: str | None = None
    line: int | None = None  # or the row, counted from 1
    article_id: str | None = None
    row: int | None = None
    """The row of a CSV file as a spreadsheet counts it; a row may have several lines."""

    @property
    def record(self) -> dict[str, Any]:
        """The record for a file of rejects."""
        return {name: value for name, value in asdict(self).items() if name != "row" or value is not None}

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        place += f" (row {self.row:,})" if self.row not in (None, self.line) else ""
        article = f"article {self.article_id}" if self.article_id is not None else ""
        return ": ".join(part for part in (place, article, self.reason) if part)


class Rejects(ExitStack):
    """Counts rejected records, keeps the first `most`, writes all to the file `path`; if `strict`, the first is raised.

    The file appears if the `with` block succeeds and a record was rejected, and replaces that of an earlier run.
    """

    def __init__(self, path: Path | None = None, most: int = 5, tidy: bool = True, strict: bool = False) -> None:
        super().__init__()
        self.path, self.most, self.tidy, self.strict = path, most, tidy, strict
        self.first: list[Reject] = []
        self.reasons: Counter[str] = Counter()
        self.unread_dates: Counter[str] = Counter()
        """Dates that cannot be read. Their articles are linked as undated."""
        self.places: dict[str, int] | None = None
        """The lines of the articles that are read, by their ids; None if no caller needs the lines."""
        self._file: IO[bytes] | None = None

    @property
    def count(self) -> int:
        """How many records were rejected."""
        return self.reasons.total()

    def add(self, reject: Reject) -> None:
        """Reject one record."""
        if self.strict:
            raise NamesakeError(f"{reject}; correct it, or pass `rejects` to continue without it")
        self.reasons[reject.reason] += 1
        if len(self.first) < self.most:
            self.first.append(reject)
        if self.path is not None:
            if self._file is None:
                partial = self.enter_context(published(self.path, self.tidy))
                self._file = self.enter_context(partial.open("wb"))
            self._file.write(msgspec.json.encode(reject.record) + b"\n")

    def __exit__(self, *problem: Any) -> None:
        super().__exit__(*problem)
        if problem[0] is None and self.path is not None and self._file is None:
            self.path.unlink(missing_ok=True)  # the file of an earlier run


NoRejects = partial(Rejects, strict=True)  # for callers that passed no `Rejects`
