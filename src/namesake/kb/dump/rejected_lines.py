"""Rejected lines of dumps: counted by reason, and listed in `rejects.jsonl`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from namesake.kb.manifest import Reject

NAMED = 10_000  # rejects that are listed; all are counted
REASONS = 50  # reasons that are counted separately
QUOTED = re.compile(r"'[^']*'")


class Rejects:
    """All rejected lines of a build."""

    def __init__(self) -> None:
        self.named: list[Reject] = []
        self.reasons: Counter[str] = Counter()

    def add(self, rejects: Iterable[Reject]) -> None:
        """Count these, and list them up to the limit."""
        for reject in rejects:
            kind = QUOTED.sub("…", reject.reason.partition(":")[0])
            self.reasons[kind if kind in self.reasons or len(self.reasons) < REASONS else "other"] += 1
            if len(self.named) < NAMED:
                self.named.append(reject)

    def restore(self, named: list[Reject], reasons: dict[str, int]) -> None:
        """Replace the content by these."""
        self.named, self.reasons = list(named), Counter(reasons)

    def __len__(self) -> int:
        return self.reasons.total()

    def lines(self) -> bytes:
        """The content of `rejects.jsonl`."""
        return b"".join(msgspec.json.encode(reject) + b"\n" for reject in self.named)
