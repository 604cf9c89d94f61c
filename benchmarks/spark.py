"""Linking on Spark beside the naive way: a Python function per article, in plain Python, as a UDF.

    python -m benchmarks.spark [--kb KB] [--articles 60000] [--plain 1200] [--master local[2]]

The articles are the paper's 300 from Quotebank, repeated, as Parquet; the recipe is uiscore-paper, and the plain one
computes the same scores (`benchmarks.plain`), with the words of each entity made once per process. Costs per article
are what the second half of the articles adds, so that the start of Spark and of its Python workers is left out.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.link import SLICE, quotebank
from benchmarks.plain import PlainLinker
from benchmarks.text import ARTICLES
from namesake import build_kb
from namesake.engines.spark_files import session
from namesake.engines.spark_linker import link

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTITIONS = 8
ROOT = Path(__file__).resolve().parents[1]


def frame(spark: Any, articles: pa.Table, folder: Path, count: int) -> DataFrame:
    """A DataFrame of `count` articles, held in memory."""
    path = folder / f"{count}.parquet"
    times = -(-count // articles.num_rows)
    pq.write_table(pa.concat_tables([articles] * times).slice(0, count).drop_columns(["extra"]), path)
    df: DataFrame = spark.read.parquet(str(path)).repartition(PARTITIONS).cache()
    df.count()
    return df


def naive(df: DataFrame, linker: PlainLinker) -> DataFrame:
    """The best score of each name, by a function per article."""
    from pyspark.sql.functions import udf
    from pyspark.sql.types import ArrayType, DoubleType

    shipped = df.sparkSession.sparkContext.broadcast(linker)

    def best(text: str, mentions: list[Any]) -> list[float]:
        record = {"text": text, "mentions": [mention.asDict() for mention in mentions]}
        return shipped.value.link([record], keep=True)

    return df.select(udf(best, ArrayType(DoubleType()))("text", "mentions").alias("best"))


def each(run: Callable[[int], object], count: int) -> float:
    """Seconds per article that the second half of `count` articles adds."""
    taken = []
    for size in (count // 2, count):
        began = time.perf_counter()
        run(size)
        taken.append(time.perf_counter() - began)
    return (taken[1] - taken[0]) / (count - count // 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, help="a KB; default: one of the slice is built")
    parser.add_argument("--articles", type=int, default=60_000)
    parser.add_argument("--plain", type=int, default=1_200, help="articles for the naive way")
    parser.add_argument("--master", default="local[2]")
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src"), str(ROOT / "tests")])
    articles = quotebank(ARTICLES)
    with TemporaryDirectory() as temporary, session(given.master) as spark:
        folder = Path(temporary)
        kb = given.kb or folder / "kb"
        if not given.kb:
            build_kb([SLICE], kb, keep="people")
        plain = PlainLinker(SLICE, articles.to_pylist())

        def ours(size: int) -> None:
            link(frame(spark, articles, folder, size), kb, "uiscore-paper").write.format("noop").mode("append").save()

        def theirs(size: int) -> None:
            naive(frame(spark, articles, folder, size), plain).write.format("noop").mode("append").save()

        ours(300)
        theirs(300)
        fast, slow = each(ours, given.articles), each(theirs, given.plain)
        print(f"namesake.spark.link: {fast * 1e6:.0f} µs per article by the clock, {given.master}")
        print(f"plain Python in a UDF: {slow * 1e6:,.0f} µs per article, {slow / fast:,.0f} times as long")


if __name__ == "__main__":
    main()
