"""Records that cannot be used: set aside, counted and told, so that nothing is lost in silence."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from namesake.errors import NamesakeError
from namesake.files import published


@dataclass(frozen=True)
class Reject:
    """One record set aside: where it stands and what is wrong with it."""

    reason: str
    file: str | None = None
    line: int | None = None  # or row, counted from 1
    article_id: str | None = None
    row: int | None = None
    """Of a CSV file, as a spreadsheet counts it, where a cell may have several lines."""

    @property
    def record(self) -> dict[str, Any]:
        """What a file of rejects has of it."""
        return {name: value for name, value in asdict(self).items() if name != "row" or value is not None}

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        place += f" (row {self.row:,})" if self.row not in (None, self.line) else ""
        article = f"article {self.article_id}" if self.article_id is not None else ""
        return ": ".join(part for part in (place, article, self.reason) if part)


class Rejects:
    """Counts records that are set aside, keeps the first `most` to show, and writes all of them to the file `path`.

    The file holds JSON lines. It appears when the `with` block ends well, if there were any, and takes the place of
    an earlier run's. Without a path, none is written. `tidy` is as for `published`.
    """

    def __init__(self, path: Path | None = None, most: int = 5, tidy: bool = True) -> None:
        self.path = path
        self.tidy = tidy
        self.most = most
        self.count = 0
        self.first: list[Reject] = []
        self.reasons: Counter[str] = Counter()
        self.unread_dates: Counter[str] = Counter()
        """Dates that could not be read: their articles are kept, as undated."""
        self._stack = ExitStack()
        self._file: IO[bytes] | None = None

    def add(self, reject: Reject) -> None:
        """Set one record aside."""
        self.count += 1
        self.reasons[reject.reason] += 1
        if len(self.first) < self.most:
            self.first.append(reject)
        if self.path is not None:
            if self._file is None:
                partial = self._stack.enter_context(published(self.path, self.tidy))
                self._file = self._stack.enter_context(partial.open("wb"))
            self._file.write(msgspec.json.encode(reject.record) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
        if kind is None and self.path is not None and self._file is None:
            self.path.unlink(missing_ok=True)  # what an earlier run set aside is not ours


class NoRejects(Rejects):
    """Refuses the first record that cannot be used, for callers who gave no `Rejects` to set it aside in."""

    def add(self, reject: Reject) -> None:
        """Raise the reject as an error."""
        raise NamesakeError(f"{reject}; mend it, or pass `rejects` to go on without it")
