"""The counts of a Spark job, added up over all executors: articles, links and rejected records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from namesake.articles.rejects import Reject, Rejects
from namesake.engines.local import Linked
from namesake.errors import NamesakeError
from namesake.formats.jsonl import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_KEPT = 100_000
"""Rejected records that the driver keeps with their places; all are counted."""


@dataclass
class Tally:
    """Counts, of a task or of a whole job."""

    counts: Counter[str] = field(default_factory=Counter)
    """The number of `articles`, their `mentions`, and the mentions that are `linked`."""
    reasons: Counter[str] = field(default_factory=Counter)
    """The number of rejected records for each reason."""
    unread_dates: Counter[str] = field(default_factory=Counter)
    """Dates that could not be read: their articles are linked as undated."""
    rejects: list[Reject] = field(default_factory=list)
    """The first rejected records."""
    problems: list[str] = field(default_factory=list)
    """Files that could not be read to their end."""
    notes: list[str] = field(default_factory=list)
    """What was skipped in the folders of articles."""

    def add(self, other: Tally) -> Tally:
        """Add the counts of another tally to this one."""
        self.counts.update(other.counts)
        self.reasons.update(other.reasons)
        self.unread_dates.update(other.unread_dates)
        self.rejects.extend(islice(other.rejects, max(MOST_KEPT - len(self.rejects), 0)))
        self.problems.extend(other.problems)
        return self


class SetAside:
    """Counts the rejected records of a Spark job over all executors.

    Spark may run a task twice if its links pass through a shuffle; its rejected records are then counted twice.
    """

    def __init__(self, spark: SparkSession) -> None:
        from pyspark.accumulators import AccumulatorParam

        class Adding(AccumulatorParam[Tally]):
            """Adds up tallies."""

            def zero(self, value: Tally) -> Tally:
                """An empty tally."""
                return Tally()

            def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802
                """The sum of two tallies."""
                return value1.add(value2)

        self._counted = spark.sparkContext.accumulator(Tally(), Adding())

    @property
    def tally(self) -> Tally:
        """All counts."""
        return self._counted.value

    @property
    def reasons(self) -> Counter[str]:
        """The number of rejected records for each reason."""
        return self.tally.reasons

    @property
    def rejects(self) -> list[Reject]:
        """The first 100,000 rejected records, with the file and line of each if they are known."""
        return self.tally.rejects

    @property
    def unread_dates(self) -> Counter[str]:
        """Dates that could not be read: their articles are linked as undated."""
        return self.tally.unread_dates

    @property
    def count(self) -> int:
        """The number of rejected records."""
        return self.reasons.total()


class Placed(Rejects):
    """Adds the place of each rejected record and counts them; without `counted`, the first record is an error."""

    def __init__(self, counted: Any = None) -> None:
        super().__init__()
        self.counted = counted
        self.tally = Tally()
        self.go_to(None)

    def go_to(self, file: str | None, lines_known: bool = False) -> None:
        """What follows comes from this file, which is read from its beginning if `lines_known`."""
        self.file, self.lines_known, self.places = file, lines_known, Places()

    def add(self, reject: Reject) -> None:
        """Reject one record."""
        line = self.places.line_of(reject.article_id or "") if reject.file is None else reject.line
        reject = replace(reject, file=self.file, line=line if self.lines_known else None)
        if self.counted is None:
            raise NamesakeError(f"{reject}; correct it, or pass `set_aside` to skip it")
        super().add(reject)
        self.tally.add(Tally(reasons=Counter([reject.reason]), rejects=[reject]))

    def problem(self, line: str) -> None:
        """Record a file that cannot be read to its end."""
        if self.counted is None:
            raise NamesakeError(line)
        self.tally.problems.append(line)

    def linked(self, done: Linked) -> None:
        """Count a table of linked articles."""
        self.tally.counts.update(articles=done.articles, mentions=done.mentions, linked=done.linked)

    def send(self) -> None:
        """Send the counts to the driver; Spark adds them when the task ends."""
        if self.counted is not None:
            self.tally.unread_dates, self.unread_dates = self.unread_dates, Counter()
            self.counted.add(self.tally)
            self.tally = Tally()
