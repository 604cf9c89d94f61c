"""Linking on Spark: a DataFrame of articles in, a DataFrame of links out, Arrow in between.

Every Python worker of an executor opens the KB once and keeps it; workers of one machine share its pages. The KB is a
folder that all machines see, or a pack (`namesake kb pack`), which Spark ships to each, to be unpacked there once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from namesake.articles.check import check_articles
from namesake.articles.rejects import Reject
from namesake.engines.described import described, flat
from namesake.engines.files import check_date, with_dates
from namesake.engines.local import link_table
from namesake.engines.spark_session import use_this_python
from namesake.engines.spark_tally import Placed, SetAside
from namesake.errors import NamesakeError, warn
from namesake.files.lines import MOST_LINE, Block
from namesake.formats.columns import Naming
from namesake.formats.fields import Reading, listed
from namesake.formats.jsonl import read_blocks
from namesake.formats.parquet import with_extra
from namesake.kb.publish.pack import SUFFIX
from namesake.linker import Linker
from namesake.machine import cache_folder, from_home
from namesake.recipe import Recipe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterable[pa.RecordBatch]
SPANS = pa.list_(pa.list_(pa.int32()))
"""Spans as Spark has them: it knows no lists of a fixed size."""
WHERE = "the DataFrame"
"""What messages call it."""
PLACE = "namesake_place"
"""The column of `with_places`."""


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
    threshold: float | str | None = None,
    default_date: str | None = None,
    set_aside: SetAside | None = None,
) -> DataFrame:
    """The links of a DataFrame of articles, one row per mention; columns and arguments are checked before the job.

    Args:
        df: one row per article. Columns that are not named below are carried through in `extra`, as JSON.
        kb: the folder of a KB that all machines see, or a pack of one, `NAME.tar.zst`.
        recipe: a recipe, the name of a shipped one, or a `.toml` file.
        text: the column of the text; None: `text`, or what people call it.
        id: the column of the id, which becomes `article_id`; None: `id`, `url` …
        title: the column of the title.
        date: the column of the date.
        mentions: the column of the names to link; None: `mentions`, if there is one. It has lists of names, which are
            meant wherever they stand in the text, or of mentions with spans and candidates. Where a row has none, names
            are found in the text.
        one_per_span: one row for each place of a name, with `start` and `end`.
        scores: also give every candidate with its scores.
        threshold: overrides the confidence at which the recipe answers.
        default_date: the ISO date of articles that have none.
        set_aside: counts what cannot be linked; without it, the first such article is an error.
    """
    if not hasattr(df, "mapInArrow"):
        raise TypeError(f"df must be a DataFrame of Spark's, not {type(df).__name__}")
    check_date(default_date, "default_date")
    naming = Naming(Reading(text, id, title, date, say=warn), WHERE, mentions=mentions)
    _check_columns(df, naming)
    job = Job(
        df.sparkSession,
        kb,
        recipe,
        scores=scores,
        threshold=threshold,
        date=default_date,
        set_aside=set_aside,
        one_per_span=one_per_span,
    )
    return job.links(df, partial(read_rows, naming=naming))


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

    Lines are read as the local engine reads them, Quotebank's layout included. `date` is the ISO date of articles that
    have none; the other arguments are those of `link`.
    """
    job = Job(df.sparkSession, kb, recipe, scores=scores, threshold=threshold, date=date, set_aside=set_aside)
    return job.links(df, read_lines)


Reader = Callable[[Batches, Placed], Iterator[pa.Table]]


class Job:
    """Links that executors are to make: checked on the driver, as far as it can."""

    def __init__(
        self,
        spark: SparkSession,
        kb: str | Path,
        recipe: Recipe | str | Path,
        *,
        scores: bool,
        threshold: float | str | None,
        date: str | None,
        set_aside: SetAside | None,
        one_per_span: bool = False,
    ) -> None:
        check_date(date)
        use_this_python(spark)
        loaded = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
        loaded = loaded if threshold is None else loaded.at(threshold)
        place = from_home(kb).absolute()
        self.linker = Linker(_folder(str(place)), loaded)
        self.scores, self.date, self.set_aside, self.one_per_span = scores, date, set_aside, one_per_span
        self.where = str(place)
        if self.where.endswith(SUFFIX):
            spark.sparkContext.addFile(self.where)
            self.where = place.name

    def links(self, df: DataFrame, read: Reader) -> DataFrame:
        """The links of what `read` makes of the rows of `df`."""
        from pyspark.sql.pandas.types import from_arrow_schema

        where, text, scores, date = self.where, self.linker.recipe.toml(), self.scores, self.date
        one_per_span = self.one_per_span
        counted = None if self.set_aside is None else self.set_aside._counted

        def work(batches: Batches) -> Iterator[pa.RecordBatch]:
            linker = _linker(where, text)
            rejects = Placed(counted)
            try:
                for table in with_dates(read(batches, rejects), rejects, date):
                    done = link_table(linker, table, scores, rejects)
                    rejects.linked(done)
                    yield from _drawn(linker, done.links, one_per_span).to_batches()
            finally:
                rejects.send()

        schema = _drawn(self.linker, self.linker.nothing(scores), one_per_span).schema
        return df.mapInArrow(work, from_arrow_schema(schema))


def _check_columns(df: DataFrame, naming: Naming) -> None:
    """Choose the columns of a DataFrame, and refuse those that cannot be read, before any worker starts."""
    from pyspark.sql.pandas.types import to_arrow_schema

    check_articles(with_extra(naming.renamed(to_arrow_schema(df.schema).empty_table())), WHERE)
    if naming.fields is not None and naming.fields.id is None:  # rows have no order that could number them
        raise NamesakeError(f"{WHERE}: which column is the id? Name it with `id=`; it has {listed(df.columns)}")


def read_rows(batches: Batches, rejects: Placed, naming: Naming | None = None) -> Iterator[pa.Table]:
    """Tables of articles from a DataFrame of them; a row that is no article is set aside."""
    for batch, before in _of_one_file(batches, rejects):
        rows = pa.Table.from_batches([batch])
        table = with_extra(rows if naming is None else naming.renamed(rows))
        try:
            yield check_articles(table)
        except NamesakeError:
            yield from _one_by_one(table, before, rejects)


def _one_by_one(table: pa.Table, before: int, rejects: Placed) -> Iterator[pa.Table]:
    yield check_articles(table.slice(0, 0))  # columns that no row could fit are a fault of the frame
    for row in range(table.num_rows):
        try:
            yield check_articles(table.slice(row, 1), "")
        except NamesakeError as problem:
            identifier = table.column("id")[row].as_py()
            article = None if identifier is None else str(identifier)
            rejects.add(Reject(str(problem).removeprefix(": "), "", before + row + 1, article))


def read_lines(batches: Batches, rejects: Placed, most_line: int = MOST_LINE) -> Iterator[pa.Table]:
    """Tables of articles from JSON lines; their bytes need not be UTF-8, whatever Spark calls them."""
    for batch, before in _of_one_file(batches, rejects):
        lines = b"\n".join(line or b"" for line in batch.column(0).cast(pa.binary()).to_pylist())
        block = Block.of(lines, before)
        yield from read_blocks([block], Path(), rejects, most_line=most_line, places=rejects.places)


def with_places(df: DataFrame) -> DataFrame:
    """Rows of files with where each is from: where Spark began to read its file, and the file."""
    return df.selectExpr("*", f"concat(input_file_block_start(), ':', input_file_name()) AS {PLACE}")


def _of_one_file(batches: Batches, rejects: Placed) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches cut where another file begins, each with the number of rows that came before; `rejects` learns the file.

    Lines are known where Spark reads a file from its beginning: from its middle they count from there.
    """
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
            rejects.go_to(unquote(file).removeprefix("file://"), start == "0")
            yield rows.slice(begin, end - begin), before
            before += end - begin
            begin = end


def _drawn(linker: Linker, links: pa.Table, one_per_span: bool) -> pa.Table:
    """Links with label, description and address, and with the types that Spark knows."""
    links = described(linker.kb, flat(links) if one_per_span else links)
    for at, field in enumerate(links.schema):
        if pa.types.is_dictionary(field.type):
            links = links.set_column(at, pa.field(field.name, pa.string()), links.column(at).cast(pa.string()))
        elif field.name in ("spans", "title_spans"):
            links = links.set_column(at, pa.field(field.name, SPANS), links.column(at).cast(SPANS))
    return links


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
    from namesake.files.digests import file_digest
    from namesake.files.locks import locked
    from namesake.kb.publish.get import get

    if not Path(kb).is_file():
        raise NamesakeError(f"{kb}: no such file; make one with `namesake kb pack`")
    folder = cache_folder() / f"pack-{file_digest(Path(kb))[-16:]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            get(kb, folder)
    return folder
