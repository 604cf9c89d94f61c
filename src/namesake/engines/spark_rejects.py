"""Counts of a Spark job over all executors: articles, links and rejected records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.formats.json_articles import Places
from namesake.linker import Linked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_KEPT = 100_000
"""How many rejected records the driver keeps with their places; all are counted."""


@dataclass
class Tally:
    """Counts of a task or of a whole job."""

    counts: Counter[str] = field(default_factory=Counter)
    """`articles` that could be linked, their `mentions`, and those that are `linked`."""
    reasons: Counter[str] = field(default_factory=Counter)
    """How often a record was rejected for each reason."""
    unread_dates: Counter[str] = field(default_factory=Counter)
    """Dates that cannot be read. Their articles are linked as undated."""
    rejects: list[Reject] = field(default_factory=list)
    """The first 100,000 rejected records, with their files and lines if these are known."""
    problems: list[str] = field(default_factory=list)
    """Files that could not be read to their end."""
    notes: list[str] = field(default_factory=list)
    """Messages about skipped files."""

    @property
    def count(self) -> int:
        """How many records were rejected."""
        return self.reasons.total()

    def add(self, other: Tally) -> Tally:
        """Add the counts of another tally."""
        self.counts.update(other.counts)
        self.reasons.update(other.reasons)
        self.unread_dates.update(other.unread_dates)
        self.rejects.extend(islice(other.rejects, max(MOST_KEPT - len(self.rejects), 0)))
        self.problems.extend(other.problems)
        return self


class SparkRejects:
    """Counts the records that a job rejects, over all executors.

    It has the attributes of a `Tally`. If links pass through a shuffle, Spark may run a task twice, and counts its
    rejects twice.
    """

    def __init__(self, spark: SparkSession) -> None:
        from pyspark.accumulators import AccumulatorParam

        class Adding(AccumulatorParam[Tally]):
            """Adds tallies."""

            def zero(self, value: Tally) -> Tally:
                """An empty tally."""
                return Tally()

            def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802
                """The sum."""
                return value1.add(value2)

        self.total = spark.sparkContext.accumulator(Tally(), Adding())

    @property
    def tally(self) -> Tally:
        """All counts."""
        return self.total.value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tally, name)


class TaskRejects(Rejects):
    """The rejects of one task, with their file and line as far as these are known.

    Without the accumulator `total`, the first one is an error.
    """

    def __init__(self, total: Any = None) -> None:
        super().__init__(most=MOST_KEPT)
        self.total, self.counts, self.problems = total, Counter[str](), list[str]()
        self.go_to(None)

    def go_to(self, file: str | None, lines_known: bool = False) -> None:
        """Begin with a file; `lines_known` if it is read from its beginning."""
        self.file, self.lines_known, self.places = file, lines_known, Places()

    def add(self, reject: Reject) -> None:
        """Reject one record."""
        line = self.places.line_of(reject.article_id or "") if reject.file is None else reject.line
        placed = replace(reject, file=self.file, line=line if self.lines_known else None)
        if self.total is None:
            raise NamesakeError(f"{placed}; correct it, or pass `rejects` to continue without it")
        super().add(placed)

    def add_problem(self, line: str) -> None:
        """Note a file that cannot be read to its end."""
        if self.total is None:
            raise NamesakeError(line)
        self.problems.append(line)

    def count_links(self, linked: Linked) -> None:
        """Count articles and their links."""
        self.counts.update(articles=linked.articles, mentions=linked.mentions, linked=linked.linked)

    def send(self) -> None:
        """Send the counts to the driver; Spark adds them when the task ends."""
        if self.total is not None:
            self.total.add(Tally(self.counts, self.reasons, self.unread_dates, self.first, self.problems))
