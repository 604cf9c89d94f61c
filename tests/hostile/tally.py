"""Counts of what became of every case, gathered from all test processes and drawn as a table."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

from hostile.sandbox import BAD

FILE = "NAMESAKE_HOSTILE_TALLY"
"""The environment variable that names the file which cases are appended to."""
WORST = (*BAD, "out of bounds", "lost", "mixed", "half", "left behind", "accepted")
"""Verdicts that must not occur."""
FINE = ("wrong answer", "refused", "done", "harmless", "old", "new", "nothing")
"""Verdicts that may: `wrong answer` is a damage that only a checksum could tell from data."""


class Tally:
    """Counts the verdicts of one matrix; `bad` has the cases with one of WORST."""

    def __init__(self, matrix: str) -> None:
        self.matrix = matrix
        self.counts: Counter[str] = Counter()
        self.bad: list[str] = []

    def add(self, verdict: str, case: object) -> None:
        """Count a case, and remember it where its verdict is bad."""
        self.counts[verdict] += 1
        if verdict in WORST:
            self.bad.append(f"{verdict}: {case}"[:400])

    def write(self) -> None:
        """Append the counts to the file that gathers them, where there is one."""
        if FILE in os.environ and self.counts:
            test = os.environ.get("PYTEST_CURRENT_TEST", "").removesuffix(" (teardown)")
            line = json.dumps({"matrix": self.matrix, "test": test, "counts": self.counts, "bad": self.bad[:50]}) + "\n"
            handle = os.open(os.environ[FILE], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(handle, line.encode())  # one call: lines of several processes do not mix
            os.close(handle)

    def check(self) -> None:
        """Fail with the bad cases."""
        assert not self.bad, f"{len(self.bad)} bad of {self.counts.total()}:\n" + "\n".join(self.bad[:20])


def gathered(path: Path) -> dict[str, Counter[str]]:
    """The counts of each matrix."""
    totals: dict[str, Counter[str]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        row = json.loads(line)
        totals.setdefault(row["matrix"], Counter()).update(row["counts"])
    return totals


def table(totals: dict[str, Counter[str]]) -> str:
    """The counts as Markdown: a row for each matrix, bad verdicts first."""
    columns = [verdict for verdict in (*WORST, *FINE) if verdict in BAD or any(c[verdict] for c in totals.values())]
    lines = ["| | cases | " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) + 1)]
    for matrix, counts in sorted(totals.items()):
        cells = [f"{counts.total():,}", *(f"{counts[verdict]:,}" for verdict in columns)]
        lines.append(f"| {matrix} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def worst(totals: dict[str, Counter[str]]) -> int:
    """How many cases ended as none may."""
    return sum(counts[verdict] for counts in totals.values() for verdict in WORST)
