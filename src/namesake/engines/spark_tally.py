"""What a job on Spark comes to, counted on all executors: articles, links, and what could not be used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.formats.jsonl import Places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_KEPT = 100_000
"""Records set aside that the driver keeps with their places; all are counted."""


@dataclass
class Tally:
    """Counts, of a task or of a whole job."""

    counts: Counter[str] = field(default_factory=Counter)
    """Of `articles` that could be linked, their `mentions`, and those that are `linked`."""
    reasons: Counter[str] = field(default_factory=Counter)
    """How often each reason to set a record aside was met."""
    unread_dates: Counter[str] = field(default_factory=Counter)
    """Dates that could not be read: their articles are kept, as undated."""
    rejects: list[Reject] = field(default_factory=list)
    """The first records that were set aside."""
    problems: list[str] = field(default_factory=list)
    """Files that could not be read to their end."""
    notes: list[str] = field(default_factory=list)
    """What was passed over in the folders of articles."""

    def add(self, other: Tally) -> Tally:
        """Both."""
        self.counts.update(other.counts)
        self.reasons.update(other.reasons)
        self.unread_dates.update(other.unread_dates)
        self.rejects.extend(islice(other.rejects, max(MOST_KEPT - len(self.rejects), 0)))
        self.problems.extend(other.problems)
        return self


class SetAside:
    """Counts, over all executors, what could not be linked: `count`, and `reasons` with their numbers.

    Spark may run a task twice where its links pass through a shuffle, and then counts what it set aside twice.
    """

    def __init__(self, spark: SparkSession) -> None:
        from pyspark.accumulators import AccumulatorParam

        class Adding(AccumulatorParam[Tally]):
            """Adds up tallies."""

            def zero(self, value: Tally) -> Tally:
                """Nothing yet."""
                return Tally()

            def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802
                """Both."""
                return value1.add(value2)

        self._counted = spark.sparkContext.accumulator(Tally(), Adding())

    @property
    def tally(self) -> Tally:
        """All that was counted."""
        return self._counted.value

    @property
    def reasons(self) -> Counter[str]:
        """How often each reason was met."""
        return self.tally.reasons

    @property
    def rejects(self) -> list[Reject]:
        """The first 100,000 records that were set aside, with the file and line of each where they are known."""
        return self.tally.rejects

    @property
    def unread_dates(self) -> Counter[str]:
        """Dates that could not be read: their articles are linked, as undated."""
        return self.tally.unread_dates

    @property
    def count(self) -> int:
        """How many records were set aside."""
        return self.reasons.total()


class Placed(Rejects):
    """Refuses the first record that cannot be used, and says where it stands, as far as that is known."""

    def __init__(self) -> None:
        super().__init__()
        self.go_to(None)

    def go_to(self, file: str | None, lines_known: bool = False) -> None:
        """What comes next is of this file, which is read from its beginning if `lines_known`."""
        self.file, self.lines_known, self.places = file, lines_known, Places()

    def add(self, reject: Reject) -> None:
        """Set one record aside."""
        line = self.places.line_of(reject.article_id or "") if reject.file is None else reject.line
        self.take(replace(reject, file=self.file, line=line if self.lines_known else None))

    def take(self, reject: Reject) -> None:
        """Raise the reject as an error."""
        raise NamesakeError(f"{reject}; mend it, or pass `set_aside` to go on without it")

    def problem(self, line: str) -> None:
        """Refuse a file."""
        raise NamesakeError(line)

    def linked(self, articles: int, links: pa.Table) -> None:
        """Take note of articles that were linked."""

    def send(self) -> None:
        """Hand what was counted to the driver."""


class Counting(Placed):
    """Counts on all executors together."""

    def __init__(self, counted: Any) -> None:
        super().__init__()
        self.counted = counted
        self.tally = Tally()

    def take(self, reject: Reject) -> None:
        """Count one."""
        super(Placed, self).add(reject)
        self.tally.add(Tally(reasons=Counter([reject.reason]), rejects=[reject]))

    def problem(self, line: str) -> None:
        """Note a file that cannot be read to its end."""
        self.tally.problems.append(line)

    def linked(self, articles: int, links: pa.Table) -> None:
        """Count articles and their links."""
        linked = links.num_rows - links.column("qid").null_count
        self.tally.counts.update(articles=articles, mentions=links.num_rows, linked=linked)

    def send(self) -> None:
        """Hand what was counted so far to the driver; Spark takes it when the task ends."""
        self.tally.unread_dates, self.unread_dates = self.unread_dates, Counter()
        self.counted.add(self.tally)
        self.tally = Tally()
