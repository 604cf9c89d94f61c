"""Linking on Spark: a DataFrame of articles in, a DataFrame of links out, Arrow in between.

Every Python worker of an executor opens the KB once and keeps it; workers of one machine share its pages. The KB is a
folder that all machines see, or a pack (`namesake kb pack`), which Spark ships to each, to be unpacked there once.
"""

from __future__ import annotations

import fcntl
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from namesake.articles.rejects import Reject, Rejects
from namesake.articles.schema import ARTICLES, check
from namesake.engines.files import check_date, with_dates
from namesake.errors import NamesakeError
from namesake.files.lines import Block
from namesake.formats.jsonl import read_blocks
from namesake.formats.parquet import with_extra
from namesake.kb.pack import SUFFIX
from namesake.linker import Linker
from namesake.machine import cache_folder
from namesake.recipe import Recipe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterable[pa.RecordBatch]
SPANS = pa.list_(pa.list_(pa.int32()))
"""Spans as Spark has them: it knows no lists of a fixed size."""


class SetAside:
    """Counts, over all executors, what could not be linked: `count`, and `reasons` with their numbers.

    Spark may run a task twice, and then counts what it set aside twice.
    """

    def __init__(self, spark: SparkSession) -> None:
        from pyspark.accumulators import AccumulatorParam

        class Reasons(AccumulatorParam[Counter[str]]):
            """Adds up reasons."""

            def zero(self, value: Counter[str]) -> Counter[str]:
                """No reasons."""
                return Counter()

            def addInPlace(self, value1: Counter[str], value2: Counter[str]) -> Counter[str]:  # noqa: N802
                """Both."""
                value1.update(value2)
                return value1

        self._counted = spark.sparkContext.accumulator(Counter(), Reasons())

    @property
    def reasons(self) -> Counter[str]:
        """How often each reason was met."""
        return self._counted.value

    @property
    def count(self) -> int:
        """How many records were set aside."""
        return self.reasons.total()


def link(
    df: DataFrame,
    kb: str | Path,
    recipe: Recipe | str | Path = "default",
    *,
    scores: bool = False,
    threshold: float | str | None = None,
    date: str | None = None,
    set_aside: SetAside | None = None,
) -> DataFrame:
    """The links of a DataFrame of articles, one row per mention.

    Args:
        df: has the columns `id` and `text`, and may have `title`, `date` and `mentions` (`schema.ARTICLES`); all
            other columns are carried through in `extra`.
        kb: the folder of a KB that all machines see, or a pack of one, `NAME.tar.zst`.
        recipe: a recipe, the name of a shipped one, or a `.toml` file.
        scores: also give every candidate with its scores.
        threshold: overrides the confidence at which the recipe answers.
        date: the ISO date of articles that have none.
        set_aside: counts what cannot be linked; without it, the first such article is an error.
    """
    return _linked(df, kb, recipe, scores, threshold, date, set_aside, _articles)


def link_lines(
    df: DataFrame,
    kb: str | Path,
    recipe: Recipe | str | Path = "default",
    *,
    scores: bool = False,
    threshold: float | str | None = None,
    date: str | None = None,
    set_aside: SetAside | None = None,
) -> DataFrame:
    """`link` for a DataFrame with one column, `value`, of JSON lines, as `spark.read.text` gives it.

    Lines are read as the local engine reads them, Quotebank's layout included. The arguments are those of `link`.
    """
    return _linked(df, kb, recipe, scores, threshold, date, set_aside, _lines)


Reader = Callable[[Batches, Rejects], Iterator[pa.Table]]


def _linked(
    df: DataFrame,
    kb: str | Path,
    recipe: Recipe | str | Path,
    scores: bool,
    threshold: float | str | None,
    date: str | None,
    set_aside: SetAside | None,
    read: Reader,
) -> DataFrame:
    """Check on the driver what can be checked there, and have the executors do the rest."""
    check_date(date)
    spark = df.sparkSession
    loaded = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
    loaded = loaded if threshold is None else loaded.at(threshold)
    text = loaded.toml()
    schema = _plain(Linker(_folder(str(kb)), loaded).nothing(scores)).schema
    where = str(Path(kb).absolute())
    if where.endswith(SUFFIX):
        spark.sparkContext.addFile(where)
        where = Path(where).name
    counted = None if set_aside is None else set_aside._counted

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        linker = _linker(where, text)
        rejects = _Raising() if counted is None else _Counting(counted)
        for table in with_dates(read(batches, rejects), rejects, date):
            yield from _plain(linker.link(table, scores, rejects)).to_batches()

    from pyspark.sql.pandas.types import from_arrow_schema

    return df.mapInArrow(work, from_arrow_schema(schema))


def _articles(batches: Batches, rejects: Rejects) -> Iterator[pa.Table]:
    """Tables of articles from a DataFrame of them; a row that is no article is set aside."""
    for batch in batches:
        table = with_extra(pa.Table.from_batches([batch]))
        try:
            yield check(table, ARTICLES, "articles")
        except NamesakeError:
            yield from _one_by_one(table, rejects)


def _one_by_one(table: pa.Table, rejects: Rejects) -> Iterator[pa.Table]:
    yield check(table.slice(0, 0), ARTICLES, "articles")  # columns that no row could fit are a fault of the frame
    for row in range(table.num_rows):
        try:
            yield check(table.slice(row, 1), ARTICLES, "")
        except NamesakeError as problem:
            rejects.add(Reject(str(problem).removeprefix(": "), article_id=str(table.column("id")[row].as_py())))


def _lines(batches: Batches, rejects: Rejects) -> Iterator[pa.Table]:
    """Tables of articles from JSON lines."""
    for batch in batches:
        lines = b"\n".join(line.encode() for line in batch.column(0).to_pylist() if line)
        yield from read_blocks([Block.of(lines)], Path("lines"), rejects)


def _plain(links: pa.Table) -> pa.Table:
    """Links with the types that Spark knows."""
    for at, field in enumerate(links.schema):
        if pa.types.is_dictionary(field.type):
            links = links.set_column(at, pa.field(field.name, pa.string()), links.column(at).cast(pa.string()))
        elif field.name in ("spans", "title_spans"):
            links = links.set_column(at, pa.field(field.name, SPANS), links.column(at).cast(SPANS))
    return links


class _Raising(Rejects):
    """Refuses the first record that cannot be used."""

    def add(self, reject: Reject) -> None:
        """Raise the reject as an error."""
        raise NamesakeError(f"{reject}; mend it, or pass `set_aside` to go on without it")


class _Counting(Rejects):
    """Counts reasons on all executors together."""

    def __init__(self, counted: Any) -> None:
        super().__init__()
        self.counted = counted

    def add(self, reject: Reject) -> None:
        """Count one."""
        super().add(reject)
        self.counted.add(Counter([reject.reason]))


@lru_cache(maxsize=4)
def _linker(kb: str, recipe: str) -> Linker:
    """This Python worker's linker, opened once; `kb` is a folder, or the name of a pack that Spark has shipped."""
    if kb.endswith(SUFFIX):
        from pyspark import SparkFiles

        kb = SparkFiles.get(kb)
    return Linker(_folder(kb), Recipe.parse(recipe, "the driver's recipe"))


def _folder(kb: str) -> Path:
    """The folder of a KB; a pack is unpacked into the user's cache, once for all processes of a machine."""
    if not kb.endswith(SUFFIX):
        return Path(kb)
    from namesake.files.download import file_checksum
    from namesake.kb.get import get

    if not Path(kb).is_file():
        raise NamesakeError(f"{kb}: no such file; make one with `namesake kb pack`")
    folder = cache_folder() / f"pack-{file_checksum(Path(kb))[-16:]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            get(kb, folder)
    return folder


def link_with_spark(
    articles: Sequence[str | Path],
    kb: str | Path,
    out: str | Path,
    *,
    master: str | None = None,
    recipe: str | Path = "default",
    scores: bool = False,
    threshold: float | str | None = None,
    date: str | None = None,
) -> tuple[int, Counter[str]]:
    """Link files on Spark into the folder `out`/links; returns how many mentions, and what was set aside.

    Args:
        articles: JSON lines (plain, .gz, .bz2) or Parquet: files, folders, patterns, all of one format.
        kb: a folder that all machines see, or a pack.
        out: a new folder, as Spark names it.
        master: such as `local[2]` or `spark://host:7077`; default: what Spark is set to.
        recipe: the name of a shipped recipe, or a `.toml` file.
        scores: also write every candidate with its scores.
        threshold: overrides the confidence at which the recipe answers.
        date: the ISO date of articles that have none.
    """
    from namesake.engines.spark_session import session

    paths = [str(path) for path in articles]
    parquet = all(".parquet" in path for path in paths)
    with session(master) as spark:
        counted = SetAside(spark)
        df = spark.read.parquet(*paths) if parquet else spark.read.text(paths)
        function = link if parquet else link_lines
        links = function(df, kb, recipe, scores=scores, threshold=threshold, date=date, set_aside=counted)
        links.write.mode("error").parquet(f"{out}/links")
        return spark.read.parquet(f"{out}/links").count(), counted.reasons
