"""Linking on Spark: a DataFrame of articles in, a DataFrame of links out, as Arrow batches; counts over all executors.

Every Python worker of an executor opens the KB once and keeps it; workers of one machine share its memory. The KB is a
folder that all machines can read, or a pack (`namesake kb pack`), which Spark copies to each machine.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from namesake.articles.builder import check_articles
from namesake.articles.days import check_date
from namesake.articles.rejects import Reject
from namesake.engines.file_linker import described, with_dates
from namesake.engines.shards import PlacedRejects
from namesake.errors import NamesakeError, warn
from namesake.files.digests import file_digest
from namesake.files.lines import MOST_LINE
from namesake.files.outputs import locked
from namesake.formats.arrow_articles import ColumnNames, valid_articles, with_extra
from namesake.formats.field_names import SHOWN, Reading
from namesake.formats.json_articles import read_lines as read_json_lines
from namesake.kb.publish.pack import SUFFIX
from namesake.linker import Linker
from namesake.machine import cache_folder, from_home
from namesake.printable import listed
from namesake.recipe import Recipe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_KEPT = 100_000
"""How many rejected records the driver keeps with their places; all are counted."""


class Tally(PlacedRejects):
    """Counts of a task or a whole job, and its first 100,000 rejected records; if `strict`, the first is an error."""

    def __init__(self, strict: bool = False) -> None:
        super().__init__(most=MOST_KEPT, strict=strict)
        self.counts: Counter[str] = Counter()
        """`articles` that could be linked, their `mentions`, and those that are `linked`."""
        self.problems: list[str] = []  # files that could not be read to their end
        self.notes: list[str] = []
        self.go_to(None)

    @property
    def rejects(self) -> list[Reject]:
        """The first rejected records, with their files and lines if these are known."""
        return self.first

    def __iadd__(self, other: Tally) -> Self:
        self.counts.update(other.counts)
        self.reasons.update(other.reasons)
        self.unread_dates.update(other.unread_dates)
        self.first.extend(islice(other.first, max(MOST_KEPT - len(self.first), 0)))
        self.problems.extend(other.problems)
        return self


class SparkRejects:
    """Counts the records that a job rejects, over all executors. It has the attributes of a `Tally`.

    If links pass through a shuffle, Spark may run a task twice, and counts its rejects twice.
    """

    def __init__(self, spark: SparkSession) -> None:
        from pyspark.accumulators import AddingAccumulatorParam

        param: Any = AddingAccumulatorParam(cast(Any, Tally()))
        self.total = spark.sparkContext.accumulator(Tally(), param)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.total.value, name)


Batches = Iterable[pa.RecordBatch]
Reader = Callable[[Batches, Tally], Iterator[pa.Table]]
"""Makes tables of articles from the rows of a DataFrame."""
SPANS = pa.list_(pa.list_(pa.int32()))  # Spark has no lists of a fixed size
WHERE = "the DataFrame"
PYTHON = "PYSPARK_PYTHON"
PLACE = "namesake_place"  # the column of `with_places`


def link(
    df: DataFrame,
    kb: str | Path,
    recipe: Recipe | str | Path = "default",
    *,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
    mentions: str | None = None,
    one_per_span: bool = False,
    scores: bool = False,
    linked_only: bool = False,
    threshold: float | str | None = None,
    default_date: str | None = None,
    rejects: SparkRejects | None = None,
    kinds: str | Iterable[str] | None = None,
) -> DataFrame:
    """The links of a DataFrame of articles, one row per mention; columns and arguments are checked before the job.

    The DataFrame has one row per article. Other columns are copied to `extra`, as JSON. `text`, `id`, `title`, `date`,
    `mentions`, `one_per_span`, `scores` and `linked_only` are as for `link_frame`, but an id is required. `kb` is a
    folder that all machines can read, or a pack, `NAME.tar.zst`. `recipe` is a recipe, the name of a shipped one, or a
    `.toml` file, and `threshold` overrides the confidence from which it answers. `default_date` is the ISO date of
    articles without one. `rejects` counts the articles that cannot be linked; without it, the first one is an error.
    `kinds` are the kinds of entities to link to, such as "people,places".
    """
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"df must be a DataFrame of Spark's, not {type(df).__name__}")
    check_date(default_date, "default_date")
    from pyspark.sql.pandas.types import to_arrow_schema

    names = ColumnNames(Reading(text, id, title, date, say=warn), WHERE, mentions=mentions)
    check_articles(with_extra(names.renamed(to_arrow_schema(df.schema).empty_table())), WHERE)
    if names.fields is not None and "id" not in names.fields:  # rows have no order that could number them
        raise NamesakeError(f"{WHERE}: which column is the id? Name it with `id=`; it has {listed(df.columns, SHOWN)}")
    job = Job(df.sparkSession, kb, recipe, scores, threshold, default_date, rejects, one_per_span, kinds, linked_only)
    return job.links(df, partial(read_rows, names=names))


def link_lines(df: DataFrame, kb: str | Path, recipe: Recipe | str | Path = "default", **settings: Any) -> DataFrame:
    """`link` for a DataFrame with one column, `value`, of JSON lines, as `spark.read.text` returns it.

    Lines are read as in a local run, including Quotebank's layout. `settings` are `scores`, `threshold`, `rejects`,
    `one_per_span`, `linked_only` and `kinds`, as for `link`, and `date`, the ISO date of articles without one.
    """
    return Job(df.sparkSession, kb, recipe, **settings).links(df, read_lines)


@dataclass
class Job:
    """Links that executors make. The driver checks the arguments."""

    spark: SparkSession
    kb: str | Path
    recipe: Recipe | str | Path
    scores: bool = False
    threshold: float | str | None = None
    date: str | None = None
    rejects: SparkRejects | None = None
    one_per_span: bool = False
    kinds: str | Iterable[str] | None = None
    linked_only: bool = False

    def __post_init__(self) -> None:
        """Check the arguments, and send a pack to the executors."""
        check_date(self.date)
        context = getattr(self.spark, "sparkContext", None)  # Spark Connect has none
        if context and PYTHON not in os.environ and not context.getConf().get("spark.pyspark.python"):
            os.environ[PYTHON] = context.pythonExec = sys.executable  # not the first Python on the path
        place = from_home(self.kb).absolute()
        self.linker = Linker(_folder(str(place)), self.recipe, self.threshold, kinds=self.kinds)
        self.where = str(place)
        if self.where.endswith(SUFFIX):
            self.spark.sparkContext.addFile(self.where)
            self.where = place.name

    def links(self, df: DataFrame, read: Reader) -> DataFrame:
        """The links of the articles that `read` makes of the rows of `df`."""
        from pyspark.sql.pandas.types import from_arrow_schema

        where, text, scores, date = self.where, self.linker.recipe.toml(), self.scores, self.date
        one_per_span, linked_only, kinds = self.one_per_span, self.linked_only, self.linker.kind_names
        total = None if self.rejects is None else self.rejects.total

        def work(batches: Batches) -> Iterator[pa.RecordBatch]:
            linker, rejects = _linker(where, text, kinds), Tally(strict=total is None)
            try:
                for table in with_dates(read(batches, rejects), rejects, date):
                    linked = linker.link_counted(table, scores, rejects)
                    rejects.counts.update(linked.counts)
                    links = described(linker.kb, linked.links, one_per_span, linked_only)
                    yield from _for_spark(links).to_batches()
            finally:
                if total is not None:  # Spark adds the counts when the task ends
                    total.add(rejects)

        schema = _for_spark(described(self.linker.kb, self.linker.empty_links(scores), one_per_span)).schema
        return df.mapInArrow(work, from_arrow_schema(schema))


def read_rows(batches: Batches, rejects: Tally, names: ColumnNames | None = None) -> Iterator[pa.Table]:
    """Tables of articles from a DataFrame of them; invalid rows are rejected."""
    for batch, before in _of_one_file(batches, rejects):
        rows = pa.Table.from_batches([batch])
        yield valid_articles(rows if names is None else names.renamed(rows), "articles", before, rejects)


def read_lines(batches: Batches, rejects: Tally, most_line: int = MOST_LINE) -> Iterator[pa.Table]:
    """Tables of articles from JSON lines. Their bytes need not be UTF-8, although Spark calls them strings."""
    for batch, before in _of_one_file(batches, rejects):
        lines = b"\n".join(line or b"" for line in batch.column(0).cast(pa.binary()).to_pylist())
        yield from read_json_lines(lines, Path(), rejects, most_line, before)


def with_places(df: DataFrame) -> DataFrame:
    """Rows of files with their places: the position where Spark began to read the file, and the file."""
    return df.selectExpr("*", f"concat(input_file_block_start(), ':', input_file_name()) AS {PLACE}")


def _of_one_file(batches: Batches, rejects: Tally) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches cut where another file begins, each with the number of preceding rows; sets the file of `rejects`."""
    place, before = None, 0
    for batch in batches:
        names = batch.schema.names
        if PLACE not in names:
            rejects.go_to(None)
            yield batch, 0
            continue
        runs = pc.run_end_encode(batch.column(names.index(PLACE)))
        rows = batch.select([name for name in names if name != PLACE])
        begin = 0
        for here, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            place, before = here, before if here == place else 0
            start, _, file = here.partition(":")
            rejects.go_to(unquote(file).removeprefix("file://"), lines_known=start == "0")
            yield rows.slice(begin, end - begin), before
            before += end - begin
            begin = end


def _for_spark(links: pa.Table) -> pa.Table:
    for at, column in enumerate(links.schema):
        is_spans = column.name in ("spans", "title_spans")
        if is_spans or pa.types.is_dictionary(column.type):
            links = links.set_column(at, column.name, links.column(at).cast(SPANS if is_spans else pa.string()))
    return links


@lru_cache(maxsize=4)
def _linker(kb: str, recipe: str, kinds: str | None) -> Linker:
    """This Python worker's linker, opened once; `kb` is a folder, or the name of a pack that Spark has copied."""
    if kb.endswith(SUFFIX):
        from pyspark import SparkFiles

        kb = SparkFiles.get(kb)
    return Linker(_folder(kb), Recipe.parse(recipe, "the driver's recipe"), kinds=kinds)


def _folder(kb: str) -> Path:
    """The folder of a KB; a pack is unpacked into the user's cache, once per machine."""
    if not kb.endswith(SUFFIX):
        return Path(kb)
    from namesake.kb.publish.pack import get

    if not Path(kb).is_file():
        raise NamesakeError(f"{kb}: no such file; make one with `namesake kb pack`")
    folder = cache_folder() / f"pack-{file_digest(Path(kb))[-16:]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            get(kb, folder)
    return folder
